"""A match as one HTML file to look at step by step."""
