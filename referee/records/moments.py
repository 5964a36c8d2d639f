"""The step of a match that is worth a look first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from referee.game import Seat


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


def place_on_page(step: int, seat: Seat | None) -> str:
    """Return the address within the page of a match: a step as a seat saw it, or as a spectator did."""
    return f"#s={step}" if seat is None else f"#s={step}&as={seat}"
