"""The pictures of this game; `tests/referee/test_drawings.py` tests those of all games."""

from __future__ import annotations

import copy
import random
import xml.etree.ElementTree as ET
from typing import Any, cast

import pytest

from referee.game import Action, Scene, label
from referee.games.valparaiso import GAME
from referee.games.valparaiso.board import ACHIEVEMENTS
from referee.games.valparaiso.drawing_words import DOING, name_of
from referee.games.valparaiso.names import Card, Effect, Location, Phase, Tile
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.table import Plan
from referee.games.valparaiso.tests.table import BOARD, COLOURS, do, goods, place, setup, start
from referee.kit.chance import FastChance
from tests.drawings import SVG, assert_readable, lines, parsed, texts

LONG = "W" * 500


def drawn(state: ValparaisoState, viewer: int | None = None) -> str:
    return GAME.draw(state.setup, state.observation(viewer))


def played(seats: int, decisions: int, **options: object) -> ValparaisoState:
    """A match after some random decisions."""
    chance, dice = FastChance(seats), random.Random(seats)
    state = GAME.start(setup(seats, **options), chance)
    assert isinstance(state, ValparaisoState)
    for _ in range(decisions):
        seat = dice.choice(state.seats_to_act())
        state.apply(seat, dice.choice(state.legal_actions(seat)), chance)
    return state


# --- always --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 5])
@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_and_every_action_has_words(seats: int, phase: Phase) -> None:
    state = start(seats)
    state.phase = phase
    state.effect = list(Effect)[phase]
    words = texts(drawn(state, 0))
    assert DOING[phase] in words
    assert phase is Phase.OVER or name_of(state.board, state.effect, brief=False) in words


# --- what is in it -------------------------------------------------------------------------------


def test_the_drawing_names_the_map_the_sea_the_round_and_who_is_to_act() -> None:
    svg = drawn(place(4, seat=2))
    words = texts(svg)
    for name in (
        "Quintero",
        "Quillota",
        "Casablanca",
        "Cartagena",
        "Concón",
        "San Felipe",
        "Valparaíso",
        "Harbour",
        "Outer west",
    ):
        assert name in lines(svg), name
    assert "Round 3" in words
    assert "Seat 2 is to act" in words
    assert "Seat 2, yellow, to act" in words


def test_each_side_of_the_board_has_its_own_villages() -> None:
    assert "Cartagena" not in texts(drawn(place(3)))
    assert "San Felipe" not in texts(drawn(place(3)))


def test_every_seat_has_a_panel_with_its_colour_its_points_and_its_pesos() -> None:
    svg = drawn(place(5, money=[31, 32, 33, 34, 35], vp=[11, 12, 13, 14, 15]))
    for seat, colour in enumerate(COLOURS):
        assert f"Seat {seat}" in lines(svg)
        assert str(31 + seat) in lines(svg)
        assert str(11 + seat) in lines(svg)
        assert any(line.startswith(colour) for line in lines(svg)), colour


def test_achievement_cards_at_the_sea_say_what_they_do() -> None:
    words = " ".join(lines(drawn(place())))
    for said in ("A1", "Move, 2 steps free", "10p", "Sell a good", "for 15p", "load"):
        assert said in words, said


def test_owned_and_scrapped_cards_are_shown_with_their_owner() -> None:
    state = place(3, achievements=[["a6"], [], ["b12", "b22"]], scrapped=["a1"])
    words = texts(drawn(state))
    assert "Scrapped: A1" in words
    assert "achievements: B12 B22" in words
    assert "Hire for 5p / Take S, C, W" in lines(drawn(state))


@pytest.mark.parametrize("seats", [2, 5])
def test_all_cards_of_a_seat_are_shown_however_many_they_are(seats: int) -> None:
    state = start(seats)
    state.owned[1] = tuple(card for card in ACHIEVEMENTS if card in state.board.cards)
    svg = drawn(state)
    for card in state.owned[1]:
        assert lines(svg).count(card.name) >= 1
    assert_readable(svg)


def test_built_houses_and_merchants_appear_where_they_are() -> None:
    empty = place(3, rows={"merchants": {0: {"v": 2}}})
    built = place(
        3,
        row=[1, 0],
        houses=[{"location": "m1", "space": 0, "seat": 1}],
        rows={"merchants": {0: {"z5": 2}}},
    )
    words = texts(drawn(built))
    assert "House of seat 1 in Quintero" in words
    assert "2 in Melipilla" in words
    assert "2 in Melipilla" not in texts(drawn(empty))
    for owner, more in (("0-red", 1), ("1-blue", 2)):  # seat 0 has built in Valparaíso, seat 1 there and in Quintero
        house = f'"#vp-house-{owner}"'
        assert drawn(built).count(house) == drawn(empty).count(house) + more


