"""Actions of authors in a browser: log in, submit a bot, retire it, requalify it.

The cookie holds the author's token itself (`docs/decisions/0030-the-token-in-a-cookie.md`). Each change is a POST from one of
our own pages, and goes through the desk, as all changes do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ladder.http.api.callers import Callers
from ladder.http.pages.me import me, my_bot, my_log, submit
from ladder.http.rendering.links import link
from ladder.http.requests.changes import Changes, length_of, prompt_pieces
from ladder.http.requests.form import MAX_FORM_BYTES, Multipart, Part, drained, read_fields
from ladder.http.requests.limits import address_of, name_of
from ladder.http.requests.refused import refused
from ladder.http.requests.visit import BadQuestion, NoPage, Page, PageFunction, Visit
from ladder.http.requests.visitor import COOKIE, ENCRYPTED_COOKIE, check_same_origin, cookie_of, is_encrypted, visitor
from ladder.intake.upload import Upload
from ladder.operation.errors import Unauthenticated
from ladder.operation.journal import note, of_this_call
from ladder.operation.threads import Threads
from ladder.questions.caller import Caller
from ladder.questions.changes import AtTablesRequest, RequalifyRequest, RetireRequest, SubmitAnswer, SubmitRequest
from ladder.questions.desk import Desk
from ladder.questions.question import question_of
from referee.bots.errors import BadBot
from referee.bots.files import MAX_BYTES
from referee.errors import DoganaError

MAX_LOOKUPS = 2
"""The maximum number of concurrent authentications."""
PROGRAMS = (b"\x7fELF", b"#!")
"""The possible first bytes of a file that can be executed directly. Browsers do not send the permission to execute."""
MAGIC_BYTES = max(map(len, PROGRAMS))
YES = "yes"
"""The value of the form field that gives consent."""
_ODD = re.compile(r"[^A-Za-z0-9._+-]", re.ASCII)
Show = Callable[[Request, PageFunction], Awaitable[Response]]


class Author:
    """Handles the requests of authors."""

    def __init__(self, callers: Callers, changes: Changes, show: Show) -> None:
        """Prepare for the ladder of the callers; `show` renders a page for the caller of a request."""
        self._home = callers.home
        self._site = callers.site
        self._limits = callers.limits
        self._tokens = callers.tokens
        self._refusals = callers.refusals
        self._changes = changes
        self._show = show
        self._lookups = Threads(MAX_LOOKUPS)

    def routes(self) -> list[Route]:
        """Return the routes for authors; on read-only pages, they only lead to an error."""
        if not self._site.takes_bots:
            return [Route(path, _takes_no_bots) for path in ("/login", "/me", "/submit")]
        return [
            Route("/login", partial(self._page, login)),
            Route("/login", self._log_in, methods=["POST"]),
            Route("/logout", self._log_out, methods=["POST"]),
            Route("/me", partial(self._page, self._me)),
            Route("/me/bots/{bot}", partial(self._page, my_bot)),
            Route("/me/log", partial(self._page, my_log)),
            Route("/me/retire", partial(self._change, RetireRequest), methods=["POST"]),
            Route("/me/requalify", partial(self._change, RequalifyRequest), methods=["POST"]),
            Route("/me/at-tables", partial(self._change, AtTablesRequest), methods=["POST"]),
            Route("/submit", partial(self._page, self._form)),
            Route("/submit", self._submit, methods=["POST"]),
        ]

    async def _page(self, function: PageFunction, request: Request) -> Response:
        return await self._show(request, _for_authors(function))

    def _me(self, visit: Visit) -> Page:
        return me(visit, self._limits.submissions_left(visit.caller.author))

    def _form(self, visit: Visit) -> Page:
        return submit(visit, self._limits.submissions_left(visit.caller.author))

    async def _fields(self, request: Request) -> dict[str, str]:
        return await read_fields(request, self._limits.form_seconds)

    # logging in and out

    async def _log_in(self, request: Request) -> Response:
        check_same_origin(self._site, request)
        token = (await self._fields(request)).get("token", "").strip()
        address = address_of(request)
        of_this_call(address=address)
        try:
            author = await self._lookups.run(self._tokens.author_of, token, address)
        except Unauthenticated as error:
            reason = refused(self._refusals, request, "login", error).message
            return await self._show(request, lambda visit: login(visit, reason))
        note("logged_in", author=author)
        answer = _led_to(request, "me")
        # Lax, so that links in mails and feeds lead to an author's own pages (decision 30).
        answer.set_cookie(
            cookie_of(self._site, request),
            token,
            path="/",
            secure=is_encrypted(self._site, request),
            httponly=True,
            samesite="lax",
        )
        return answer

    async def _log_out(self, request: Request) -> Response:
        check_same_origin(self._site, request)
        answer = _led_to(request, "")
        # Both cookies, because the pages may have been encrypted at the login and not now, or vice versa.
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
        answer.delete_cookie(ENCRYPTED_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
        return answer

    async def _caller(self, request: Request) -> Caller:
        """Return the author who requests a change.

        Raises:
            Forbidden: if the request comes from a page of another site.
            Unauthenticated: if the browser is not logged in.
        """
        check_same_origin(self._site, request)
        caller = await self._author(request)
        of_this_call(address=address_of(request), author=caller.author)
        self._limits.requests.take(name_of(caller, request))
        return caller

    async def _author(self, request: Request) -> Caller:
        """Return the author who is logged in.

        Raises:
            Unauthenticated: if nobody is.
        """
        caller = await self._lookups.run(visitor, self._tokens, self._site, request)
        if not caller.author:
            raise Unauthenticated("log in first; if you were logged in, your token was revoked or has expired")
        return caller

    # bots

    async def _change(
        self, kind: type[RetireRequest | RequalifyRequest | AtTablesRequest], request: Request
    ) -> Response:
        caller = await self._caller(request)
        wanted = kind(bot=(fields := await self._fields(request)).get("bot", ""))
        if isinstance(wanted, AtTablesRequest):
            wanted.at_tables = fields.get("at_tables", "") == YES
        await self._changes.ask(Desk(self._home, caller), caller.author, wanted)
        note("change", did=question_of(kind).name, about=wanted.bot)
        return _led_to(request, f"me/bots/{wanted.bot}")

    async def _submit(self, request: Request) -> Response:
        caller = await self._caller(request)
        length = length_of(request, MAX_FORM_BYTES)
        sent: dict[str, str] = {}
        stream = prompt_pieces(request, self._limits.piece_seconds)
        try:
            async with self._changes.uploading(caller.author) as limit:
                answer = await self._receive(caller, request, stream, length, sent, limit)
        except (DoganaError, OSError) as error:
            await drained(stream)
            found = refused(self._refusals, request, "submit", error)
            left = self._limits.submissions_left(caller.author)
            response = await self._show(
                request,
                lambda visit: submit(visit, left, bot=sent.get("bot", ""), reason=found.message, status=found.status),
            )
            if found.retry_after:
                response.headers["retry-after"] = str(found.retry_after)
            return response
        note("change", did="submit", about=f"{answer.bot} v{answer.version}")
        return _led_to(request, f"me/bots/{answer.bot}", {"sent": "new" if answer.is_new else f"v{answer.version}"})

    async def _receive(
        self,
        caller: Caller,
        request: Request,
        stream: AsyncIterator[bytes],
        length: int,
        sent: dict[str, str],
        limit: asyncio.Timeout,
    ) -> SubmitAnswer:
        """Read the form, and accept its file.

        Args:
            caller: the author.
            request: the request with the form.
            stream: the body of the request.
            length: the size of the body, in bytes.
            sent: receives the other fields of the form.
            limit: the time limit for the file.

        Raises:
            DoganaError: if the request does not contain our form, or the bot is refused.
        """
        form, desk = Multipart(request.headers.get("content-type", "")), Desk(self._home, caller)
        upload: Upload[SubmitAnswer] | None = None
        file: Part | None = None
        beginning = b""
        with ExitStack() as stack:
            async for data in stream:
                for part in form.take(data):
                    if part.file is None:
                        sent[part.name] = sent.get(part.name, "") + part.data.decode(errors="replace")
                        if len(sent[part.name]) > MAX_FORM_BYTES:
                            raise BadQuestion("that is more than the form has room for")
                        continue
                    if part.name != "file" or file not in (None, part):
                        raise BadQuestion("send one file: put several into an archive")
                    if upload is None:
                        file = part
                        # Browsers send fields in the order of the form, in which the name comes before the file.
                        sent["bot"] = sent.get("bot", "").strip()
                        wanted = _submission(sent["bot"], part.file, sent.get("at_tables") == YES)
                        upload = stack.enter_context(await self._changes.threads.run(desk.receive, wanted, MAX_BYTES))
                        self._limits.submissions.take(caller.author)
                        self._limits.uploaded.take(caller.author, length)
                    # The first bytes may arrive in two chunks.
                    beginning = (beginning + part.data)[:MAGIC_BYTES]
                    await self._changes.threads.run(upload.write, bytes(part.data))
            form.finish()
            if upload is None:
                raise BadBot("choose a file to send")
            executable = beginning.startswith(PROGRAMS)
            await self._author(request)  # the token may have been revoked meanwhile
            return await self._changes.take_in(upload, limit, executable=executable)


def login(visit: Visit, reason: str = "") -> Page:
    """Return the login page; `reason` explains why a login is needed."""
    return Page("login.html", {"reason": reason}, status=401 if reason else 200)


def _for_authors(function: PageFunction) -> PageFunction:
    """Wrap a page that is for authors only: other visitors get the login page instead."""

    def page(visit: Visit) -> Page:
        if not visit.caller.author and function is not login:
            return login(visit, "Log in first: this page is for authors")
        return function(visit)

    return page


def _submission(bot: str, file: str, at_tables: bool) -> SubmitRequest:
    """Return the request that submits a file sent by a browser.

    Raises:
        BadBot: if no file was chosen.
    """
    # Some browsers send a whole path.
    name = re.split(r"[/\\]", file)[-1]
    if not name:
        raise BadBot("choose a file to send")
    # The end of the name is kept, because the extension matters.
    return SubmitRequest(bot=bot, file=_ODD.sub("_", name)[-100:], sha256="", at_tables=at_tables)


def _led_to(request: Request, path: str, query: dict[str, str] | None = None) -> RedirectResponse:
    """Return a redirection to another page, relative to the current one."""
    here = str(request.scope["path"]).removeprefix("/")
    # With status 303, the browser continues with a GET, and a reload does not send the form again.
    answer = RedirectResponse(link(here, path, query=query), 303)
    answer.headers["cache-control"] = "no-store"
    return answer


async def _takes_no_bots(request: Request) -> Response:
    raise NoPage("these pages only show the ladder")
