"""The interface of a house bot, which comes with Dogana and can play in the referee's own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

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

    @property
    def budget(self) -> float:
        """The time that the decision may take, in seconds."""
        ...

    @property
    def bank(self) -> float:
        """The seat's bank when the question was put, in seconds."""
        ...


class HouseBot(Protocol):
    """A bot that plays one seat of one match.

    Attributes:
        thinks: whether it takes time to think, and so plays in a process of its own rather than in the referee's.
    """

    thinks: ClassVar[bool] = False

    def __init__(self, game: Game, setup: Setup, match_id: str, seat: Seat, **options: Any) -> None:
        """Take a seat. A bot derives all its chance from these arguments, so that matches can be repeated."""
        ...

    @staticmethod
    def read_options(options: Mapping[str, str]) -> dict[str, Any]:
        """Read the options in a word such as `search:seed=1,rollouts=400`.

        Raises:
            ValueError: if there is no such option, or its value is wrong.
        """
        if options:
            raise ValueError("it has no options")
        return {}

    @staticmethod
    def plays(game: Game) -> bool:
        """Return whether the bot can play a game."""
        ...

    def choose(self, decision: HouseDecision) -> int | Sequence[Action]:
        """Answer with an index into the legal actions, or with actions to be played in order."""
        ...
