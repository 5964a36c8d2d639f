"""The matches of a game, newest first."""

from __future__ import annotations

from ladder.http.requests.visit import BadQuestion, Page, Visit
from ladder.questions.matches import MatchesRequest
from referee.registry import find

_FLAGS = {"": False, "1": True}


def matches(visit: Visit) -> Page:
    """Return a page of the counted matches of a game.

    Raises:
        UnknownGame: if there is no such game.
        LadderError: if there is no such bot, or no such match to start from.
        BadQuestion: if a parameter is invalid.
    """
    game = find(visit.names["game"]).name
    bot = visit.query.get("bot", "").strip()
    lost, out = (_FLAGS[visit.choice(name, _FLAGS)] for name in ("lost", "out"))
    if lost and not bot:
        raise BadQuestion("name a bot to see which matches it lost: somebody loses in every match")
    place = {name: visit.query.get(name, "") for name in ("before", "after")}
    found = visit.desk.ask(MatchesRequest(game=game, bot=bot, lost=lost, out=out, limit=visit.site.listed, **place))
    filters = {"bot": bot, "lost": "1" if lost else "", "out": "1" if out else ""}
    return Page("matches.html", {"game": game, "found": found, "filters": filters, "place": place})
