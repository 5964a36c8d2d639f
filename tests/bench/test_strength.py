"""The measurement of `search` against `greedy`: a match, its block, and the page of all results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench import strength
from bench.strength import Cell, Played, blocks_of, play, row_of, wilson

MATCH = Played("yunnan", 2, 0.1, 1, 0, 1.0, 12.0, 50, 500, 5, 5.0)


def test_a_match_is_played_to_its_end() -> None:
    played = play(Cell("yunnan", 2, 0.001), seed=3, seat=1)
    assert (played.game, played.seats, played.seed, played.seat) == ("yunnan", 2, 3, 1)
    assert played.first in (0.0, 0.5, 1.0)
    assert played.decisions > 10


def test_only_whole_blocks_count_and_each_match_once() -> None:
    other = replace(MATCH, seat=1, first=0.0)
    blocks = blocks_of([MATCH, MATCH, other, replace(MATCH, seed=2)])
    assert blocks == {Cell("yunnan", 2, 0.1): {1: [MATCH, other]}}


def test_a_row_says_how_sure_it_is() -> None:
    block = [MATCH, replace(MATCH, seat=1)]
    row = row_of(Cell("yunnan", 2, 0.1), dict.fromkeys(range(10), block))
    assert row == "| Yunnan | 2 (50) | 0.1 | **100 %** (72 to 100) | 10 | +12.0 ± 0.0 | 10 | 10 % |"


def test_wilson_s_interval_is_that_of_the_textbook() -> None:
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_the_page_is_made_from_the_results() -> None:
    assert strength.PAGE.read_text() == strength.page()
