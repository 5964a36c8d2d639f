"""What belongs to a match and is no page of words: its record, its viewer, and what happens in it while it is played."""

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

from ladder.http.pictures.drawings import MAX_WAITING, Drawing, Drawings, pages_folder
from ladder.http.pictures.live import Live
from ladder.http.rendering.render import rendered
from ladder.http.requests.asked import Asked, NoPage, Page
from ladder.http.requests.limits import Limits, address_of, name_of
from ladder.operation.errors import NotFound, TooMuch
from ladder.operation.home import Home
from ladder.operation.meter import FILE_REQUESTS, AtATime
from ladder.operation.threads import Threads
from ladder.questions.desk import Desk
from ladder.questions.match import RecordRequest
from ladder.questions.matches import PlayingRequest
from referee.pages.match import policy_of
from referee.records.record import unpacked

MAX_RECORDS = 4
"""How many records are read at a time."""
SLOW_SECONDS = 10.0
"""A browser that leaves what it was sent unread for longer is dropped."""
WAIT_SECONDS = 3
"""How soon a browser asks again for a viewer that is being drawn."""
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no"}

LAST_SECONDS = 0.5
"""How long the end of a stream may take when the pages are to stop."""
_END = {"type": "http.response.body", "body": b""}

Ask = Callable[[Request], Asked]


class Matches:
    """What answers such requests."""

    def __init__(self, home: Home, ask: Ask, limits: Limits, niceness: int = 0) -> None:
        """`ask` says what a request asks for; viewers are drawn with this niceness."""
        self._ask = ask
        self._limits = limits
        self._drawings = Drawings(pages_folder(home), niceness)
        self._live = Live(home)
        self._threads = Threads(MAX_RECORDS)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Draw, and follow matches, meanwhile."""
        with self._drawings:
            try:
                yield
            finally:
                await self._live.close()

    def routes(self) -> list[Route]:
        """Return where they are asked for."""
        return [
            Route("/matches/{match}/record.jsonl", self.record),
            Route("/matches/{match}/replay.html", self.viewer),
            Route("/matches/{match}/board.png", self.preview),
            Route("/matches/{match}/live", self.live),
            Route("/matches/{match}/look", self.look),
            Route("/matches/{match}/events", self.events),
        ]

    async def record(self, request: Request) -> Response:
        """Send the record of a match, as it was written or with its seed."""
        _, name, data = await self._record(request, FILE_REQUESTS)
        data = await self._threads.run(unpacked, Path(name), data)
        headers = {"content-disposition": f'attachment; filename="{name}.jsonl"', "cache-control": "no-cache"}
        return Response(data, headers=headers, media_type="application/jsonl")

    async def viewer(self, request: Request) -> Response:
        """Send the page that shows a match step by step; while it is drawn, one that says how far it is."""
        asked, _, record = await self._record(request, 1)
        try:
            drawing = await self._threads.run(self._drawings.ask, record, name_of(asked.asker, request))
        except TooMuch:  # the browser asks again, so its turn comes
            drawing = Drawing(ahead=MAX_WAITING)
        if drawing.page is None:
            page = Page("drawing.html", {"drawing": drawing, "seconds": WAIT_SECONDS})
            return self._shown(page, asked, 409 if drawing.problem else 202)
        return await self._threads.run(_sent, drawing.page, request)

    async def preview(self, request: Request) -> Response:
        """Send the last picture of a match, as PNG; it is drawn together with the viewer."""
        asked, _, record = await self._record(request, 1)
        drawing = await self._threads.run(self._drawings.ask, record, name_of(asked.asker, request))
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
        """Send the page of a match that is being played; of another one, lead to its page."""
        asked = await self._threads.run(self._ask, request)
        match_id = asked.names["match"]
        playing = await self._threads.run(asked.desk.ask, PlayingRequest())
        match = next((one for one in playing.matches if one.match == match_id), None)
        if match is None:
            return RedirectResponse(f"../{quote(match_id, safe='')}", 303, {"cache-control": "no-store"})
        look = None
        with contextlib.suppress(NotFound):
            look = await self._live.look(match_id)
        return self._shown(Page("live_match.html", {"match": match, "bots": match.bots, "look": look}), asked, 200)

    async def look(self, request: Request) -> Response:
        """Send the part of that page that changes: the picture, the standing and the last actions."""
        kept = self._live.fragment(request.path_params["match"])
        return kept.sent(
            request, {"cache-control": "no-cache", "vary": "Accept-Encoding", "etag": kept.tag}, "text/html"
        )

    async def events(self, request: Request) -> Response:
        """Send what happens in a match, as server-sent events; 204 tells a browser that there is no more."""
        who = address_of(request)
        self._limits.requests.take(who)
        if request.method == "HEAD":
            return Response(headers=EVENTS)
        return _Events(self._live.events(request.path_params["match"]), self._limits.streams, who)

    def _shown(self, page: Page, asked: Asked, status: int) -> Response:
        """Return a page that is another one in a moment."""
        return Response(rendered(page, asked), status, {"cache-control": "no-store"}, media_type="text/html")

    async def _record(self, request: Request, requests: int) -> tuple[Asked, str, bytes]:
        """Return what is asked for: the id of a match, and its record as it is kept. It counts as so many requests.

        Raises:
            TooMuch: if that is more than who asks has left.
            LadderError: if there is no such match, or it has no record; or if its block is not over.
        """
        asked = await self._threads.run(self._ask, request)
        self._limits.requests.take(name_of(asked.asker, request), requests)
        name, record = await self._threads.run(whole_record, asked.desk, asked.names["match"])
        return asked, name, record


class _Events(Response):
    """A stream of events, as long as the browser reads them."""

    def __init__(self, events: AsyncGenerator[bytes], streams: AtATime, who: str) -> None:
        self._events = events
        self._streams = streams
        self._who = who
        self._has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until there are no more, or the browser goes or reads too slowly.

        Raises:
            TooMuch: if too many streams are open.
        """
        leaving = asyncio.create_task(_left(receive))
        try:
            with self._streams.one(self._who):
                await _unless(leaving, self._send(scope, receive, send))
            if self._has_begun:  # whoever reads slowly has no place any more, but reads the end when it likes
                await _unless(leaving, send(_END))
        except asyncio.CancelledError:  # the pages are to stop
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
                await Response(status_code=204)(scope, receive, send)  # a browser does not come back then
                return
            headers = [(name.encode(), value.encode()) for name, value in EVENTS.items()]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            self._has_begun = True
            with contextlib.suppress(TimeoutError):
                await _write(send, first)
                async for event in events:
                    await _write(send, event)


