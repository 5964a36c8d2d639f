"""The messages of the protocol: games' objects and the envelope, to bytes and back."""
