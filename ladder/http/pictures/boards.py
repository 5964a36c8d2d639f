"""The last position of a match as a single picture, for pages that show several matches.

Drawing it takes half a second, because the record is replayed; drawing all pictures of the viewer takes up to a minute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ladder.http.pictures.matches import whole_record
from ladder.http.requests.limits import name_of
from ladder.http.requests.prepared import PreparedResponse
from ladder.http.requests.visit import NoPage, Visit
from ladder.operation.errors import LadderError
from ladder.operation.limits import Limits
from ladder.operation.threads import Threads
from ladder.questions.match import RecordRequest
from ladder.questions.matches import MatchesRequest
from ladder.questions.rows import MatchRow
from referee.records.record import RecordError
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint
from referee.registry import find

MAX_PICTURES = 64
"""The maximum number of cached pictures."""
RECENT = 8
"""A page chooses the match to show from this many of the game's latest matches."""


class Boards:
    """Handles the requests for pictures of last positions, one at a time."""

    def __init__(self, ask: Callable[[Request], Visit], limits: Limits) -> None:
        """Prepare to draw pictures; `ask` is a function that parses a request."""
        self._ask = ask
        self._limits = limits
        self._threads = Threads(1)
        self._pictures = LRUCache[tuple[str, bytes], PreparedResponse](MAX_PICTURES)

    def routes(self) -> list[Route]:
        """Return the route of the pictures."""
        return [Route("/matches/{match}/board.svg", self.board)]

    async def board(self, request: Request) -> Response:
        """Send the last position of a public match."""
        visit = await self._threads.run(self._ask, request)
        self._limits.requests.take(name_of(visit.caller, request))
        drawn = await self._threads.run(self._drawn, visit)
        headers = {"cache-control": "no-cache", "vary": "Accept-Encoding, Cookie", "etag": drawn.tag}
        return drawn.sent(request, headers, "image/svg+xml")

    def _drawn(self, visit: Visit) -> PreparedResponse:
        match, record = whole_record(visit.desk, visit.names["match"])  # raises an error if the caller may not see it
        key = match, hashlib.sha256(record).digest()
        if key not in self._pictures:
            self._pictures[key] = PreparedResponse.of(last_picture(match, record).encode(), 200)
        return self._pictures[key]


def last_picture(match: str, record: bytes) -> str:
    """Draw the last position of a match, as spectators see it.

    Args:
        match: the id of the match.
        record: its record, compressed or not.

    Raises:
        NoPage: if the record is not valid.
    """
    try:
        replay = Replay(Path(match), find, data=record)
        viewpoint = Viewpoint(replay, None)
        for step in replay:
            viewpoint.follow(step)
    except RecordError:
        raise NoPage("the record of this match does not hold") from None
    return viewpoint.draw()


def visible_match(visit: Visit, game: str) -> MatchRow | None:
    """Return one of a game's latest matches with a public record, or None if there is none.

    It is not always the latest one: on a fast ladder, every visitor would then need a new picture. Instead, it is the match whose
    number is divisible by the highest power of two, which remains the choice for about `RECENT` matches.
    """
    found = visit.desk.ask(MatchesRequest(game=game, limit=RECENT)).matches
    # n & -n is the highest power of two that divides n.
    for match in sorted(found, key=lambda one: one.number & -one.number, reverse=True):
        try:
            visit.desk.ask(RecordRequest(match=match.match))
            return match
        except LadderError:  # other matches from its seed are unfinished, or the record is gone
            continue
    return None
