"""Whether other constants of TrueSkill predict better: by matches that follow from seeds, and a loss that anybody can check."""

from __future__ import annotations

import math

import pytest

from bench.constants import OURS, PAGE, Constants, Found, Match, losses, play, row
from bench.sections import marks
from referee.registry import games


@pytest.mark.parametrize("game", games())
def test_a_seed_says_all(game: str) -> None:
    assert play(game, 3) == play(game, 3)


def test_a_prediction_without_knowledge_is_that_of_a_coin() -> None:
    assert losses([Match((0, 1, 2), (1, 2, 3))], OURS) == pytest.approx([math.log(2)])


def test_a_prediction_gets_better_with_each_match_that_agrees() -> None:
    found = losses([Match((0, 1), (1, 2))] * 10, OURS)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.3


def test_with_more_noise_in_a_performance_ratings_learn_slower() -> None:
    matches = [Match((0, 1), (1, 2))] * 5
    slow = Constants(4 * OURS.beta, OURS.tau, OURS.draw)
    assert sum(losses(matches, slow)) > sum(losses(matches, OURS))


def test_the_page_has_a_row_for_each_game() -> None:
    begin, end = marks("make ratings", "constants")
    table = PAGE.read_text().partition(begin)[2].partition(end)[0]
    titles = [line.split("|")[1].strip() for line in table.splitlines() if line.count("|") == 7][2:]
    assert titles == [game.title for game in games().values()]


def test_a_gain_has_its_error() -> None:
    line = row(Found("yunnan", 0.0, 0.33, Constants(0.5, 0.0, 0.08), 0.32, 0.01, 0.005))
    assert line == "| Yunnan | 0.0% | 0.3300 | 0.5, 0, 0.08 | 0.3200 | +0.0100 ± 0.0098 |"
