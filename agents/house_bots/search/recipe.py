"""The part of a search that differs from game to game.

It consists of the candidates, and the policy, length and final value of rollouts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from typing_extensions import override

from referee.game import Action, RolloutPolicy, Seat, Setup, State
from referee.playout import END

TO_THE_END = END
"""The length, in stages, of a rollout that continues until the match is over."""


class TimeUp(Exception):
    """The time of a decision ran out during a rollout or while candidates were sought."""


def never() -> bool:
    """Return False, because a search with a given number of rollouts has no time limit."""
    return False


class Recipe(ABC):
    """The search in one game, for one setup. Each game has a subclass in a module named after it.

    Attributes:
        setup: the terms of the match.
        policy: the policy for every seat in rollouts.
        margin: the number of standard errors by which a candidate must be better than the first one to replace it.
        min_samples: the minimum number of samples in which a candidate must have been played to replace the first one.
        long_samples: the number of samples of each candidate, at the usual length, that the budget must allow for a
            long search. Such a search begins again, with long rollouts and more candidates. Long rollouts vary more,
            and depend less on the value.
        long_stages: the number of stages in a long rollout, counting the current one.
        has_secrets: whether anything that matters to a rollout is hidden; if so, each sample has a different hidden
            state.
        win: the points added to the value for beating all rivals, if a rollout reaches the end of the match; each rival
            beaten counts for an equal share.
        is_late: a function that returns whether the time of the decision is over. A slow search for candidates stops
            then.
    """

    def __init__(self, setup: Setup, policy: RolloutPolicy) -> None:
        self.setup = setup
        self.policy = policy
        self.margin = 1.0
        self.min_samples = 2
        self.long_samples = math.inf
        self.long_stages = TO_THE_END
        self.has_secrets = False
        self.win = 0.0
        self.is_late: Callable[[], bool] = never

    @abstractmethod
    def stages(self, state: State) -> int:
        """Return the number of stages in a rollout from a state, counting the current one, or `TO_THE_END`."""

    @abstractmethod
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        """Return the rows to compare. The first is the row that the seat would play without a search."""

    def more_candidates(self, state: State, seat: Seat, rows: Sequence[Sequence[Action]]) -> list[Sequence[Action]]:
        """Return the rows that a long search compares in addition to `rows`."""
        return []

    @abstractmethod
    def value(self, state: State) -> list[float]:
        """Return an estimate of each seat's final points, in a state where a rollout stopped."""


class Variant(Recipe):
    """A recipe that behaves like another recipe; subclasses change a part of it.

    Attributes:
        own: the other recipe.
    """

    def __init__(self, own: Recipe) -> None:
        super().__init__(own.setup, own.policy)
        self.own = own
        self.margin = own.margin
        self.min_samples = own.min_samples
        self.long_samples = own.long_samples
        self.long_stages = own.long_stages
        self.has_secrets = own.has_secrets
        self.win = own.win

    @override
    def stages(self, state: State) -> int:
        return self.own.stages(state)

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        return self.own.candidates(state, seat)

    @override
    def more_candidates(self, state: State, seat: Seat, rows: Sequence[Sequence[Action]]) -> list[Sequence[Action]]:
        return self.own.more_candidates(state, seat, rows)

    @override
    def value(self, state: State) -> list[float]:
        return self.own.value(state)


def distinct(rows: Sequence[Sequence[Action]]) -> list[Sequence[Action]]:
    """Return the rows without duplicates."""
    known: dict[tuple[Action, ...], Sequence[Action]] = {}
    for row in rows:
        known.setdefault(tuple(row), row)
    return list(known.values())
