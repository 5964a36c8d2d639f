"""The auction, the bank and progress (RULES.md, Y2 to Y4)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.game import Action, IllegalAction
from referee.games.yunnan.actions import PASS
from referee.games.yunnan.names import Phase
from referee.games.yunnan.state import YunnanState
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
from referee.kit.chance import ScriptedChance


def bids_of(labels: list[str], building: str) -> list[int]:
    return [int(text.split(",")[1]) for text in labels if text.startswith(f"bid({building},")]


def test_y2_1_colours_act_in_turn_with_one_merchant_or_a_pass() -> None:
    state = place(phase="AUCTION", acting="green", auction_order=["green", "red", "blue"])
    do(state, "market(reserve)")
    assert state.acting_colour == RED
    do(state, "pass", "bid(school,9,reserve)", "market(reserve)")
    assert state.acting_colour == BLUE
    assert refused(state, "done") == "Y5.2"
    assert refused(state, "convert(0)") == "Y10.1"


def test_y2_1_nobody_acts_for_another_and_only_with_actions_of_yunnan() -> None:
    state = place(phase="AUCTION", acting="blue")
    for seat in (0, 2):
        with pytest.raises(IllegalAction, match=f"the turn of seat 1, not of seat {seat}") as caught:
            state.apply(seat, PASS, ScriptedChance())
        assert caught.value.rule == "Y2.1"
    with pytest.raises(IllegalAction, match="is not an action of yunnan"):
        state.apply(1, Action(), ScriptedChance())


def test_y2_2_a_merchant_comes_from_the_reserve_or_if_that_is_empty_from_an_outer_province() -> None:
    state = place(phase="AUCTION", m={"red": {"yun": 2}}, reserve={"red": 1})
    assert refused(state, "market(yun)") == "Y2.2"
    assert all("yun" not in text for text in legal(state))
    state = place(phase="AUCTION", m={"red": {"pue": 1, "yun": 2}}, reserve={"red": 0})
    assert [text for text in legal(state) if text.startswith("market")] == ["market(yun)"]
    assert refused(state, "market(reserve)") == "Y2.2"
    assert refused(state, "market(sic)") == "Y2.2"
    do(state, "bid(school,9,yun)")
    assert merchants(state, RED) == {"pue": 1, "yun": 1}


def test_y2_2_the_refusal_says_which_source_is_wrong() -> None:
    said = {
        "market(reserve)": "there is no Merchant in the reserve",
        "market(sic)": "this colour has no Merchant in SIC",
    }
    for action, reason in said.items():
        with pytest.raises(IllegalAction, match=reason):
            do(place(phase="AUCTION", m={"red": {"yun": 1}}, reserve={"red": 0}), action)
    with pytest.raises(IllegalAction, match="only come from a province when the reserve is empty"):
        do(place(phase="AUCTION", m={"red": {"yun": 1}}, reserve={"red": 1}), "market(yun)")


def test_y2_2_without_merchants_only_a_pass_is_left() -> None:
    state = place(phase="AUCTION", m={"red": {"pue": 3}}, reserve={"red": 0})
    assert legal(state) == ["pass"]


def test_y2_3_what_can_be_bid() -> None:
    state = place(
        phase="AUCTION",
        bids={"school": {"9": "blue"}, "customs": {"7": "blue"}, "horse": {"12": "red"}},
        money={"red": 24},
        reserve={"red": 2, "blue": 1},
    )
    labels = legal(state)
    assert bids_of(labels, "school") == [12]  # d, e: 9 is taken, 5 and 7 are not the highest
    assert bids_of(labels, "customs") == [9, 12]
    assert bids_of(labels, "horse") == []  # c
    assert bids_of(labels, "dragon") == [5, 7, 9, 12]  # f: 12 of 24 are committed
    assert refused(state, "bid(school,9,reserve)") == "Y2.3d"
    assert refused(state, "bid(school,7,reserve)") == "Y2.3e"
    assert refused(state, "bid(customs,5,reserve)") == "Y2.3e"
    assert refused(state, "bid(horse,15,reserve)") == "Y2.3c"
    assert refused(state, "bid(dragon,15,reserve)") == "Y2.3f"
    assert refused(state, "bid(dragon,8,reserve)") == "Y2.3"


def test_y2_3_a_bid_is_possible_up_to_the_last_yuan_that_is_not_committed() -> None:
    for money, possible in ((8, [5, 7]), (9, [5, 7, 9]), (11, [5, 7, 9]), (12, [5, 7, 9, 12])):
        state = place(phase="AUCTION", money={"red": money})
        assert bids_of(legal(state), "school") == possible
        assert refused(state, "bid(school,15,reserve)") == "Y2.3f"
    state = place(phase="AUCTION", money={"red": 20}, bids={"horse": {"12": "red"}}, reserve={"red": 2})
    assert bids_of(legal(state), "school") == [5, 7]
    assert refused(state, "bid(school,9,reserve)") == "Y2.3f"


def test_y2_3_a_building_that_has_nothing_more_to_give_is_closed_to_the_colour() -> None:
    state = place(
        phase="AUCTION",
        m={"red": {"yun": 4}},
        reserve={"red": 3},
        general={"red": 0},
        passes={"red": 6},
        horse={"red": "qin"},
        influence={"red": 4},
        struct_reserve={"red": {"post": 2, "bridge": 2, "teahouse": 2}},
    )
    assert legal(state) == ["bank(left,reserve)", "bank(right,reserve)", "market(reserve)", "pass"]
    for building in ("school", "customs", "horse", "dragon", "yard"):
        assert refused(state, f"bid({building},9,reserve)") == "Y2.3b"


def test_y2_4_a_large_space_can_be_taken_whatever_else_is() -> None:
    state = place(phase="AUCTION", bids={"dragon": {"15": "blue"}}, reserve={"blue": 2})
    assert bids_of(legal(state), "dragon") == [9, 12]


def test_y2_5_a_higher_bid_sends_a_merchant_on_a_small_space_back_to_the_reserve() -> None:
    state = place(phase="AUCTION", acting="green", bids={"dragon": {"7": "red"}}, reserve={"red": 2}, passed=["red"])
    do(state, "bid(dragon,9,reserve)")
    assert state.reserve[RED] == 3
    assert state.acting_colour == RED  # it is no longer among those who have passed
    do(state, "bid(dragon,12,reserve)")
    assert state.to_json()["bids"] == {"dragon": {"9": "green", "12": "red"}}  # a large space is safe


def test_y2_5_whoever_is_outbid_after_a_pass_acts_again() -> None:
    for outbid in ("blue", "green"):
        bids = {"dragon": {"7": outbid}}
        state = place(phase="AUCTION", bids=bids, reserve={outbid: 2}, passed=["blue", "green"])
        do(state, "bid(dragon,9,reserve)")
        assert state.to_json()["passed"] == [name for name in ("blue", "green") if name != outbid]


def test_y2_5_a_seven_outbids_a_five() -> None:
    state = do(place(phase="AUCTION"), "bid(yard,5,reserve)", "bid(yard,7,reserve)")
    assert state.to_json()["bids"] == {"yard": {"7": "blue"}}
    assert state.reserve[RED] == 3


def test_y2_6_the_bank_sends_all_own_bids_to_the_market_and_ends_bidding() -> None:
    state = place(
        phase="AUCTION",
        bids={"school": {"9": "red"}, "horse": {"12": "red", "15": "blue"}},
        reserve={"red": 1, "blue": 2},
    )
    do(state, "bank(right,reserve)")
    assert merchants(state, RED) == {"pue": 2}
    assert state.to_json()["bids"] == {"horse": {"15": "blue"}}
    assert bids_of(legal(state), "school") == [5, 7, 9, 12, 15]
    do(state, "bank(left,reserve)", "bid(school,5,reserve)")
    assert (state.acting_colour, legal(state)) == (RED, ["pass"])
    state = place(phase="AUCTION", bank={"left": "red"}, banked=["red"], reserve={"red": 2})
    assert legal(state) == ["market(reserve)", "pass"]
    assert refused(state, "bank(right,reserve)") == "Y2.6"
    assert refused(state, "bid(school,9,reserve)") == "Y2.3a"
    state = place(phase="AUCTION", bank={"left": "blue"}, banked=["blue"], reserve={"blue": 2})
    assert refused(state, "bank(left,reserve)") == "Y2.6"
    assert "bank(right,reserve)" in legal(state)


def test_y2_6_who_has_used_the_bank_neither_bids_nor_uses_it_again_whatever_its_colour() -> None:
    for colour in ("red", "blue", "green"):
        state = place(phase="AUCTION", acting=colour, bank={"left": colour}, banked=[colour], reserve={colour: 2})
        assert legal(state) == ["market(reserve)", "pass"]
        assert refused(state, "bid(school,9,reserve)") == "Y2.3a"
        assert refused(state, "bank(right,reserve)") == "Y2.6"


def test_y2_7_the_market_takes_any_number_of_merchants() -> None:
    state = do(place(phase="AUCTION"), "market(reserve)", "market(reserve)", "pass", "market(reserve)")
    assert (merchants(state, RED), merchants(state, BLUE)) == ({"pue": 2}, {"pue": 1})


def test_y2_8_a_pass_leaves_the_reserve_where_it_is() -> None:
    state = do(place(phase="AUCTION"), "pass")
    assert (state.reserve[RED], merchants(state, RED)) == (3, {})
    state = do(place(phase="AUCTION", options={"pass_moves_reserve_to_market": True}), "pass")
    assert (state.reserve[RED], merchants(state, RED)) == (0, {"pue": 3})


def test_y2_8_with_the_option_a_merchant_outbid_after_the_pass_returns_to_the_reserve() -> None:
    state = place(
        phase="AUCTION",
        options={"pass_moves_reserve_to_market": True},
        bids={"dragon": {"7": "red"}},
        reserve={"red": 2},
    )
    do(state, "pass")
    assert (state.reserve[RED], merchants(state, RED)) == (0, {"pue": 2})
    do(state, "bid(dragon,9,reserve)")
    assert (state.reserve[RED], merchants(state, RED)) == (1, {"pue": 2})


def test_y2_9_who_is_the_only_one_left_goes_on_alone() -> None:
    state = do(place(phase="AUCTION"), "pass", "pass", "market(reserve)", "market(reserve)")
    assert state.acting_colour == GREEN
    do(state, "pass")
    assert state.phase is Phase.TRAVEL


def test_y2_10_a_bid_that_is_outbid_is_committed_no_longer() -> None:
    state = place(phase="AUCTION", money={"red": 9})
    do(state, "bid(school,7,reserve)")
    assert state.committed()[RED] == 7
    assert state.money[RED] == 9
    do(state, "bid(school,9,reserve)", "pass")
    assert state.committed()[RED] == 0
    assert bids_of(legal(state), "horse") == [5, 7, 9]


# --- bank and progress ------------------------------------------------------------------------------------


def last_to_pass(**arguments: Any) -> YunnanState:
    """Only Red has not passed."""
    return place(phase="AUCTION", passed=["blue", "green"], **arguments)


def test_y3_1_e1_the_bank_pays_by_the_total_of_all_bids() -> None:
    state = place(
        5,
        phase="AUCTION",
        acting="violet",
        bids={
            "school": {"9": "red", "12": "blue"},
            "customs": {"5": "blue"},
            "horse": {"9": "green", "12": "red"},
            "dragon": {"7": "red"},
            "yard": {"9": "blue", "12": "green"},
        },
        bank={"left": "violet", "right": "yellow"},
        banked=["violet", "yellow"],
        passed=["red", "blue", "green", "yellow"],
        reserve={"red": 0, "blue": 0, "green": 1, "yellow": 2, "violet": 2},
    )
    do(state, "pass")
    assert (state.last_total, state.last_bank_pay) == (75, (24, 14))
    assert (state.money[VIOLET], state.money[YELLOW]) == (74, 64)
    assert (state.reserve[VIOLET], state.reserve[YELLOW]) == (3, 3)
    assert state.money[RED] == 50 - 28
    assert state.money[BLUE] == 50 - 26
    do(state, "take(post,reserve)")
    assert state.money[GREEN] == 50 - 21


def test_y3_2_each_space_has_its_payment_and_an_empty_one_pays_nobody() -> None:
    state = last_to_pass(bank={"right": "red"}, banked=["red"], reserve={"red": 2})
    payments = [state.board.bank_payment(total) for total in (0, 9, 10, 45, 79, 80, 120)]
    assert payments == [(3, 3), (3, 3), (6, 5), (15, 9), (24, 14), (27, 15), (27, 15)]
    do(state, "pass")
    assert (state.money, state.last_bank_pay) == ([53, 50, 50], (0, 3))


def test_y3_2_a_lone_colour_on_the_right_is_paid_the_right_value() -> None:
    bids = {"school": {"12": "blue"}, "horse": {"15": "green"}}
    state = last_to_pass(
        bank={"right": "red"}, banked=["red"], bids=bids, reserve=dict.fromkeys(("red", "blue", "green"), 2)
    )
    do(state, "pass")
    assert (state.last_total, state.last_bank_pay, state.money[RED]) == (27, (0, 6), 56)


def test_y3_3_bank_merchants_return_to_the_reserve() -> None:
    state = last_to_pass(bank={"left": "blue"}, banked=["blue"], reserve={"blue": 2})
    do(state, "pass")
    assert state.reserve[BLUE] == 3
    assert merchants(state, BLUE) == {}


def test_y4_1_bids_are_paid_and_their_merchants_return_to_the_reserve() -> None:
    bids = {"customs": {"9": "red"}, "dragon": {"12": "red", "15": "blue"}}
    state = last_to_pass(bids=bids, reserve={"red": 1, "blue": 2})
    do(state, "pass")
    assert state.money == [29, 35, 50]
    assert state.reserve == [3, 3, 3]


def test_y4_2_the_yard_comes_last_so_that_a_new_province_can_be_built_in() -> None:
    bids = {"yard": {"9": "red"}, "horse": {"9": "red"}}
    state = last_to_pass(bids=bids, reserve={"red": 1})
    do(state, "pass")
    assert legal(state) == [
        "take(post,reserve)",
        "take(bridge,reserve)",
        "take(teahouse,reserve)",
        "take(teahouse,yun)",
        "take(teahouse,sic)",
    ]


def test_y4_3_the_school_brings_a_merchant_to_the_market_that_can_travel() -> None:
    state = last_to_pass(bids={"school": {"9": "red"}}, reserve={"red": 2})
    do(state, "pass", "done", "done")
    assert (state.general[RED], state.reserve[RED], merchants(state, RED)) == (3, 3, {"pue": 1})
    assert "move(pue,yun)" in legal(state)


def test_y4_4_e2_progress_counts_in_the_same_turn() -> None:
    bids = {"customs": {"9": "red"}, "horse": {"9": "red"}, "dragon": {"9": "red"}}
    state = last_to_pass(turn=1, bids=bids, reserve={"red": 0})
    do(state, "pass")
    assert (state.passes[RED], state.to_json()["horse"][RED], state.influence[RED]) == (3, "sic", 1)
    do(state, "done", "done")
    assert state.passes_left == 3


def test_y4_5_the_yard_gives_a_structure_that_is_left_or_builds_a_teahouse_at_once() -> None:
    state = place(
        phase="YARD",
        struct_reserve={"red": {"post": 2}},
        horse={"red": "qam", "green": "sic"},
        teahouse={"sic": "green"},
    )
    assert legal(state) == [
        "take(bridge,reserve)",
        "take(teahouse,reserve)",
        "take(teahouse,yun)",
        "take(teahouse,qam)",
    ]
    assert refused(state, "take(post,reserve)") == "Y4.5"
    assert refused(state, "take(bridge,yun)") == "Y4.5"
    assert refused(state, "take(teahouse,sic)") == "Y4.5"
    assert refused(state, "take(teahouse,tib)") == "Y4.5"
    do(state, "take(teahouse,qam)")
    assert state.to_json()["teahouse"] == {"sic": "green", "qam": "red"}
    assert state.to_json()["struct_general"][RED] == {"bridge": 2, "teahouse": 1}


def test_y4_6_colours_are_handled_one_after_the_other() -> None:
    bids = {"yard": {"9": "blue", "12": "red"}, "school": {"9": "blue"}}
    state = last_to_pass(bids=bids, reserve={"red": 2, "blue": 1})
    do(state, "pass")
    assert (state.money[RED], state.reserve[RED]) == (38, 3)
    assert (state.money[BLUE], state.reserve[BLUE], state.committed()[BLUE]) == (50, 1, 18)
    do(state, "take(bridge,reserve)")
    assert (state.acting_colour, state.money[BLUE], merchants(state, BLUE)) == (BLUE, 32, {"pue": 1})
    do(state, "take(teahouse,reserve)")
    assert (state.phase, order(state.travel_order)) == (Phase.TRAVEL, "GBR")
