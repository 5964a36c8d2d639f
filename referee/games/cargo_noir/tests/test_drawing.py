"""The pictures of this game; `tests/referee/test_drawings.py` tests those of all games."""

from __future__ import annotations

import copy
import random
import re
from typing import cast

import pytest

from referee.game import Scene
from referee.games.cargo_noir import GAME
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.drawing_words import can_pay
from referee.games.cargo_noir.names import Card
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import BOARD, do, place, setup
from referee.games.cargo_noir.worth import worth
from referee.kit.chance import FastChance
from tests.drawings import texts


def drawn(state: CargoNoirState, viewer: int | None = None) -> str:
    return GAME.draw(state.setup, state.observation(viewer))


def test_the_drawing_names_ports_families_cards_and_the_turn() -> None:
    words = texts(drawn(place(3, casino={0: 3})))
    for word in ("Rotterdam", "New York", "Rio", "Casa Nostra", "Ti Pot Tong", "Principality", "Macao"):
        assert word.lower() in words.lower(), word


def test_c8_3_the_drawing_breaks_ties_as_the_rules_do() -> None:
    cards = {0: {"villa": 1, "yacht": 1}, 1: {"dive_bar": 1}, 2: {"villa": 1, "yacht": 1}}
    words = texts(drawn(place(3, phase="OVER", turn=11, seat=2, cards=cards)))
    assert "won by seat 1" in words
    standing = words.partition("Final standing")[2]
    assert re.findall(r"(1st|2nd|3rd) ([A-Z][A-Za-z ]+) \d", standing)[:3] == [
        ("1st", "Tres Sombreros"),
        ("2nd", "Casa Nostra"),
        ("2nd", "Ti Pot Tong"),
    ]
    panels = words.partition("Final standing")[2]
    assert [re.search(rf"seat {seat} · (\w+)", panels)[1] for seat in range(3)] == ["2nd", "1st", "2nd"]  # type: ignore[index]


def test_a_family_name_cannot_smuggle_anything_into_the_drawing() -> None:
    board = copy.deepcopy(BOARD)
    board["family"]["names"][0] = '<script>alert("x")</script>&\x00' + "x" * 500
    state = GAME.start(GAME.setup(2, {}, board), FastChance(1))
    svg = GAME.draw(state.setup, state.observation(None))
    assert "<script" not in svg
    assert "x" * 100 not in svg
    texts(svg)


# --- in a match -----------------------------------------------------------------------------------

BOTS = ("gondoliere", "tidewater", "paloma", "kestrel", "monkey")


def picture_after(before: CargoNoirState, after: CargoNoirState, seat: int, action: str) -> str:
    """The picture after an action, with its scene."""
    scene = Scene(
        BOTS[: after.setup.seats], 7, 99, before.observation(None), seat, GAME.parse_action(action), (61.5,) * 5
    )
    return GAME.draw(after.setup, after.observation(None), scene)


def after(state: CargoNoirState, action: str) -> str:
    """The picture after the seat to act has played an action."""
    before = state.clone()
    return picture_after(before, do(state, action), before.seat, action)


def test_a_scene_names_the_bots_the_step_and_what_was_done_and_scored() -> None:
    state = place(phase="P2", credit=6, goods={0: {"gold": 1}})
    words = texts(after(state, "buy(villa)"))
    for said in ("gondoliere", "tidewater", "Step 7 of 99", "buys Villa for 6", "+6 points: Villa", "1:01 left"):
        assert said in words, said


def test_what_an_action_changed_is_marked_and_nothing_else() -> None:
    state = place(phase="P2", credit=6, goods={0: {"gold": 1}})
    still = GAME.draw(state.setup, state.observation(None), Scene(BOTS[:2]))
    corners = 'stroke-linejoin="round"'
    assert still.count(corners) == 1  # that of the legend
    assert after(state, "buy(villa)").count(corners) == 5  # legend, points, credit, the card on offer and in the panel


def test_the_end_says_what_all_points_were_for_and_what_decided() -> None:
    cards = {0: {"villa": 1, "yacht": 1}, 1: {"dive_bar": 1}}
    words = texts(drawn(place(2, phase="OVER", turn=11, seat=1, cards=cards)))
    table = words.rpartition("Final standing")[2]
    assert "Villa 0 6 Yacht 0 10 Dive Bar 16 0 total 16 16 best single card 16 10" in table
    assert "1st and 2nd: decided by best single card" in table


