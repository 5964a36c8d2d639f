"""The record, the viewer and the live events of a match."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ladder.http.pictures.drawings import LIMITS, Drawing, Drawings, pages_folder
from ladder.http.pictures.live import Live
from ladder.http.rendering.render import rendered
from ladder.http.requests.limits import address_of, name_of
from ladder.http.requests.visit import NoPage, Page, Visit
from ladder.operation.errors import NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.limits import FILE_REQUESTS, Limits
from ladder.operation.meter import AtATime
from ladder.operation.threads import Threads
from ladder.questions.desk import Desk
from ladder.questions.match import RecordRequest
from ladder.questions.matches import PlayingRequest
from referee.pages.match import policy_of
from referee.records.record import unpacked

MAX_RECORDS = 4
"""The maximum number of records read at a time."""
SLOW_SECONDS = 10.0
"""The time after which a browser that leaves data unread is disconnected."""
WAIT_SECONDS = 3
"""The interval, in seconds, at which a browser asks again for a viewer that is being drawn."""
# Without the last header, nginx would collect events before passing them on.
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no"}

LAST_SECONDS = 0.5
"""The time allowed for a stream to end when the pages stop."""
_END = {"type": "http.response.body", "body": b""}

Ask = Callable[[Request], Visit]


class Matches:
    """Handles the requests for records, viewers and live events."""

    def __init__(self, home: Home, ask: Ask, limits: Limits, niceness: int = 0) -> None:
        """Prepare to serve a ladder; `ask` parses a request, and `niceness` applies to the processes that draw viewers."""
        self._ask = ask
        self._limits = limits
        self._drawings = Drawings(pages_folder(home), niceness)
        self._live = Live(home, limits.live)
        self._threads = Threads(MAX_RECORDS)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Draw viewers and follow matches in this context."""
        with self._drawings:
            try:
                yield
            finally:
                await self._live.close()

    def routes(self) -> list[Route]:
        """Return the routes of records, viewers and live matches."""
        return [
            Route("/matches/{match}/record.jsonl", self.record),
            Route("/matches/{match}/replay.html", self.viewer),
            Route("/matches/{match}/board.png", self.preview),
            Route("/matches/{match}/live", self.live),
            Route("/matches/{match}/look", self.look),
            Route("/matches/{match}/events", self.events),
        ]

    async def record(self, request: Request) -> Response:
        """Send the record of a match, decompressed."""
        _, name, data = await self._record(request, FILE_REQUESTS)
        data = await self._threads.run(unpacked, Path(name), data)
        headers = {"content-disposition": f'attachment; filename="{name}.jsonl"', "cache-control": "no-cache"}
        return Response(data, headers=headers, media_type="application/jsonl")

    async def viewer(self, request: Request) -> Response:
        """Send the viewer of a match or, while it is being drawn, a page that shows the progress."""
        visit, _, record = await self._record(request, 1)
        try:
            drawing = await self._threads.run(self._drawings.ask, record, name_of(visit.caller, request))
        except TooMuch:  # the page gets its turn later, because the browser asks again
            drawing = Drawing(ahead=LIMITS.waiting)
        if drawing.page is None:
            page = Page("drawing.html", {"drawing": drawing, "seconds": WAIT_SECONDS})
            return self._response(page, visit, 409 if drawing.problem else 202)
        return await self._threads.run(_sent, drawing.page, request)

    async def preview(self, request: Request) -> Response:
        """Send the last picture of a match as PNG; it is drawn together with the viewer."""
        visit, _, record = await self._record(request, 1)
        drawing = await self._threads.run(self._drawings.ask, record, name_of(visit.caller, request))
        if drawing.page is None and not drawing.problem:
            return Response(status_code=503, headers={"retry-after": "60"})
        try:
            data = b"" if drawing.page is None else drawing.page.with_suffix(".png").read_bytes()
        except FileNotFoundError:
            data = b""
        if not data:
            raise NoPage("there is no picture of this match")
        return Response(data, headers={"cache-control": "no-cache"}, media_type="image/png")

    async def live(self, request: Request) -> Response:
        """Send the page of a running match; redirect to the page of any other match."""
        visit = await self._threads.run(self._ask, request)
        match_id = visit.names["match"]
        playing = await self._threads.run(visit.desk.ask, PlayingRequest())
        match = next((one for one in playing.matches if one.match == match_id), None)
        if match is None:
            # A slash in the id would lead to another address.
            return RedirectResponse(f"../{quote(match_id, safe='')}", 303, {"cache-control": "no-store"})
        look = None
        with contextlib.suppress(NotFound):
            look = await self._live.look(match_id)
        return self._response(Page("live_match.html", {"match": match, "bots": match.bots, "look": look}), visit, 200)

    async def look(self, request: Request) -> Response:
        """Send the changing part of a running match's page: the picture, the standing and the latest actions."""
        fragment = self._live.fragment(request.path_params["match"])
        return fragment.sent(
            request, {"cache-control": "no-cache", "vary": "Accept-Encoding", "etag": fragment.tag}, "text/html"
        )

    async def events(self, request: Request) -> Response:
        """Send the server-sent events of a match; 204 means that there are no more."""
        who = address_of(request)
        self._limits.requests.take(who)
        if request.method == "HEAD":
            return Response(headers=EVENTS)
        return EventStream(self._live.events(request.path_params["match"]), self._limits.streams, who)

    def _response(self, page: Page, visit: Visit, status: int) -> Response:
        """Return a page that must not be cached, because it changes soon."""
        return Response(rendered(page, visit), status, {"cache-control": "no-store"}, media_type="text/html")

    async def _record(self, request: Request, requests: int) -> tuple[Visit, str, bytes]:
        """Return the parsed request, the id of its match, and the stored record; charge the caller for a number of requests.

        Raises:
            TooMuch: if the caller has too few requests left.
            LadderError: if there is no such match, it has no record, or its block is unfinished.
        """
        visit = await self._threads.run(self._ask, request)
        self._limits.requests.take(name_of(visit.caller, request), requests)
        name, record = await self._threads.run(whole_record, visit.desk, visit.names["match"])
        return visit, name, record


