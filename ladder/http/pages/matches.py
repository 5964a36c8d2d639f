"""The matches of a game, newest first."""

from __future__ import annotations

from ladder.http.requests.asked import Asked, BadQuestion, Page
from ladder.questions.matches import MatchesRequest
from referee.registry import find

LISTED = 25
"""The number of matches on a page."""
_FLAGS = {"": False, "1": True}


def matches(asked: Asked) -> Page:
    """Return a page of the counted matches of a game.

    Raises:
        UnknownGame: if there is no such game.
        LadderError: if there is no such bot, or no such match to start from.
        BadQuestion: if the parameters are wrong.
    """
    game = find(asked.names["game"]).name
    bot = asked.query.get("bot", "").strip()
    lost, out = (_FLAGS[asked.choice(name, _FLAGS)] for name in ("lost", "out"))
    if lost and not bot:
        raise BadQuestion("name a bot to see which matches it lost: somebody loses in every match")
    place = {name: asked.query.get(name, "") for name in ("before", "after")}
    found = asked.desk.ask(MatchesRequest(game=game, bot=bot, lost=lost, out=out, limit=LISTED, **place))
    filters = {"bot": bot, "lost": "1" if lost else "", "out": "1" if out else ""}
    return Page("matches.html", {"game": game, "found": found, "filters": filters, "place": place})
