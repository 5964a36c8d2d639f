"""Measuring the effects of the search's estimates in Valparaíso."""

from __future__ import annotations

import random

import pytest
from house_bots.greedy.valparaiso_estimates import NAMES, factors

from bench.linear import Sums
from bench.values_valparaiso import GAME, effects, measured, played
from referee.registry import shipped_board


def test_the_slopes_bends_and_errors_of_a_noisy_rule_are_found() -> None:
    dice, sums = random.Random(1), Sums(4)
    for _ in range(4000):
        one, other = dice.uniform(-1, 1), dice.uniform(-1, 1)
        sums.add([one, other, one * one, other * other], 3 * one - 2 * one * one + other + dice.gauss(0, 1))
    first, second = effects(sums)
    assert (first.slope, first.bend) == pytest.approx((3, -2), abs=0.15)
    assert (second.slope, second.bend) == pytest.approx((1, 0), abs=0.15)
    assert first.error == pytest.approx(1 / (4000 / 3) ** 0.5, rel=0.1)


def test_a_measurement_depends_on_the_seed_alone() -> None:
    setup = GAME.setup(3, {}, shipped_board(GAME))
    drawn, points = played(setup, 5, factors(3))
    assert [len(one) for one in drawn] == [len(NAMES)] * 3
    assert sum(points) == pytest.approx(0)
    assert played(setup, 5, factors(3)) == (drawn, points)
    assert played(setup, 6, factors(3))[0] != drawn


@pytest.mark.long
def test_a_measurement_has_an_effect_for_each_estimate() -> None:
    found = measured(GAME.setup(2, {}, shipped_board(GAME)), 60, 1, factors(2))
    assert len(found) == len(NAMES)
    assert all(effect.error > 0 for effect in found)
