"""Luck in draws, in a game that is as small as can be: two seats roll dice, and may stop."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev, variance

import pytest

from bench.draws import Luck, without_luck
from referee.game import Chance
from referee.kit.chance import LiveChance

ROLLS = 6


@dataclass(frozen=True)
class Race:
    """A seat rolls up to six dice and adds them up; the other does so with dice that are worth half as much."""

    points: tuple[float, float] = (0.0, 0.0)
    rolls: int = 0

    def rolled(self, chance: Chance) -> Race:
        one, other = (chance.stream("dice").below(6) + 1 for _ in range(2))
        return replace(self, points=(self.points[0] + one, self.points[1] + other / 2), rolls=self.rolls + 1)


def expected(race: Race) -> Sequence[float]:
    return [race.points[0] + 3.5 * (ROLLS - race.rolls), race.points[1] + 1.75 * (ROLLS - race.rolls)]


def nonsense(race: Race) -> Sequence[float]:
    return [math.sin(race.points[0] * 5) * race.points[1], race.points[0] ** 2 - race.rolls]


def played(seed: int, value: Callable[[Race], Sequence[float]]) -> tuple[float, float]:
    """Return the difference of the points, to which the bots add noise of their own, and that of the luck.

    The first seat stops when it likes what it has, so the number of draws depends on the draws.
    """
    race, luck, chance = Race(), Luck(value, 2, str(seed)), LiveChance(seed)
    while race.rolls < ROLLS and race.points[0] < 16:
        before = race
        race = before.rolled(chance)
        luck.add(race, before.rolled)
    noise = random.Random(seed).gauss(0, 1)
    return race.points[0] - race.points[1] + noise, luck.points[0] - luck.points[1]


@pytest.mark.long
@pytest.mark.parametrize("value", [expected, nonsense])
def test_luck_has_the_mean_0_with_any_value_and_results_without_it_keep_theirs(
    value: Callable[[Race], Sequence[float]],
) -> None:
    results, luck = zip(*(played(seed, value) for seed in range(3000)), strict=True)
    error = math.sqrt(len(luck))
    assert abs(fmean(luck)) < 3 * stdev(luck) / error
    changes = [after - before for after, before in zip(without_luck(results, luck), results, strict=True)]
    assert abs(fmean(changes)) < 3 * stdev(changes) / error


def test_results_without_luck_vary_less() -> None:
    results, luck = zip(*(played(seed, expected) for seed in range(500)), strict=True)
    assert variance(without_luck(results, luck)) < 0.6 * variance(results)


def test_a_value_that_knows_nothing_costs_next_to_nothing() -> None:
    results, _ = zip(*(played(seed, expected) for seed in range(500)), strict=True)
    unrelated = [random.Random(seed).gauss(0, 1) for seed in range(500)]
    assert variance(without_luck(results, unrelated)) < 1.02 * variance(results)
    assert without_luck(results, [0.0] * 500) == list(results)


def test_the_coefficient_of_a_result_comes_from_all_others() -> None:
    results, luck = [1.0, 2.0, 4.0, 9.0], [-1.0, 0.5, 1.0, 2.0]
    found = without_luck(results, luck)
    others = list(zip(results[:3], luck[:3], strict=True))
    centre = fmean(result for result, _ in others)
    coefficient = sum((result - centre) * lucky for result, lucky in others) / sum(lucky**2 for _, lucky in others)
    assert found[3] == pytest.approx(9.0 - 2.0 * coefficient)
    assert without_luck([1.0, 2.0, 4.0, 99.0], luck)[3] == pytest.approx(99.0 - 2.0 * coefficient)
