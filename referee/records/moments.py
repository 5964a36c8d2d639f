"""The step of a match that is worth a look first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from referee.game import Observation, Seat

_ROUND = ("round", "turn")
"""What games call the number of the round in their observations; where there is neither, there are no rounds."""


def lead_lost(places: Sequence[tuple[int, Sequence[int]]]) -> tuple[int, Seat] | None:
    """Return the last step at which a seat lost the lead, and the seat; None if nobody ever lost it.

    Args:
        places: (step, the place of each seat), at least where places change; the last ones are those of the result.
    """
    for (_, before), (step, after) in reversed(list(pairwise(places))):
        for seat, (old, new) in enumerate(zip(before, after, strict=True)):
            if old == 1 < new:
                return step, seat
    return None


def lead_taken(places: Sequence[tuple[int, Sequence[int]]]) -> int | None:
    """Return the step from which on the winner was first, alone, until the end; None if several have won.

    Args:
        places: as for `lead_lost`.
    """
    last = [seat for seat, place in enumerate(places[-1][1]) if place == 1]
    if len(last) != 1:
        return None
    taken = places[-1][0]
    for step, now in reversed(places):
        if [seat for seat, place in enumerate(now) if place == 1] != last:
            break
        taken = step
    return taken


def round_of(seen: Observation) -> str:
    """Return what the round is called, such as `round 5`; empty if the game has none."""
    return next((f"{name} {number}" for name in _ROUND if (number := getattr(seen, name, None)) is not None), "")


def place_on_page(step: int, seat: Seat | None) -> str:
    """Return the address within the page of a match: a step as a seat saw it, or as a spectator did."""
    return f"#s={step}" if seat is None else f"#s={step}&as={seat}"
