"""The list of all bots, or of those whose names contain a certain text."""

from __future__ import annotations

from ladder.facts.standings import Status
from ladder.http.pages.standings import MAX_QUERY
from ladder.http.rendering.wording import status_of
from ladder.http.requests.visit import Page, Visit
from ladder.questions.bots import BotRow, BotsRequest
from ladder.questions.rows import StandingRow


def bots(visit: Visit) -> Page:
    """Return the list of bots, by name.

    Raises:
        NoPage: if the list has no page with this number.
    """
    text = visit.query.get("q", "")[:MAX_QUERY].strip()
    found = visit.desk.ask(BotsRequest(called=text)).bots
    on_page, number, pages = visit.paged(found, "these bots")
    return Page(
        "bots.html",
        {
            "rows": [(one, [(standing, status_of(standing)) for standing in _tried(one)]) for one in on_page],
            "text": text,
            "found": len(found),
            "page": number,
            "pages": pages,
        },
    )


def _tried(bot: BotRow) -> list[StandingRow]:
    """Return a bot's standings, except those under conditions for which it is still waiting to qualify."""
    return [one for one in bot.standings if one.status != Status.UNTRIED]
