"""Bots, conditions, matches, ratings and the schedule. The code is pure: it uses no file, clock or database."""
