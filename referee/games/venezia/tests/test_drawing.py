"""The pictures of this game; `tests/referee/test_drawings.py` tests those of all games."""

from __future__ import annotations

import copy
import random
import re
from typing import Any, cast

from referee.game import Action, Scene, Seat
from referee.games.venezia import GAME, scoring
from referee.games.venezia.drawing_words import leader
from referee.games.venezia.names import ActionCard, FirstCard, Phase, Place
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.table import NONE
from referee.games.venezia.tests.table import BOARD, do, place, plan, setup
from referee.kit.chance import FastChance
from referee.kit.svg import width_of
from tests.drawings import SVG, parsed, texts


def drawn(state: VeneziaState, viewer: int | None = None) -> str:
    return GAME.draw(state.setup, state.observation(viewer))


def played(seats: int, decisions: int, **options: object) -> VeneziaState:
    """A match after some random decisions."""
    chance, dice = FastChance(seats), random.Random(seats)
    state = GAME.start(setup(seats, **options), chance)
    assert isinstance(state, VeneziaState)
    for _ in range(decisions):
        seat = dice.choice(state.seats_to_act())
        state.apply(seat, dice.choice(state.legal_actions(seat)), chance)
    return state


def test_the_drawing_names_places_cards_and_the_round() -> None:
    words = texts(drawn(place(3, piazza={"d5": 0})))
    for word in ("Cannaregio", "La Giudecca", "San Michele", "Piazza San Marco", "Vatican", "Round 2 of 4"):
        assert word in words, word
    assert "Seat 0 is to act" in words


def test_two_plans_that_look_alike_from_outside_are_drawn_alike_for_all_but_their_owner() -> None:
    one = place(
        phase="MOVE",
        piazza={"d5": 1},
        seat=1,
        plans={0: plan("feint", ("can", 2), ("pol", 1), action="gif")},
        reserve=[9, 12],
    )
    other = place(
        phase="MOVE",
        piazza={"d5": 1},
        seat=1,
        plans={0: plan("feint", ("sgm", 2), ("cas", 1), action="wei")},
        reserve=[9, 12],
    )
    for viewer in (None, 1):
        assert drawn(one, viewer) == drawn(other, viewer)
    assert drawn(one, 0) != drawn(other, 0)


def test_an_open_plan_is_drawn_for_its_owner_only() -> None:
    state = place(phase="PLAN")
    before = {viewer: drawn(state, viewer) for viewer in (None, 0, 1)}
    do(state, "first(piazza)", "card(gif)", "district(pol)", "done", "count(3)", seat=0)
    assert drawn(state) == before[None]
    assert drawn(state, 1) == before[1]
    words = texts(drawn(state, 0))
    assert "laying pigeons on the cards; still in reserve: 9" in words
    assert words.count("San Polo") == texts(before[0]).count("San Polo") + 1


def test_what_has_been_turned_is_drawn_for_all() -> None:
    state = place(phase="MOVE", piazza={"d5": 0}, plans={0: plan("feint", ("can", 2), action="rau")}, reserve=[10, 12])
    seen = cast("VeneziaObservation", state.observation(None))
    assert seen.seats[0].first is FirstCard.FEINT
    assert "Feint" in texts(drawn(state))
    do(state, "done")
    turned = cast("VeneziaObservation", state.observation(None))
    assert turned.phase is Phase.RAPTOR
    assert turned.seats[0].action is ActionCard.RAU
    assert texts(drawn(state)).count("Bird of prey") == texts(GAME.draw(state.setup, seen)).count("Bird of prey") + 1


def test_a_place_name_cannot_smuggle_anything_into_the_drawing() -> None:
    board = copy.deepcopy(BOARD)
    board["places"]["can"]["name"] = '<script>alert("x")</script>&\x00' + "x" * 500
    board["cemetery"]["name"] = "<b>\u202e</b>"
    state = GAME.start(GAME.setup(2, {}, board), FastChance(1))
    svg = GAME.draw(state.setup, state.observation(None))
    assert "<script" not in svg
    assert "<b>" not in svg
    assert "x" * 100 not in svg
    texts(svg)


def test_z12_2_z12_3_the_final_picture_places_seats_as_the_rules_do() -> None:
    five = {name: [1, 0] for name in ("can", "cas", "dor", "giu", "pol")}
    won = dict.fromkeys(five, 0)
    words = texts(drawn(place(phase="OVER", round=3, loc=five, majority=won, score=[15, 48])))
    words, _, table = words.partition("Final standing")
    assert "total 15 48 victory by majorities 1 0 Decided by victory by majorities" in table
    assert "Seat 0 wins" in words
    assert re.findall(r"(\d..) \d? ?seat (\d)", words) == [("1st", "0"), ("2nd", "1")]
    words, _, table = texts(drawn(place(3, phase="OVER", round=4, score=[6, 9, 6]))).partition("Final standing")
    assert "seats 0 and 2 share the 2nd place" in table
    assert "Seat 1 wins" in words
    assert re.findall(r"(\d..) \d? ?seat (\d)", words) == [("1st", "1"), ("2nd", "0"), ("2nd", "2")]
    assert "Seats 0 and 1 share the victory" in texts(drawn(place(phase="OVER", round=4, score=[9, 9])))


