"""Pages for authors and for people at tables."""
