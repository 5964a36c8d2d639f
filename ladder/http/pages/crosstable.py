"""The best versions of a game against each other."""

from __future__ import annotations

from ladder.http.requests.visit import Page, Visit
from ladder.questions.comparing import CROSSED, CrosstableRequest, HeadToHead

_CLEARLY = 0.6
"""A cell is shaded from this share upwards, and in another shade from its complement downwards."""


def crosstable(visit: Visit) -> Page:
    """Return the page with the results of a game's best versions against each other, under each condition.

    Raises:
        UnknownGame: if there is no such game.
    """
    game = visit.names["game"]
    tables = visit.desk.ask(CrosstableRequest(game=game)).tables
    return Page("crosstable.html", {"game": game, "tables": tables, "most": CROSSED, "shade": _shade})


def _shade(met: HeadToHead) -> str:
    """Return the class of a cell."""
    if met.share is None:
        return ""
    if met.share >= _CLEARLY:
        return "well"
    return "poorly" if met.share <= 1 - _CLEARLY else ""
