"""Fitting the search's estimate in Venezia."""

from __future__ import annotations

import random

import pytest
from house_bots.search.venezia_value import FEATURES, MOST_LEFT

from bench.values_venezia import GAME, Sums, fit, solved
from referee.registry import shipped_board


def test_the_weights_of_a_linear_rule_are_found() -> None:
    dice, rule, sums = random.Random(1), [float(number) for number in range(len(FEATURES))], Sums()
    for _ in range(5000):
        inputs = [dice.gauss(0, 3) for _ in FEATURES]
        sums.add(inputs, sum(map(float.__mul__, rule, inputs)))
    assert solved(sums) == pytest.approx(rule, abs=0.01)
    assert sums.error(solved(sums)) < 0.001 * sums.squares


def test_a_fit_has_numbers_for_each_number_of_rounds_left_and_depends_on_the_seed_alone() -> None:
    setup = GAME.setup(2, {}, shipped_board(GAME))
    fitted = fit(setup, 8, 3)
    assert {left: len(weights) for left, (weights, _) in fitted.items()} == {
        left: len(FEATURES) for left in range(1, MOST_LEFT + 1)
    }
    assert fitted == fit(setup, 8, 3)
    assert fitted != fit(setup, 8, 4)
