"""The pictures of this game; `tests/referee/test_drawings.py` tests those of all games."""

from __future__ import annotations

import copy
import random
import re
from typing import Any

import pytest

from referee.game import Scene
from referee.games.yunnan import GAME, scoring
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_land import GROUND_HEIGHT, GROUND_WIDTH, Land, gate_of, land_of
from referee.games.yunnan.drawing_pieces import (
    BROKEN,
    COLOUR_NAMES,
    FILLS,
    GIFT,
    LOCK,
    bridge,
    horse,
    marker,
    merchant,
    pieces_of,
    post,
    teahouse,
)
from referee.games.yunnan.drawing_words import expected
from referee.games.yunnan.names import Colour
from referee.games.yunnan.observation import YunnanObservation
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import BOARD, do, place
from referee.kit.chance import FastChance
from referee.kit.scene import halo
from referee.kit.svg import crown
from tests.drawings import texts


def drawn(state: YunnanState, viewer: int | None = None) -> str:
    return GAME.draw(state.setup, state.observation(viewer))


def observed(state: YunnanState) -> YunnanObservation:
    seen = state.observation(None)
    assert isinstance(seen, YunnanObservation)
    return seen


def board_of(state: YunnanState) -> YunnanBoard:
    assert isinstance(state.setup.board, YunnanBoard)
    return state.setup.board


def anywhere(piece: str) -> str:
    """Return the markup of a piece, without its place."""
    assert piece.count("<") == 1
    return piece.removesuffix("/>")


def test_the_drawing_names_provinces_buildings_and_values() -> None:
    svg = drawn(place(m={"red": {"qam": 2}}, horse={"red": "qam"}, bridges={"red": ["b0"]}))
    words = texts(svg)
    for word in ("Pu'er", "Qinghai", "School of Merchants", "Horse Market", "travel order", "b0", "left", "right"):
        assert word in words, word
    assert "Qinghai: a Merchant earns 18, a Post 15" in words
    assert "2 in Qamdo" in words
    for piece in (merchant(Colour.RED, 2), anywhere(horse(Colour.RED)), anywhere(bridge(Colour.RED))):
        assert piece in svg


def test_the_drawing_shows_who_may_still_journey_and_the_income_to_expect() -> None:
    state = place(m={"red": {"yun": 1, "pue": 2}}, passes={"red": 3}, posts={"red": {"yun": 1}})
    svg = drawn(do(state, "move(pue,yun)"))
    assert "2 border passes left; 2 Merchants may still journey" in texts(svg)
    assert "expected income 16: Merchants 15, Posts 1" in texts(svg)
    assert merchant(Colour.RED, 2, waiting=True) in svg
    assert merchant(Colour.RED, waiting=True) in svg


def test_expected_incomes_are_those_of_the_rules() -> None:
    """The position of the rulebook's transport example, E8, without the bridge."""
    state = place(
        m={"red": {"tib": 1, "qin": 1}}, posts={"red": {"yun": 1, "sic": 1}}, horse={"red": "qin"}, acting="blue",
        travel_order=["blue", "red", "green"],
    )  # fmt: skip
    assert [earned.income for earned in expected(board_of(state), observed(state))] == [
        scoring.income(state, colour) for colour in range(3)
    ]
    assert expected(board_of(state), observed(state))[0] == (33, 4, 6)
    assert "Expected income of red: 31" in texts(drawn(state))


def test_a_travelling_colour_sees_its_route_and_what_is_cut_off_from_it() -> None:
    state = place(m={"red": {"yun": 1, "tib": 1}}, horse={"red": "tib"}, passes={"red": 6})
    land = land_of(board_of(state))
    to_yunnan = f'd="{land.road[0].drawn()}" fill="none" stroke="{FILLS[Colour.RED]}"'
    svg = drawn(state)
    assert to_yunnan in svg
    assert "cut off, and sent home when it is done: Tibet" in texts(svg)
    assert svg.count(anywhere(BROKEN)) == 1
    svg = drawn(do(state, "move(tib,sic)"))
    assert anywhere(BROKEN) not in svg
    assert f'd="{land.road[0].drawn()}{land.road[1].drawn()}" fill="none"' in svg


