"""The messages of the protocol: the objects of games and the envelope are converted to bytes and back."""
