"""The desk for programs, as JSON: `GET /api/v1/...` returns the documents that the commands print.

Callers send their tokens as `Authorization: Bearer TOKEN`; cookies are ignored here. Pages of other sites may read answers if the
organiser allows it, but they cannot change anything. Commands make changes with `POST` (`changing.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ladder.http.api.callers import Callers
from ladder.http.api.files import Files
from ladder.http.api.openapi import ERRORS, openapi
from ladder.http.api.reading import read_request
from ladder.http.requests.cache import AnswerCache
from ladder.http.requests.limits import name_of
from ladder.http.requests.prepared import PreparedResponse
from ladder.http.requests.refused import refusal
from ladder.operation.errors import NotFound
from ladder.operation.threads import Threads
from ladder.questions.desk import Desk
from ladder.questions.question import Question, all_questions, document
from referee.terminal import visible

PREFIX = "/api/v1"
MAX_ANSWERS = 4
"""The maximum number of answers computed at a time."""
MAX_REASON_CHARACTERS = 1000

_HERE = "../v1"
"""The address of `PREFIX` relative to the description, whatever the address of the pages is."""
_JSON = "application/json"
_METHODS = ["GET", "OPTIONS"]


@cache
def questions_by_path() -> dict[str, Question]:
    """Return all questions, except changes, by their paths below `PREFIX`."""
    return {path: one for path, one in all_questions().items() if not one.is_change}


@cache
def changes_by_path() -> dict[str, Question]:
    """Return all changes that authors can make, by their paths below `PREFIX`."""
    return {path: one for path, one in all_questions().items() if one.is_change}


class Api:
    """Answers programs' questions about one ladder."""

    def __init__(self, callers: Callers, cache: AnswerCache) -> None:
        """Prepare the API, with a cache for public answers."""
        self._callers = callers
        self._cache = cache
        self._threads = Threads(MAX_ANSWERS)

    def routes(self) -> list[Route]:
        """Return the routes of the API."""
        routes = [
            Route(
                PREFIX + path,
                Files(self._callers, one) if one.is_file else partial(self._respond, one),
                methods=_METHODS,
            )
            for path, one in questions_by_path().items()
        ]
        return [*routes, Route(f"{PREFIX}/openapi.json", self._description, methods=_METHODS)]

    async def _respond(self, visit: Question, request: Request) -> Response:
        if request.method == "OPTIONS":
            return self._callers.options(request)
        with self._callers.measured(request, visit.name):
            return await self._answer(request, visit)

    async def _description(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return self._callers.options(request)
        site = self._callers.site
        described = description_of(f"{site.public_url}{PREFIX}" if site.public_url else _HERE, site.takes_bots)
        return self._sent(described, request, is_private=False)

    def _sent(self, response: PreparedResponse, request: Request, *, is_private: bool) -> Response:
        headers = {**self._callers.headers(request, is_private=is_private), "etag": response.tag}
        return response.sent(request, headers, _JSON)

    async def _answer(self, request: Request, visit: Question) -> Response:
        caller = await self._callers.caller(request)
        who = name_of(caller, request)
        # Latin-1 decodes any bytes, and gives different texts for different bytes.
        key = str(request.scope["path"]), request.scope["query_string"].decode("latin-1")
        is_private = bool(caller.author)
        if not is_private and (found := self._cache.find(key)) is not None:
            return self._sent(found, request, is_private=False)
        wanted = read_request(request, visit.request)

        def ask() -> PreparedResponse:
            answer = Desk(self._callers.home, caller, address=self._callers.site.address).ask(wanted)
            # NaN is not JSON, although Python would write it.
            return PreparedResponse.of(json.dumps(document(answer), allow_nan=False).encode() + b"\n", 200)

        response = await self._threads.run_charged(self._callers.limits.requests, who, ask)
        if not is_private:
            self._cache.put(key, response)
        return self._sent(response, request, is_private=is_private)


def is_api(request: Request) -> bool:
    """Return True for a request to the API, which expects JSON instead of pages."""
    return str(request.scope["path"]).startswith(f"{PREFIX}/")


def failed(error: Exception, more: Mapping[str, str]) -> Response:
    """Return an error as a JSON answer, with additional headers."""
    found = refusal(error)
    headers = {"cache-control": "no-store", "vary": "Authorization, Origin", **more}
    if found.status == 401:
        headers["www-authenticate"] = "Bearer"  # RFC 9110 requires it
    if found.retry_after:
        headers["retry-after"] = str(found.retry_after)
    said = {"code": ERRORS.get(found.status, "failed"), "message": visible(found.message, MAX_REASON_CHARACTERS)}
    if isinstance(error, NotFound) and error.command:
        said["command"] = error.command
    return Response(json.dumps({"error": said}) + "\n", found.status, headers, media_type=_JSON)


@cache
def description_of(servers: str, takes_bots: bool) -> PreparedResponse:
    """Return the OpenAPI description of all questions on a server; it includes the changes if the server accepts bots."""
    questions = questions_by_path() | (changes_by_path() if takes_bots else {})
    return PreparedResponse.of(json.dumps(openapi(questions, servers)).encode() + b"\n", 200)