def test_a_route_leads_over_own_bridges_only() -> None:
    has: dict[str, Any] = {"m": {"red": {"yun": 1, "qam": 1}}, "horse": {"red": "qam", "blue": "qam"}}
    over = land_of(board_of(place())).over[0].drawn()
    line = f'fill="none" stroke="{FILLS[Colour.RED]}"'
    assert f'{over}" {line}' in drawn(place(bridges={"red": ["b0"]}, **has))
    assert f'{over}" {line}' not in drawn(place(bridges={"blue": ["b0"]}, **has))


def test_provinces_that_the_horse_has_not_reached_are_locked_for_whoever_travels() -> None:
    locked = drawn(place(horse={"red": "sic"})).count(anywhere(LOCK))
    assert drawn(place(horse={"red": "qin"})).count(anywhere(LOCK)) == locked - 3
    assert drawn(place(horse={"red": "sic"}, phase="AUCTION")).count(anywhere(LOCK)) == locked - 3


def test_the_inspector_is_shown_in_a_province_only_in_the_turn_in_which_it_came() -> None:
    state = place(
        m={"red": {"yun": 1}, "blue": {"yun": 2}}, travel_order=["red", "green", "blue"], influence={"blue": 1}
    )
    do(state, "done", "done")
    assert "took" not in texts(drawn(state))
    words = texts(drawn(do(state, "done")))
    assert "took B" in words
    assert "The inspector has been in Yunnan and banned blue" in words
    words = texts(drawn(do(state, "convert(0)", "convert(0)", "convert(0)")))
    assert "took" not in words
    assert "The inspector was in the last turn in Yunnan and banned blue" in words


def test_the_bank_says_what_the_left_and_the_right_pay_now_and_what_they_have_paid() -> None:
    bidding = place(phase="AUCTION", bids={"horse": {"12": "blue"}})
    words = texts(drawn(bidding))
    assert "pays now left 6 Yuan right 5 Yuan" in words
    assert "The bank pays now: 6 left, 5 right" in words
    paid = place(last_total=23, last_bank_pay=[9, 0])
    words = texts(drawn(paid))
    assert "has paid left 9 Yuan right nobody" in words
    assert "This turn: 23 bid; paid 9 left, 0 right" in words


def test_the_drawing_shows_scores_below_zero() -> None:
    state = place(phase="AUCTION", options={"expert": True}, vp=[-15, 0, 0])
    assert "-15 VP" in texts(drawn(state))


def test_y11_3_the_final_picture_breaks_ties_as_the_rules_do() -> None:
    state = place(
        phase="OVER",
        travel_order=["green", "blue", "red"],
        money=dict.fromkeys(("red", "blue", "green"), 0),
        influence={"red": 1},
        vp=[80, 81, 81],
    )
    assert (state.scores(), state.ranks()) == ([81, 81, 81], [1, 3, 2])
    words = texts(drawn(state))
    table = words[words.index("Final standing") :]
    assert table.index("1st R 0") < table.index("2nd G 2") < table.index("3rd B 1")
    assert "1st and 2nd: decided by influence; 2nd and 3rd: decided by travels before" in words.lower()
    mark = crown(0, 0).split("<path")[1]
    assert drawn(state).count(mark) == 2  # in the header, and on the panel of seat 0
    assert "Seat 0 wins" in words


def test_a_province_name_cannot_smuggle_anything_into_the_drawing() -> None:
    board = copy.deepcopy(dict(BOARD))
    board["provinces"]["tib"]["name"] = '<script>alert("x")</script>&\x00' + "x" * 500
    state = GAME.start(GAME.setup(3, {}, board), FastChance(1))
    svg = GAME.draw(state.setup, state.observation(None))
    assert "<script" not in svg
    texts(svg)


# --- what can be told apart, and read -------------------------------------------------------------------


def test_pieces_of_one_colour_differ_in_shape_and_pieces_of_one_shape_in_their_letter() -> None:
    drawn = dict(re.findall(r'<g id="yu-([^"]*)">(.*?)</g>', pieces_of(tuple(Colour))))
    kinds = ("merchant", "post", "teahouse", "bridge", "horse", "marker")
    assert len({tuple(re.findall(r' d="([^"]*)"', drawn[f"{kind}-red"])) for kind in kinds}) == len(kinds)
    for kind in kinds:
        of_all = [drawn[f"{kind}-{COLOUR_NAMES[colour]}"] for colour in Colour]
        assert len({re.sub(r'fill="[^"]*"', "", piece) for piece in of_all}) == len(Colour)


