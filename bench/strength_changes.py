"""Recipes of `search` with one part changed, to measure the effect of that part (`python -m bench.strength --change NAME`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from house_bots.search.recipe import TO_THE_END, Recipe, Variant
from typing_extensions import override

from referee.game import Action, Chance, RolloutPolicy, Seat, State


class WithoutMargin(Variant):
    """A recipe whose search plays the candidate with the best mean, without a margin."""

    def __init__(self, own: Recipe) -> None:
        super().__init__(own)
        self.margin = 0.0


class WithoutValue(Variant):
    """A recipe in which the value of a position is the score so far."""

    @override
    def value(self, state: State) -> list[float]:
        return [float(score) for score in state.scores()]


class Settings(Variant):
    """A recipe with some settings changed."""

    def __init__(self, own: Recipe, stages: int | None, long_samples: float | None) -> None:
        super().__init__(own)
        self._stages = stages
        if long_samples is not None:
            self.long_samples = long_samples
        elif stages is not None:
            self.long_samples = math.inf

    @override
    def stages(self, state: State) -> int:
        return self.own.stages(state) if self._stages is None else self._stages


class HalfOfTheCandidates(Variant):
    """A recipe in which only the first half of the candidates is compared."""

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        rows = self.own.candidates(state, seat)
        return rows[: (len(rows) + 1) // 2]


class OwnChance(Variant):
    """A recipe in which each rollout has its own chance, so that differences between candidates include luck."""

    def __init__(self, own: Recipe) -> None:
        super().__init__(own)
        self.policy = _Unpaired(own.policy)


class _Unpaired(RolloutPolicy):
    """A policy that advances the chance of each rollout by a different number of draws."""

    def __init__(self, own: RolloutPolicy) -> None:
        self._own = own
        self._chance: Chance | None = None
        self._rollouts = itertools.count(1)

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        # Each rollout has its own chance object, so a new object means a new rollout.
        if chance is not self._chance:
            self._chance = chance
            for _ in range(next(self._rollouts)):
                chance.stream("policy").below(2)
        return self._own.row(state, seat, chance)


CHANGES: dict[str, tuple[Callable[[Recipe], Recipe], str]] = {
    "margin": (WithoutMargin, "no margin"),
    "chance": (OwnChance, "no common random numbers"),
    "value": (WithoutValue, "the score instead of the value"),
    "end": (lambda own: Settings(own, TO_THE_END, None), "rollouts to the end"),
    "stage": (lambda own: Settings(own, 1, None), "rollouts to the end of the turn or round"),
    "candidates": (HalfOfTheCandidates, "half of the candidates"),
}
"""The changes by name: the function that makes the changed recipe from the original one, and a description."""
