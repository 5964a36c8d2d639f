"""The pages at which people play.

Each page is for one person, and its forms change the match, so these pages are separate from those of the ladder.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ladder.http.requests.form import read_fields
from ladder.http.requests.limits import address_of
from ladder.http.requests.visit import BadQuestion, Page, Site
from ladder.http.requests.visitor import check_same_origin, is_encrypted
from ladder.model.match import Version
from ladder.operation.errors import Forbidden, LadderError, NotFound
from ladder.operation.home import Home
from ladder.operation.journal import note
from ladder.operation.limits import Limits
from ladder.operation.threads import Threads
from ladder.tables.hosts import Hosts
from ladder.tables.open_tables import ID, OpenTables, PersonAnswer, Stale, Table
from ladder.tables.process import RECORD, REPLAY
from ladder.tables.table_request import (
    CLOCKS,
    RANDOM_SEAT,
    BadTableRequest,
    offered_options,
    opponents,
    read_table_request,
    values_of,
)
from ladder.tables.view import Stage, View
from referee.files import in_words
from referee.game import Game
from referee.registry import find, games

COOKIE = "dogana-table-"
"""The prefix of the cookie with the key of a table; the table's id follows. Browsers send it only to the pages of tables."""
ENCRYPTED_COOKIE = "__Host-dogana-table-"
"""The prefix of the cookie with a table's key on encrypted pages: browsers send it to all pages of this host, only over TLS."""
KEY_SECONDS = 7 * 86_400
SETTLE_SECONDS = 0.8
"""The time, in seconds, for which an answer waits for other players' moves. It is shorter than the time for which a
stopping server waits for open requests."""
REPLAY_POLICY = "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
"""The content security policy for the page of a match. That page contains a script, and sets the rest of the policy itself."""

Show = Callable[[Request, Page], Awaitable[Response]]


