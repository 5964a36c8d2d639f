"""`make formats`: tournaments of every format that follow from seeds, played to their ends by the code of `dogana tournament`."""

from __future__ import annotations

import random

import pytest

from bench.formats import ENTRANTS, PAGE, SEATS, WAYS, Cell, Way, budget_of, plan, result, winners
from bench.sections import marks
from referee.tournament.course import course
from referee.tournament.plan import Format


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
def test_a_seed_says_all(way: Way) -> None:
    assert winners(Cell(8, 4), way, 1, 3) == winners(Cell(8, 4), way, 1, 3)


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
def test_the_best_entrant_wins_more_often_than_by_chance_and_not_always(way: Way) -> None:
    shares = [winners(Cell(8, 4), way, 1, seed)[0] for seed in range(30)]
    assert 2 / 8 < sum(shares) / 30 < 1


def test_the_budget_is_a_round_robin_with_two_blocks() -> None:
    assert budget_of(Cell(8, 2)) == 2 * (8 * 7 // 2) * 2


def test_a_stronger_entrant_is_placed_first_if_nothing_else_differs() -> None:
    cell = Cell(8, 2)
    terms = plan(cell, Way("", Format.ROUND_ROBIN), 1, 1)
    first = course(terms, {}).rounds[0].fixtures[0]
    strengths = [0.0] * 8
    strengths[first.seats[1]] = 1000.0
    assert [seat.rank for seat in result(first, strengths, random.Random(1)).seats] == [2, 1]


def test_the_page_has_a_row_for_each_field() -> None:
    begin, end = marks("make formats")
    table = PAGE.read_text().partition(begin)[2].partition(end)[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert [(int(row[1]), int(row[2])) for row in rows] == [(one, seats) for one in ENTRANTS for seats in SEATS]
