"""Matches as they happen: bytes, processes, time."""
