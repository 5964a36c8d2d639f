"""A match as one HTML file that shows it step by step."""
