"""Pages, each one HTML file: a match that is shown step by step, and a tournament."""
