"""The page of a match: who won and why, all points, times and faults, and links to more."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from ladder.archive.retention import PRUNED_REMARK, by_retention
from ladder.http.rendering.sentence import sentence
from ladder.http.rendering.wording import clock_in_words
from ladder.http.requests.visit import Page, Visit
from ladder.operation.errors import Forbidden, NotFound
from ladder.questions.match import MatchRequest, SeatAccount, first_rated
from ladder.questions.matches import MatchesRequest, PlayingRequest
from referee.terminal import visible

MAX_LEGAL = 30
"""The maximum number of legal actions in the list for a lost decision."""

RECENT = 50
"""The number of the latest matches that are searched for one with hidden steps."""
OTHERS = 3
"""The number of running matches to which the page of a match with hidden steps links."""


def match(visit: Visit) -> Page:
    """Return the page of a match or, while its steps are hidden, a page that explains when they will be visible.

    Raises:
        LadderError: if there is no such match, or more than one.
    """
    name = visit.names["match"]
    try:
        found = visit.desk.ask(MatchRequest(match=name))
    except Forbidden as error:
        playing = visit.desk.ask(PlayingRequest()).matches
        # The address may contain only the beginning of the id.
        now = next((one for one in playing if one.match.startswith(name)), None)
        last = visit.desk.ask(MatchesRequest(limit=RECENT)).matches
        values = {
            "reason": str(error),
            "playing": now,
            "played": next((one for one in last if one.match.startswith(name)), None),
            "others": playing[:OTHERS],
        }
        return Page("match_later.html", values, status=403)
    except NotFound:
        raise NotFound(f"there is no match {visible(name, 64)}; the page of each game lists its matches") from None
    seats = sorted(found.seats, key=lambda one: (one.rank, one.seat))
    own = next((one for one in found.block if one.match == found.match), None)
    return Page(
        "match.html",
        {
            "found": found,
            "own": own,
            "seats": seats,
            "changes": {} if own is None else {one.seat: one for one in own.seats},
            "first_rated": first_rated(found),
            "reasons": {one.seat: one for one in found.reasons},
            "named": [named(bot) for bot in found.bots],
            "sentence": sentence(found.seats, found.lead),
            "sources": sources(seats),
            "clock": clock_in_words(found.condition.clock) if found.condition is not None else "",
            "others": [one for one in found.block if one.match != found.match],
            "fragment": found.moment.partition("#")[2],
            "pruned": f"{by_retention('the record of this match was', found.pruned_at)}; {PRUNED_REMARK}"
            if found.pruned_at
            else "",
            "max_legal": MAX_LEGAL,
            # The extra `preview` draws it; `find_spec` checks for it without importing it.
            "has_preview": found.is_recorded and not found.problem and find_spec("resvg_py") is not None,
        },
    )


def named(label: str) -> tuple[str, str | None]:
    """Return a bot's name and version from its label in a record; the version is None if the label contains none."""
    bot, _, version = label.rpartition(" v")
    return (bot, version) if bot and version.isdigit() else (label, None)


def sources(seats: Sequence[SeatAccount]) -> list[tuple[str, list[int]]]:
    """Return each source of points with the points of every seat; leave out sources without points."""
    rows: dict[str, list[int]] = {}
    for at, one in enumerate(seats):
        for points in one.breakdown:
            rows.setdefault(points.source, [0] * len(seats))[at] += points.points
    return [(source, points) for source, points in rows.items() if any(points)]
