"""Events of a running match in words, for spectators; a match's page uses the same words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from referee.game import Game, Observation, Scene, Seat, Setup, label
from referee.match.effects import Happened


class ActionInWords(NamedTuple):
    """An action in words."""

    number: int
    """The action's number among all actions that spectators learn of, counted from 1."""
    seat: Seat
    sentences: list[str]
    """The action, in words that follow the bot's name, and then the points that the action scored."""


def actions_in_words(
    game: Game, setup: Setup, bots: Sequence[str], before: Observation | None, now: Happened
) -> list[ActionInWords]:
    """Put the actions of a message to spectators into words.

    A message usually contains one action. If it contains several, only the consequences of the last one are known.

    Args:
        game: the game.
        setup: the setup of the match.
        bots: the name of the bot in each seat.
        before: the spectators' observation after the previous message; None at the beginning.
        now: the new message.
    """
    found = []
    for number, (seat, action) in enumerate(now.played, now.step - len(now.played) + 1):
        said = [plain(label(action))]
        if number == now.step:
            scene = Scene(bots=tuple(bots), step=number, before=before or now.seen, seat=seat, action=action)
            said = game.tell(setup, now.seen, scene)
        found.append(ActionInWords(number, seat, said))
    return found


def plain(code: str) -> str:
    """Return an action's label as plain words."""
    return re.sub(r"[_(),]+", " ", code).strip()
