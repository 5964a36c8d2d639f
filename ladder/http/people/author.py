"""What authors do with a browser: log in, send a bot, take it out, let it qualify once more.

The cookie holds the author's token itself (`docs/decisions/0030-the-token-in-a-cookie.md`). Whatever changes
something is a POST that comes from one of our own pages, and goes through the desk as it does for everybody else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ladder.http.pages.me import me, my_bot, my_log
from ladder.http.pages.submit import submit
from ladder.http.rendering.links import link
from ladder.http.requests.asked import Asked, BadQuestion, NoPage, Page, PageFunction, Site
from ladder.http.requests.changes import Changes, length_of, prompt_pieces
from ladder.http.requests.form import MAX_FORM_BYTES, Multipart, Part, drained, read_fields
from ladder.http.requests.limits import Limits, address_of, name_of
from ladder.http.requests.refused import refused
from ladder.http.requests.visitor import COOKIE, ENCRYPTED_COOKIE, check_same_origin, cookie_of, is_encrypted, visitor
from ladder.intake.tokens import Tokens
from ladder.intake.upload import UPLOAD_SECONDS, Submission, Upload
from ladder.operation.errors import TooMuch, Unauthenticated
from ladder.operation.home import Home
from ladder.operation.journal import note, of_this_call
from ladder.operation.refusals import Refusals
from ladder.operation.threads import Threads
from ladder.questions.asker import Asker
from ladder.questions.changes import AtTablesRequest, RequalifyRequest, RetireRequest, SubmitAnswer
from ladder.questions.desk import Desk
from referee.bots.errors import BadBot
from referee.bots.files import MAX_BYTES
from referee.errors import DoganaError

MAX_LOOKUPS = 2
"""For how many it is looked up at a time who they are."""
PROGRAMS = (b"\x7fELF", b"#!")
"""How a file begins that can be run as it is; browsers do not say whether one is executable."""
MAGIC_BYTES = max(map(len, PROGRAMS))
YES = "yes"
"""What a form says for consent."""
_ODD = re.compile(r"[^A-Za-z0-9._+-]", re.ASCII)
Show = Callable[[Request, PageFunction], Any]


class Author:
    """Answers what authors ask for and do."""

    def __init__(self, home: Home, site: Site, limits: Limits, tokens: Tokens, changes: Changes, show: Show) -> None:
        """Prepare for one ladder; `show` makes an answer of a page for the one who asks."""
        self._home = home
        self._site = site
        self._limits = limits
        self._tokens = tokens
        self._show = show
        self._changes = changes
        self._lookups = Threads(MAX_LOOKUPS)
        self._refusals = Refusals()

    def routes(self) -> list[Route]:
        """Return what is answered where."""
        return [
            Route("/login", self._page(login)),
            Route("/login", self._log_in, methods=["POST"]),
            Route("/logout", self._log_out, methods=["POST"]),
            Route("/me", self._page(self._me)),
            Route("/me/bots/{bot}", self._page(my_bot)),
            Route("/me/log", self._page(my_log)),
            Route("/me/retire", self._retire, methods=["POST"]),
            Route("/me/requalify", self._requalify, methods=["POST"]),
            Route("/me/at-tables", self._at_tables, methods=["POST"]),
            Route("/submit", self._page(self._form)),
            Route("/submit", self._submit, methods=["POST"]),
        ]

    def _page(self, function: PageFunction) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            found: Response = await self._show(request, _for_authors(function))
            return found

        return answer

    def _me(self, asked: Asked) -> Page:
        return me(asked, self._limits.submissions_left(asked.asker.author))

    def _form(self, asked: Asked) -> Page:
        return submit(asked, self._limits.submissions_left(asked.asker.author))

    # in and out

    async def _log_in(self, request: Request) -> Response:
        check_same_origin(self._site, request)
        token = (await read_fields(request)).get("token", "").strip()
        address = address_of(request)
        of_this_call(address=address)
        try:
            author = await self._lookups.run(self._tokens.author_of, token, address)
        except Unauthenticated as error:
            _, reason = refused(self._refusals, request, "login", error)
            shown: Response = await self._show(
                request, lambda asked: login(asked, reason.removesuffix(": dogana login"))
            )
            return shown
        note("logged_in", author=author)
        answer = _led_to(request, "me")
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
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
        answer.delete_cookie(ENCRYPTED_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
        return answer

    async def _asker(self, request: Request) -> Asker:
        """Return the author who changes something.

        Raises:
            Forbidden: if another site has made their browser do it.
            Unauthenticated: if nobody is logged in.
        """
        check_same_origin(self._site, request)
        asker = await self._lookups.run(visitor, self._tokens, self._site, request)
        if not asker.author:
            raise Unauthenticated("log in first; if you were, your token was revoked or has expired")
        of_this_call(address=address_of(request), author=asker.author)
        self._limits.requests.take(name_of(asker, request))
        return asker

    # bots

    async def _retire(self, request: Request) -> Response:
        asker = await self._asker(request)
        bot = (await read_fields(request)).get("bot", "")
        await self._changes.run(Desk(self._home, asker).ask, RetireRequest(bot=bot))
        note("change", did="retire", about=bot)
        return _led_to(request, f"me/bots/{bot}")

    async def _requalify(self, request: Request) -> Response:
        asker = await self._asker(request)
        bot = (await read_fields(request)).get("bot", "")
        self._limits.submissions.take(asker.author)
        await self._changes.run(Desk(self._home, asker).ask, RequalifyRequest(bot=bot))
        note("change", did="requalify", about=bot)
        return _led_to(request, f"me/bots/{bot}")

    async def _at_tables(self, request: Request) -> Response:
        asker = await self._asker(request)
        fields = await read_fields(request)
        bot, said = fields.get("bot", ""), fields.get("at_tables", "") == YES
        await self._changes.run(Desk(self._home, asker).ask, AtTablesRequest(bot=bot, at_tables=said))
        note("change", did="at_tables", about=bot)
        return _led_to(request, f"me/bots/{bot}")

    async def _submit(self, request: Request) -> Response:
        asker = await self._asker(request)
        length = length_of(request, MAX_FORM_BYTES)
        sent: dict[str, str] = {}
        stream = prompt_pieces(request)
        try:
            with self._limits.uploads.one(asker.author):
                async with asyncio.timeout(UPLOAD_SECONDS):
                    answer = await self._receive(Desk(self._home, asker), asker, request, stream, length, sent)
        except TimeoutError:
            raise BadBot(f"it did not arrive within {UPLOAD_SECONDS:g} s; send it again") from None
        except (DoganaError, OSError) as error:
            await drained(stream)
            status, reason = refused(self._refusals, request, "submit", error)
            left = self._limits.submissions_left(asker.author)
            shown: Response = await self._show(
                request, lambda asked: submit(asked, left, bot=sent.get("bot", ""), reason=reason, status=status)
            )
            if isinstance(error, TooMuch):
                shown.headers["retry-after"] = str(error.seconds)
            return shown
        note("change", did="submit", about=f"{answer.bot} v{answer.version}")
        return _led_to(request, f"me/bots/{answer.bot}", {"sent": "new" if answer.is_new else f"v{answer.version}"})

    async def _receive(
        self,
        desk: Desk,
        asker: Asker,
        request: Request,
        stream: AsyncIterator[bytes],
        length: int,
        sent: dict[str, str],
    ) -> SubmitAnswer:
        """Read the form; take in its file.

        Args:
            desk: the ladder's, for who asks.
            asker: the author.
            request: it has the form.
            stream: what comes of it.
            length: how much of it is to come, in bytes.
            sent: is given the other fields of the form.

        Raises:
            DoganaError: if the form is not ours, or the bot is refused.
        """
        form = Multipart(request.headers.get("content-type", ""))
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
                        sent["bot"] = sent.get("bot", "").strip()
                        submission = _submission(sent["bot"], part.file, sent.get("at_tables") == YES)
                        upload = stack.enter_context(await self._changes.run(desk.receive, submission))
                        self._limits.submissions.take(asker.author)
                        self._limits.uploaded.take(asker.author, length)
                    beginning = (beginning + part.data)[:MAGIC_BYTES]
                    await self._changes.run(upload.write, bytes(part.data))
            form.finish()
            if upload is None:
                raise BadBot("choose a file to send")
            executable = beginning.startswith(PROGRAMS)
            return await self._changes.take_in(upload, executable=executable)


def login(asked: Asked, reason: str = "") -> Page:
    """Return the page where authors log in; `reason` says why they must."""
    return Page("login.html", {"reason": reason}, status=401 if reason else 200)


def _for_authors(function: PageFunction) -> PageFunction:
    """Return a page that asks those to log in who have not."""

    def page(asked: Asked) -> Page:
        if not asked.asker.author and function is not login:
            return login(asked, "Log in first: this page is for authors")
        return function(asked)

    return page


def _submission(bot: str, file: str, at_tables: bool) -> Submission:
    """Return what is announced of a file that a browser sends.

    Raises:
        BadBot: if no file was chosen.
    """
    name = re.split(r"[/\\]", file)[-1]
    if not name:
        raise BadBot("choose a file to send")
    return Submission(bot=bot, file=_ODD.sub("_", name)[-100:], size=MAX_BYTES, at_tables=at_tables)


def _led_to(request: Request, path: str, query: dict[str, str] | None = None) -> RedirectResponse:
    """Return an answer that leads to another page, wherever these pages lie."""
    here = str(request.scope["path"]).removeprefix("/")
    answer = RedirectResponse(link(here, path, query=query), 303)
    answer.headers["cache-control"] = "no-store"
    return answer


def routes(home: Home, site: Site, limits: Limits, tokens: Tokens, changes: Changes, show: Show) -> list[Route]:
    """Return what is answered where; what authors do is not there for pages that only show."""
    if site.takes_bots:
        return Author(home, site, limits, tokens, changes, show).routes()

    async def none(request: Request) -> Response:
        raise NoPage("these pages only show the ladder; send bots by dogana ladder submit")

    return [Route(path, none) for path in ("/login", "/me", "/submit")]
