"""The actions played for a seat that is out of time or out of the match: column D of RULES.md, section 5."""

from __future__ import annotations

from typing import Any

import pytest

from referee.game import label
from referee.games.venezia.tests.table import legal, place, plan

PILES = {0: plan("feint", ("cas", 0), ("pol", 0), on_first=2)}
BOTH = {"can": [1, 2], "cas": [0, 1]}
OWN_PIGEON: dict[str, Any] = {"piazza": {"d4": 0}}


def executing(card: str, **more: Any) -> dict[str, Any]:
    """Seat 0 executes a card."""
    return {"plans": {0: plan("feint", action=card)}, "waiting": [0], "loc": BOTH} | more


@pytest.mark.parametrize(
    ("phase", "position", "default"),
    [
        ("HOME", {"round": 1, "home": [None, None]}, "home(can)"),
        ("PLAN", {}, "first(feint)"),
        ("PLAN", {"plan": [{"step": "ACTION", "first": "piazza"}, {}]}, "card(none)"),
        ("PLAN", {"plan": [{"step": "DISTRICTS", "first": "piazza", "action": "feh"}, {}]}, "done"),
        ("PLAN", {"plan": [{"step": "COUNT", "first": "piazza", "action": "feh"}, {}]}, "count(1)"),
        ("PLAN", {"plan": [{"step": "COUNT", "first": "feint", "action": "feh"}, {}]}, "count(0)"),
        ("FEINT", {"plans": PILES}, "feint(0)"),
        ("PLACE", {"plans": {0: plan("piazza", on_first=2)}}, "done"),
        ("MOVE", OWN_PIGEON, "done"),
        ("CHAIN", {"piazza": {"d4": 1, "d5": 0, "d6": 1}, "chain": ["d3", "d5"]}, "stop"),
        ("FAMILY", executing("fam", nest=[0, 1], home=["pol", "mar"]), "family(pol)"),
        ("FAMILY", executing("fam", nest=[0, 1], home=["sgm", "mar"]), "family(can)"),
        ("REINFORCE", {"nest": [2, 0]}, "reinforce(0)"),
        ("FEHDE", executing("feh", card_place="can"), "skip"),
        ("TAKEOVER", executing("ueb"), "takeover(can)"),
        ("FROM_RESERVE", executing("ueb", card_place="pol", card_count=2, nest=[1, 0]), "from_reserve(2)"),
        ("POISON", executing("gif", **OWN_PIGEON), "done"),
        ("RAPTOR", executing("rau"), "raptor(can)"),
        ("PURGE", executing("sau"), "purge(can,1)"),
        ("PURGE", executing("sau", loc={"pol": [1, 0]}), "purge(pol,0)"),
        ("GREY", executing("wei"), "grey_add(can)"),
        ("RECOVER", {"round": 3, "loc": {"sgm": [1, 0]}, "discard": {0: {"feh": 2}}}, "recover(none)"),
        ("MICHELE", {"cemetery": [3, 0]}, "michele(2)"),
        ("MICHELE", {"cemetery": [1, 0]}, "michele(1)"),
    ],
)
def test_the_default_action_of_each_decision_is_that_of_section_5(
    phase: str, position: dict[str, Any], default: str
) -> None:
    state = place(phase=phase, **position)
    assert label(state.default_action(0)) == default
    assert default in legal(state, 0)
