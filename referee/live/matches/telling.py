"""What spectators of a running match are told, in the words that the page of a match has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from referee.game import Game, Observation, Scene, Seat, Setup, label
from referee.match.effects import Happened


class Told(NamedTuple):
    """An action in words."""

    number: int
    """Its place among all actions that spectators are told of, from 1."""
    seat: Seat
    sentences: list[str]
    """What it was, in words that go on from a name; then who has scored by it."""


def told(game: Game, setup: Setup, bots: Sequence[str], before: Observation | None, now: Happened) -> list[Told]:
    """Return what has been played since spectators last heard of the match.

    A referee shows one action at a time. Of several at once nobody knows what came of those before the last one.

    Args:
        game: the game.
        setup: what was agreed before the match.
        bots: who sits in each seat.
        before: what spectators saw when they last heard of it; None at the beginning.
        now: what they hear.
    """
    found = []
    for number, (seat, action) in enumerate(now.played, now.told - len(now.played) + 1):
        said = [plain(label(action))]
        if number == now.told:
            scene = Scene(bots=tuple(bots), step=number, before=before or now.seen, seat=seat, action=action)
            said = game.tell(setup, now.seen, scene)
        found.append(Told(number, seat, said))
    return found


def plain(code: str) -> str:
    """Return the code of an action as words."""
    return re.sub(r"[_(),]+", " ", code).strip()
