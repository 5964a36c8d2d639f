"""What a decision of `search` gains: that better rows gain, and that a line counts all decisions alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from house_bots.search.yunnan import RECIPE
from typing_extensions import override

from bench.gains import Gain, gain, gains_of_match, line
from bench.strength_changes import Changed
from referee.game import Action, Seat, State
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("yunnan")


class LastFirst(Changed):
    """The recipe, but the row to beat is the last of its candidates."""

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        return self.own.candidates(state, seat)[::-1]


def test_a_better_row_than_a_bad_one_gains_and_none_is_no_gain() -> None:
    setup = GAME.setup(2, {}, shipped_board(GAME))
    state = GAME.start(setup, FastChance(1))
    seat = state.seats_to_act()[0]
    found = gain(GAME, LastFirst(RECIPE(setup)), state.observation(seat), seat, 1, 0.5, 4)
    assert found.errors > 0
    assert found.points > 0
    assert gain(GAME, RECIPE(setup), state.observation(seat), seat, 1, 1e-9, 4) == Gain(0.0, 0.0)


def test_a_share_of_the_decisions_of_a_match_is_searched() -> None:
    assert gains_of_match(GAME, 2, (1, 0.0), 1, 0.0, 0.001, 2) == []
    assert 3 < len(gains_of_match(GAME, 2, (1, 0.0), 1, 1.0, 0.001, 2)) < 60


def test_a_margin_counts_what_it_lets_through_in_all_decisions() -> None:
    matches = [[Gain(0.7, 2.0), Gain(3.0, 4.0)], [Gain(0.0, 0.0), Gain(math.inf, -1.0)], []]
    assert line(0.0, matches).startswith("margin 0: departs in 75%, gains +1.25 ± ")
    assert line(2.0, matches).startswith("margin 2: departs in 50%, gains +0.75 ± ")
    assert line(1.0, matches[:1]) == "margin 1: departs in 50%, gains +2.00 points a decision"


@pytest.mark.parametrize("matches", [[[Gain(1.0, 3.0)], [Gain(1.0, 0.0)] * 3]])
def test_a_match_with_more_decisions_has_more_weight(matches: list[list[Gain]]) -> None:
    assert "gains +0.75" in line(0.0, matches)
