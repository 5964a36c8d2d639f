"""The interface of a house bot: a bot that comes with Dogana and can play in the referee's own process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from referee.game import Action, Game, Observation, Seat, Setup


class HouseDecision(Protocol):
    """A decision put to a house bot; `referee.match.effects.Decision` is one."""

    @property
    def observation(self) -> Observation:
        """The seat's observation."""
        ...

    @property
    def actions(self) -> Sequence[Action]:
        """The legal actions."""
        ...


class HouseBot(Protocol):
    """A bot that plays one seat of one match."""

    def __init__(self, game: Game, setup: Setup, match_id: str, seat: Seat) -> None:
        """Take a seat. A bot derives all its chance from these arguments, so that matches can be repeated."""
        ...

    @staticmethod
    def plays(game: Game) -> bool:
        """Return whether the bot can play a game."""
        ...

    def choose(self, decision: HouseDecision) -> int | Sequence[Action]:
        """Answer with an index into the legal actions, or with actions to be played in order."""
        ...