class Play:
    """Handles requests for the pages on which people play."""

    def __init__(self, home: Home, site: Site, limits: Limits, show: Show) -> None:
        """Prepare for one ladder; `show` renders a page for the caller of a request."""
        self._home = home
        self._limits = limits
        self._site = site
        self._show = show
        self._tables: OpenTables | None = None
        self._closed = "the tables are being laid; come back in a moment"
        self._waiting = 0
        self._hosts = None if site.isolation is None else Hosts(home, site.isolation)
        self._looking = Threads(1)

    @asynccontextmanager
    async def open(self, _: object = None) -> AsyncIterator[None]:
        """Provide tables in this context. If that fails, their pages give the reason."""
        try:
            async with self._new_tables() as self._tables:
                yield
        except (LadderError, OSError) as error:
            # The error came after the tables were open, so it does not mean that they cannot be opened.
            if self._tables is not None:
                raise
            self._closed = "nobody can play here at the moment; the organiser finds the reason in the log"
            note("tables", logging.ERROR, text=f"nobody can play: {in_words(error)}")
            yield

    def _new_tables(self) -> OpenTables:
        site = self._site
        return OpenTables(
            self._home.tables,
            self._hosts,
            self._limits.tables,
            tables=site.tables,
            of_address=site.tables_per_address,
        )

    def routes(self) -> list[Route]:
        """Return the routes of the pages on which people play."""
        return [
            Route("/play", self._games),
            Route("/play/{game}", self._form),
            Route("/play/{game}", self._lay, methods=["POST"]),
            Route("/play/table/{table}", self._look),
            Route("/play/table/{table}", self._answer, methods=["POST"]),
            Route("/play/table/{table}/leave", self._leave, methods=["POST"]),
            Route("/play/table/{table}/replay.html", self._replay),
            Route("/play/table/{table}/record.jsonl", self._record),
        ]

    @property
    def _open(self) -> OpenTables:
        if self._tables is None:
            raise LadderError(self._closed)
        return self._tables

    # before a match

    async def _games(self, request: Request) -> Response:
        mine = self._open.tables_of(self._keys(request))
        playable = [game for game in games().values() if opponents(game)]
        return await self._show(request, Page("play.html", {"games": playable, "mine": mine}))

    async def _form(self, request: Request) -> Response:
        game = find(request.path_params["game"])
        return await self._show(
            request, _form_page(game, await self._willing(game), dict(request.query_params), [], 200)
        )

    async def _willing(self, game: Game) -> dict[str, Version]:
        """Return the bots of consenting authors, by label."""
        return {} if self._hosts is None else await self._looking.run(self._hosts.willing, game.name)

    async def _lay(self, request: Request) -> Response:
        check_same_origin(self._site, request)
        tables, game = self._open, find(request.path_params["game"])
        fields = await read_fields(request, self._limits.form_seconds)
        try:
            willing = await self._willing(game)
            wanted = read_table_request(game, fields, willing)
        except BadTableRequest as error:
            return await self._show(request, _form_page(game, willing, fields, error.problems, 422))
        keys = self._keys(request)
        versions = {bot: willing[bot] for bot in wanted.bots if bot in willing}
        table, key = await tables.lay(wanted, keys, address_of(request), versions)
        await table.settled(SETTLE_SECONDS)
        answer = RedirectResponse(f"table/{table.id}", 303)
        self._keep(request, answer, table.id, key, KEY_SECONDS)
        for name in keys:
            if tables.table(name) is None:  # otherwise there would be too many cookies
                self._keep(request, answer, name, "", 0)
        return answer

    def _keep(self, request: Request, answer: Response, table: str, key: str, seconds: int) -> None:
        """Set the cookie with the key of a table, valid for a number of seconds."""
        secure = is_encrypted(self._site, request)
        # Without a path, browsers use the folder of this address, whatever prefix a proxy has added to it.
        path = "/" if secure else None
        name = (ENCRYPTED_COOKIE if secure else COOKIE) + table
        answer.set_cookie(name, key, seconds, path=path, secure=secure, httponly=True, samesite="lax")

    def _keys(self, request: Request) -> dict[str, str]:
        """Return a browser's keys by the ids of their tables."""
        beginning = ENCRYPTED_COOKIE if is_encrypted(self._site, request) else COOKIE
        return {
            name.removeprefix(beginning): key
            for name, key in request.cookies.items()
            if name.startswith(beginning) and ID.fullmatch(name.removeprefix(beginning))
        }

    def _is_of(self, request: Request, table: Table) -> bool:
        return table.is_of(self._keys(request).get(table.id, ""))

    # at a table

    async def _look(self, request: Request) -> Response:
        table = self._open.table(request.path_params["table"])
        if table is None:
            name = request.path_params["table"]
            return await self._show(request, _table_page(name, self._open.finished(name)))
        if table.view.has_replay and not self._is_of(request, table):
            return await self._show(request, _table_page(table.id, table.view))
        self._check_owner(request, table)
        if "seen" in request.query_params and not await self._has_news(request, table):
            return Response(status_code=204, headers={"cache-control": "no-store"})
        return await self._show(request, _table_page(table.id, table.look(), table=table))

    async def _answer(self, request: Request) -> Response:
        check_same_origin(self._site, request)
        table = self._mine(request)
        try:
            await table.answer(_read_answer(await read_fields(request, self._limits.form_seconds)))
        except (Stale, BadQuestion) as error:
            status = 409 if isinstance(error, Stale) else 400
            await table.settled(SETTLE_SECONDS)
            page = _table_page(table.id, table.look(), table=table, refusal=str(error), status=status)
            return await self._show(request, page)
        await table.settled(SETTLE_SECONDS)
        return RedirectResponse(table.id, 303)

    async def _leave(self, request: Request) -> Response:
        check_same_origin(self._site, request)
        await self._open.clear(self._mine(request))
        return RedirectResponse("../../../play", 303)

    async def _has_news(self, request: Request, table: Table) -> bool:
        """Wait a while for a question other than the query's; return True if there is a newer view than in the query.

        This way, a person sees a new question immediately, together with the moves of others. If too many requests are
        waiting, the function returns immediately.
        """
        table.heard()
        query, limits = request.query_params, self._limits.tables
        if self._waiting < limits.waiting:
            self._waiting += 1
            end = time.monotonic() + limits.news_seconds
            try:
                while question_key(table.view) == query.get("question") and (left := end - time.monotonic()) > 0:
                    await table.until(table.revision, left)
            finally:
                self._waiting -= 1
        # If the browser has disconnected, `Table.look` must not be called: it would record that the person is present.
        return table.revision != query["seen"] and not await request.is_disconnected()

    def _mine(self, request: Request) -> Table:
        """Return the table that a request's address names.

        Raises:
            NotFound: if there is no such table, or the table has been cleared.
            Forbidden: if another person plays there.
        """
        table = self._open.table(request.path_params["table"])
        if table is None:
            raise NotFound("there is no such table, or it has been cleared")
        self._check_owner(request, table)
        return table

    def _check_owner(self, request: Request, table: Table) -> None:
        if not self._is_of(request, table):
            raise Forbidden("somebody else plays at this table; when the match is over, everybody can see it here")

    # after a match

    async def _replay(self, request: Request) -> Response:
        data = self._open.file(request.path_params["table"], REPLAY)
        return Response(data, media_type="text/html", headers={"content-security-policy": REPLAY_POLICY})

    async def _record(self, request: Request) -> Response:
        name = request.path_params["table"]
        data = self._open.file(name, RECORD)
        headers = {"content-disposition": f'attachment; filename="{name}.jsonl"'}
        return Response(data, media_type="application/x-ndjson", headers=headers)


