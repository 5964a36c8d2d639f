"""One ranking over all games."""

from __future__ import annotations

from ladder.http.rendering.wording import lead_of
from ladder.http.requests.visit import NoPage, Page, Visit
from ladder.questions.all_games import AllGamesRequest
from ladder.questions.in_words import ALL_GAMES


def all_games(visit: Visit) -> Page:
    """Return the page with one ranking over all games.

    Raises:
        NoPage: if the list has no page of this number.
    """
    found = visit.desk.ask(AllGamesRequest())
    rows = visit.site.rows
    number = visit.number("page", 1, 1_000_000)
    pages = 1 if visit.site.is_static else max(1, -(-len(found.versions) // rows))
    if number > pages:
        raise NoPage(f"there is no page {number} of this ranking; the last one is {pages}")
    shown = found.versions if visit.site.is_static else found.versions[(number - 1) * rows : number * rows]
    return Page(
        "all_games.html",
        {
            "found": found,
            "rows": shown,
            "page": number,
            "pages": pages,
            "meaning": ALL_GAMES,
            "lead": lead_of(found.versions),
        },
    )