def test_every_road_can_be_seen_between_two_provinces_and_every_site_stands_free() -> None:
    land = land_of(board_of(place()))
    for way in land.road:
        seen = [way.at(step / 100) for step in range(101) if not on_ground(land, way.at(step / 100))]
        assert len(seen) > 8, way
        assert not on_ground(land, gate_of(way), 14)
    for x, y in land.sites:
        assert not any(on_ground(land, (x + dx, y + dy)) for dx in (-84, 0, 60) for dy in (-12, 12)), (x, y)


def on_ground(land: Land, point: tuple[float, float], more: float = 0) -> bool:
    return any(
        abs(point[0] - x) < GROUND_WIDTH / 2 + more and abs(point[1] - y) < GROUND_HEIGHT / 2 + more
        for x, y in land.centres
    )


def test_places_of_a_corrected_board_may_be_anywhere() -> None:
    rng = random.Random(5)
    for kind in ("anywhere", "anywhere", "one point"):
        board = copy.deepcopy(dict(BOARD))
        for place_ in (*board["provinces"].values(), *board["bridge_sites"].values()):
            place_["x"], place_["y"] = (100, 0) if kind == "one point" else (rng.randint(0, 100), rng.randint(0, 100))
        state = GAME.start(GAME.setup(5, {}, board), FastChance(1))
        assert "Qinghai" in texts(GAME.draw(state.setup, state.observation(None)))


def test_five_bridges_and_all_pieces_of_five_colours_in_one_province_are_all_drawn() -> None:
    colours = [colour.name.lower() for colour in Colour]
    state = place(
        5, m={colour: {"sic": 3} for colour in colours}, posts={colour: {"sic": 2} for colour in colours},
        bridges={colour: ["b2"] for colour in colours}, horse=dict.fromkeys(colours, "qin"), reserve=dict.fromkeys(colours, 0),
    )  # fmt: skip
    svg = drawn(state)
    for colour in Colour:
        for piece in (post(colour, 2), anywhere(bridge(colour)), anywhere(horse(colour))):
            assert piece in svg, colour
        assert (merchant(colour, 3, waiting=True) if colour is Colour.RED else merchant(colour, 3)) in svg


# --- what has just happened -----------------------------------------------------------------------------


def scene_of(before: YunnanState, after: YunnanState, action: str, **more: Any) -> Scene:
    """The scene of an action of a match whose bots are called bot-0, bot-1 and so on."""
    seats = range(before.setup.seats)
    return Scene(
        bots=tuple(f"bot-{seat}" for seat in seats), step=7, steps=90, before=observed(before),
        seat=before.seats_to_act()[0], action=GAME.parse_action(action), clocks=tuple(61.0 + seat for seat in seats), **more,
    )  # fmt: skip


def after(state: YunnanState, action: str) -> str:
    """The picture after an action, with its scene."""
    played = do(state.clone(), action)
    return GAME.draw(played.setup, observed(played), scene_of(state, played, action))


def test_the_strip_names_step_bot_action_and_the_points_that_were_scored() -> None:
    state = place(phase="CONVERT", m={"red": {"yun": 1}, "blue": {"pue": 1}}, travel_order=["red", "blue", "green"],
                  income={"red": 6, "blue": 3})  # fmt: skip
    words = texts(after(state, "convert(4)"))
    assert "Step 7 of 90 R bot-0 converts 4 of 6 Yuan R +4 points: income" in words
    assert "Step 7 of 90: seat 0 converts 4 of 6 Yuan. Seat 0: +4 points: income. Seat 0 is bot-0." in words
    for seat in range(3):
        assert f"Seat {seat}" in words
        assert f"bot-{seat} " in words
        assert f"1:0{1 + seat}" in words


