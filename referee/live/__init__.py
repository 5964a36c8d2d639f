"""Matches as they happen: bytes, processes and time."""
