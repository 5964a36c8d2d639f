"""The rules of a game."""

from __future__ import annotations

from ladder.web.asked import Asked, Page
from ladder.web.rulebook import rules_of
from referee.registry import find


def rules(asked: Asked) -> Page:
    """Return the rules of a game.

    Raises:
        UnknownGame: if there is no such game.
    """
    game = find(asked.names["game"])
    return Page("rules.html", {"game": game.name, "rules": rules_of(game)})