@pytest.mark.parametrize(
    ("state", "action", "said"),
    [
        ({"phase": "AUCTION"}, "bid(horse,7,reserve)", "bids 7 in the Horse Market"),
        (
            {"phase": "AUCTION", "bids": {"dragon": {"5": "green"}}},
            "bid(dragon,9,reserve)",
            "bids 9 in the House of the Dragon, and outbids green",
        ),
        (
            {"phase": "AUCTION", "reserve": {"red": 0}, "m": {"red": {"yun": 1}}},
            "bank(right,yun)",
            "goes to the bank, right, from Yunnan",
        ),
        ({"phase": "AUCTION"}, "market(reserve)", "puts a Merchant into the market"),
        ({"phase": "AUCTION"}, "pass", "passes"),
        ({"phase": "AUCTION", "passed": ["blue", "green"]}, "pass", "passes, and ends the auction"),
        ({"phase": "YARD"}, "take(bridge,reserve)", "takes a Bridge"),
        ({"phase": "YARD"}, "take(teahouse,yun)", "takes a Teahouse and builds it in Yunnan"),
        ({"m": {"red": {"pue": 1}}}, "move(pue,yun)", "moves a Merchant from Pu'er to Yunnan"),
        ({"struct_reserve": {"red": {"post": 1}}}, "build_post(yun)", "builds a Post in Yunnan"),
        (
            {"struct_reserve": {"red": {"bridge": 1}}, "horse": {"red": "qam"}},
            "build_bridge(b0)",
            "builds a Bridge at b0",
        ),
        ({"struct_reserve": {"red": {"teahouse": 1}}}, "build_teahouse(yun)", "builds a Teahouse in Yunnan"),
        ({"travel_order": ["red", "blue", "green"]}, "done", "ends its travel turn"),
        (
            {"travel_order": ["red", "blue", "green"], "m": {"red": {"sic": 1}}, "horse": {"red": "sic"}},
            "done",
            "ends its travel turn; its Merchants in Sichuan go home",
        ),
        (
            {"travel_order": ["blue", "green", "red"], "m": {"red": {"yun": 1}}},
            "done",
            "ends its travel turn; the inspector takes red in Yunnan",
        ),
        (
            {"phase": "DISPLACE", "pending_displace": "yun",
                "unmoved": {"yun": 1}, "passes_left": 1, "m": {"red": {"yun": 2}, "blue": {"yun": 1}}, "influence": {"red": 1}},
            "displace(blue)",
            "displaces blue in Yunnan",
        ),
        (
            {"phase": "DISPLACE", "pending_displace": "yun",
                "unmoved": {"yun": 1}, "passes_left": 1, "m": {"red": {"yun": 2}, "blue": {"yun": 1}}, "influence": {"red": 1}},
            "no_displace",
            "displaces nobody",
        ),
        (
            {"phase": "CONVERT", "travel_order": ["blue", "green", "red"]},
            "convert(0)",
            "converts 0 of 0 Yuan, and ends turn 2",
        ),
        (
            {"phase": "CONVERT", "travel_order": ["blue", "green", "red"], "vp": [80, 0, 0]},
            "convert(0)",
            "converts 0 of 0 Yuan, and ends the match",
        ),
    ],
)  # fmt: skip
def test_every_action_is_described_in_words(state: dict[str, Any], action: str, said: str) -> None:
    assert f"seat 0 {said}. " in texts(after(place(**state), action))


def test_with_two_seats_the_strip_says_with_which_colour_a_seat_acted() -> None:
    words = texts(
        after(place(2, phase="AUCTION", acting="green", auction_order=["green", "blue", "red", "yellow"]), "pass")
    )
    assert "RG bot-0" not in words
    assert "R G bot-0 with green passes" in words


def test_a_journey_is_an_arrow_along_each_way_that_it_took() -> None:
    state = place(m={"red": {"pue": 1, "yun": 1}}, horse={"red": "qam"}, passes={"red": 6})
    land = land_of(board_of(state))
    assert legs(after(state, "move(pue,qam)")) == 3  # by road
    over = place(m={"red": {"pue": 1, "yun": 1}}, horse={"red": "qam"}, passes={"red": 6}, bridges={"red": ["b0"]})
    assert legs(after(over, "move(pue,qam)")) == 2
    assert legs(after(over, "done")) == 0
    assert len(land.road) == 5


def legs(svg: str) -> int:
    """The number of legs of journeys in the drawing, without the arrow of the legend."""
    return len(re.findall(r'stroke="#ffe9a8" stroke-width="4" stroke-dasharray="7 6"', svg))


