"""Matches as they happen: one driver, series, spectators, other machines."""
