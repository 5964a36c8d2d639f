"""The sources of points (section 6)."""

from __future__ import annotations

from referee.games.yunnan import GAME
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.tests.table import do, place


def scored(state: YunnanState, seat: int) -> dict[str, int]:
    """The sources of a seat's points, as everybody sees them."""
    parts = GAME.breakdown(state.setup, state.observation(None))[seat]
    return {part.source: part.points for part in parts if part.points}


def test_y13_3_debts_are_told_from_what_was_there_before_the_position() -> None:
    state = place(
        4,
        phase="AUCTION",
        turn=4,
        acting="yellow",
        passed=["red", "blue", "green"],
        bids={"dragon": {"12": "yellow"}, "customs": {"15": "yellow"}},
        money={"yellow": 24},
        reserve={"yellow": 1},
        vp=[0, 0, 0, 20],
        options={"expert": True},
    )
    do(state, "pass")
    found = scored(state, 3)
    assert (found["before this position"], found["debts"], state.vp[3]) == (20, -15, 5)
    assert sum(found.values()) == state.scores()[3]
