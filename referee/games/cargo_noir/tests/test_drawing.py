"""The drawing: always well-formed, drawn from the observation alone, and nothing in it can be smuggled in."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from typing import cast

import pytest

from referee.games.cargo_noir import GAME
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.tests.table import BOARD, do, place, setup
from referee.kit.chance import FastChance

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> str:
    """All words in a drawing."""
    root = ET.fromstring(svg)  # noqa: S314 our own drawing
    assert root.tag == f"{SVG}svg"
    return " ".join(
        "".join(element.itertext()) for element in root.iter() if element.tag in (f"{SVG}text", f"{SVG}desc")
    )


def drawn(state: CargoNoirState, viewer: int | None = None) -> str:
    return GAME.draw(state.setup, state.observation(viewer))


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_every_moment_of_a_match_can_be_drawn(seats: int) -> None:
    chance = FastChance(seats)
    state = GAME.start(setup(seats), chance)
    assert isinstance(state, CargoNoirState)
    step = 0
    while not state.is_over():
        if step % 5 == 0:
            texts(drawn(state))
        legal = state.legal_actions(state.seat)
        state.apply(state.seat, legal[(step * 7) % len(legal)], chance)
        step += 1
    texts(drawn(state))


def test_the_same_observation_gives_the_same_drawing() -> None:
    state = place(casino={0: 3})
    assert drawn(state) == drawn(state.clone())


def test_the_drawing_names_ports_families_cards_and_the_turn() -> None:
    words = texts(drawn(place(3, casino={0: 3})))
    for word in ("Rotterdam", "New York", "Rio", "Casa Nostra", "Ti Pot Tong", "Principality", "Macao"):
        assert word.lower() in words.lower(), word


def test_different_moments_look_different() -> None:
    state = place(phase="P3", safe=[5, 5])
    before = drawn(state)
    do(state, "send(cape_town)")
    during = drawn(state)
    do(state, "stake(2)")
    assert len({before, during, drawn(state)}) == 3


def test_c8_3_the_drawing_breaks_ties_as_the_rules_do() -> None:
    cards = {0: {"villa": 1, "yacht": 1}, 1: {"dive_bar": 1}, 2: {"villa": 1, "yacht": 1}}
    words = texts(drawn(place(3, phase="OVER", turn=11, seat=2, cards=cards)))
    assert "won by seat 1" in words
    standing = words.partition("Final standing")[2]
    assert re.findall(r"(1st|2nd|3rd) \d (\w+ \w+)", standing) == [
        ("1st", "Tres Sombreros"),
        ("2nd", "Casa Nostra"),
        ("2nd", "Ti Pot"),
    ]
    panels = words.partition("Final standing")[2]
    assert [re.search(rf"seat {seat} · (\w+)", panels)[1] for seat in range(3)] == ["2nd", "1st", "2nd"]  # type: ignore[index]


def test_a_family_name_cannot_smuggle_anything_into_the_drawing() -> None:
    board = copy.deepcopy(BOARD)
    board["family"]["names"][0] = '<script>alert("x")</script>&\x00' + "x" * 500
    state = GAME.start(GAME.setup(2, {}, board), FastChance(1))
    svg = GAME.draw(state.setup, state.observation(None))
    assert "<script" not in svg
    assert "x" * 100 not in svg
    texts(svg)


def test_a_drawing_needs_nothing_from_outside() -> None:
    svg = drawn(place(5, casino={0: 3}))
    for word in ("href", "url(", "<script", "<image", "@import"):
        assert word not in svg


def test_the_drawing_shows_what_the_observation_says_not_the_state() -> None:
    state = place(casino={0: 3}, goods={1: {"gold": 2}})
    seen = cast("CargoNoirObservation", state.observation(None))
    state.goods[1] = [0] * 10
    assert GAME.draw(state.setup, seen) != drawn(state)
