"""The page with the results of a game's best bot versions against each other."""

from __future__ import annotations

from ladder.http.requests.visit import Page, Visit
from ladder.questions.comparing import CROSSED, CrosstableRequest


def crosstable(visit: Visit) -> Page:
    """Return the page with the results of a game's best versions against each other, under each condition.

    Raises:
        UnknownGame: if there is no such game.
    """
    game = visit.names["game"]
    tables = visit.desk.ask(CrosstableRequest(game=game)).tables
    return Page("crosstable.html", {"game": game, "tables": tables, "most": CROSSED})
