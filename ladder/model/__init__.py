"""Bots, conditions, matches and ratings, and who plays next. Pure: no file, clock or database."""
