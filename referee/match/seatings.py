"""The seatings of a block: the places of the players at its tables."""

from __future__ import annotations

Seating = tuple[int, ...]
"""For each seat, the place of its player on the command line."""


def rotations(seating: Seating) -> list[Seating]:
    """Return a seating and all its rotations, each of which moves everybody on by a seat."""
    return [seating[turn:] + seating[:turn] for turn in range(len(seating))]
