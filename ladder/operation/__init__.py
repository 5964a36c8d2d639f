"""The operation of a ladder: its folder and disk, journal, signals, rate limits and errors."""