def test_who_is_displaced_banned_or_sent_home_leaves_an_arrow_too() -> None:
    state = place(
        phase="DISPLACE", pending_displace="sic", unmoved={"sic": 1}, passes_left=1, m={"red": {"sic": 2}, "blue": {"sic": 1}}, influence={"red": 1},
        horse={"red": "sic", "blue": "sic"},
    )  # fmt: skip
    assert legs(after(state, "displace(blue)")) == 1
    assert legs(after(state, "no_displace")) == 0
    banned = place(travel_order=["blue", "green", "red"], m={"red": {"yun": 1}})
    assert legs(after(banned, "done")) == 1


@pytest.mark.parametrize(
    ("state", "action", "piece"),
    [
        ({"phase": "AUCTION"}, "bid(horse,7,reserve)", merchant(Colour.RED)),
        ({"phase": "AUCTION"}, "bank(left,reserve)", merchant(Colour.RED)),
        ({"phase": "AUCTION"}, "market(reserve)", merchant(Colour.RED)),
        ({"struct_reserve": {"red": {"post": 1}}}, "build_post(yun)", post(Colour.RED)),
        ({"struct_reserve": {"red": {"bridge": 1}}, "horse": {"red": "qam"}}, "build_bridge(b0)", bridge(Colour.RED)),
        ({"struct_reserve": {"red": {"teahouse": 1}}}, "build_teahouse(yun)", teahouse(Colour.RED)),
    ],
)
def test_a_piece_that_has_just_come_has_a_mark_and_has_none_later(
    state: dict[str, Any], action: str, piece: str
) -> None:
    played = place(**state)
    mark = halo(0, 0, 17)
    assert after(played, action).count(mark + piece) == 1
    assert mark + piece not in drawn(do(played, action))


def test_levels_horses_and_gifts_that_have_just_changed_have_a_mark() -> None:
    bids = {"horse": {"5": "red"}, "dragon": {"5": "blue"}}
    svg = after(place(phase="AUCTION", passed=["blue", "green"], bids=bids), "pass")
    assert halo(0, 0, 17) + horse(Colour.RED) in svg
    assert halo(0, 0, 17) + horse(Colour.BLUE) not in svg
    assert svg.count(marker(Colour.BLUE) + halo(0, 0, 13)) == 2  # on the track of influence, and in its panel
    served = place(travel_order=["blue", "green", "red"], m={"red": {"sic": 2, "yun": 1}}, horse={"red": "sic"})
    assert after(served, "done").count(halo(0, 0, 13) + GIFT) == 1


def test_the_end_says_what_all_points_were_for_and_that_they_add_up() -> None:
    state = place(
        phase="OVER", travel_order=["red", "blue", "green"], vp=[80, 40, 0], gifts={"sic": 1}, teahouse={"yun": "blue"},
        influence={"red": 3}, passes={"blue": 4}, money={"green": 31},
    )  # fmt: skip
    words = texts(drawn(state))
    table = words[words.index("Final standing") :]
    parts = GAME.breakdown(state.setup, observed(state))
    for place_, source in enumerate(points.source for points in parts[0]):
        values = [points[place_].points for points in parts]
        assert (f"{source} {' '.join(map(str, values))}" in table) == any(values), source
    assert f"total {' '.join(map(str, state.scores()))}" in table
    assert "Decided by points" in table
    assert "place 1, made of: before this position 80, gifts 39, influence 9, money 16" in words


def test_a_scene_without_an_action_can_be_drawn() -> None:
    state = place(phase="AUCTION")
    assert "The match begins" in texts(GAME.draw(state.setup, observed(state), Scene(("a", "b", "c"))))
    assert "seat 1 acts" in texts(GAME.draw(state.setup, observed(state), Scene(("a", "b", "c"), step=3, seat=1)))


def test_a_colour_that_has_gained_or_spent_something_has_a_mark_in_its_panel() -> None:
    state = place(phase="CONVERT", m={"red": {"yun": 1}, "blue": {"pue": 1}}, travel_order=["red", "blue", "green"])
    svg = after(state, "convert(4)")
    assert svg.count(marker(Colour.RED) + halo(0, 0, 13)) == 2  # on the order track, and in its panel
    assert svg.count(marker(Colour.BLUE) + halo(0, 0, 13)) == 0
