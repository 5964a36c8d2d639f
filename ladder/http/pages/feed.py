"""Atom feeds (RFC 4287) with the news of the ladder, and of each bot."""

from __future__ import annotations

from datetime import UTC, datetime

from ladder.http.rendering.render import title_of
from ladder.http.requests.visit import Page, Visit
from ladder.operation.errors import NotFound
from ladder.questions.news import NewsItem, NewsRequest
from ladder.questions.proof import KeyRequest

_NEVER = datetime(1970, 1, 1, tzinfo=UTC).isoformat()
MEDIA_TYPE = "application/atom+xml; charset=utf-8"


def feed(visit: Visit) -> Page:
    """Return the feed of the ladder, or of the bot in the path.

    Raises:
        NotFound: if there is no such bot.
    """
    bot = visit.names.get("bot", "")
    news = visit.desk.ask(NewsRequest(bot=bot)).news
    return Page(
        "feed.xml",
        {
            "bot": bot,
            "entries": [(one, _title(one), _place(one)) for one in news],
            "updated": news[0].at if news else _NEVER,
            "ladder": _name(visit),
        },
        headers={"content-type": MEDIA_TYPE},
    )


def _name(visit: Visit) -> str:
    """Return a permanent id of the ladder, derived from its key."""
    try:
        return visit.desk.ask(KeyRequest()).fingerprint.replace(":", "").replace("/", "-")
    except NotFound:
        return "new"  # nothing is signed yet


def _title(one: NewsItem) -> str:
    label, game = f"{one.bot} v{one.version}", "" if one.condition is None else title_of(one.condition.game)
    if one.kind == "sent":
        return f"{label} by {one.author} was sent"
    if one.kind == "qualified":
        return f"{label} has qualified for {game}"
    if one.kind == "not qualified":
        return f"{label} has not qualified for {game}: {one.reason}"
    seats = [] if one.match is None else one.match.seats
    first = ", ".join(f"{seat.bot} v{seat.version}" for seat in seats if seat.rank == 1)
    [own, *_] = [seat for seat in seats if (seat.bot, seat.version) == (one.bot, one.version)]
    place = f"{label} was placed {own.rank} of {len(seats)} in {game}"
    return place if own.rank == 1 else f"{place}; {first} won"


def _place(one: NewsItem) -> str:
    """Return the path of the page with details."""
    return f"matches/{one.match.match}" if one.match is not None else f"bots/{one.bot}"
