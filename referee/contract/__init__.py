"""What every game must fulfil, for game authors to call on their own game."""
