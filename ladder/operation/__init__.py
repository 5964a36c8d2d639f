"""What keeps a ladder in operation: its folder and disk, journal, signals, rate limits, errors."""
