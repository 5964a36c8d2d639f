"""The pages of a match, shown step by step, and of a tournament. Each page is one HTML file."""