def test_places_on_one_spot_are_drawn_apart() -> None:
    board = copy.deepcopy(BOARD)
    for entry in (*board["places"].values(), board["cemetery"]):
        if isinstance(entry, dict):
            entry |= {"x": 50, "y": 50}
    board["plan"]["district_cards"] = 8
    state = GAME.start(GAME.setup(4, {}, board), FastChance(1))
    root = parsed(GAME.draw(state.setup, state.observation(None)))
    tiles = [
        group.get("transform")
        for group in root.iter(f"{SVG}g")
        if group.find(f"{SVG}rect[@width='152'][@height='150']") is not None
    ]
    assert len(tiles) == len(set(tiles)) == 9


# --- in a match -----------------------------------------------------------------------------------

BOTS = ("gondoliere", "tidewater", "paloma", "kestrel")


def picture_after(
    before: VeneziaState, after: VeneziaState, seat: int, action: Action | None, viewer: int | None = None
) -> str:
    """The picture after an action, with its scene."""
    clocks = (61.5,) * after.setup.seats
    scene = Scene(BOTS[: after.setup.seats], 7, 99, before.observation(viewer), seat, action, clocks)
    return GAME.draw(after.setup, after.observation(viewer), scene)


def test_a_scene_names_the_bots_the_step_and_what_was_done() -> None:
    state = place(phase="MOVE", piazza={"d5": 0})
    before = state.clone()
    words = texts(picture_after(before, do(state, "walk(d5,d6)"), 0, GAME.parse_action("walk(d5,d6)")))
    for said in ("gondoliere", "tidewater", "Step 7 of 99", "walks from D5 to D6", "1:01 left"):
        assert said in words, said


def test_points_just_scored_are_described_with_their_districts() -> None:
    state = place(phase="MOVE", piazza={"d5": 0}, plans={0: plan("feint", ("can", 2))}, reserve=[10, 12])
    before = state.clone()
    do(state, "done")
    words = texts(picture_after(before, state, 0, GAME.parse_action("done")))
    assert f"round {before.round} is scored" in words
    assert f"+{state.score[0]} points: Cannaregio" in words


def test_who_has_come_and_who_has_gone_is_marked_on_the_piazza() -> None:
    state = place(phase="MOVE", piazza={"d5": 0, "d4": 1})
    before = state.clone()
    state.piazza[33] = NONE  # D4
    gone = picture_after(before, state, 0, GAME.parse_action("done"))
    still = picture_after(before, before, 0, GAME.parse_action("done"))
    assert gone.count("M-14-14L14 14M14-14L-14 14") == still.count("M-14-14L14 14M14-14L-14 14") + 1


def test_z7_1_a_cancelled_card_is_struck_out_and_the_executed_one_is_not() -> None:
    plans = {0: plan("feint", ("can", 2), action="rau"), 1: plan("feint", ("can", 2), action="rau")}
    arguments: dict[str, Any] = {
        "phase": "MOVE",
        "piazza": {"d5": 0},
        "plans": plans,
        "reserve": [10, 10],
        "nest": [1, 0],
    }
    both, one = place(**arguments, score=[3, 3]), place(**arguments, score=[0, 3])
    strike = 'stroke="#f08a6c" stroke-width="2"'
    assert drawn(do(both, "done")).count(strike) == 2
    assert drawn(do(one, "done")).count(strike) == 1


def test_z3_3_without_the_campanile_there_is_no_tower() -> None:
    tower = "M0-20l8 12h-16z"
    assert tower in drawn(place(piazza={"d5": 0}))
    assert tower not in drawn(place(piazza={"d5": 0}, options={"campanile": False}))


def test_z10_2_the_worth_of_each_district_is_shown() -> None:
    words = texts(drawn(place(home=["can", "mar"], piazza={"d5": 0})))
    assert words.count("+3/6") == 3  # two homes and the legend
    assert words.count(" +3 ") == 5


def test_the_round_keeps_its_distance_from_what_is_open() -> None:
    options = {"end_rule": "open", "max_rounds": 50}
    root = parsed(drawn(place(round=37, piazza={"d5": 0}, options=options)))
    [title] = [found for found in root.iter(f"{SVG}text") if found.text == "Round 37 of 50"]
    assert width_of("Round 37 of 50") * 1.13 * float(title.get("font-size", "0")) <= 135


def test_z10_1_who_leads_in_a_place_is_who_would_score_it() -> None:
    found: set[Seat | None] = set()
    for decisions in range(20, 120, 5):
        state = played(3, decisions)
        if decisions % 2:
            state.grey_owner, state.grey = decisions % 3, [1, 2, 0, 3, 0, 1, 0, 0]
        seen = cast("VeneziaObservation", state.observation(None))
        for where in Place:
            expected = scoring.majority_in(state, where)
            assert leader(seen, where) == (None if expected == NONE else expected)
            found.add(leader(seen, where))
    assert found == {None, 0, 1, 2}
