"""Bots, conditions, matches, ratings and the schedule. Pure: no file, clock or database."""
