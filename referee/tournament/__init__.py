"""Tournaments: pairings, luck and tables. Pure: everything follows from the file, its seed and the results."""
