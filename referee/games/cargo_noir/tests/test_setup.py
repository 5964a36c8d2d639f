"""Set-up and components (RULES.md, sections 1 and 3)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from referee.game import SetupError
from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.names import Card, Phase, Port
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import BOARD, setup
from referee.kit.chance import LiveChance, ScriptedChance


def start(seats: int, seed: int = 1, **options: object) -> CargoNoirState:
    state = GAME.start(setup(seats, **options), LiveChance(seed))
    assert isinstance(state, CargoNoirState)
    return state


@pytest.mark.parametrize(
    ("seats", "ports", "spaces", "in_play", "bag", "bank", "last_turn"),
    [
        (2, 4, 10, 128, 110, 46, 11),
        (3, 5, 13, 129, 108, 39, 11),
        (4, 6, 16, 130, 106, 32, 10),
        (5, 8, 20, 131, 103, 25, 10),
    ],
)
def test_e8_the_counts_of_table_1_8_after_set_up(
    seats: int, ports: int, spaces: int, in_play: int, bag: int, bank: int, last_turn: int
) -> None:
    state = start(seats)
    assert len(state.open_ports) == ports
    assert sum(map(sum, state.port_goods)) == spaces
    assert sum(state.bag) + sum(state.market) + spaces == in_play
    assert (sum(state.bag), state.bank, state.last_turn) == (bag, bank, last_turn)
    assert state.problems() == []


def test_s1_the_ports_that_are_open_for_each_number_of_players() -> None:
    names = {seats: [Port(port).name for port in start(seats).open_ports] for seats in (2, 3, 4, 5)}
    assert names[2] == ["ROTTERDAM", "NEW_YORK", "HONG_KONG", "CAPE_TOWN"]
    assert names[3] == [*names[2], "RIO"]
    assert names[4] == [*names[3], "BOMBAY"]
    assert names[5] == [*names[4], "PANAMA", "TANGER"]


def test_s2_fourteen_of_each_kind_and_as_many_wilds_as_players() -> None:
    state = start(3)
    places = [state.bag, state.market, *state.port_goods]
    assert [sum(column) for column in zip(*places, strict=True)] == [14] * 9 + [3]


def test_s3_market_and_open_ports_are_filled_from_the_bag_in_the_order_of_the_data() -> None:
    drawn = [0, 0, 0, 1, 1, 1, 2, 9, *[3] * 4, *[4] * 3, *[5] * 2, 6]
    state = GAME.start(setup(2, first_player=0), ScriptedChance(setup=drawn))
    seen = state.to_json()
    assert seen["market"] == {"alcohol": 3, "weapons": 3, "art": 1, "wild": 1}
    assert {name: port["goods"] for name, port in seen["port"].items()} == {
        "rotterdam": {"cars": 4},
        "new_york": {"cigars": 3},
        "hong_kong": {"ivory": 2},
        "cape_town": {"jewels": 1},
    }


def test_s4_every_seat_begins_with_three_ships_and_seven_coins() -> None:
    state = start(5)
    assert state.safe == [7] * 5
    assert [state.fleet(seat) for seat in range(5)] == [3] * 5
    assert state.goods == [[0] * 10] * 5


def test_s5_all_cards_are_on_offer_whatever_the_number_of_players() -> None:
    for seats in (2, 5):
        assert start(seats).supply == [8] * 3 + [6] * 4 + [1] * 6


def test_s6_the_first_player_is_random_or_chosen() -> None:
    assert {start(4, seed).first_seat for seed in range(40)} == {0, 1, 2, 3}
    assert start(4, first_player=2).first_seat == 2
    with pytest.raises(SetupError, match="names seat 3"):
        setup(3, first_player=3)


def test_s7_the_first_turn_is_turn_1() -> None:
    state = start(2)
    assert (state.turn, state.seat) == (1, state.first_seat)


def test_e9_the_first_seat_begins_with_phase_3_three_ships_and_seven_coins() -> None:
    state = start(3)
    assert (state.phase, state.ships_home, state.safe[state.seat]) == (Phase.P3, 3, 7)


# --- the board file -------------------------------------------------------------------------------------


def test_the_54_cards_of_table_1_3() -> None:
    board = start(2).board
    assert sum(board.copies) == 54
    assert [board.cost[card] for card in Card] == [15, 10, 10, 6, 10, 16, 25, 28, 36, 45, 49, 64, 81]


def test_the_smuggling_table_1_2() -> None:
    board = start(2).board
    assert board.same == tuple(n * n for n in range(10))
    assert board.different == tuple(n * (n + 1) // 2 for n in range(10))


WRONG: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda board: board.pop("goods"), "board.goods is missing"),
    (lambda board: board["goods"].update(tokens_per_kind=0), "board.goods.tokens_per_kind must be an integer from 1"),
    (lambda board: board["goods"].update(tokens_per_kind=10**5000), "not a huge number"),
    (lambda board: board["goods"]["kinds"].reverse(), "the nine kinds of the rules"),
    (lambda board: board["goods"].update(wilds_in_box=4), "at least 5"),
    (lambda board: board["smuggling"]["same"].pop(), "ten values"),
    (lambda board: board["smuggling"]["same"].reverse(), "never fall"),
    (lambda board: board["smuggling"].update(same=[0] * 10), "never be lower than different"),
    (lambda board: board["macao"].update(black_market_spaces=0), "black_market_spaces"),
    (lambda board: board["family"].update(max_ships=4), "need 5"),
    (lambda board: board["family"].update(coins_total=34), "at least 35"),
    (lambda board: board["family"]["names"].pop(), "five families"),
    (lambda board: board["track"]["last_turn"].pop("3"), "board.track.last_turn.3 is missing"),
    (lambda board: board["ports"]["rio"].update(spaces=0), "board.ports.rio.spaces"),
    (lambda board: board["ports"]["rio"].update(open_for=[6]), "board.ports.rio.open_for"),
    (lambda board: board["ports"].update(genoa={}), "board.ports.genoa is not known"),
    (lambda board: board["cards"]["villa"].update(cap=1), "board.cards.villa.cap is not known"),
    (lambda board: board["cards"]["yacht"].update(cost="ten"), "board.cards.yacht.cost"),
    (lambda board: board["cards"].pop("bank"), "board.cards.bank is missing"),
    (lambda board: (board["goods"].update(tokens_per_kind=1), board["macao"].update(black_market_spaces=9)), "needs 19 tokens"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), WRONG, ids=[reason for _, reason in WRONG])
def test_a_board_that_contradicts_itself_or_the_rules_is_refused(
    change: Callable[[dict[str, Any]], Any], reason: str
) -> None:
    board = copy.deepcopy(BOARD)
    change(board)
    with pytest.raises(SetupError) as caught:
        GAME.setup(2, {}, board)
    assert any(reason in problem for problem in caught.value.problems), caught.value.problems


def test_all_that_is_wrong_with_a_board_is_said_at_once() -> None:
    board = copy.deepcopy(BOARD)
    board["family"]["max_ships"] = 4
    board["cards"]["yacht"]["vp"] = -1
    with pytest.raises(SetupError) as caught:
        GAME.setup(6, {"last_turn": 1, "colour": "red"}, board)
    assert len(caught.value.problems) == 5


def test_a_corrected_board_is_played_by() -> None:
    board = copy.deepcopy(BOARD)
    board["family"]["start_coins"] = 9
    board["ports"]["rio"]["open_for"] = [2, 3, 4, 5]
    state = GAME.start(GAME.setup(2, {}, board), LiveChance(1))
    assert isinstance(state, CargoNoirState)
    assert state.safe == [9, 9]
    assert Port.RIO in state.open_ports
