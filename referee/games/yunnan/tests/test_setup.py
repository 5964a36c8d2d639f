"""Set-up (RULES.md, Y1), options and boards."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

from referee.game import SetupError
from referee.games.yunnan import GAME
from referee.games.yunnan.names import Phase
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import BOARD, order, setup
from referee.kit.chance import LiveChance, ScriptedChance


def start(seats: int, seed: int = 1, **options: object) -> YunnanState:
    state = GAME.start(setup(seats, **options), LiveChance(seed))
    assert isinstance(state, YunnanState)
    assert state.problems() == []
    return state


def test_y1_1_there_is_nothing_to_decide_before_the_first_auction() -> None:
    for seats in range(2, 6):
        assert start(seats).phase is Phase.AUCTION


def test_y1_2_the_first_auction_order_is_drawn() -> None:
    chance = ScriptedChance(order=[[2, 0, 1]])
    state = GAME.start(setup(3), chance)
    assert isinstance(state, YunnanState)
    assert order(state.auction_order) == "GRB"
    assert order(state.travel_order) == "BRG"
    assert len({order(start(4, seed).auction_order) for seed in range(300)}) == 24


def test_y1_3_e12_money_is_by_place_on_the_auction_track() -> None:
    state = start(5)
    assert [state.money[colour] for colour in state.auction_order] == [9, 9, 12, 12, 15]
    state = start(3, initial_order="green+red+blue")
    assert state.money == [9, 12, 9]


def test_y1_4_e12_levels_at_the_start() -> None:
    state = start(5)
    assert (state.vp, state.passes, state.influence) == ([0] * 5, [2] * 5, [0] * 5)
    assert state.to_json()["horse"] == ["yun"] * 5


def test_y1_5_e12_pieces_at_the_start() -> None:
    state = start(4)
    assert (state.reserve, state.general) == ([3] * 4, [4] * 4)
    assert state.struct_general == [[2, 2, 2]] * 4
    assert not any(map(sum, state.merchants))


def test_y1_6_e12_gifts_at_the_start() -> None:
    assert start(3).to_json()["gifts"] == {"sic": 5, "qam": 4, "tib": 3, "qin": 2}


def test_y1_7_only_the_order_of_the_colours_in_play_counts() -> None:
    for seats, colours in ((2, 4), (3, 3), (4, 4), (5, 5)):
        assert sorted(start(seats).auction_order) == list(range(colours))


def test_y1_8_the_first_turn_begins_with_the_first_colour_on_the_auction_track() -> None:
    state = start(4, initial_order="yellow+red+green+blue")
    assert state.turn == 1
    assert state.seats_to_act() == (3,)


def test_y12_2_with_two_seats_the_first_order_alternates_between_them() -> None:
    seen = Counter(order(start(2, seed).auction_order) for seed in range(800))
    assert set(seen) == {"RBGY", "RYGB", "GBRY", "GYRB", "BRYG", "BGYR", "YRBG", "YGBR"}
    assert min(seen.values()) > 60
    state = start(2)
    assert [state.money[colour] for colour in state.auction_order] == [9, 9, 12, 12]


# --- options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seats", "value", "said"),
    [
        (3, "red+blue", "must name the colours of 3 seats: red+blue+green in any order"),
        (3, "red+blue+yellow", "must name the colours of 3 seats"),
        (3, "red+blue+blue", "option initial_order can be random or a list"),
        (3, "red+blue+pink", "option initial_order can be random or a list"),
        (2, "red+green+blue+yellow", "must alternate between red or green and blue or yellow"),
    ],
)
def test_an_initial_order_that_does_not_fit_is_refused(seats: int, value: str, said: str) -> None:
    with pytest.raises(SetupError, match=said.replace("+", r"\+")):
        setup(seats, initial_order=value)


def test_options_may_come_as_text() -> None:
    assert setup(3, expert="true", turn_limit="7").options["turn_limit"] == 7
    with pytest.raises(SetupError, match="turn_limit can be a number from 1 to 100"):
        setup(3, turn_limit=0)


# --- boards -------------------------------------------------------------------------------------------


def changed(place: str, value: object) -> dict[str, Any]:
    board: dict[str, Any] = copy.deepcopy(dict(BOARD))
    *tables, key = place.split(".")
    table = board
    for name in tables:
        table = table[name]
    table[key] = value
    return board


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("provinces.pue.gifts", 3, "board.provinces.pue must have post = 0, gifts = 0 and teahouse = false"),
        ("provinces.tib.merchant", 51, "board.provinces.tib.merchant must be an integer from 1 to 50, not 51"),
        ("provinces.tib.teahouse", 1, "board.provinces.tib.teahouse must be true or false"),
        ("bridge_sites.b0.ends", ["yun", "sic"], "must join two provinces that are not neighbours on the road"),
        ("bridge_sites.b0.ends", ["pue", "qam"], "and not Pu'er"),
        ("bridge_sites.b0.ends", ["yun"], "must name two provinces"),
        ("bridge_sites.b0.ends", ["sic", "qin"], "must not have two sites that join the same provinces"),
        ("bids.spaces", [5, 7, 7, 12, 15], "board.bids.spaces must be ascending"),
        ("bids.spaces", [5, 7], "must have 5 entries"),
        ("bank.payments", [[10, 3, 3]], "must begin with a lowest total of 0 and ascend"),
        ("bank.payments", [[0, 3, 4]], "must not pay less on the left than on the right"),
        ("bank.payments", [[0, "a", 4]], "must be a list of"),
        ("bank.payments", [], "must be a list of"),
        ("levels.passes_vp", [], "must have 1 to 20 levels"),
        ("levels.teahouse_vp", [0, 12], "must have 3 entries"),
        ("scoring.transport_cost", 5, "must not make a Merchant cost more than it earns"),
        ("end.gifts", 14, "would end every match at once"),
        ("pieces.start_merchants", 8, "must be an integer from 1 to 7"),
        ("pieces.colour", "red", "is not known here"),
    ],
)
def test_a_board_that_contradicts_itself_or_the_rules_is_refused(place: str, value: object, said: str) -> None:
    with pytest.raises(SetupError) as caught:
        GAME.setup(3, {}, changed(place, value))
    assert said in str(caught.value)


def test_a_corrected_board_is_played() -> None:
    corrected = GAME.setup(3, {}, changed("pieces.start_money", [1, 2, 3, 4, 5]))
    state = GAME.start(corrected, LiveChance(1))
    assert isinstance(state, YunnanState)
    assert sorted(state.money) == [1, 2, 3]
