"""The contract that every game must fulfil, as checks that game authors call on their own game."""
