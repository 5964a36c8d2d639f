"""Records: written, verified, told in words, and the positions in them."""
