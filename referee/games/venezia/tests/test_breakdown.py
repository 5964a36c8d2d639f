"""The sources of points, and the criteria for the places (Z10, Z12)."""

from __future__ import annotations

from referee.games.venezia import GAME
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.tests.test_cards_and_scoring import FIVE, cards
from referee.kit.document import Document


def scored(state: VeneziaState, seat: int) -> dict[str, int]:
    """The sources of a seat's points, as everybody sees them."""
    parts = GAME.breakdown(state.setup, state.observation(None))[seat]
    return {part.source: part.points for part in parts if part.points}


def test_z10_2_points_are_told_by_district_and_from_those_before_the_position() -> None:
    state = cards("none", "none", loc={"can": [1, 0], "mar": [0, 2]}, score=[3, 0])
    assert scored(state, 0) == {"before this position": 3, "Cannaregio": state.score[0] - 3}
    assert scored(state, 1) == {"San Marco": state.score[1]}
    assert min(state.score) > 0


def test_z12_2_a_domination_is_the_first_criterion_once_the_match_is_over() -> None:
    state = cards("none", "none", loc=FIVE, score=[0, 48], round=3)
    majorities, points = GAME.criteria(state.setup, state.observation(None))
    assert majorities == ("victory by majorities", (1, 0))
    assert points == ("points", (15, 48))


def test_i7_a_position_that_has_earned_more_than_its_score_is_refused() -> None:
    state = cards("none", "none", loc={"can": [1, 0]}, score=[3, 0])
    false = GAME.read_state(state.setup, Document({**state.to_json(), "score": [0, 0]}, "position"))
    assert f"I7: seat 0 has earned {sum(state.earned[0])} in the districts, but its score is 0" in false.problems()
