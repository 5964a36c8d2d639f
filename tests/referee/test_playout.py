"""Playing a row of actions as far as it is legal."""

from __future__ import annotations

import pytest

from referee.game import IllegalAction
from referee.kit.chance import FastChance
from referee.playout import play_row
from referee.registry import shipped_board
from tests.toy.games.sealed import GAME, Commit

CHANCE = FastChance(seed=1)


def test_a_row_is_played_until_an_action_is_not_legal_any_more() -> None:
    state = GAME.start(GAME.setup(2, {}, shipped_board(GAME)), CHANCE)
    row = [state.legal_actions(0)[0], Commit(), Commit(), Commit()]
    expected = state.clone()
    for action in row[:2]:
        expected.apply(0, action, CHANCE)
    assert play_row(state, 0, row, CHANCE) == 2
    assert state.to_json() == expected.to_json()


def test_a_row_whose_first_action_is_illegal_is_refused_and_nothing_is_played() -> None:
    state = GAME.start(GAME.setup(2, {}, shipped_board(GAME)), CHANCE)
    state.apply(0, Commit(), CHANCE)
    before = state.to_json()
    with pytest.raises(IllegalAction):
        play_row(state, 0, [Commit(), state.legal_actions(1)[0]], CHANCE)
    assert state.to_json() == before