class EventStream(Response):
    """A stream of events that ends if the browser does not read an event within `slow_seconds`."""

    def __init__(
        self, events: AsyncGenerator[bytes], streams: AtATime, who: str, slow_seconds: float = SLOW_SECONDS
    ) -> None:
        self._events = events
        self._slow_seconds = slow_seconds
        self._streams = streams
        self._who = who
        self._has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until there are no more, or the browser disconnects or reads too slowly.

        Raises:
            TooMuch: if too many streams are open.
        """
        leaving = asyncio.create_task(_left(receive))
        try:
            with self._streams.one(self._who):
                await _unless(leaving, self._send(scope, receive, send))
            if self._has_begun:  # a slow reader has lost its place, but may still read the end
                await _unless(leaving, send(_END))
        except asyncio.CancelledError:  # the pages are stopping
            if not self._has_begun:
                raise
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await send(_END)
        finally:
            leaving.cancel()

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with contextlib.aclosing(self._events) as events:
            try:
                first = await anext(events, b"")
            except NotFound:
                await Response(status_code=204)(scope, receive, send)  # with this status, a browser does not reconnect
                return
            headers = [(name.encode(), value.encode()) for name, value in EVENTS.items()]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            self._has_begun = True
            with contextlib.suppress(TimeoutError):
                await self._write(send, first)
                async for event in events:
                    await self._write(send, event)

    async def _write(self, send: Send, event: bytes) -> None:
        """Send an event.

        Raises:
            TimeoutError: if the browser leaves too much unread.
        """
        async with asyncio.timeout(self._slow_seconds):
            await send({"type": "http.response.body", "body": event, "more_body": True})


async def _unless(leaving: asyncio.Task[None], doing: Awaitable[None]) -> None:
    """Wait for an awaitable; cancel it if the browser disconnects first."""
    done = asyncio.ensure_future(doing)
    try:
        await asyncio.wait([done, leaving], return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            done.result()
    finally:
        done.cancel()
        await asyncio.gather(done, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def whole_record(desk: Desk, match: str) -> tuple[str, bytes]:
    """Return the full id and the stored record of a match, given the beginning of its id.

    Raises:
        LadderError: if there is no such match, it has no record, or its block is unfinished.
    """
    file = desk.ask(RecordRequest(match=match))
    return file.name.partition(".")[0], b"".join(file.pieces)


def _sent(path: Path, request: Request) -> Response:
    """Return a viewer, or status 304 if the browser already has it."""
    headers = {"etag": f'"{path.stem}"', "cache-control": "no-cache"}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # the file has just been removed to make room
        return Response(status_code=503, headers={"retry-after": "1"})
    # The viewer allows its own script and style by their hashes.
    headers["content-security-policy"] = f"{policy_of(data)}; frame-ancestors 'self'"
    return Response(data, headers=headers, media_type="text/html")
