"""Trade in the villages (RULES.md, V4.7 and V5.3)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.valparaiso.names import Phase, Tile
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import default, do, goods, legal, place, refused


def trading(seats: int = 2, tile: str = "ta1", in_m1: int = 2, card: str = "k6", **rest: Any) -> ValparaisoState:
    """A seat that has begun to trade, with merchants in M1, where a certain tile lies at the bottom."""
    at = [{"m1": in_m1, "v": 2 - in_m1}, *({"v": 2} for _ in range(seats - 1))]
    owned = [[card] if card[0] != "k" else [], *([] for _ in range(seats - 1))]
    filled: dict[str, Any] = {"merchants": at, "achievements": owned, "bottom": {1: tile}, **rest}
    return do(place(seats, cards=[card, "k2"], **filled), "use(1,main)")


def station(seat: int, space: int = 0) -> dict[str, Any]:
    return {"location": "m1", "space": space, "seat": seat}


def test_v4_7_every_market_with_an_own_merchant_is_resolved_once_in_any_order() -> None:
    state = place(cards=["k6", "k2"], merchants=[{"m1": 1, "m3": 1}, {"v": 2}], bottom={1: "ta1", 3: "tb4"})
    do(state, "use(1,main)")
    assert legal(state) == ["trade(m1,1)", "trade(m3,1)", "skip(m1)", "skip(m3)"]
    assert refused(state, "trade(m2,1)") == "V4.7"
    do(state, "trade(m3,1)")
    assert legal(state) == ["trade(m1,1)", "skip(m1)"]
    do(state, "skip(m1)")
    assert (state.money[0], state.phase) == (25, Phase.USE)


def test_v4_7_trade_needs_a_merchant_in_a_market_a_station_is_not_enough() -> None:
    assert refused(place(cards=["k6"], houses=[station(0)]), "use(1,main)") == "V3.2"
    assert refused(place(cards=["k6"], merchants=[{"z1": 2}, {"v": 2}]), "use(1,main)") == "V3.2"


def test_v4_7_the_fee_is_1_peso_for_each_opposing_merchant_and_station_once() -> None:
    at = [{"m1": 2}, {"m1": 2}, {"m1": 1, "v": 1}]
    state = trading(3, merchants=at, houses=[station(2), station(1, 1)])
    do(state, "trade(m1,2)")
    assert state.money == [15, 23, 22]


def test_v4_7_who_cannot_pay_the_fee_skips_and_the_tiles_move_all_the_same() -> None:
    at = [{"m1": 2}, {"m1": 2}]
    state = trading(merchants=at, money=[1, 20])
    assert legal(state) == ["skip(m1)"]
    assert refused(state, "trade(m1,1)") == "V4.7a"
    do(state, "skip(m1)")
    assert Tile.TA1 not in state.markets[0]


@pytest.mark.parametrize(("merchants", "houses", "most"), [(1, [], 1), (2, [], 2), (2, [0], 3), (2, [0, 1], 3)])
def test_v5_3_an_own_station_counts_as_a_merchant_up_to_the_limit_of_the_tile(
    merchants: int, houses: list[int], most: int
) -> None:
    state = trading(in_m1=merchants, houses=[station(0, space) for space in houses])
    assert legal(state)[:-1] == [f"trade(m1,{times})" for times in range(1, most + 1)]
    assert refused(state, f"trade(m1,{most + 1})") == "V4.7a"
    assert refused(state, "trade(m1,0)") == "V4.7a"


@pytest.mark.parametrize(
    ("tile", "times", "money", "warehouse", "vp"),
    [
        ("ta1", 2, 20, [4, 4, 2], 0),
        ("tc3", 1, 20, [2, 3, 3], 0),
        ("tb4", 2, 30, [2, 2, 2], 0),
        ("td5", 1, 26, [2, 2, 2], 0),
        ("tb2", 2, 20, [2, 0, 2], 2),
        ("te3", 1, 20, [2, 2, 1], 1),
        ("td1", 2, 0, [0, 2, 2], 4),
    ],
)
def test_v4_7_what_fixed_tiles_do(tile: str, times: int, money: int, warehouse: list[int], vp: int) -> None:
    state = do(trading(tile=tile, warehouse=[goods(2, 2, 2), {}]), f"trade(m1,{times})")
    assert (state.money[0], state.warehouse[0], state.vp[0]) == (money, warehouse, vp)


def test_v4_7_everything_must_be_there_after_the_fee() -> None:
    at = [{"m1": 2}, {"m1": 1, "v": 1}]
    state = trading(tile="td1", warehouse=[goods(2), {}], money=[20, 20], merchants=at)
    assert legal(state)[0] == "trade(m1,1)"
    assert refused(state, "trade(m1,2)") == "V4.7b"
    assert refused(trading(tile="tb2", warehouse=[goods(2), {}]), "trade(m1,1)") == "V4.7b"
    broke = trading(tile="tb4", money=[0, 20], merchants=at)
    assert refused(broke, "trade(m1,1)") == "V4.7a"


class TestChoiceTiles:
    """V4.7c."""

    def test_v4_7_goods_are_chosen_each_time_for_2_pesos(self) -> None:
        state = do(trading(tile="ta4"), "trade(m1,0)")
        assert legal(state) == ["take(silver,copper)", "take(silver,wheat)", "take(copper,wheat)"]
        assert refused(state, "stop") == "V4.7c"
        assert refused(state, "take(silver,silver)") == "V4.7c"
        do(state, "take(silver,copper)")
        assert legal(state)[3] == "stop"
        do(state, "take(copper,wheat)")
        assert (state.money[0], state.warehouse[0], state.phase) == (16, [1, 2, 1], Phase.USE)

    def test_v4_7_or_two_of_one_kind(self) -> None:
        state = do(trading(tile="ta5"), "trade(m1,0)", "take(wheat,wheat)", "stop")
        assert (state.money[0], state.warehouse[0]) == (18, [0, 0, 2])
        assert Tile.TA5 not in state.markets[0]

    def test_v4_7_without_2_pesos_after_the_fee_there_is_no_trade(self) -> None:
        at = [{"m1": 2}, {"m1": 2}]
        assert refused(trading(tile="ta4", money=[3, 20], merchants=at), "trade(m1,0)") == "V4.7c"
        enough = do(
            trading(tile="ta4", money=[4, 20], warehouse=[goods(1), {}], merchants=at),
            "trade(m1,0)",
            "take(silver,wheat)",
        )
        assert legal(enough) == ["stop", "sell(warehouse,silver)", "sell(warehouse,wheat)"]
        do(enough, "sell(warehouse,wheat)", "take(copper,wheat)")
        assert enough.money[0] == 1

    def test_v4_7_the_number_is_not_chosen_beforehand(self) -> None:
        assert refused(trading(tile="ta4"), "trade(m1,1)") == "V4.7c"


def test_v4_7_the_bottom_tile_goes_on_top_of_the_reserve_and_its_bottom_tile_on_top_of_the_market() -> None:
    state = trading()
    column, reserve = state.markets[0], state.reserve
    do(state, "trade(m1,1)")
    assert state.markets[0] == (*column[1:], reserve[0])
    assert state.reserve == (*reserve[1:], column[0])


def test_v4_7_a_village_with_only_a_station_is_not_resolved() -> None:
    state = place(cards=["k6", "k2"], merchants=[{"m2": 1, "v": 1}, {"v": 2}], houses=[station(0)])
    before = state.markets[0]
    do(state, "use(1,main)", "skip(m2)")
    assert state.markets[0] == before


def test_v4_7_goods_gained_may_be_used_at_the_next_tile() -> None:
    state = place(cards=["k6", "k2"], merchants=[{"m1": 1, "m2": 1}, {"v": 2}], bottom={1: "ta1", 2: "tb1"})
    do(state, "use(1,main)")
    assert "trade(m2,1)" not in legal(state)
    do(state, "trade(m1,1)", "trade(m2,1)")
    assert (state.warehouse[0], state.vp[0]) == ([0, 1, 0], 1)


def test_v4_7_some_trade_is_paid_with_5_pesos_first() -> None:
    at: dict[str, Any] = {"merchants": [{"m1": 2}, {"v": 2}], "achievements": [["a3"], []], "bottom": {1: "tb4"}}
    state = place(cards=["a3", "k2"], **at)
    do(state, "use(1,alt)")
    assert state.money[0] == 15
    do(state, "skip(m1)")
    assert state.money[0] == 15
    assert refused(place(cards=["a3"], money=[4, 20], **at), "use(1,alt)") == "V3.2"


def test_v4_7_the_default_skips_and_stops() -> None:
    state = trading(tile="ta4")
    assert default(state) == "skip(m1)"
    do(state, "trade(m1,0)")
    assert default(state) == "take(silver,copper)"
    assert default(do(state, "take(silver,copper)")) == "stop"


def test_v5_3_a_station_is_an_opposing_merchant_even_without_its_owners_merchants() -> None:
    assert do(trading(houses=[station(1)]), "trade(m1,1)").money == [19, 21]
