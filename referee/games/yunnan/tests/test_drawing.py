"""The drawing: always well-formed, drawn from the observation alone, and nothing in it can be smuggled in."""

from __future__ import annotations

import copy
import random
import xml.etree.ElementTree as ET

import pytest

from referee.games.yunnan import GAME
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
    words = texts(drawn(place(m={"red": {"qam": 2}}, horse={"red": "qam"}, bridges={"red": ["b0"]})))
    for word in ("Pu'er", "Qinghai", "18 / 15", "School of Merchants", "Horse Market", "R2", "travel order", "b0"):
        assert word in words, word


def test_the_drawing_shows_who_may_still_journey_and_where_the_inspector_was() -> None:
    state = place(m={"red": {"yun": 1, "pue": 2}}, passes={"red": 3}, last_inspector="yun", last_banned="blue")
    words = texts(drawn(do(state, "move(pue,yun)")))
    assert "2 border passes left; 2 Merchants may still journey" in words
    assert "inspector took B" in words


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
