"""Questions to a ladder and changes to it: each takes a request and returns an answer."""
