"""Set-up (RULES.md, section 3) and what holds always (V1)."""

from __future__ import annotations

import pytest

from referee.game import SetupError
from referee.games.valparaiso import GAME
from referee.games.valparaiso.names import Colour, Location, Sector
from referee.games.valparaiso.tests.table import BOARD, do, legal, place, refused, start


@pytest.mark.parametrize(("seats", "markets", "reserve"), [(2, 3, 10), (3, 3, 10), (4, 4, 5), (5, 4, 5)])
def test_s1_the_side_of_the_board_follows_the_seats_and_pesos_lie_in_the_outer_sectors(
    seats: int, markets: int, reserve: int
) -> None:
    state = start(seats)
    assert (len(state.markets), len(state.reserve)) == (markets, reserve)
    assert state.sea_money == [5, 5, 5]
    assert (Location.M4 in state.side.locations) is (seats >= 4)


@pytest.mark.parametrize(("seats", "in_reserve"), [(2, 1), (3, 2), (4, 2), (5, 2)])
def test_s2_each_seat_begins_with_a_merchant_in_valparaiso_and_one_in_front(seats: int, in_reserve: int) -> None:
    state = start(seats)
    for seat in range(seats):
        assert (state.merchants[seat][Location.V], sum(state.merchants[seat])) == (1, 1)
        assert state.merchants_reserve[seat] == in_reserve
        assert (state.houses_left[seat], state.ship[seat], state.vp[seat]) == (4, Sector.H, 0)


def test_s2_colours_are_drawn_or_agreed() -> None:
    drawn = {start(3, seed, colours="random").colours for seed in range(30)}
    assert len(drawn) > 10
    assert all(len(set(colours)) == 3 for colours in drawn)
    assert start(2, colours="black+red").colours == (Colour.BLACK, Colour.RED)
    with pytest.raises(SetupError, match="needs 2 colours"):
        GAME.setup(2, {"colours": "red+blue+green"}, BOARD)


@pytest.mark.parametrize("seats", [2, 5])
def test_s3_every_market_has_a_tile_of_each_letter_from_a_at_the_bottom(seats: int) -> None:
    state = start(seats)
    for column in state.markets:
        assert "".join(tile.name[1] for tile in column) == "ABCDE"
    assert "".join(tile.name[1] for tile in state.reserve) == ("ABCDE" if seats == 5 else "ABCDEABCDE")
    assert len({start(seats, seed).markets[0] for seed in range(30)}) > 20


@pytest.mark.parametrize(("seats", "cards", "pile"), [(2, 15, 6), (3, 18, 9), (4, 21, 12), (5, 24, 15)])
def test_s4_marked_cards_are_left_out_and_level_a_is_laid_out(seats: int, cards: int, pile: int) -> None:
    state = start(seats)
    assert len(state.deck) == pile
    assert len(state.deck) + 9 == cards
    assert sorted(state.slots) == list(range(8, 17))
    levels = [card.name[:2] for card in state.deck]
    assert levels == sorted(levels)
    assert len({tuple(start(seats, seed).slots) for seed in range(30)}) > 25


def test_s5_the_start_player_is_drawn_or_agreed() -> None:
    assert {start(3, seed, start_player="random").start_seat for seed in range(30)} == {0, 1, 2}
    assert start(3, start_player=2).start_seat == 2
    with pytest.raises(SetupError, match="a seat from 0 to 1"):
        GAME.setup(2, {"start_player": 2}, BOARD)


def test_s6_goods_are_taken_counter_clockwise_and_no_combination_twice() -> None:
    state = start(3)
    assert state.seats_to_act() == (2,)
    assert len(legal(state)) == 10
    do(state, "goods(silver,silver,copper)")
    assert state.seats_to_act() == (1,)
    assert refused(state, "goods(silver,silver,copper)") == "S6"
    assert refused(state, "goods(copper,silver,silver)") == "S6"
    do(state, "goods(silver,copper,wheat)", "goods(wheat,wheat,wheat)")
    assert state.warehouse == [[0, 0, 3], [1, 1, 1], [2, 1, 0]]


def test_s7_each_seat_begins_with_20_pesos() -> None:
    assert start(5).money == [20] * 5


def test_s8_the_second_merchant_goes_to_an_empty_village_in_the_same_order() -> None:
    state = do(start(2), "goods(silver,silver,copper)", "goods(silver,silver,silver)")
    assert state.seats_to_act() == (1,)
    assert len(legal(state)) == 8
    do(state, "place_merchant(m2)")
    assert refused(state, "place_merchant(m2)") == "S8"
    assert refused(state, "place_merchant(v)") == "S8"
    assert refused(state, "place_merchant(m4)") == "S8"


def test_s9_then_all_plan() -> None:
    state = do(start(2), "goods(silver,silver,copper)", "goods(silver,silver,silver)", "place_merchant(m2)")
    do(state, "place_merchant(z1)")
    assert (state.round, state.seats_to_act()) == (1, (0, 1))


def test_v1_1_nothing_is_bought_on_credit() -> None:
    state = place(cards=["k5"], rows={"money": {0: 9}})
    assert refused(state, "use(1,main)") == "V3.2"
    assert "use(1,main)" not in legal(state)


def test_v1_2_points_come_at_once_and_have_no_upper_limit() -> None:
    state = place(cards=["b13"], achievements=[["b13"], []], vp=[60, 0])
    assert do(state, "use(1,main)").vp[0] == 61


def test_v1_3_goods_are_sold_for_3_pesos_at_the_start_of_a_turn_and_inside_long_actions() -> None:
    state = place(cards=["k4"], rows={"warehouse": {0: {"silver": 1}}, "hold": {0: {"wheat": 2}}})
    assert legal(state)[-2:] == ["sell(warehouse,silver)", "sell(hold,wheat)"]
    do(state, "sell(warehouse,silver)")
    assert state.money[0] == 23
    do(state, "use(1,main)", "sell(hold,wheat)", "start(v,z1)", "sell(hold,wheat)")
    assert state.money[0] == 29
    assert refused(state, "sell(hold,wheat)") == "V1.3"


def test_v1_3_goods_are_not_sold_inside_short_actions() -> None:
    state = do(place(cards=["k2"], rows={"warehouse": {0: {"silver": 2}}}), "use(1,main)")
    assert legal(state) == ["sell_for(silver)"]
    assert refused(state, "sell(warehouse,silver)") == "V1.3"


def test_v1_4_any_number_of_merchants_and_ships_share_a_place() -> None:
    state = place(cards=["k4"], merchants=[{"v": 2}, {"z1": 2}], others={1: ["k7"]}, ship=["ow", "h"])
    do(state, "use(1,main)", "start(v,z1)", "stop", "done", "use(1,main)", "sail(ow)")
    assert (state.merchants[0][Location.Z1], state.merchants[1][Location.Z1]) == (1, 2)
    assert state.ship == [Sector.OW, Sector.OW]