def test_the_bottom_tile_of_each_market_is_said() -> None:
    words = texts(drawn(place(bottom={1: "tb1", 2: "ta4", 3: "td4"})))
    assert "Market of Quintero: 1 silver for 1 VP, up to 3 times" in words
    assert "Market of Quillota: 2 pesos for two goods, different" in words
    assert "Market of Casablanca: take 6 pesos" in words


def test_a_merchant_in_motion_leaves_a_trace() -> None:
    state = place(cards=["k4"], rows={"merchants": {0: {"v": 2}}})
    still = drawn(state)
    moving = drawn(do(state, "use(1,main)", "start(v,z3)", "step(m2)"))
    assert "V → Z3 → M2; counted steps: 2 of 3" in texts(moving)
    assert "May still move: 1 in Valparaíso" in texts(moving)
    trail, lit = 'stroke-width="11"', 'stroke-dasharray="4 2.5"'
    assert (still.count(trail), still.count(lit)) == (0, 1)  # one is in the legend
    assert (moving.count(trail), moving.count(lit)) == (1, 2)


def test_villages_still_to_be_resolved_and_the_tile_in_use_are_named() -> None:
    state = place(cards=["k6"], bottom={1: "ta4", 2: "tb4"}, rows={"merchants": {0: {"m1": 2, "m2": 1}}})
    assert "Still to be resolved: Quintero, Quillota" in texts(drawn(do(state, "use(1,main)")))
    words = texts(drawn(do(state, "trade(m1,0)")))
    assert "Uses of the tile left: 2" in words
    assert "Quintero: 2 pesos for two goods, different" in words


def test_the_end_shows_final_points_rest_money_and_places() -> None:
    state = place(3, phase="OVER", vp=[3, 18, 7], money=[45, 21, 59], rows={"achievements": {0: ["a1"]}})
    svg = drawn(state)
    order = [line for line in lines(svg) if line.startswith("seat ")]
    assert order == ["seat 1, blue", "seat 2, yellow", "seat 0, red"]
    for line in ("19 VP", "9 VP", "7 VP", "Final standing", "1st", "Game over", "Seat 1 wins"):
        assert line in lines(svg), line


def test_cards_say_the_numbers_of_the_board() -> None:
    board = copy.deepcopy(BOARD)
    board["effects"]["sell15"]["gain"]["money"] = 17
    board["seat"]["slot_houses"] = 3
    state = place()
    corrected = GAME.draw(GAME.setup(2, {}, board), state.observation(None))
    assert "Sell a good for 15p" in texts(drawn(state))
    assert "Sell a good for 17p" in texts(corrected)
    assert "#5 2 houses" in texts(drawn(state))
    assert "#5 3 houses" in texts(corrected)


def test_the_standing_is_the_one_that_is_observed() -> None:
    state = place(3, phase="OVER", vp=[5, 5, 5])
    seen = cast("ValparaisoObservation", state.observation(None))
    other = seen._replace(seats=tuple(has._replace(rank=rank) for has, rank in zip(seen.seats, (2, 1, 3), strict=True)))
    svg = GAME.draw(state.setup, other)
    assert [line for line in lines(svg) if line.startswith("seat ")] == [
        "seat 1, blue",
        "seat 0, red",
        "seat 2, yellow",
    ]
    assert "Seat 1 wins" in lines(svg)


def test_who_went_last_comes_before_an_equal_seat() -> None:
    state = place(3, phase="OVER", vp=[5, 5, 5], rows={"money": {1: 21}})
    order = [line for line in lines(drawn(state)) if line.startswith("seat ")]
    assert order == ["seat 1, blue", "seat 2, yellow", "seat 0, red"]


# --- what must not be in it ----------------------------------------------------------------------


def test_a_plan_is_drawn_for_its_owner_only_until_all_are_revealed() -> None:
    state = place(3, phase="PLAN", achievements=[["a3"], [], []])
    before = {viewer: drawn(state, viewer) for viewer in (None, 0, 1)}
    do(state, "place(k6)", "place(a3)", "mayor(k2)", seat=0)
    assert drawn(state) == before[None]
    assert drawn(state, 1) == before[1]
    own = lines(drawn(state, 0))
    assert own.count("K6") == lines(before[0]).count("K6") + 1
    assert "plan leaves 15p · S0 C0 W0 · hold S0 C0 W0" in own
    do(state, "commit", seat=0)
    assert "finished" in lines(drawn(state, 1))
    assert lines(drawn(state, 1)).count("K6") == 3
    do(state, "commit", seat=1)
    do(state, "commit", seat=2)
    revealed = drawn(state, 1)
    assert lines(revealed).count("K6") == 4
    assert "planning" not in lines(revealed)


