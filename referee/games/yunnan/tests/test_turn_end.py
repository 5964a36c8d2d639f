"""Inspector, gifts, incomes, new order, conversion and the end (RULES.md, Y6 to Y11)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.yunnan import scoring
from referee.games.yunnan.actions import Convert, converts
from referee.games.yunnan.names import Phase, Province
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.table import NOBODY
from referee.games.yunnan.tests.table import (
    BLUE,
    GREEN,
    RED,
    VIOLET,
    YELLOW,
    do,
    legal,
    merchants,
    order,
    place,
    refused,
)


def last_to_travel(seats: int = 3, *, travel_order: list[str] | None = None, **arguments: Any) -> YunnanState:
    """The last colour of the travel order has not ended its turn; by default all Horses are in Qinghai."""
    names = ["red", "blue", "green", "yellow", "violet"][: 4 if seats == 2 else seats]
    order_now = travel_order or names
    arguments.setdefault("horse", dict.fromkeys(names, "qin"))
    return place(seats, acting=order_now[-1], travel_order=order_now, **arguments)


# --- inspector ----------------------------------------------------------------------------------------


def test_y6_1_e6_the_inspector_goes_to_the_province_with_the_most_tea_the_farther_of_equals() -> None:
    state = last_to_travel(
        m={"red": {"yun": 1, "sic": 3, "qam": 1}, "blue": {"qam": 1}}, posts={"red": {"sic": 1, "qam": 1}}
    )
    assert scoring.tea(state)[Province.SIC] == scoring.tea(state)[Province.QAM] == 30
    do(state, "done")
    assert state.last_inspector == Province.QAM


def test_y6_1_without_tea_he_stays_in_his_corner() -> None:
    state = last_to_travel(m={"red": {"pue": 3}}, posts={"blue": {"qin": 2}}, last_inspector="tib")
    do(state, "done")
    assert (state.last_inspector, state.last_banned) == (NOBODY, NOBODY)


def test_y6_2_e5_influence_of_four_or_an_own_teahouse_protects() -> None:
    two_in_qamdo: dict[str, Any] = {"influence": {"red": 2, "blue": 4}, "m": {"red": {"qam": 1}, "blue": {"qam": 1}}}
    state = last_to_travel(**two_in_qamdo)
    do(state, "done")
    assert (merchants(state, RED), merchants(state, BLUE), state.last_banned) == ({"pue": 1}, {"qam": 1}, RED)
    state = last_to_travel(teahouse={"qam": "red"}, **two_in_qamdo)
    do(state, "done")
    assert (state.last_inspector, state.last_banned) == (Province.QAM, NOBODY)
    state = last_to_travel(teahouse={"tib": "red"}, **two_in_qamdo)
    assert do(state, "done").last_banned == RED


def test_y6_2_where_all_merchants_are_protected_no_other_province_is_tried() -> None:
    state = last_to_travel(m={"red": {"yun": 1}, "blue": {"qam": 1}}, influence={"blue": 4})
    do(state, "done")
    assert (state.last_inspector, state.last_banned) == (Province.QAM, NOBODY)
    assert (merchants(state, RED), merchants(state, BLUE)) == ({"yun": 1}, {"qam": 1})


def test_y6_2_a_teahouse_protects_its_owner_only() -> None:
    state = last_to_travel(m={"red": {"qam": 1}, "blue": {"qam": 1}}, influence={"red": 1}, teahouse={"qam": "blue"})
    do(state, "done")
    assert (state.last_banned, merchants(state, RED), merchants(state, BLUE)) == (RED, {"pue": 1}, {"qam": 1})


def test_y6_3_of_equal_influence_the_first_in_the_travel_order_is_banned() -> None:
    state = last_to_travel(
        travel_order=["green", "blue", "red"],
        influence={"red": 1, "blue": 1},
        m={"red": {"yun": 1}, "blue": {"yun": 1}, "green": {"yun": 1}},
    )
    do(state, "done")
    assert state.last_banned == BLUE


# --- gifts --------------------------------------------------------------------------------------------


def test_y7_1_e7_gifts_go_by_influence_and_in_rounds_among_equals() -> None:
    state = last_to_travel(
        5,
        travel_order=["yellow", "red", "green", "violet", "blue"],
        influence={"yellow": 1, "red": 2, "green": 2, "violet": 3},
        m={"yellow": {"sic": 4}, "red": {"sic": 2}, "green": {"sic": 3}, "violet": {"sic": 3}},
    )
    do(state, "done")
    assert state.last_banned == VIOLET
    assert state.gifts_taken == [2, 0, 1, 0, 2]
    assert state.gifts[Province.SIC] == 0


def test_y7_1_all_merchants_receive_a_gift_where_there_are_enough() -> None:
    state = last_to_travel(m={"red": {"sic": 2, "qin": 3}, "blue": {"sic": 2}}, gifts={"sic": 5, "qin": 1})
    do(state, "done")
    assert state.gifts_taken == [8 + 2 + 1, 2, 0]
    assert state.to_json()["gifts"] == {"sic": 1}


def test_y7_1_equals_take_one_gift_each_round_by_round() -> None:
    state = last_to_travel(
        travel_order=["blue", "green", "red"], m={"blue": {"sic": 4}, "green": {"sic": 2}}, gifts={"sic": 3}
    )
    do(state, "done")
    assert merchants(state, BLUE) == {"pue": 1, "sic": 3}  # the inspector has banned one
    assert state.gifts_taken == [11, 2, 1]


def test_y7_2_neither_posts_nor_connection_nor_the_banned_merchant_count() -> None:
    state = last_to_travel(m={"red": {"qam": 1, "tib": 1}}, posts={"blue": {"qam": 1}})
    do(state, "done")  # Tibet's Merchant is banned; Qamdo's is not connected
    assert state.gifts_taken == [1, 0, 0]


# --- incomes and order ----------------------------------------------------------------------------------


def test_y8_1_incomes_are_noted_and_not_yet_received() -> None:
    state = last_to_travel(m={"red": {"pue": 2}, "blue": {"pue": 1}})
    do(state, "done")
    assert (state.income, state.money, state.phase) == ([6, 3, 0], [50, 50, 50], Phase.CONVERT)


def test_y8_2_e8_a_gap_on_the_way_costs_three_for_each_merchant() -> None:
    holdings: dict[str, Any] = {
        "m": {"yellow": {"tib": 1, "qin": 1}},
        "posts": {"yellow": {"yun": 1, "sic": 1}},
        "horse": {"yellow": "qin"},
    }
    assert scoring.income(place(5, bridges={"yellow": ["b2"]}, **holdings), YELLOW) == 37
    assert scoring.income(place(5, **holdings), YELLOW) == 31


def test_y8_2_r46_a_province_that_is_cut_off_itself_is_no_gap() -> None:
    state = place(
        m={"red": {"tib": 1, "qin": 1}, "blue": {"qin": 1}},
        posts={"red": {"yun": 1, "sic": 1}, "blue": {"yun": 1, "sic": 1}},
        horse={"red": "qin", "blue": "qin"},
    )
    assert scoring.income(state, RED) == 15 + 18 + 1 + 3 - 2 * 3  # Qamdo, for each Merchant
    assert scoring.income(state, BLUE) == 18 + 1 + 3 - 2 * 3  # Qamdo and Tibet


def test_y8_2_what_earns() -> None:
    state = place(
        m={"red": {"pue": 1, "qam": 2}, "blue": {"tib": 1}, "green": {"yun": 1}},
        posts={"red": {"pue": 1, "sic": 1}, "green": {"yun": 1, "tib": 1}},
        horse={"red": "tib", "blue": "tib", "green": "tib"},
    )
    # Red: Yunnan is missing, so the Post does not earn, and Qamdo is one gap away. A Post in Pu'er never earns.
    assert scoring.income(state, RED) == 3 + 2 * (12 - 3)
    assert scoring.income(state, BLUE) == 15 - 3 * 3
    assert scoring.income(state, GREEN) == 6 + 1


def test_y9_1_the_highest_income_travels_first_and_of_equals_the_one_that_was_later() -> None:
    state = last_to_travel(
        4,
        travel_order=["yellow", "red", "green", "blue"],
        m={"red": {"pue": 2}, "blue": {"pue": 1}, "green": {"pue": 2}, "yellow": {"pue": 1}},
    )
    do(state, "done")
    assert order(state.travel_order) == "GRBY"


# --- conversion and the end -------------------------------------------------------------------------------


def converting(**arguments: Any) -> YunnanState:
    """Only red has still to convert, an income of 21; the others have converted theirs."""
    return place(
        phase="CONVERT",
        travel_order=["blue", "green", "red"],
        m={"red": {"pue": 1, "yun": 1, "qam": 1}, "blue": {"pue": 7}, "green": {"pue": 7}},
        posts={"red": {"yun": 0}},
        horse={"red": "qam"},
        bridges={"red": ["b0"]},
        **arguments,
    )


def test_y10_1_e9_income_is_split_between_points_and_money() -> None:
    state = converting()
    assert state.income == [21, 0, 0]
    assert legal(state) == [f"convert({points})" for points in range(22)]
    assert refused(state, "convert(22)") == "Y10.1"
    assert refused(state, "convert(-1)") == "Y10.1"
    do(state, "convert(6)")
    assert (state.vp, state.money) == ([6, 0, 0], [65, 50, 50])


def test_y10_1_an_income_of_any_size_is_split_as_the_seat_likes() -> None:
    for income in (200, 201, 250):
        assert converts(income) == [Convert(points) for points in range(income + 1)]


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [
        ({"vp": [59, 0, 0]}, True),
        ({"vp": [58, 0, 0]}, False),
        ({"gifts": {"qin": 1}}, False),
        ({"gifts": {}}, True),
        ({"turn": 30}, True),
        ({"turn": 4, "options": {"turn_limit": 4}}, True),
    ],
)
def test_y11_1_the_end_is_checked_after_the_last_conversion(arguments: dict[str, Any], ends: bool) -> None:
    state = do(converting(**arguments), "convert(21)")
    assert state.is_over() is ends
    if ends:
        assert refused_after_the_end(state) == []


def refused_after_the_end(state: YunnanState) -> list[object]:
    assert state.seats_to_act() == ()
    return [action for seat in range(3) for action in state.legal_actions(seat)]


def test_y11_1_points_reached_in_the_middle_let_the_others_convert() -> None:
    state = place(
        phase="CONVERT",
        acting="blue",
        travel_order=["blue", "green", "red"],
        auction_order=["red", "blue", "green"],
        m={"blue": {"pue": 2}, "green": {"pue": 1}},
        vp=[0, 78, 0],
    )
    do(state, "convert(6)")
    assert (state.phase, state.vp[1]) == (Phase.CONVERT, 84)
    do(state, "convert(3)", "convert(0)")
    assert state.is_over()


def test_y11_2_merchants_in_puer_return_and_the_lowest_income_bids_first() -> None:
    state = do(converting(turn=2), "convert(0)")
    assert (state.phase, state.turn, order(state.auction_order)) == (Phase.AUCTION, 3, "RGB")
    assert merchants(state, RED) == {"yun": 1, "qam": 1}
    assert state.reserve[RED] == 1
    assert state.acting_colour == RED


def test_y11_3_e13_the_final_score() -> None:
    state = place(
        passes={"red": 6},
        influence={"red": 4},
        horse={"red": "sic"},
        teahouse={"yun": "red", "sic": "red"},
        money={"red": 0, "blue": 11, "green": 2},
    )
    assert state.scores() == [56, 3, 0]
    state = place(
        phase="OVER",
        travel_order=["red", "blue", "green"],
        gifts={},
        vp=[3, 4, 5],
        money={"red": 0, "blue": 0, "green": 0},
        struct_reserve={"red": {"teahouse": 2}},
    )
    assert state.scores() == [3 + 14 * 3, 4, 5]


def test_y11_3_ties_go_to_influence_then_to_the_travel_order() -> None:
    no_money = dict.fromkeys(("red", "blue", "green"), 0)
    state = place(
        phase="OVER", travel_order=["green", "blue", "red"], money=no_money, influence={"red": 1}, vp=[80, 81, 81]
    )
    assert state.scores() == [81, 81, 81]
    assert state.ranks() == [1, 3, 2]


def test_y11_3_influence_decides_between_equal_scores_only() -> None:
    no_money = dict.fromkeys(("red", "blue", "green"), 0)
    state = place(
        phase="OVER", travel_order=["green", "blue", "red"], money=no_money, influence={"red": 2}, vp=[80, 84, 85]
    )
    assert state.scores() == [84, 84, 85]
    assert state.ranks() == [2, 3, 1]
