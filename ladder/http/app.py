"""The pages over HTTP: their addresses, their errors, and the headers that restrict browsers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, nullcontext, suppress
from difflib import get_close_matches
from functools import partial
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ladder.facts.store import Store
from ladder.http.api.api import MAX_REASON_CHARACTERS, PREFIX, Api, is_api, questions_by_path
from ladder.http.api.api import failed as api_failed
from ladder.http.api.callers import Callers, shared
from ladder.http.api.changing import ChangesByPrograms
from ladder.http.pages.about import ratings
from ladder.http.pages.all_games import all_games
from ladder.http.pages.api import api
from ladder.http.pages.bot import bot
from ladder.http.pages.bots import bots
from ladder.http.pages.compare import compare
from ladder.http.pages.crosstable import crosstable
from ladder.http.pages.enter import enter
from ladder.http.pages.events import event, events
from ladder.http.pages.feed import feed
from ladder.http.pages.live import live
from ladder.http.pages.match import match
from ladder.http.pages.matches import matches
from ladder.http.pages.rules import rules
from ladder.http.pages.standings import standings
from ladder.http.pages.start import start
from ladder.http.people.author import Author
from ladder.http.people.play import Play
from ladder.http.pictures.boards import Boards
from ladder.http.pictures.matches import Matches
from ladder.http.rendering.assets import assets_by_path
from ladder.http.rendering.render import rendered
from ladder.http.requests.cache import FRESH_SECONDS, AnswerCache
from ladder.http.requests.changes import Changes
from ladder.http.requests.hosts import WrongHost, check_host
from ladder.http.requests.limits import CallerQueues, address_of
from ladder.http.requests.prepared import PreparedResponse
from ladder.http.requests.refused import refusal, refused
from ladder.http.requests.visit import Gone, NoPage, Page, PageFunction, Site, Visit
from ladder.http.requests.visitor import cookie_of, visitor
from ladder.intake.tokens import Tokens
from ladder.operation.calls import CallFigures
from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from ladder.operation.journal import of_this_call
from ladder.operation.limits import Limits
from ladder.operation.refusals import Refusals
from ladder.operation.threads import Threads
from ladder.questions.caller import ANYBODY
from ladder.questions.desk import Desk
from referee.errors import DoganaError
from referee.registry import games
from referee.terminal import visible

MAX_PAGES = 4
"""The maximum number of pages rendered at a time; more would only compete for one interpreter."""
MAX_NAMED = 200
"""The maximum length of an address for which a similar one is suggested; the search for one delays all connections."""
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""The default headers of a response."""
PAGES: dict[str, PageFunction] = {
    "/": start,
    "/games/{game}": standings,
    "/enter": enter,
    "/api": api,
    "/games/{game}/rules": rules,
    "/live": live,
    "/matches/{match}": match,
    "/games/{game}/under/{slug}": standings,
    "/games/{game}/matches": matches,
    "/games/{game}/crosstable": crosstable,
    "/all-games": all_games,
    "/bots": bots,
    "/bots/{bot}": bot,
    "/bots/{bot}/feed.xml": feed,
    "/feed.xml": feed,
    "/events": events,
    "/events/{event}": event,
    "/compare": compare,
    "/about/ratings": ratings,
}
"""Every page by its address."""
_TITLES = {
    400: "This cannot be shown",
    401: "Log in first",
    403: "This cannot be seen",
    404: "There is no such page",
    405: "This cannot be done here",
    408: "This took too long",
    421: "This is another ladder",
    429: "Too much at a time",
    500: "The ladder failed",
    503: "The ladder is busy",
}


