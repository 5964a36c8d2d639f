"""The questions as JSON, and their OpenAPI page."""
