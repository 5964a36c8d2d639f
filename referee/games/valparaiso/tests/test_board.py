"""Numbers of the pieces come from the board's file, wherever the rules use them (RULES.md, section 1)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from referee.game import Setup, SetupError, label
from referee.games.valparaiso import GAME
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import BOARD, do, goods, legal, place
from referee.kit.chance import LiveChance
from referee.kit.document import Document


def corrected(path: str, value: object) -> dict[str, Any]:
    """The shipped board with another value at `table.entry`."""
    board = copy.deepcopy(BOARD)
    *tables, entry = path.split(".")
    part = board
    for name in tables:
        part = part[name]
    part[entry] = value
    return board


def on_board(state: ValparaisoState, path: str, value: object) -> ValparaisoState:
    """The same position on a corrected board."""
    setup: Setup = GAME.setup(state.setup.seats, state.setup.options, corrected(path, value))
    again = GAME.read_state(setup, Document(state.to_json(), "position"))
    assert isinstance(again, ValparaisoState)
    assert again.problems() == []
    return again


@pytest.mark.parametrize(
    ("effect", "numbers", "card", "actions", "money", "vp"),
    [
        ("sell10", {"gain": {"money": 12}}, "k2", ["use(1,main)", "sell_for(silver)"], 32, 0),
        ("gain10", {"gain": {"money": 11}}, "a2", ["use(1,alt)"], 31, 0),
        ("hire5", {"pay": {"money": 6}}, "b12", ["use(1,main)"], 14, 0),
        ("good5_vp", {"pay": {"money": 4}, "gain": {"vp": 3}}, "a8", ["use(1,main)", "give(silver)"], 16, 3),
        ("buy3", {"pay": {"money": 4}, "most": 2}, "b14", ["use(1,alt)", "buy(wheat)", "buy(wheat)"], 12, 0),
        ("pay10_vp", {"pay": {"money": 5}, "gain": {"vp": 1}, "most": 4}, "b22", ["use(1,main)", "pay(4)"], 0, 4),
    ],
)
def test_v4_11_what_an_action_costs_and_brings_is_on_the_board(
    effect: str, numbers: object, card: str, actions: list[str], money: int, vp: int
) -> None:
    owned = [] if card == "k2" else [card]
    warehouse = [goods(1), {}, {}]
    state = place(3, cards=[card, "k7"], achievements=[owned, [], []], warehouse=warehouse)
    state = do(on_board(state, f"effects.{effect}", numbers), *actions)
    assert (state.money[0], state.vp[0], state.seat) == (money, vp, 0)


def test_v4_4_so_is_what_steps_cost_with_move_plus() -> None:
    state = place(cards=["a1"], achievements=[["a1"], []], money=[2, 20])
    state = do(on_board(state, "prices.moves_plus", [0, 2, 2]), "use(1,main)", "start(v,z1)", "step(m1)", "step(z4)")
    assert state.money[0] == 0


def test_v2_2_so_are_the_slots_and_the_houses_that_open_one_more() -> None:
    state = on_board(place(phase="PLAN", row=[0]), "seat.slot_houses", 1)
    do(state, "place(k1)", "place(k2)", "place(k3)", "place(k4)", "place(k5)")
    fewer = do(on_board(place(phase="PLAN"), "seat.slots", 2), "place(k1)", "place(k2)")
    assert not any(action.startswith("place(") for action in legal(fewer))


def test_s2_so_are_the_houses_and_merchants_of_a_seat() -> None:
    board = corrected("seat.houses", 6)
    board["seat"]["merchants"] = [5, 4, 4, 4]
    state = GAME.start(GAME.setup(2, {}, board), LiveChance(1))
    assert isinstance(state, ValparaisoState)
    assert (state.houses_left, state.merchants_reserve, state.problems()) == ([6, 6], [3, 3], [])


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("effects.sell10", {"pay": {"money": 1}, "gain": {"money": 10}}, "board.effects.sell10.pay is not known here"),
        ("effects.good5_vp", {"pay": {"silver": 1}, "gain": {"vp": 1}}, "board.effects.good5_vp.pay.money is missing"),
        ("effects.hire", {"pay": {"vp": 1}}, "board.effects.hire.pay must not have victory points"),
        ("effects.buy3", {"pay": {"money": 2}, "most": 11}, "board.effects.buy3.most must be an integer from 1 to 10"),
        ("effects.fly", {}, "board.effects.fly is not known here"),
        ("effects.move", {"most": 2}, "board.effects.move is not known here"),
        ("prices.moves_plus", [0, 3, 1], "board.prices.moves_plus must ascend from 0"),
        ("seat.merchants", [1, 4, 4, 4], "board.seat.merchants[0] must be an integer from 2"),
        ("seat.slots", 5, "board.seat.slots must be an integer from 1 to 4"),
        ("seat.hold", 0, "board.seat.hold must be an integer"),
        ("sides.small.roads", ["v-z9"], "'v-z9', which must join different locations"),
        ("sides.small.column", "", "must have a letter: a market has tiles"),
        ("sides.small.row", [{"wheat": 1}] * 41, "must not have more than 40 spaces"),
        ("sides.small.reserve", "abcde", "five spaces for each letter"),
        ("tiles.tb1", {"pay": {"vp": 1}}, "must not have victory points"),
        ("tiles.ta4", {"choose": "same", "gain": {"silver": 1}}, "goes with nothing else to gain"),
        ("action_cards.k1", {"main": "fly"}, "must be one of transfer"),
        ("achievements.a1", {"vp": 2, "main": "river", "seats": 6}, "must be an integer from 2 to 5"),
        ("achievements.a10", {"vp": 2, "main": "river"}, "board.achievements.a10 is not known here"),
    ],
)
def test_s1_a_board_that_the_rules_cannot_use_is_refused(path: str, value: object, problem: str) -> None:
    with pytest.raises(SetupError) as caught:
        GAME.setup(2, {}, corrected(path, value))
    assert any(problem in line for line in caught.value.problems), caught.value.problems


class Untouched(list[int]):
    """A list that refuses to be changed."""

    def __setitem__(self, place: object, value: object) -> None:
        raise AssertionError("a question changes the state")


@pytest.mark.parametrize("phase", ["PLAN", "USE"])
def test_v3_2_what_is_legal_is_found_without_changing_anything(phase: str) -> None:
    cards = ["k1", "k2", "a8", "b22"]
    state = place(phase=phase, cards=cards, achievements=[["a8", "b22"], []], warehouse=[goods(1, 1, 1), {}])
    before = legal(state, 0)
    state.money, state.vp = Untouched(state.money), Untouched(state.vp)
    assert [label(action) for action in state.legal_actions(0)] == before
