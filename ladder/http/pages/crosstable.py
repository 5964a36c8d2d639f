"""The best of a game against each other."""

from __future__ import annotations

from ladder.http.requests.asked import Asked, Page
from ladder.questions.comparing import CROSSED, CrosstableRequest, HeadToHead

_CLEARLY = 0.6
"""From this share on, a cell is shaded; below the rest to 1, the other way."""


def crosstable(asked: Asked) -> Page:
    """Return how the best versions of a game have fared against each other, under each condition.

    Raises:
        UnknownGame: if there is no such game.
    """
    game = asked.names["game"]
    tables = asked.desk.ask(CrosstableRequest(game=game)).tables
    return Page("crosstable.html", {"game": game, "tables": tables, "most": CROSSED, "shade": _shade})


def _shade(met: HeadToHead) -> str:
    """Return the class of a cell."""
    if met.share is None:
        return ""
    if met.share >= _CLEARLY:
        return "well"
    return "poorly" if met.share <= 1 - _CLEARLY else ""
