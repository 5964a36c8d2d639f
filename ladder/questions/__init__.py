"""Questions and changes to a ladder: a request in, an answer out."""
