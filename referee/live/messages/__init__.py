"""The messages of the protocol: games' objects and the envelope are converted to bytes and back."""