class Pages:
    """The pages of one ladder."""

    def __init__(self, home: Home, site: Site, limits: Limits, refusals: Refusals, cache: AnswerCache) -> None:
        self.home = home
        self.site = site
        self._cache = cache
        self._threads = Threads(MAX_PAGES)
        self._queues = CallerQueues(MAX_PAGES - 1)  # so that no address takes all threads
        self._refusals = refusals
        self.limits = limits
        self.changes = Changes(limits)
        self.tokens = Tokens(home.database, self.limits.guesses)

    async def answer(self, function: PageFunction, request: Request) -> Response:
        """Answer a request with a page, from the cache if possible."""
        # A browser with a cookie, valid or not, neither gets pages from the cache nor fills it.
        is_private = cookie_of(self.site, request) in request.cookies
        key = _path(request), request.scope["query_string"].decode("latin-1")
        response = None if is_private else self._cache.find(key)
        if response is None:
            response = await self._made(request, function)
            if not is_private and response.status == 200:
                self._cache.put(key, response)
        return sent(response, request, is_private=is_private)

    async def _made(self, request: Request, function: PageFunction) -> PreparedResponse:
        async with self._queues.place(address_of(request)):
            return await self._threads.run(self._make, request, function)

    def _make(self, request: Request, function: PageFunction) -> PreparedResponse:
        with (
            Store(self.home.database, create=False) as store,
            store.reading(),
        ):  # the whole page shows the same moment
            visit = self.visit(request, store)
            page = function(visit)
            return PreparedResponse.of(rendered(page, visit).encode(), page.status, tuple(page.headers.items()))

    async def show(self, request: Request, page: Page) -> Response:
        """Return a page for its visitor alone."""
        return await self.answer_privately(request, lambda _: page)

    async def answer_privately(self, request: Request, function: PageFunction) -> Response:
        """Return a page rendered for this request alone."""
        return sent(await self._made(request, function), request, is_private=True)

    def visit(self, request: Request, store: Store | None = None) -> Visit:
        """Parse a request; its desk answers from `store`, if given."""
        caller = visitor(self.tokens, self.site, request)
        names = {name: str(value) for name, value in request.path_params.items()}
        desk = Desk(self.home, caller, store)
        return Visit(desk, caller, self.site, _path(request), names, dict(request.query_params))

    async def failed(self, request: Request, error: Exception) -> Response:
        """Return an error as a page, or as JSON for programs."""
        if isinstance(error, Gone):  # many connections may be closed at a time, to make room
            return Response(status_code=400)
        found = refusal(error)
        status = found.status
        headers = {"allow": _methods(request)} if status == 405 else {}
        if is_api(request):
            return api_failed(error, {**shared(self.site, request), **headers})
        if status >= 500 and isinstance(error, (DoganaError, OSError)):  # the server logs all others with a traceback
            of_this_call(address=address_of(request))
            refused(self._refusals, request, _path(request), error)
        visit = Visit(Desk(self.home, ANYBODY), ANYBODY, self.site, _path(request))
        title = _TITLES.get(status, "This did not work")
        reason = visible(found.message, MAX_REASON_CHARACTERS)
        if _wants_html(request):
            html = rendered(Page("error.html", {"title": title, "reason": reason}), visit)
            response = sent(PreparedResponse.of(html.encode(), status), request, is_private=True)
        else:
            response = Response(f"{title}: {reason}\n", status, {"cache-control": "no-store"}, "text/plain")
        response.headers.update(headers)
        if status == 408:
            response.headers["connection"] = "close"  # the rest of the form may never come
        if found.retry_after:
            response.headers["retry-after"] = str(found.retry_after)
        return response


def sent(response: PreparedResponse, request: Request, *, is_private: bool) -> Response:
    """Return an answer, or status 304 if the browser already has it."""
    headers = {"cache-control": "no-store" if is_private else "no-cache", "vary": "Accept-Encoding, Cookie"}
    if not is_private:
        headers["etag"] = response.tag
    return response.sent(request, headers, "text/html")


def _methods(request: Request) -> str:
    # The last route matches every path.
    *its, any_path = (
        one for one in request.app.routes if isinstance(one, Route) and one.matches(request.scope)[0] is not Match.NONE
    )
    return ", ".join(sorted({method for one in its or [any_path] for method in one.methods or ()}))


def _wants_html(request: Request) -> bool:
    """Return True if the client accepts HTML; programs that fetch files may not."""
    accepted = request.headers.get("accept", "*/*")
    return any(kind in accepted for kind in ("text/html", "text/*", "*/*"))


def _path(request: Request) -> str:
    return str(request.scope["path"]).removeprefix("/")


