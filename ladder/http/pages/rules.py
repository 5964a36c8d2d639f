"""The rules of a game."""

from __future__ import annotations

from ladder.http.rendering.rulebook import rules_of
from ladder.http.requests.visit import Page, Visit
from referee.registry import find


def rules(visit: Visit) -> Page:
    """Return the page with the rules of a game.

    Raises:
        UnknownGame: if there is no such game.
    """
    game = find(visit.names["game"])
    return Page("rules.html", {"game": game.name, "rules": rules_of(game)})
