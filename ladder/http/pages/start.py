"""The start page: the leaders in each game, running matches, the latest matches, and how to take part."""

from __future__ import annotations

from ladder.http.pages.standings import first_share, main_table
from ladder.http.pictures.boards import visible_match
from ladder.http.pictures.charts import axis_of, bar, scale
from ladder.http.rendering.wording import lead_of
from ladder.http.requests.visit import Page, Visit
from ladder.questions.matches import MatchesRequest, PlayingRequest
from ladder.questions.standings import StandingsTable, TopRequest

TOP = 5
"""The maximum number of versions of each game on the page, best first."""
LAST = 8
"""The maximum number of matches on the page, newest first."""


def start(visit: Visit) -> Page:
    """Return the start page."""
    by_game: dict[str, list[StandingsTable]] = {}
    for table in visit.desk.ask(TopRequest()).tables:
        by_game.setdefault(table.condition.game, []).append(table)
    tables = []
    for under in by_game.values():
        table = main_table(under)
        rated = [one for one in table.versions if one.place is not None]
        axis = axis_of(rated[:TOP])
        tables.append(
            {
                "condition": table.condition,
                "best": [(one, bar(one, axis)) for one in rated[:TOP]],
                "scale": scale(axis),
                "bots": len(rated),
                "lead": lead_of(rated),
                "featured": visible_match(visit, table.condition.game) if rated else None,
            }
        )
    return Page(
        "start.html",
        {
            "first_share": first_share,
            "tables": tables,
            "playing": visit.desk.ask(PlayingRequest()).matches,
            "last": visit.desk.ask(MatchesRequest(limit=LAST)).matches,
        },
    )
