"""Fitting the values that searches estimate with."""

from __future__ import annotations

import random

import pytest
from house_bots.search import cargo_noir_value, venezia_value

from bench import values_cargo_noir, values_venezia
from bench.linear import Sums, beyond_rivals
from referee.registry import shipped_board


def test_the_weights_of_a_linear_rule_are_found() -> None:
    dice, rule, sums = random.Random(1), [float(number) for number in range(8)], Sums(8)
    for _ in range(5000):
        inputs = [dice.gauss(0, 3) for _ in rule]
        sums.add(inputs, sum(map(float.__mul__, rule, inputs)))
    weights = sums.weights([20.0] * 8)
    assert weights == pytest.approx(rule, abs=0.01)
    assert sums.explained(weights) > 0.999
    assert sums.explained([0.0] * 8) == 0


def test_a_penalty_keeps_its_weight_small() -> None:
    dice, sums = random.Random(2), Sums(2)
    for _ in range(1000):
        one, other = dice.gauss(0, 1), dice.gauss(0, 1)
        sums.add([one, other], one + other)
    assert sums.weights([0.0, 1e6]) == pytest.approx([1.0, 0.0], abs=0.1)


def test_numbers_beyond_rivals_are_less_the_mean_of_theirs() -> None:
    assert beyond_rivals([[1.0, 0.0], [3.0, 6.0], [5.0, 3.0]]) == [[-3.0, -4.5], [0.0, 4.5], [3.0, 0.0]]


def test_a_fit_of_venezia_has_numbers_for_each_number_of_rounds_left_and_depends_on_the_seed_alone() -> None:
    game = values_venezia.GAME
    setup = game.setup(2, {}, shipped_board(game))
    fitted = values_venezia.fit(setup, 8, 3)
    assert {row: len(weights) for row, (weights, _) in fitted.items()} == dict.fromkeys(
        venezia_value.ROWS, len(venezia_value.FEATURES)
    )
    assert fitted == values_venezia.fit(setup, 8, 3)
    assert fitted != values_venezia.fit(setup, 8, 4)


def test_a_fit_of_cargo_noir_has_two_numbers_for_each_feature_and_depends_on_the_seed_alone() -> None:
    game = values_cargo_noir.GAME
    setup = game.setup(2, {}, shipped_board(game))
    fitted = values_cargo_noir.fit(setup, 6, 3)
    assert {row: len(weights) for row, (weights, _) in fitted.items()} == dict.fromkeys(
        cargo_noir_value.ROWS, len(cargo_noir_value.FEATURES)
    )
    assert fitted == values_cargo_noir.fit(setup, 6, 3)
    assert fitted != values_cargo_noir.fit(setup, 6, 4)
