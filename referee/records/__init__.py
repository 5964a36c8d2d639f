"""Records: writing, verification, descriptions in words, and positions."""