def _form_page(
    game: Game, willing: Mapping[str, Version], fields: dict[str, str], problems: list[str], status: int
) -> Page:
    """Return the form for a table, with the values that were entered."""
    seats = fields.get("seats", "")
    count = next((count for count in game.seat_counts if str(count) == seats), game.seat_counts.start)
    options = [
        {"option": option, "values": values_of(option), "chosen": fields.get(f"option.{option.name}", "")[:200]}
        for option in offered_options(game)
    ]
    values = {
        "game": game,
        "count": count,
        "bots": opponents(game),
        "willing": willing.values(),
        "clocks": CLOCKS,
        "options": options,
        "fields": fields,
        "random_seat": RANDOM_SEAT,
        "problems": problems,
    }
    return Page("play_game.html", values, status)


def _table_page(name: str, view: View, *, table: Table | None = None, refusal: str = "", status: int = 200) -> Page:
    """Return the page of a table.

    Args:
        name: the id of the table.
        view: the view to show.
        table: the table, for the person who plays at it; None for other viewers of a finished match.
        refusal: the reason why the form was refused; empty if it was not.
        status: the HTTP status.
    """
    asking = view.asking
    again: dict[str, Any] = {}
    if table is not None:
        wanted = table.request
        again = {"seats": len(wanted.bots), "clock": next((c.name for c in CLOCKS if c.control == wanted.clock), "")}
        others = [bot for seat, bot in enumerate(wanted.bots) if seat != wanted.seat]
        again |= {f"bot{place}": bot for place, bot in enumerate(others, 1)}
        again |= {f"option.{name}": str(value).lower() for name, value in wanted.options.items()}
    values = {
        "id": name,
        "view": view,
        "mine": table is not None,
        "revision": "" if table is None else table.revision,
        "question": question_key(view),
        "left": None if asking is None else max(0.0, asking.deadline - time.monotonic()),
        "is_going_on": view.stage not in (Stage.OVER, Stage.VOID),
        "again": again,
        "refusal": refusal,
    }
    return Page("table.html", values, status)


def question_key(view: View) -> str:
    """Return a text that identifies the person's open question and its deadline."""
    asking = view.asking
    return view.stage.value if asking is None else f"{asking.number} {asking.digest} {asking.deadline:.3f}"


def _read_answer(fields: dict[str, str]) -> PersonAnswer:
    def number(name: str) -> int:
        text = fields.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            raise BadQuestion(f"{name} must be a number that the form offers")
        return int(text)

    return PersonAnswer(number("decision"), fields.get("digest", ""), number("choice"))
