"""One ranking over all games."""

from __future__ import annotations

from ladder.http.rendering.wording import lead_of
from ladder.http.requests.visit import Page, Visit
from ladder.questions.all_games import AllGamesRequest
from ladder.questions.in_words import ALL_GAMES


def all_games(visit: Visit) -> Page:
    """Return the page with one ranking over all games.

    Raises:
        NoPage: if the list has no page with this number.
    """
    found = visit.desk.ask(AllGamesRequest())
    on_page, number, pages = visit.paged(found.versions, "this ranking")
    return Page(
        "all_games.html",
        {
            "found": found,
            "rows": on_page,
            "page": number,
            "pages": pages,
            "meaning": ALL_GAMES,
            "lead": lead_of(found.versions),
        },
    )
