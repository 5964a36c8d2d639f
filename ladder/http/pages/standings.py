"""The standings of a game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import inf

from ladder.facts.standings import STOPPED, Status
from ladder.http.pictures.charts import axis_of, bar, scale, spark
from ladder.http.rendering.wording import clock_in_words, lead_of, status_of
from ladder.http.requests.visit import NoPage, Page, Visit
from ladder.questions.in_words import RANGES
from ladder.questions.rows import StandingRow
from ladder.questions.standings import StandingsTable, TopRequest

MAX_QUERY = 80
"""The maximum length of a search text."""
_STATUSES: dict[str, tuple[str, Callable[[StandingRow], bool]]] = {
    "any": ("any status", lambda one: True),
    "active": ("active", lambda one: one.status in (Status.ACTIVE, Status.NEW)),
    "new": ("new", lambda one: one.is_new),
    "waiting": ("waits to qualify", lambda one: one.status == Status.UNTRIED),
    "away": ("not connected", lambda one: one.status == Status.AWAY),
    "stopped": ("failed, suspended or retired", lambda one: one.status in STOPPED),
    "replaced": ("replaced", lambda one: one.status == Status.REPLACED),
}
_SORTS: dict[str, Callable[[StandingRow], tuple[float | str, ...]]] = {
    "place": lambda one: (one.place or inf,),
    "strength": lambda one: (-one.strength if one.strength is not None else inf,),
    "live": lambda one: (-one.mu if one.mu is not None else inf,),
    "bot": lambda one: (one.bot.casefold(), -one.version),
    "author": lambda one: (one.author.casefold(), one.place or inf),
    "matches": lambda one: (-one.matches,),
    "first": lambda one: (-first_share(one),),
    "out": lambda one: (-one.out,),
}


def standings(visit: Visit) -> Page:
    """Return the page with a game's standings under one condition.

    This is the condition in the path or, if the path names none, the condition with the most blocks.

    Raises:
        UnknownGame: if there is no such game.
        NoPage: if there are no standings under such a condition.
        BadQuestion: if a parameter is invalid.
    """
    tables = visit.desk.ask(TopRequest(game=visit.names["game"])).tables
    table = table_of(visit, tables)
    status, sort = visit.choice("status", _STATUSES), visit.choice("sort", _SORTS)
    text = visit.query.get("q", "")[:MAX_QUERY].strip()
    wanted = text.casefold()
    rows = [
        one
        for one in table.versions
        if _STATUSES[status][1](one) and (wanted in one.bot.casefold() or wanted in one.author.casefold())
    ]
    rows.sort(key=_SORTS[sort])
    on_page, number, pages = visit.paged(rows, "these standings")
    # The axis covers all versions, so that the bars of different pages and filters can be compared.
    axis = axis_of(table.versions)
    return Page(
        "standings.html",
        {
            "game": visit.names["game"],
            "condition": table.condition,
            "is_main": table is main_table(tables),
            "others": [
                (under_path(one.condition.game, tables, one), one.condition) for one in tables if one is not table
            ],
            "lead": lead_of(table.versions),
            "rows": [(one, bar(one, axis), spark(one.trend), status_of(one)) for one in on_page],
            "first_share": first_share,
            "clock_in_words": clock_in_words,
            "scale": scale(axis),
            "ranges": RANGES,
            "text": text,
            "status": status,
            "statuses": {name: words for name, (words, _) in _STATUSES.items()},
            "sort": sort,
            "page": number,
            "pages": pages,
            "found": len(rows),
            "all": len(table.versions),
        },
    )


def first_share(one: StandingRow) -> float:
    """Return the share of a version's matches in which it was first."""
    return one.wins / one.matches if one.matches else 0.0


def main_table(tables: Sequence[StandingsTable]) -> StandingsTable:
    """Return the table of a game with the most blocks, or the oldest such table if there are several."""
    return max(tables, key=lambda one: one.blocks)


def under_path(game: str, tables: Sequence[StandingsTable], table: StandingsTable) -> str:
    """Return the path of a game's standings under a condition."""
    return f"games/{game}" if table is main_table(tables) else f"games/{game}/under/{table.condition.slug}"


def table_of(visit: Visit, tables: Sequence[StandingsTable]) -> StandingsTable:
    """Return the table that the path names or, without a name, the main table.

    Raises:
        NoPage: if there are no standings under such a condition.
    """
    slug = visit.names.get("slug")
    if slug is None:
        return main_table(tables)
    found = {one.condition.slug: one for one in tables}
    if slug not in found:
        near = get_close_matches(slug, found, 1, 0.0)  # with 0.0, one of them is always found
        raise NoPage(f"{visit.names['game']} was not run under {slug}, but under: {', '.join(near)}")
    return found[slug]