def test_the_worth_of_sets_and_of_holdings_and_the_discard_pile_are_shown() -> None:
    state = place(phase="P2", goods={0: {"gold": 3, "art": 1, "cars": 1}, 1: {"wild": 2}}, discard={"ivory": 5})
    words = texts(drawn(state))
    assert "2 4 3 3 9 6 4 16 10" in words  # of 2 goods, of 3, of 4: equal ones, different ones
    assert "worth 12" in words
    assert "worth 4" in words
    assert "discarded: 5" in words


def best_by_trying(board: CargoNoirBoard, goods: tuple[int, ...]) -> int:
    """The highest value of goods (the last are wilds), by trying every set and the value of the rest."""
    kinds, wilds, found = goods[:-1], goods[-1], 0
    for used in range(wilds + 1):
        for kind, count in enumerate(kinds):
            for n in range(1, count + 1):
                left = (*kinds[:kind], count - n, *kinds[kind + 1 :], wilds - used)
                found = max(found, board.same[n + used] + best_by_trying(board, left))
        for several in range(1, 1 << len(kinds)):
            if all(kinds[kind] for kind in range(len(kinds)) if several >> kind & 1):
                left = (*(count - (several >> kind & 1) for kind, count in enumerate(kinds)), wilds - used)
                found = max(found, board.different[several.bit_count() + used] + best_by_trying(board, left))
    return max(found, board.same[wilds])


@pytest.mark.parametrize("goods", [(2, 1, 1, 1), (3, 1, 1, 0), (2, 2, 1, 0), (1, 1, 1, 1), (4, 0, 1, 1), (2, 2, 2, 0)])
def test_c4_3_goods_are_worth_the_best_way_to_hand_them_in(goods: tuple[int, ...]) -> None:
    board = cast("CargoNoirBoard", setup().board)
    assert worth(board, [*goods[:-1], *([0] * 6), goods[-1]]) == best_by_trying(board, goods)


def test_c4_2_wilds_are_worth_most_in_the_largest_set() -> None:
    board = cast("CargoNoirBoard", setup().board)
    assert worth(board, [3, 1, 0, 0, 0, 0, 0, 0, 0, 1]) == 17
    assert worth(board, [9, 0, 0, 0, 0, 0, 0, 0, 0, 1]) == 82
    assert worth(board, [14] * 9 + [5]) > 0  # a hoard is looked at in no time


def test_a_set_of_one_kind_cannot_be_handed_in_yet() -> None:
    state = place(phase="P2", goods={0: {"gold": 1, "art": 1}})
    assert "one more is needed" in texts(drawn(do(state, "diff_start(art)")))
    assert "worth 3" in texts(drawn(do(state, "diff_add(gold)")))


def test_there_is_no_credit_while_goods_are_discarded() -> None:
    state = place(phase="P2_DISCARD", goods={0: {"gold": 8}})
    assert "Credit" not in texts(drawn(state))


def test_the_cards_that_can_be_paid_are_those_that_can_be_bought() -> None:
    bought = 0
    for seed in range(3):
        chance, dice = FastChance(seed), random.Random(seed)
        state = GAME.start(setup(2), chance)
        assert isinstance(state, CargoNoirState)
        while not state.is_over():
            legal = state.legal_actions(state.seat)
            seen = cast("CargoNoirObservation", state.observation(None))
            board = cast("CargoNoirBoard", state.setup.board)
            on_offer = [action.card for action in legal if isinstance(action, act.Buy)]
            assert [card for card in Card if can_pay(board, seen, card)] == on_offer
            bought += len(on_offer)
            state.apply(state.seat, dice.choice(legal), chance)
    assert bought > 5


def test_c4_6_a_third_card_with_a_power_cannot_be_paid() -> None:
    state = place(phase="P2", credit=20, goods={0: {"gold": 1}}, cards={0: {"warehouse": 2}})
    board, seen = cast("CargoNoirBoard", state.setup.board), cast("CargoNoirObservation", state.observation(None))
    assert not can_pay(board, seen, Card.WAREHOUSE)
    assert can_pay(board, seen, Card.SYNDICATE)
