"""Compute the luck in the draws of a match, and results without that luck.

The luck is a control variate whose mean is 0 by construction.

The proof is in docs/luck.md. `Luck` adds up the differences in value between each draw and other draws from the same state, for
any estimate of the value of states; `without_luck` subtracts the luck from results, with a coefficient fitted to other results.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Generic, TypeVar

from referee.game import Chance
from referee.kit.chance import FastChance

ALTERNATIVES = 8
"""The number of other draws with which each draw is compared."""
Position = TypeVar("Position")


class Luck(Generic[Position]):
    """The luck of each seat in the draws of a match so far, in points.

    Attributes:
        points: the sum of the luck over all draws, for each seat.
    """

    def __init__(self, value: Callable[[Position], Sequence[float]], seats: int, seed: str) -> None:
        """Begin before the first draw.

        Args:
            value: a function that estimates the points of each seat in a position. A better estimate explains more luck, but the
            mean of the luck is 0 for any estimate.
            seats: the number of seats.
            seed: the seed that determines the alternatives.
        """
        self._value = value
        self._random = random.Random(seed)
        self.points = [0.0] * seats

    def add(self, after: Position, again: Callable[[Chance], Position]) -> None:
        """Add the luck in the draws of one step.

        Args:
            after: the position after the step.
            again: a function that repeats the step from the same position with another chance, and returns the position after it.
        """
        others = [self._value(again(FastChance(self._random.getrandbits(40)))) for _ in range(ALTERNATIVES)]
        for seat, (points, *alternatives) in enumerate(zip(self._value(after), *others, strict=True)):
            # The draw and its alternatives have the same distribution, so the mean of this difference is 0 for any estimate.
            self.points[seat] += points - mean(alternatives)


def without_luck(results: Sequence[float], luck: Sequence[float]) -> list[float]:
    """Return each result minus the product of its luck and a coefficient from a regression over all other results.

    Therefore, the coefficient is independent of the luck that it multiplies, and the mean does not change.
    """
    count = len(results)
    products = sum(result * lucky for result, lucky in zip(results, luck, strict=True))
    squares = sum(lucky * lucky for lucky in luck)
    total, lucky_total = sum(results), sum(luck)
    found = []
    for result, lucky in zip(results, luck, strict=True):
        others = (total - result) / (count - 1)
        # These are sums over all other results, derived from the totals, because adding them up for each result takes quadratic
        # time.
        covered = products - result * lucky - others * (lucky_total - lucky)
        rest = squares - lucky * lucky
        found.append(result - lucky * (covered / rest if rest > 0 else 0.0))
    return found
