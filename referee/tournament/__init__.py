"""Tournaments: pairings, luck and tables. They are pure: everything follows from the file, its seed and the results."""
