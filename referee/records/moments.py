"""The most interesting step of a match, which a page shows first. The functions are pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from referee.game import Observation, Seat

_ROUND = ("round", "turn")
"""The names that a round number may have in observations; a game with neither has no rounds."""


def lead_lost(places: Sequence[tuple[int, Sequence[int]]]) -> tuple[int, Seat] | None:
    """Return the last step at which a seat lost the lead, and the seat; None if nobody ever lost it.

    Args:
        places: pairs of a step and the place of each seat, at least for each step that changes places; the last pair is
            the result.
    """
    for (_, before), (step, after) in reversed(list(pairwise(places))):
        for seat, (old, new) in enumerate(zip(before, after, strict=True)):
            if old == 1 < new:
                return step, seat
    return None


def lead_taken(places: Sequence[tuple[int, Sequence[int]]]) -> int | None:
    """Return the step from which the winner was alone in first place until the end; None if several seats won.

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
    """Return the name of the round, such as `round 5`; empty if the game has no rounds."""
    return next((f"{name} {number}" for name in _ROUND if (number := getattr(seen, name, None)) is not None), "")


def place_on_page(step: int, seat: Seat | None) -> str:
    """Return the fragment of a match page's URL for a step as a seat saw it, or as a spectator did (None)."""
    return f"#s={step}" if seat is None else f"#s={step}&as={seat}"
