"""A list of all events, and a page for each, which is live while the event is played."""

from __future__ import annotations

from markupsafe import Markup

from ladder.http.requests.visit import Page, Visit
from ladder.model.tournament import Phase
from ladder.questions.comparing import CROSSED
from ladder.questions.events import (
    GIVEN_UP,
    NEXT,
    OVER,
    PLAYING,
    SCHEDULED,
    EventAnswer,
    EventRequest,
    EventsRequest,
)
from referee.pages.bracket import bracket_picture
from referee.tournament.bracket import BracketSeat, BracketTable

LISTED = 20
"""The maximum number of matches of each kind on the page of an event."""


def events(visit: Visit) -> Page:
    """Return the list of all events."""
    return Page("events.html", {"events": visit.desk.ask(EventsRequest()).events})


def event(visit: Visit) -> Page:
    """Return the page of an event.

    Until the closing time, it shows the provisional entrants; later, it shows the table or bracket, and the matches.

    Raises:
        NotFound: if there is no such event.
    """
    found = visit.desk.ask(EventRequest(event=visit.names["event"]))
    over = [one for one in found.matches if one.state in (OVER, GIVEN_UP)]
    return Page(
        "event.html",
        {
            "found": found,
            "event": found.event,
            "is_open": found.event.phase == Phase.OPEN.value,
            "is_frozen": found.event.phase not in (Phase.OPEN.value, Phase.CLOSED.value),
            "changes": found.event.phase in (Phase.OPEN.value, Phase.CLOSED.value, Phase.PLAYED.value),
            "tie_breaks": list(dict.fromkeys(name for row in found.standings for name in row.tie_breaks)),
            "of_several": len(found.event.conditions) > 1,
            "crossed": found.standings[:CROSSED],
            "bracket": _bracket(found),
            "playing": [one for one in found.matches if one.state == PLAYING],
            "coming": [one for one in found.matches if one.state in (SCHEDULED, NEXT)][:LISTED],
            "over": list(reversed(over))[: len(over) if visit.site.is_static else LISTED],
            "older": 0 if visit.site.is_static else max(0, len(over) - LISTED),
        },
    )


def _bracket(found: EventAnswer) -> Markup:
    """Return the bracket of a knockout as a picture; an empty text for other formats."""
    if not found.bracket:
        return Markup("")
    rounds = [
        [
            BracketTable(
                [BracketSeat(seat.bot, seat.points, seat.tie_breaks, seat.goes_on) for seat in one.seats], one.is_played
            )
            for one in each.tables
        ]
        for each in found.bracket
    ]
    return Markup(bracket_picture(rounds))  # noqa: S704 all names in it are escaped