def hostile() -> dict[str, Any]:
    """A board on which every name is a script, every place the same spot, and every number as large as possible."""
    board = copy.deepcopy(dict(BOARD))
    name = '<script>alert("x")</script>&\x00\u202e' + LONG
    rich = {"money": 1000, "silver": 12, "copper": 12, "wheat": 12}
    for side in (board["sides"]["large"], board["sides"]["small"]):
        for entry in side["locations"].values():
            entry |= {"name": name, "x": 50, "y": 50} | ({"spaces": [1000] * 4} if "spaces" in entry else {})
        side["row"] = [{**rich, "vp": 1000, "built": 1000}] * 40
        side["roads"] = side["roads"] * 30
    for entry in board["sectors"].values():
        entry |= {"name": name, "x": 50, "y": 50} | ({"money": 1000} if "money" in entry else {})
    board["seat"] |= {"money": 1000, "hold": 12}
    board["prices"]["surcharges"] = [1000] * 5
    for tile in Tile:
        board["tiles"][tile.name.lower()] = {"pay": rich, "gain": {**rich, "vp": 1000}, "most": 9}
    for card in board["achievements"].values():
        if isinstance(card, dict):
            card["vp"] = 1000
    return board


@pytest.mark.parametrize("seats", [2, 5])
def test_names_and_numbers_of_a_board_file_can_neither_smuggle_anything_in_nor_overflow(seats: int) -> None:
    state = GAME.start(GAME.setup(seats, {}, hostile()), FastChance(1))
    assert isinstance(state, ValparaisoState)
    assert_readable(drawn(state))
    for seat in range(seats):
        state.merchants[seat] = [4] * len(Location)
        state.money[seat], state.vp[seat], state.warehouse[seat] = 10**9, 10**6, [10**6, 10**5, 99]
        state.plans[seat] = Plan((Card.B21, Card.A9, Card.B23, Card.K8, Card.B27), Card.B22)
    state.row = tuple(seat % seats for seat in range(20))
    state.houses = {(village, space): 0 for village in state.side.villages for space in range(4)}
    state.seat, state.effect, state.steps = 0, Effect.MOVE_PLUS, 3
    state.path, state.unmoved, state.villages = state.side.locations, (4,) * len(Location), state.side.markets
    for phase in (Phase.STEP, Phase.PLAN, Phase.OVER):
        state.phase = phase
        svg = drawn(state, 0)
        assert "<script" not in svg
        assert "W" * 100 not in svg
        assert "\u202e" not in svg
        assert_readable(svg)


def test_locations_on_one_spot_are_drawn_apart() -> None:
    state = GAME.start(GAME.setup(4, {}, hostile()), FastChance(1))
    root = parsed(GAME.draw(state.setup, state.observation(None)))
    tops = [group.get("transform") for group in root.iter(f"{SVG}g") if is_location(group)]
    assert len(tops) == len(set(tops)) == len(Location)


def is_location(group: ET.Element) -> bool:
    """True if a group is the box of a location: it begins with a frame and the location's id."""
    words = [inner.text for inner in group if inner.tag == f"{SVG}text"]
    return group.find(f"{SVG}rect") is not None and bool(words) and words[0] in Location.__members__


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_all_text_stays_inside_the_picture_and_apart(seats: int) -> None:
    for decisions in (0, 2 * seats + 5, 150):
        state = played(seats, decisions)
        for viewer in (None, 0):
            assert_readable(drawn(state, viewer))
    rich = place(
        seats,
        phase="SCRAP",
        achievements=[["a1", "a2", "a3"]] + [[]] * (seats - 1),
        warehouse=[goods(99, 99, 99)] * seats,
    )
    assert_readable(drawn(rich))


def test_a_market_can_have_many_tiles() -> None:
    board = copy.deepcopy(dict(BOARD))
    side = board["sides"]["large"]
    for market in ("m2", "m3", "m4"):
        del side["locations"][market]
    side |= {"column": "aabbccddee" * 2 + "abcde", "reserve": "", "rivers": ["v-z3-z5"]}
    side["roads"] = ["v-z1", "v-z2", "v-z3", "m1-z1", "m1-z4", "z3-z5", "z4-z5", "z5-z6"]
    state = GAME.start(GAME.setup(4, {}, board), FastChance(1))
    svg = GAME.draw(state.setup, state.observation(None))
    assert "21 more" in lines(svg)
    assert_readable(svg)


