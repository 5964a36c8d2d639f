"""The house bot `random`, which plays any game by drawing uniformly from the legal actions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol


class _Listed(Protocol):
    @property
    def actions(self) -> Sequence[Any]: ...


class RandomBot:
    """A bot for any game. With the same match ID and seat, it makes the same draws."""

    def __init__(self, game: object, setup: object, match_id: str, seat: int, **options: Any) -> None:
        """Take a seat; the game does not matter."""
        self._random = random.Random(f"{match_id}:{seat}")  # noqa: S311 must be repeatable

    thinks: ClassVar[bool] = False

    @staticmethod
    def read_options(options: Mapping[str, str]) -> dict[str, Any]:
        """Refuse any option."""
        if options:
            raise ValueError("it has no options")
        return {}

    @staticmethod
    def plays(game: object) -> bool:
        """Return True, because the bot plays every game."""
        return True

    def choose(self, decision: _Listed) -> int:
        """Draw a legal action; return its index."""
        return self.pick(len(decision.actions))

    def pick(self, count: int) -> int:
        """Draw an index from 0 to `count` - 1."""
        return int(self._random.random() * count)
