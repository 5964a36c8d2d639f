"""Two seats, the expert game (RULES.md, Y12 and Y13), and the defaults for a seat out of time (section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.game import label
from referee.games.yunnan.names import Phase
from referee.games.yunnan.tests.table import BLUE, GREEN, RED, do, legal, place, refused


def test_y12_1_each_seat_plays_two_colours_as_if_they_were_two_players() -> None:
    state = place(2, phase="AUCTION", acting="red")
    assert state.owner == (0, 1, 0, 1)
    seats: list[int] = []
    for _ in range(4):
        seats += state.seats_to_act()
        do(state, "market(reserve)")
    assert seats == [0, 1, 0, 1]
    state = place(2, phase="AUCTION", bids={"school": {"7": "green"}}, reserve={"green": 2})
    do(state, "bid(school,9,reserve)")
    assert state.reserve[GREEN] == 3  # R33: a seat's colours outbid each other
    assert state.money == [50] * 4


def test_y12_1_a_teahouse_does_not_protect_the_seats_other_colour() -> None:
    state = place(
        2,
        acting="yellow",
        travel_order=["red", "green", "blue", "yellow"],
        m={"red": {"yun": 1}},
        teahouse={"yun": "green"},
    )
    assert do(state, "done").last_banned == RED


def test_y12_3_the_score_is_the_seats() -> None:
    state = place(
        2,
        phase="CONVERT",
        acting="green",
        travel_order=["green", "red", "blue", "yellow"],
        auction_order=["red", "blue", "green", "yellow"],
        m={"green": {"pue": 2}, "red": {"pue": 1}},
    )
    do(state, "convert(6)", "convert(2)")
    assert state.vp == [8, 0]
    assert (state.money[RED], state.money[GREEN]) == (51, 50)


def test_y12_4_a_seat_does_not_displace_its_own_other_colour() -> None:
    state = place(2, influence={"red": 1}, m={"red": {"pue": 1}, "green": {"yun": 1}})
    assert do(state, "move(pue,yun)").phase is Phase.TRAVEL
    state = place(2, influence={"red": 1}, m={"red": {"pue": 1}, "green": {"yun": 1}, "yellow": {"yun": 1}})
    do(state, "move(pue,yun)")
    assert legal(state) == ["displace(yellow)", "no_displace"]
    assert refused(state, "displace(green)") == "Y5.5"


def test_y12_5_the_end_comes_at_a_hundred_points_or_two_gifts() -> None:
    for arguments, ends in (({"vp": [99, 99]}, False), ({"vp": [0, 100]}, True), ({"gifts": {"qin": 2}}, True)):
        state = place(
            2,
            phase="CONVERT",
            acting="yellow",
            travel_order=["red", "green", "blue", "yellow"],
            **arguments,
        )
        assert do(state, "convert(0)").is_over() is ends
    three_gifts = {"sic": 1, "qin": 2}
    state = place(
        2, phase="CONVERT", acting="yellow", travel_order=["red", "green", "blue", "yellow"], gifts=three_gifts
    )
    assert not do(state, "convert(0)").is_over()


def test_y12_6_money_is_added_before_it_is_divided() -> None:
    state = place(
        2,
        phase="OVER",
        travel_order=["red", "green", "blue", "yellow"],
        money={"red": 2, "green": 1, "blue": 2, "yellow": 0},
        passes={"red": 3, "green": 3},
        influence={"blue": 1, "yellow": 2},
        gifts={"qin": 2},
        gifts_taken={"red": 3, "green": 4, "blue": 5},
    )
    assert state.scores() == [1 + 1 + 1 + 21, 1 + 4 + 15]


def test_y12_6_a_tie_goes_to_the_seat_with_the_best_placed_colour() -> None:
    state = place(
        2,
        phase="OVER",
        travel_order=["green", "blue", "yellow", "red"],
        money=dict.fromkeys(("red", "blue", "green", "yellow"), 0),
        vp=[100, 100],
    )
    assert state.scores() == [100, 100]
    assert state.ranks() == [1, 2]


# --- the expert game ------------------------------------------------------------------------------------


def test_y13_1_bids_may_exceed_the_money() -> None:
    state = place(phase="AUCTION", money={"red": 0}, options={"expert": True})
    assert "bid(school,15,reserve)" in legal(state)
    do(state, "bid(school,15,reserve)")
    assert state.committed()[RED] == 15


def test_y13_2_the_turn_is_shown() -> None:
    assert place(turn=4, options={"expert": True}).observation(None).turn == 4  # type: ignore[attr-defined]


def test_y13_3_e10_missing_money_is_paid_in_points() -> None:
    state = place(
        4,
        phase="AUCTION",
        turn=4,
        acting="yellow",
        passed=["red", "blue", "green"],
        bids={"dragon": {"12": "yellow"}, "customs": {"15": "yellow"}},
        money={"yellow": 24},
        reserve={"yellow": 1},
        options={"expert": True},
    )
    do(state, "pass")
    assert (state.vp[3], state.money[3], state.influence[3], state.passes[3]) == (-15, 0, 1, 3)
    rates = [state.board.debt(turn) for turn in (1, 2, 8, 9, 30)]
    assert rates == [8, 7, 1, 1, 1]


def test_y13_3_each_colour_pays_with_its_own_money() -> None:
    state = place(
        2,
        phase="AUCTION",
        turn=8,
        acting="yellow",
        passed=["red", "blue", "green"],
        bids={"dragon": {"12": "blue"}},
        money={"blue": 2, "yellow": 50},
        reserve={"blue": 2},
        options={"expert": True},
    )
    do(state, "pass")
    assert (state.vp, state.money[BLUE]) == ([0, -10], 0)


def test_y13_4_the_score_may_be_negative_without_limit() -> None:
    state = place(phase="AUCTION", options={"expert": True}, vp=[-250, 0, 0], money={"red": 0})
    assert state.scores()[0] == -250
    assert state.problems() == []


# --- actions of other phases ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        ("bid(school,9,reserve)", "Y2.1"),
        ("bank(left,reserve)", "Y2.1"),
        ("market(reserve)", "Y2.1"),
        ("pass", "Y2.1"),
        ("take(post,reserve)", "Y4.5"),
        ("displace(blue)", "Y5.5"),
        ("no_displace", "Y5.5"),
        ("convert(0)", "Y10.1"),
    ],
)
def test_an_action_of_another_phase_is_refused_by_its_rule(action: str, rule: str) -> None:
    assert refused(place(phase="TRAVEL"), action) == rule
    for of_travel in ("move(pue,yun)", "build_post(yun)", "build_bridge(b0)", "build_teahouse(yun)", "done"):
        assert refused(place(phase="AUCTION", m={"red": {"pue": 1}}), of_travel) == "Y5.2"


# --- default actions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "default"),
    [
        ({"phase": "AUCTION", "money": {"red": 50}}, "pass"),
        ({"phase": "YARD"}, "take(post,reserve)"),
        ({"phase": "YARD", "struct_reserve": {"red": {"post": 2}}}, "take(bridge,reserve)"),
        ({"phase": "YARD", "struct_reserve": {"red": {"post": 2, "bridge": 2}}}, "take(teahouse,reserve)"),
        ({"phase": "TRAVEL", "m": {"red": {"pue": 2}}}, "done"),
        (
            {
                "phase": "DISPLACE",
                "influence": {"red": 1},
                "m": {"red": {"yun": 1}, "blue": {"yun": 1}},
                "unmoved": {},
                "passes_left": 1,
                "pending_displace": "yun",
            },
            "no_displace",
        ),
        (
            {"phase": "CONVERT", "travel_order": ["red", "blue", "green"], "m": {"red": {"pue": 2}}},
            "convert(0)",
        ),
    ],
)
def test_the_default_action_of_each_phase_is_that_of_section_5(position: dict[str, Any], default: str) -> None:
    state = place(**position)
    assert label(state.default_action(0)) == default
    assert default in legal(state)
