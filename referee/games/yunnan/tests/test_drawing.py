"""The drawing: always well-formed, drawn from the observation alone, and nothing in it can be smuggled in."""

from __future__ import annotations

import copy
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest

from referee.games.yunnan import GAME, scoring
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_land import GROUND_HEIGHT, GROUND_WIDTH, Land, gate_of, land_of
from referee.games.yunnan.drawing_pieces import FILLS, bridge, broken, horse, lock, marker, merchant, post, teahouse
from referee.games.yunnan.drawing_words import expected
from referee.games.yunnan.names import Colour
from referee.games.yunnan.observation import YunnanObservation
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import BOARD, do, place, setup
from referee.kit.chance import FastChance
from referee.kit.svg import crown

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> str:
    """All words in a drawing."""
    root = ET.fromstring(svg)  # noqa: S314 our own drawing
    assert root.tag == f"{SVG}svg"
    return " ".join(
        "".join(element.itertext()) for element in root.iter() if element.tag in (f"{SVG}text", f"{SVG}desc")
    )


def drawn(state: YunnanState, viewer: int | None = None) -> str:
    return GAME.draw(state.setup, state.observation(viewer))


def observed(state: YunnanState) -> YunnanObservation:
    seen = state.observation(None)
    assert isinstance(seen, YunnanObservation)
    return seen


def board_of(state: YunnanState) -> YunnanBoard:
    assert isinstance(state.setup.board, YunnanBoard)
    return state.setup.board


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_every_moment_of_a_match_can_be_drawn(seats: int) -> None:
    chance, rng = FastChance(seats), random.Random(seats)
    state = GAME.start(setup(seats, expert=seats == 3), chance)
    assert isinstance(state, YunnanState)
    step = 0
    while not state.is_over():
        if step % 7 == 0:
            texts(drawn(state))
        seat = state.seats_to_act()[0]
        state.apply(seat, rng.choice(state.legal_actions(seat)), chance)
        step += 1
    assert "Final scores" in texts(drawn(state))


def test_the_same_observation_gives_the_same_drawing_and_different_moments_look_different() -> None:
    state = place(phase="AUCTION")
    assert drawn(state) == drawn(state.clone())
    before = drawn(state)
    assert drawn(do(state, "bid(horse,7,reserve)")) != before


def test_the_drawing_names_provinces_buildings_and_values() -> None:
    svg = drawn(place(m={"red": {"qam": 2}}, horse={"red": "qam"}, bridges={"red": ["b0"]}))
    words = texts(svg)
    for word in ("Pu'er", "Qinghai", "School of Merchants", "Horse Market", "travel order", "b0", "left", "right"):
        assert word in words, word
    assert "Qinghai: a Merchant earns 18, a Post 15" in words
    assert "2 in Qamdo" in words
    for piece in (merchant(Colour.RED, 2), horse(Colour.RED), bridge(Colour.RED)):
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


def test_a_travelling_colour_sees_its_route_and_what_is_cut_off_from_it() -> None:
    state = place(m={"red": {"yun": 1, "tib": 1}}, horse={"red": "tib"}, passes={"red": 6})
    land = land_of(board_of(state))
    to_yunnan = f'd="{land.road[0].drawn()}" fill="none" stroke="{FILLS[Colour.RED]}"'
    svg = drawn(state)
    assert to_yunnan in svg
    assert "cut off, and sent home when it is done: Tibet" in texts(svg)
    assert svg.count(broken()) == 1
    svg = drawn(do(state, "move(tib,sic)"))
    assert broken() not in svg
    assert f'd="{land.road[0].drawn()}{land.road[1].drawn()}" fill="none"' in svg


def test_a_route_leads_over_own_bridges_only() -> None:
    has: dict[str, Any] = {"m": {"red": {"yun": 1, "qam": 1}}, "horse": {"red": "qam", "blue": "qam"}}
    over = land_of(board_of(place())).over[0].drawn()
    line = f'fill="none" stroke="{FILLS[Colour.RED]}"'
    assert f'{over}" {line}' in drawn(place(bridges={"red": ["b0"]}, **has))
    assert f'{over}" {line}' not in drawn(place(bridges={"blue": ["b0"]}, **has))


def test_provinces_that_the_horse_has_not_reached_are_locked_for_whoever_travels() -> None:
    locked = drawn(place(horse={"red": "sic"})).count(lock())
    assert drawn(place(horse={"red": "qin"})).count(lock()) == locked - 3
    assert drawn(place(horse={"red": "sic"}, phase="AUCTION")).count(lock()) == locked - 3


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
    assert words.index("seat 0, red") < words.index("seat 2, green") < words.index("seat 1, blue")
    mark = crown(0, 0).split("<path")[1]
    assert drawn(state).count(mark) == 2  # in the list of final scores, and on the panel of seat 0


def test_a_province_name_cannot_smuggle_anything_into_the_drawing() -> None:
    board = copy.deepcopy(dict(BOARD))
    board["provinces"]["tib"]["name"] = '<script>alert("x")</script>&\x00' + "x" * 500
    state = GAME.start(GAME.setup(3, {}, board), FastChance(1))
    svg = GAME.draw(state.setup, state.observation(None))
    assert "<script" not in svg
    texts(svg)


# --- what can be told apart, and read -------------------------------------------------------------------


def test_pieces_of_one_colour_differ_in_shape_and_pieces_of_one_shape_in_their_letter() -> None:
    pieces = (merchant, post, teahouse, bridge, horse, marker)
    without_fills = [re.sub(r'fill="[^"]*"', "", piece(Colour.RED)) for piece in pieces]
    assert len(set(without_fills)) == len(pieces)
    for piece in pieces:
        assert len({re.sub(r'fill="[^"]*"', "", piece(colour)) for colour in Colour}) == len(Colour)


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


def sizes(node: ET.Element, scale: float = 1) -> Iterator[tuple[float, str]]:
    """The size of every text in a drawing, with the text."""
    scaled = re.search(r"scale\(([\d.]+)\)", node.get("transform", ""))
    scale *= float(scaled[1]) if scaled else 1
    if node.tag == f"{SVG}text":
        yield float(node.attrib["font-size"]) * scale, node.text or ""
    for child in node:
        yield from sizes(child, scale)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_no_letter_is_lower_than_9_pixels_where_the_picture_is_800_wide(seats: int) -> None:
    chance = FastChance(seats)
    state = GAME.start(setup(seats), chance)
    step = 0
    while not state.is_over() and step < 400:
        if step % 20 == 0:
            root = ET.fromstring(GAME.draw(state.setup, state.observation(None)))  # noqa: S314 our own drawing
            pixels = 800 / float(root.attrib["viewBox"].split()[2])
            assert [found for found in sizes(root) if found[0] * pixels < 9] == []
        seat = state.seats_to_act()[0]
        legal = state.legal_actions(seat)
        state.apply(seat, legal[step * 7 % len(legal)], chance)
        step += 1


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
        for piece in (post(colour, 2), bridge(colour), horse(colour)):
            assert piece in svg, colour
        assert (merchant(colour, 3, waiting=True) if colour is Colour.RED else merchant(colour, 3)) in svg
