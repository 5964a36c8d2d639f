"""The sources of points (V7)."""

from __future__ import annotations

from referee.games.valparaiso import GAME
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import do, goods, place
from referee.kit.document import Document


def scored(state: ValparaisoState, seat: int = 0) -> dict[str, int]:
    """The sources of a seat's points, as everybody sees them."""
    parts = GAME.breakdown(state.setup, state.observation(None))[seat]
    return {part.source: part.points for part in parts if part.points}


def test_v4_1_points_of_a_full_hold_are_told_from_those_before_the_position() -> None:
    state = place(cards=["k1"], warehouse=[goods(1), {}], hold=[goods(5), {}], vp=[4, 0])
    do(state, "use(1,main)", "transfer(6,0,0)")
    assert scored(state) == {"before this position": 4, "full holds": 1}


def test_v4_5_points_of_houses_in_the_city_are_told_from_those_in_villages() -> None:
    city = do(place(cards=["k5"], row=[1] * 4, vp=[0, 4]), "use(1,main)", "build(v,0)")
    assert scored(city) == {"houses in Valparaíso": 1}
    village = place(cards=["k5"], rows={"merchants": {0: {"v": 1, "m1": 1}}})
    assert scored(do(village, "use(1,main)", "build(m1,0)")) == {"houses in villages": 1}


def test_v4_7_points_of_market_tiles_are_told_from_those_of_cards() -> None:
    state = place(
        cards=["k6"],
        bottom={1: "tb1"},
        warehouse=[goods(2), {}],
        rows={"merchants": {0: {"v": 1, "m1": 1}}},
    )
    do(state, "use(1,main)", "trade(m1,1)")
    assert scored(state) == {"market tiles": 1}
    card = place(cards=["b13"], achievements=[["b13"], []], others={1: ["k2"]})
    assert scored(do(card, "use(1,main)")) == {"actions of cards": 1}


def test_v6_1_points_of_the_revenue_are_told_from_those_for_building() -> None:
    state = do(place(cards=["k2"], row=[0, 0, 0, 1, 1, 1], vp=[0, 2]), "use(1,alt)")
    assert scored(state, 1) == {"before this position": 2, "revenue of Valparaíso": 1}


def test_v7_2_pesos_and_achievement_cards_count_once_the_match_is_over() -> None:
    going = place(phase="SCRAP", vp=[18, 0], achievements=[["a1"], []], money=[20, 0])
    assert scored(going) == {"before this position": 18}
    do(going, "pass")
    found = scored(going)
    assert (found.pop("before this position"), found.pop("achievement cards")) == (18, 2)
    assert list(found) == ["pesos and goods"]
    assert sum(scored(going).values()) == going.scores()[0]


def test_v6_3_a_scrapped_card_has_moved_its_seat_on_the_track() -> None:
    state = do(place(phase="SCRAP", achievements=[["a1"], []]), "scrap(a1)")
    assert scored(state) == {"scrapped cards": 2}


def test_a_position_that_has_earned_more_than_it_has_is_refused() -> None:
    state = place(vp=[4, 0], earned=[{"hold": 3}, {}])
    assert scored(state) == {"before this position": 1, "full holds": 3}
    false = GAME.read_state(state.setup, Document({**state.to_json(), "vp": [2, 0]}, "position"))
    assert false.problems() == ["seat 0: it has earned 3 on the track, but is at 2"]
