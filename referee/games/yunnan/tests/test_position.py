"""Positions written by people (RULES.md, 2.1), and their problems (section 9)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.yunnan import GAME
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import place, setup
from referee.kit.document import Document
from tests.tables import example_position


def read(data: dict[str, Any], seats: int = 3, **options: object) -> tuple[YunnanState, list[str]]:
    document = Document(data, "position")
    state = GAME.read_state(setup(seats, **options), document)
    document.finish()
    assert isinstance(state, YunnanState)
    return state, document.problems


def test_the_position_of_the_rules_page_is_sound() -> None:
    data = example_position("yunnan")
    state, problems = read(data["state"], data["seats"])
    assert problems == []
    assert state.problems() == []
    assert state.legal_actions(0)


def test_what_the_rest_implies_may_be_left_out() -> None:
    state, problems = read(
        {
            "turn": 1,
            "phase": "AUCTION",
            "acting_colour": "red",
            "auction_order": ["red", "blue", "green"],
            "money": [9, 9, 12],
        }
    )
    assert problems == state.problems() == []
    whole = state.to_json()
    assert (whole["general"], whole["reserve"], whole["passes"]) == ([4] * 3, [3] * 3, [2] * 3)
    assert whole["struct_general"] == [{"post": 2, "bridge": 2, "teahouse": 2}] * 3
    assert whole["travel_order"] == ["green", "blue", "red"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"turn": 0}, "position.turn must be an integer from 1 to 30, not 0"),
        ({"turn": 31}, "position.turn must be an integer from 1 to 30, not 31"),
        ({"phase": "travel"}, "position.phase must be one of AUCTION, YARD"),
        ({"acting_colour": "pink"}, "position.acting_colour must be one of red, blue, green, not 'pink'"),
        ({"acting_colour": "violet"}, "position.acting_colour must be one of red, blue, green"),
        ({"auction_order": ["red", "blue"]}, "position.auction_order must name each of red, blue, green once"),
        ({"auction_order": ["red", "red", "blue"]}, "names red a second time"),
        ({"money": [1, 2]}, "position.money must have 3 entries, not 2"),
        ({"money": [1, 2, -3]}, "position.money[2] must be an integer from 0"),
        ({"passes": [2, 2, 7]}, "position.passes[2] must be an integer from 2 to 6, not 7"),
        ({"horse": ["yun", "pue", "yun"]}, "position.horse must name 3 provinces of yun, sic"),
        ({"general": [5, 4, 4]}, "position.general[0] must be an integer from 0 to 4, not 5"),
        ({"last_inspector": "pue"}, "position.last_inspector must be one of yun, sic, qam, tib, qin, not 'pue'"),
        ({"influence": [5, 0, 0]}, "position.influence[0] must be an integer from 0 to 4, not 5"),
        ({"m": [{}, {}]}, "position.m must have 3 entries, one for each colour, not 2"),
        ({"m": [{"tibet": 1}, {}, {}]}, "position.m[0].tibet is not known here"),
        (
            {"bids": {"school": {"6": "red"}}},
            "position.bids.school.6 is not known here; the known entries are: 12, 15, 5, 7, 9",
        ),
        ({"bids": {"farm": {}}}, "position.bids.farm is not known here"),
        ({"bridges": ["b0"]}, "position.bridges must be a list of 3 lists"),
        ({"bridges": [["b4"], [], []]}, "must be one of b0, b1, b2, b3, not 'b4'"),
        ({"teahouse": {"tib": "white"}}, "position.teahouse.tib must be one of red"),
        ({"colour": "red"}, "position.colour is not known here"),
    ],
)
def test_what_cannot_be_read_is_said(change: dict[str, Any], said: str) -> None:
    _, problems = read(example_position("yunnan")["state"] | change)
    assert any(said in problem for problem in problems), problems


BASE = {
    "turn": 3,
    "phase": "TRAVEL",
    "acting_colour": "red",
    "auction_order": ["green", "blue", "red"],
    "money": [5, 5, 5],
    "horse": ["sic", "sic", "sic"],
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"general": [4, 4, 4], "reserve": [4, 3, 3]}, "I1: red has 8 Merchants, not 7"),
        ({"struct_general": [{"post": 2}, {}, {}]}, "I2: red has 0 structures of the kind bridge, not 2"),
        ({"posts": [{"yun": 3}, {}, {}]}, "I2: red has 3 structures of the kind post, not 2"),
        ({"gifts": {"sic": 4}}, "I3: there are 4 gifts on the map and with the colours, not 14"),
        ({"gifts": {"yun": 1, "sic": 4, "qam": 4, "tib": 3, "qin": 2}}, "I3: yun has 1 gifts; it started with 0"),
        ({"m": [{"tib": 1}, {}, {}]}, "I4: red is in tib, which its Horse has not reached"),
        ({"bridges": [["b2"], [], []]}, "I4: red has a bridge at b2, but its Horse has not reached both ends"),
        ({"teahouse": {"qin": "blue"}}, "I4: a teahouse of blue in qin is not possible"),
        ({"vp": [-1, 0, 0]}, "I6: the score of seat 0 is below 0"),
        ({"phase": "AUCTION", "bids": {"school": {"9": "red"}}}, "I6: red has bid 9 Yuan, but has 5"),
        ({"phase": "AUCTION", "bids": {"school": {"5": "red", "9": "blue"}}}, "I7: a small space in school"),
        (
            {"phase": "AUCTION", "bids": {"school": {"9": "red", "12": "red"}}},
            "I7: a colour has two Merchants in school",
        ),
        (
            {"phase": "AUCTION", "bids": {"school": {"9": "blue"}}, "bank": {"left": "blue"}, "banked": ["blue"]},
            "I7: blue has used the bank, and has a bid in school",
        ),
        ({"phase": "AUCTION", "passed": ["red"]}, "acting_colour has passed"),
        ({"phase": "AUCTION", "banked": ["blue"]}, "banked must name the colours that stand in the bank"),
        ({"travel_order": ["red", "green", "blue"]}, "I13: until the incomes are noted"),
        ({"passed": ["blue"]}, "passed and banked belong to the phase AUCTION"),
        ({"bank": {"left": "red"}}, "Merchants in the bank belong to the phase AUCTION"),
        ({"bids": {"school": {"5": "red"}}}, "bids belong to the phases AUCTION and YARD"),
        ({"phase": "YARD", "bids": {"school": {"5": "green"}}}, "green has bids, but has paid"),
        ({"phase": "YARD", "struct_reserve": [{"post": 2, "bridge": 2, "teahouse": 2}, {}, {}]}, "phase YARD needs"),
        ({"phase": "AUCTION", "passes_left": 1}, "unmoved and passes_left belong to the phases TRAVEL and DISPLACE"),
        ({"income": [3, 0, 0]}, "income that is still to be converted belongs to the phase CONVERT"),
        ({"unmoved": {"yun": 1}}, "unmoved names more Merchants in yun than red has there"),
        ({"passes_left": 3}, "passes_left exceeds"),
        ({"passes_left": 1}, "I14: 0 Merchants have journeyed, but 1 border passes are spent"),
        ({"m": [{"yun": 1}, {}, {}], "unmoved": {}}, "I14: 1 Merchants have journeyed, but 0"),
        ({"pending_displace": "yun"}, "pending_displace belongs to the phase DISPLACE"),
        ({"phase": "DISPLACE", "pending_displace": "yun"}, "pending_displace needs an opponent's Merchant"),
        (
            {"phase": "CONVERT", "travel_order": ["red", "blue", "green"], "income": [3, 0, 0]},
            "to be converted is 0, not 3",
        ),
        (
            {"phase": "CONVERT", "travel_order": ["red", "blue", "green"], "m": [{}, {"pue": 1}, {}]},
            "travel_order must be by income, which gives blue, green, red (Y9.1)",
        ),
        (
            {"phase": "OVER", "travel_order": ["red", "green", "blue"], "m": [{}, {"pue": 1}, {"pue": 1}]},
            "travel_order must be by income, which gives green, blue, red (Y9.1)",
        ),
        ({"phase": "OVER", "travel_order": ["green", "blue", "red"]}, "the match is not over"),
        ({"vp": [0, 80, 0]}, "the match is over already"),
        ({"gifts": {}, "gifts_taken": [14, 0, 0]}, "the match is over already"),
        ({"m": [{"sic": 1}, {}, {}], "unmoved": {}, "passes": [6, 2, 2], "passes_left": 3}, "I14: 1 Merchants"),
        ({"last_total": 45, "last_bank_pay": [9, 0]}, "last_bank_pay must be 15 left and 9 right, or 0 (Y3.2)"),
        ({"last_banned": "red"}, "last_banned needs last_inspector (Y6.3)"),
        (
            {"phase": "AUCTION", "bank": {"left": "red", "right": "red"}, "banked": ["red"]},
            "banked must name the colours that stand in the bank, each on one space (Y2.6)",
        ),
    ],
)
def test_what_is_wrong_is_said_by_its_number(change: dict[str, Any], said: str) -> None:
    data = BASE | change
    if data["phase"] == "OVER":
        del data["acting_colour"]
    state, problems = read(data)
    assert problems == []
    assert any(said in problem for problem in state.problems()), state.problems()


FULL = {"m": [{"yun": 4}, {}, {}], "general": [0, 4, 4], "reserve": [2, 3, 3]}


@pytest.mark.parametrize("phase", ["AUCTION", "YARD"])
@pytest.mark.parametrize(
    ("building", "change"),
    [
        ("school", FULL),
        ("customs", {"passes": [6, 2, 2]}),
        ("horse", {"horse": ["qin", "yun", "yun"]}),
        ("dragon", {"influence": [4, 0, 0]}),
        ("yard", {"struct_reserve": [{"post": 2, "bridge": 2, "teahouse": 2}, {}, {}]}),
    ],
)
def test_y2_3b_a_bid_in_a_building_with_nothing_left_to_give_is_wrong(
    phase: str, building: str, change: dict[str, Any]
) -> None:
    data = BASE | {"phase": phase, "acting_colour": "blue", "money": [9, 9, 9], "bids": {building: {"9": "red"}}}
    state, _ = read(data)
    assert state.problems() == []
    state, _ = read(data | change)
    assert state.problems() == [f"red has a bid in {building}, which has nothing left to give it (Y2.3b)"]


def test_y12_2_a_first_order_that_does_not_alternate_is_wrong() -> None:
    order = ["red", "green", "blue", "yellow"]
    state, _ = read(
        {"turn": 1, "phase": "AUCTION", "acting_colour": "red", "auction_order": order, "money": [9] * 4}, 2
    )
    assert state.problems() == ["auction_order must alternate between the seats in turn 1 (Y12.2)"]


def test_when_the_match_is_over_nobody_acts() -> None:
    over = {"phase": "OVER", "travel_order": ["green", "blue", "red"], "vp": [80, 0, 0]}
    _, problems = read(BASE | over)
    assert problems == ["position.acting_colour is for nobody when the match is over; leave it out"]
    state, problems = read({key: value for key, value in (BASE | over).items() if key != "acting_colour"})
    assert problems == state.problems() == []
    assert state.is_over()


def test_a_displacement_in_progress_can_be_written() -> None:
    state = place(
        phase="DISPLACE",
        m={"red": {"yun": 1}, "blue": {"yun": 1}},
        influence={"red": 1},
        unmoved={},
        passes_left=1,
        pending_displace="yun",
    )
    assert state.problems() == []
