"""Checks that the tests of every game's rules share: a sound position, the legal actions, and the rule that forbids an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from referee.game import Game, IllegalAction, Seat, Setup, State, label
from referee.kit.chance import ScriptedChance
from referee.kit.document import Document


def read_sound(game: Game, setup: Setup, data: Mapping[str, Any]) -> State:
    """Read a position without problems."""
    document = Document(data, "position")
    state = game.read_state(setup, document)
    document.finish()
    assert document.problems == []
    assert state.problems() == []
    return state


def legal(state: State, seat: Seat | None = None) -> list[str]:
    """The labels of the legal actions of a seat, or of the first seat to act."""
    return [label(action) for action in state.legal_actions(state.seats_to_act()[0] if seat is None else seat)]


def refused(game: Game, state: State, action: str, seat: Seat | None = None) -> str:
    """The rule that forbids an action of a seat, or of the first seat to act; the refusal leaves no trace."""
    before = state.to_json()
    with pytest.raises(IllegalAction) as caught:
        state.apply(state.seats_to_act()[0] if seat is None else seat, game.parse_action(action), ScriptedChance())
    assert state.to_json() == before
    return caught.value.rule