async def _unless(leaving: asyncio.Task[None], doing: Awaitable[None]) -> None:
    """Do something, unless the browser leaves before it is done."""
    done = asyncio.ensure_future(doing)
    try:
        await asyncio.wait([done, leaving], return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            done.result()
    finally:
        done.cancel()
        await asyncio.gather(done, return_exceptions=True)


async def _write(send: Send, event: bytes) -> None:
    """Send an event.

    Raises:
        TimeoutError: if the browser leaves too much unread.
    """
    async with asyncio.timeout(SLOW_SECONDS):
        await send({"type": "http.response.body", "body": event, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def whole_record(desk: Desk, match: str) -> tuple[str, bytes]:
    """Return the id of a match whose id begins so, and its record as it is kept.

    Raises:
        LadderError: if there is no such match, or it has no record; or if its block is not over.
    """
    file = desk.ask(RecordRequest(match=match))
    return file.name.partition(".")[0], b"".join(file.pieces)


def _sent(path: Path, request: Request) -> Response:
    """Return a viewer; one that the browser has already is not sent again."""
    headers = {"etag": f'"{path.stem}"', "cache-control": "no-cache"}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # it has made room for others at this moment
        return Response(status_code=503, headers={"retry-after": "1"})
    headers["content-security-policy"] = f"{policy_of(data)}; frame-ancestors 'self'"
    return Response(data, headers=headers, media_type="text/html")