async def _asset(request: Request) -> Response:
    found = assets_by_path().get(_path(request))
    if found is None:
        raise NoPage("there is no such file")
    headers = {"cache-control": "public, max-age=31536000, immutable"}  # its name changes with it
    return Response(found.content, headers=headers, media_type=found.media_type)


async def _no_page(request: Request) -> Response:
    """Redirect to the address without its final slash, or suggest a similar address."""
    path = _path(request)
    if path.endswith("/") and path.strip("/"):
        # Relative, since a proxy may serve the pages below another address; two slashes would lead to another host.
        whole = path.rstrip("/")
        return RedirectResponse("../" * (len(path) - len(whole)) + quote(whole.rpartition("/")[2]), 308)
    if len(path) > MAX_NAMED:
        raise NoPage("there is no such page")
    known = ["games/" + name for name in games()] + [page.strip("/") for page in PAGES if "{" not in page]
    known += [f"{PREFIX}{place}".strip("/") for place in questions_by_path() if "{" not in place]
    near = get_close_matches(path, known, 1, 0.5)
    raise NoPage(f"there is no page /{path}" + (f"; did you mean /{near[0]}?" if near else ""))


def application(
    home: Home,
    site: Site,
    niceness: int = 0,
    figures: CallFigures | None = None,
    *,
    limits: Limits | None = None,
    viewer_niceness: int = 0,
    fresh_seconds: float = FRESH_SECONDS,
) -> ASGIApp:
    """Return the pages of a ladder as an ASGI application.

    Args:
        home: the ladder.
        site: the settings that all pages share.
        niceness: the niceness of the pages. It does not apply to drawing viewers, which takes seconds while somebody waits.
        figures: counts the requests of programs.
        limits: the remaining allowances of callers; None for full allowances.
        viewer_niceness: the niceness of drawing viewers, for a site whose pages nobody waits for.
        fresh_seconds: the time, in seconds, for which a public answer is reused.
    """
    refusals, cache = Refusals(), AnswerCache(fresh_seconds)
    pages = Pages(home, site, limits or Limits(), refusals, cache)
    routes = [Route(path, partial(pages.answer, function)) for path, function in PAGES.items()]
    callers = Callers(home, site, pages.limits, pages.tokens, figures or CallFigures(), refusals)
    routes += Api(callers, cache).routes()
    if site.takes_bots:
        routes += ChangesByPrograms(callers, pages.changes).routes()
    routes += Author(callers, pages.changes, pages.answer_privately).routes()
    play = Play(home, site, pages.limits, pages.show)
    if site.has_tables:
        routes += play.routes()
    matches = Matches(home, pages.visit, pages.limits, viewer_niceness)
    routes += matches.routes() + Boards(pages.visit, pages.limits).routes()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with matches.open(), play.open() if site.has_tables else nullcontext():
            os.nice(
                niceness
            )  # for this thread and those that it starts from now on, but not for the thread that has viewers drawn
            yield

    routes += [Route("/static/{name}", _asset), Route("/{path:path}", _no_page)]
    failed = dict.fromkeys((Exception, HTTPException, DoganaError, OSError), pages.failed)
    answers = Starlette(routes=routes, lifespan=lifespan, exception_handlers=failed)
    answers.router.redirect_slashes = False  # a redirect would lead to whatever host the request names
    return _Headers(
        _Admitted(answers, pages)
    )  # outermost, because middleware inside Starlette would not see the answers to our failures


class _Admitted:
    """Refuses requests for other sites, and callers with too many concurrent requests."""

    def __init__(self, app: ASGIApp, pages: Pages) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        with ExitStack() as stack:
            if scope["type"] == "http":
                request = Request(scope)
                try:
                    check_host(self._pages.site, request)
                    stack.enter_context(self._pages.limits.open.one(address_of(request)))
                except (WrongHost, TooMuch) as error:
                    app = await self._pages.failed(request, error)  # a response is an application, too
            await app(scope, receive, send)


class _Headers:
    """Adds `HEADERS` to every answer that does not set them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            # A browser adds the headers of a 304 to its stored page, so a 304 must not bring new ones.
            if message["type"] == "http.response.start" and message["status"] != 304:
                said = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in said),
                ]
            with suppress(ConnectionError):  # the client has gone
                await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