# --- in a match -----------------------------------------------------------------------------------

BOTS = ("gondoliere", "W" * 64, "\u202eevil \x1b[2J", "漢字漢字漢字漢字漢字漢字", "</svg>")


def picture_after(
    before: ValparaisoState, after: ValparaisoState, seat: int, action: Action | None, viewer: int | None
) -> str:
    """The picture after an action, with its scene."""
    clocks = (61.5,) * after.setup.seats
    scene = Scene(BOTS[: after.setup.seats], 7, 99, before.observation(viewer), seat, action, clocks)
    return GAME.draw(after.setup, after.observation(viewer), scene)


def after(state: ValparaisoState, action: str) -> str:
    """The picture after the seat to act has played an action."""
    before = state.clone()
    seat = state.seats_to_act()[0]
    return picture_after(before, do(state, action), seat, GAME.parse_action(action), None)


def test_a_scene_names_the_bots_the_step_and_what_was_done_and_scored() -> None:
    state = place(cards=["k1"], warehouse=[goods(1), {}], hold=[goods(5), {}])
    words = lines(after(do(state, "use(1,main)"), "transfer(6,0,0)"))
    for said in ("gondoliere", "Step 7 of 99", "loads the ship: 6 silver in the hold; round 4 begins", "1:01 left"):
        assert said in words, said
    assert "+1 point: full holds" in words


@pytest.mark.parametrize("seats", [2, 5])
def test_every_action_of_a_match_is_described_in_words_and_readable(seats: int) -> None:
    chance, dice = FastChance(seats), random.Random(seats)
    state = start(seats)
    kinds: set[type[Action]] = set()
    while not state.is_over():
        before, seat = state.clone(), dice.choice(state.seats_to_act())
        action = dice.choice(state.legal_actions(seat))
        state.apply(seat, action, chance)
        if type(action) not in kinds or state.is_over():
            kinds.add(type(action))
            svg = picture_after(before, state, seat, action, seat)
            assert "acts" not in lines(svg)
            assert_readable(svg)
    assert len(kinds) > 15


def test_what_an_action_changed_is_marked_and_nothing_else() -> None:
    state = place(cards=["k5"], rows={"merchants": {0: {"v": 1, "m1": 1}}})
    do(state, "use(1,main)")
    rays, corners = 'stroke-linecap="round"', 'stroke-linejoin="round"'
    still = GAME.draw(state.setup, state.observation(None), Scene(BOTS[:2]))
    built = after(state, "build(m1,0)")
    assert (still.count(corners), built.count(rays) - still.count(rays)) == (1, 1)  # the legend; the house
    assert built.count(corners) > 1


def test_the_end_says_what_all_points_were_for_and_what_decided() -> None:
    state = place(3, phase="OVER", vp=[3, 18, 7], money=[45, 21, 59], rows={"achievements": {0: ["a1"]}})
    words = texts(drawn(state)).rpartition("Final standing")[2]
    totals = [str(state.scores()[seat]) for seat in (1, 2, 0)]
    assert f"total {' '.join(totals)}" in words
    assert "achievement cards 0 0 2" in words
    assert "pesos left" in words
    level = place(3, phase="OVER", vp=[5, 5, 5])
    assert "decided by later in the round" in texts(drawn(level))


def test_the_action_cards_are_shown_with_five_seats_too_and_planned_ones_are_struck_out() -> None:
    state = place(5, cards=["k2", "k5"])
    svg = drawn(state)
    for card in ("K1", "K3", "K8"):
        assert lines(svg).count(card) == 5
    assert lines(svg).count("K2") == 6  # and once in the plan


def test_in_the_set_up_seats_that_have_chosen_are_told_from_those_that_have_not() -> None:
    state = start(3)
    do(state, label(state.legal_actions(2)[0]), seat=2)
    words = lines(drawn(state))
    assert [words.count(said) for said in ("has chosen goods", "chooses goods now", "has still to choose goods")] == [
        1, 1, 1,
    ]  # fmt: skip


def test_spaces_that_give_nothing_have_no_number_beside_the_house() -> None:
    assert not [line for line in lines(drawn(place())) if line == "0 VP"]
    assert "+1" in lines(drawn(place()))
