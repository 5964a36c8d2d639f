"""The pages of a ladder, for people with a browser."""
