"""The seatings of a block: the seats of the players in its matches."""

from __future__ import annotations

Seating = tuple[int, ...]
"""For each seat, the index of its player on the command line."""


def rotations(seating: Seating) -> list[Seating]:
    """Return a seating and all its rotations, each of which moves everybody on by one seat."""
    return [seating[turn:] + seating[:turn] for turn in range(len(seating))]
