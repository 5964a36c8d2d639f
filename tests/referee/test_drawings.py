"""The pictures of all games: legible, nothing upon anything else, short, and several of them in one page."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

import pytest

from referee.game import Action, Scene
from referee.kit.chance import FastChance
from referee.options import OptionValue
from referee.registry import find, games, shipped_board
from tests.cases import mostly_long
from tests.drawings import assert_readable, illegible, parsed

NAMES = ("W" * 60, "漢字" * 30, "\u202eevil \x1b[2J " + "m" * 40, "</svg><script>alert(1)</script>", "M W " * 15)
VARIANTS: dict[str, dict[str, OptionValue]] = {
    "cargo_noir": {"bank_limited": False, "last_turn": 20},
    "valparaiso": {"expert_timer": True, "max_rounds": 5},
    "venezia": {"campanile": False, "tourists": 3, "hunters": 2, "end_rule": "open"},
    "yunnan": {"expert": True, "turn_limit": 4, "pass_moves_reserve_to_market": True},
}
"""Options under which a picture looks otherwise, or a match goes on for longer."""
TABLES = [
    *((game, seats, False) for game in games() for seats in find(game).seat_counts),
    *((game, find(game).seat_counts[-1], True) for game in games()),
]
MOST_BYTES = {"cargo_noir": 70_000, "valparaiso": 85_000, "venezia": 65_000, "yunnan": 75_000}
"""What pictures have at most; it is in every page of a match. When these were written, they had a tenth less."""


@cache
def pictures(game_name: str, seats: int, varied: bool) -> tuple[str, ...]:
    """Pictures of a match at random: the first and the last one, and some in between; every other one as a seat sees it."""
    return tuple(_pictures(game_name, seats, varied))


def _pictures(game_name: str, seats: int, varied: bool) -> Iterator[str]:
    game = find(game_name)
    setup = game.setup(seats, VARIANTS.get(game_name, {}) if varied else {}, shipped_board(game))
    chance, dice = FastChance(seats), random.Random(seats)
    state = game.start(setup, chance)
    step, before, clocks = 0, None, tuple(61.5 + 1000 * seat for seat in range(seats))
    scene = Scene(NAMES[:seats], 0, 999, clocks=clocks)
    while True:
        viewer = 0 if step % 2 else None
        if step % 47 in (0, 1) or state.is_over():
            yield game.draw(setup, state.observation(viewer), scene)
        if state.is_over():
            return
        seat = dice.choice(state.seats_to_act())
        action = dice.choice(state.legal_actions(seat))
        step += 1
        viewer = 0 if step % 2 else None
        before, known = state.observation(viewer), viewer == seat or state.is_public(seat, action)
        state.apply(seat, action, chance)
        scene = Scene(NAMES[:seats], step, 999, before, seat, action if known else None, clocks)


@pytest.mark.parametrize(("game", "seats", "varied"), mostly_long(TABLES, 6))
def test_no_text_is_lower_than_9_pixels_where_the_picture_is_800_wide(game: str, seats: int, varied: bool) -> None:
    for svg in pictures(game, seats, varied):
        assert illegible(svg) == []


@pytest.mark.parametrize(("game", "seats", "varied"), mostly_long(TABLES, 6))
def test_all_text_is_within_the_picture_and_none_upon_other_text(game: str, seats: int, varied: bool) -> None:
    for svg in pictures(game, seats, varied):
        assert_readable(svg)


@pytest.mark.parametrize("game", games())
def test_a_picture_is_short(game: str) -> None:
    seats = find(game).seat_counts[-1]
    assert max(len(svg.encode()) for svg in pictures(game, seats, True)) <= MOST_BYTES.get(game, 85_000)


@pytest.mark.parametrize("game", games())
def test_a_picture_needs_nothing_from_outside_and_a_name_brings_nothing_in(game: str) -> None:
    for svg in pictures(game, find(game).seat_counts[-1], True):
        for word in ("url(", "<script", "<image", "@import", "<style", "\u202e", "\x1b"):
            assert word not in svg


@pytest.mark.parametrize("game", games())
def test_equal_observations_and_scenes_give_equal_pictures(game: str) -> None:
    seats = find(game).seat_counts[-1]
    assert tuple(_pictures(game, seats, True)) == pictures(game, seats, True)


@pytest.mark.parametrize("game_name", games())
def test_every_kind_of_action_is_described_in_words(game_name: str) -> None:
    game, kinds = find(game_name), set[type[Action]]()
    for seed in range(60):
        options = VARIANTS.get(game_name, {}) if seed % 2 else {}
        setup = game.setup(game.seat_counts[-1], options, shipped_board(game))
        chance, dice = FastChance(seed), random.Random(seed)
        state = game.start(setup, chance)
        while not state.is_over():
            seat = dice.choice(state.seats_to_act())
            action = dice.choice(state.legal_actions(seat))
            before = None if type(action) in kinds else state.observation(seat)
            state.apply(seat, action, chance)
            if before is not None:
                kinds.add(type(action))
                scene = Scene(NAMES[: setup.seats], before=before, seat=seat, action=action)
                assert game.tell(setup, state.observation(seat), scene)[0] != "acts"
        if not set(game.action_types) - game.rare_actions - kinds:
            return
    pytest.fail(f"only {kinds} were played")


@pytest.mark.long
def test_pictures_can_stand_in_one_page_because_equal_ids_are_equal_drawings() -> None:
    drawn: dict[str, str] = {}
    for game, seats, varied in TABLES:
        for svg in pictures(game, seats, varied):
            own = dict(re.findall(r'<g id="([^"]*)">(.*?)</g>', svg))
            assert own.keys() == {found.get("id") for found in parsed(svg).iter() if found.get("id")}
            assert set(re.findall(r'href="([^"]*)"', svg)) <= {f"#{name}" for name in own}
            for name, piece in own.items():
                assert drawn.setdefault(name, piece) == piece, name
