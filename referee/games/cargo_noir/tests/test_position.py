"""Positions: optional parts and problems (RULES.md, sections 2.1 and 9)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.game import label
from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import BOARD, place, setup
from referee.kit.chance import FastChance
from referee.kit.document import Document
from referee.records.position import read_position
from referee.registry import find
from tests.tables import example_position

RULES = (Path(__file__).parent.parent / "RULES.md").read_text()


def problems(data: object, seats: int = 2, **options: object) -> list[str]:
    document = Document(data, "state")
    state = GAME.read_state(setup(seats, **options), document)
    document.finish()
    return document.problems + state.problems()


def test_the_example_of_the_rules_can_be_played(tmp_path: Path) -> None:
    file = tmp_path / "position.json"
    file.write_text(json.dumps(example_position("cargo_noir")))
    position = read_position(file, find)
    assert position.state.seats_to_act() == (0,)
    assert label(position.state.legal_actions(0)[0]) == "casino"


def test_every_entry_of_a_position_is_described_in_the_rules() -> None:
    section = RULES[RULES.index("## 2. State") : RULES.index("## 3. Setup")]
    for name in place(phase="P3").to_json():
        assert f"`{name}" in section, name


def test_what_the_rest_implies_can_be_left_out() -> None:
    whole = place(
        casino={0: 1}, stacks={"rotterdam": {0: 2, 1: 3}}, cards={0: {"villa": 2}}, goods={1: {"gold": 3}}
    ).to_json()
    keys = ("turn", "seat", "phase", "market", "port", "safe", "casino", "cards", "goods")
    brief = {key: whole[key] for key in keys}
    document = Document(brief, "state")
    assert GAME.read_state(setup(), document).to_json() == whole
    assert document.problems == []


def test_what_must_be_there_is_missed() -> None:
    assert problems({})[:6] == [
        "state.turn is missing",
        "state.seat is missing",
        "state.phase is missing",
        "state.port is missing",
        "state.market is missing",
        "state.safe is missing",
    ]


BAD: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("state.turn must be an integer from 1 to 11", lambda data: data.update(turn=12)),
    ("state.seat must be an integer from 0 to 1", lambda data: data.update(seat=2)),
    ("state.phase must be one of P1", lambda data: data.update(phase="P9")),
    ("state.port.rotterdam.goods.tea is not known", lambda data: data["port"]["rotterdam"]["goods"].update(tea=1)),
    ("state.port.rotterdam.stacks.7 is not known", lambda data: data["port"]["rotterdam"]["stacks"].update({"7": 1})),
    ("state.port.tanger is closed with 2 players", lambda data: data["port"].update(tanger={})),
    ("state.port.rio is closed", lambda data: data["port"].update(rio={"goods": {}})),
    ("state.safe must have 2 entries", lambda data: data.update(safe=[1])),
    ("state.safe[0] must be an integer", lambda data: data.update(safe=["a", 1])),
    ("state.goods must have 2 entries", lambda data: data.update(goods=[{}])),
    ("state.last_turn is 11 by the option", lambda data: data.update(last_turn=9)),
    ("state.ships_home is 0", lambda data: data.update(ships_home=2)),
    ("state.banned_ports[0] must be one of rotterdam", lambda data: data.update(banned_ports=["tanger"])),
    ("state.todo_ports[1] names cape_town a second time", lambda data: data.update(todo_ports=["cape_town", "cape_town"])),
    ("state.colour is not known here", lambda data: data.update(colour="red")),
    ("I1: ", lambda data: data.update(bank=99)),
    ("I1: with bank_limited", lambda data: data.update(coins_total=61, bank=data["bank"] + 1)),
    ("I2: there are 13 gold", lambda data: data["bag"].update(gold=data["bag"]["gold"] - 1)),
    ("I3: the Black Market has 7", lambda data: data["market"].update(uranium=7)),
    ("I3: rotterdam has 5", lambda data: data["port"]["rotterdam"]["goods"].update(gold=1)),
    ("I3: rotterdam has 3", lambda data: data["port"]["rotterdam"]["goods"].update(alcohol=3)),
    ("I4: there are 9 villa cards", lambda data: data.update(cards=[{"villa": 3}, {}])),
    ("I4: seat 1 owns 3 warehouse", lambda data: data.update(cards=[{}, {"warehouse": 3}])),
    ("I5: seat 0 has 4 ships", lambda data: data.update(casino=[2, 3])),
    ("I5: seat 1 has 1 ships at home", lambda data: data.update(casino=[1, 1])),
    ("I6: two stacks in rotterdam", lambda data: data["port"]["rotterdam"]["stacks"].update({"0": 3, "1": 3})),
    ("I8: seat 1 has 7 goods", lambda data: data.update(goods=[{}, {"gold": 7}])),
    ("I8: seat 0 has 40 goods", lambda data: data.update(goods=[{"gold": 40}, {}])),
    ("I9: credit outside phase 2", lambda data: data.update(credit=3)),
    ("todo_casino exceeds", lambda data: data.update(todo_casino=2)),
    ("todo_market exceeds", lambda data: data.update(todo_market=1)),
    ("every ship in Macao is still to be resolved", lambda data: data.update(todo_casino=0)),
    ("alone, so it is not resolved yet (C3.2)", lambda data: data.update(todo_ports=["rotterdam"])),
    ("todo_ports names hong_kong", lambda data: data.update(todo_ports=["hong_kong"])),
    ("banned_ports names cape_town, where the seat has a ship", lambda data: data.update(banned_ports=["cape_town"])),
    ("more withdrawals than ships", lambda data: data.update(banned_ports=["hong_kong"])),
    ("syndicate_used exceeds", lambda data: data.update(syndicate_used=1)),
    ("phase P2 has nothing to hand in", lambda data: data.update(phase="P2")),
    ("ships to be resolved belong to phase 1", lambda data: data.update(phase="P3")),
    ("phase P3 needs a ship at home", lambda data: data.update(phase="P3", todo_casino=0, todo_ports=[])),
    ("diff_kinds belongs to the phase P2_DIFF", lambda data: data.update(diff_kinds=["gold"])),
    ("phase P2_DISCARD needs more goods", lambda data: data.update(phase="P2_DISCARD")),
    ("pending_stake belongs to the phase STAKE", lambda data: data.update(pending_stake={"kind": "raise", "port": "rotterdam", "min": 4, "max": 6})),
    ("pending_stake must be from 4 to 7 coins", lambda data: data.update(phase="STAKE", pending_stake={"kind": "raise", "port": "rotterdam", "min": 4, "max": 9})),
    ("is over only after the last turn", lambda data: data.update(phase="OVER")),
    ("is not played in turn 1", lambda data: data.update(turn=1)),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "change"), BAD, ids=[reason for reason, _ in BAD])
def test_everything_that_is_wrong_with_a_position_is_said(reason: str, change: Callable[[dict[str, Any]], Any]) -> None:
    data = place(casino={0: 1}, stacks={"rotterdam": {0: 2, 1: 3}, "cape_town": {0: 1}}).to_json()
    data = json.loads(json.dumps(data))
    assert problems(data) == []
    change(data)
    assert any(reason in problem for problem in problems(data)), problems(data)


def test_several_problems_are_said_at_once() -> None:
    data = place(casino={0: 3}).to_json()
    data.update(turn=99, bank=0, credit=1)
    assert len(problems(data)) >= 3


def test_the_option_first_player_and_the_position_must_agree() -> None:
    data = place(casino={0: 3}).to_json()
    assert problems(data, first_player=1) == ["state.first_seat is 1 by the option first_player; change the option"]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), seats=st.integers(2, 5), data=st.data())
def test_tokens_coins_cards_and_ships_are_conserved_whatever_is_played(
    seed: int, seats: int, data: st.DataObject
) -> None:
    """Invariants I1 to I9, after every action in matches chosen by Hypothesis."""
    chance = FastChance(seed)
    state = GAME.start(GAME.setup(seats, {"last_turn": 4}, BOARD), chance)
    assert isinstance(state, CargoNoirState)
    while not state.is_over():
        legal = state.legal_actions(state.seat)
        state.apply(state.seat, legal[data.draw(st.integers(0, len(legal) - 1))], chance)
        assert state.problems() == []
