"""The desk for programs, as JSON: `GET /api/v1/...` answers with the messages that the commands print.

A token is shown as `Authorization: Bearer TOKEN`. Cookies mean nothing here, and nothing can be changed. Pages of other sites may ask
where the organiser lets them.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ladder.http.api.openapi import ERRORS, MAX_TEXT, is_file, is_map, names_in, openapi, question_of
from ladder.http.requests.asked import BadQuestion, Site
from ladder.http.requests.kept import Kept
from ladder.http.requests.limits import FILE_REQUESTS, Limits, address_of, name_of
from ladder.http.requests.refused import told
from ladder.http.requests.shelf import Shelf
from ladder.intake.tokens import Tokens
from ladder.operation.errors import TooMuch, Unauthenticated
from ladder.operation.home import Home
from ladder.operation.meter import SECONDS_OF_REQUEST
from ladder.operation.threads import Threads
from ladder.questions.asker import ANYBODY, Asker
from ladder.questions.desk import Desk
from ladder.questions.document import document
from referee.terminal import visible

PREFIX = "/api/v1"
PATHS = {
    "/info": "Info",
    "/standings": "Top",
    "/bots": "Bots",
    "/bots/{bot}": "Show",
    "/compare": "Compare",
    "/crosstable": "Crosstable",
    "/matches": "Matches",
    "/matches/{match}": "Match",
    "/matches/{match}/record": "Record",
    "/logs/{what}": "Log",
    "/playing": "Playing",
    "/queue": "Queue",
    "/news": "News",
    "/key": "Key",
}
"""What can be asked: below `PREFIX`, the call of the service `Ladder` that each path stands for."""
MAX_ANSWERS = 4
"""How many answers are made at a time."""
MAX_REASON_CHARACTERS = 1000

_HERE = "../v1"
"""`PREFIX` as seen from the description, below whatever address the pages lie."""
_JSON = "application/json"
_PREFLIGHT = {
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "Authorization, If-None-Match",
    "access-control-max-age": "86400",
}
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}", re.ASCII)
_METHODS = ["GET", "OPTIONS"]
_MAX_UINT32 = 2**32 - 1


class Api:
    """What answers the questions of programs about one ladder."""

    def __init__(self, home: Home, site: Site, limits: Limits, tokens: Tokens, shelf: Shelf) -> None:
        """Keep what anybody may know on the shelf."""
        self._home = home
        self._site = site
        self._limits = limits
        self._tokens = tokens
        self._shelf = shelf
        self._threads = Threads(MAX_ANSWERS)

    def routes(self) -> list[Route]:
        """Return what is answered where."""
        routes = [Route(PREFIX + path, self._endpoint(path, rpc), methods=_METHODS) for path, rpc in PATHS.items()]
        return [*routes, Route(f"{PREFIX}/openapi.json", self._description, methods=_METHODS)]

    def _endpoint(self, path: str, rpc: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if request.method == "OPTIONS":
                return self._options(request)
            return await self._answer(request, path, rpc)

        return answer

    def _options(self, request: Request) -> Response:
        """Return what may be asked, and for a page of another site whether it may."""
        their = shared(self._site, request)
        return Response(
            status_code=204, headers={"allow": "GET, HEAD, OPTIONS", **their, **(_PREFLIGHT if their else {})}
        )

    async def _description(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return self._options(request)
        described = _described(f"{public}{PREFIX}" if (public := self._site.public_url) else _HERE)
        return self._sent(described, request, _JSON, is_private=False)

    def _sent(self, kept: Kept, request: Request, media_type: str, *, is_private: bool) -> Response:
        headers = {
            **shared(self._site, request),
            "cache-control": "no-store" if is_private else "no-cache",
            "vary": "Accept-Encoding, Authorization" + (", Origin" if self._site.cors_origins else ""),
            "etag": kept.tag,
        }
        return kept.sent(request, headers, media_type)

    async def _answer(self, request: Request, path: str, rpc: str) -> Response:
        asker = await self._asker(request)
        who = name_of(asker, request)
        self._limits.requests.take(who, FILE_REQUESTS if is_file(rpc) else 1)
        key = str(request.scope["path"]), request.scope["query_string"].decode("latin-1")
        match = str(request.path_params.get("match", ""))
        is_private = bool(asker.author)
        is_kept = not is_private and not is_file(rpc)  # a file is read as fast as it is found, and larger
        if is_kept and (found := self._shelf.find(key, match)) is not None:
            return self._sent(found, request, _JSON, is_private=False)
        question = _question(request, path, rpc)
        spent = 0.0

        def ask() -> tuple[Kept, str]:
            nonlocal spent
            began = time.thread_time()
            try:
                moment = self._shelf.moment(match)
                made, media_type = _asked(Desk(self._home, asker), rpc, question)
                if is_kept:
                    self._shelf.put(key, made, moment)
                return made, media_type
            finally:
                spent = time.thread_time() - began

        try:
            kept, media_type = await self._threads.run(ask)
        finally:
            self._limits.requests.change(who, min(0.0, 1 - spent / SECONDS_OF_REQUEST))
        return self._sent(kept, request, media_type, is_private=is_private)

    async def _asker(self, request: Request) -> Asker:
        """Return who asks.

        Raises:
            Unauthenticated: if they show a token that is worth nothing, or something else.
            TooMuch: if they have shown too many of these.
        """
        shown = request.headers.get("authorization")
        if shown is None:
            return ANYBODY
        scheme, _, token = shown.partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("show a token as: Authorization: Bearer TOKEN")
        return Asker(await self._threads.run(self._tokens.author_of, token.strip(), address_of(request)))


def _asked(desk: Desk, rpc: str, question: Message) -> tuple[Kept, str]:
    """Ask the desk; return what is to be sent, and of which type it is."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", rpc).lower()
    answer = getattr(desk, name)(question)
    if not is_file(rpc):
        return Kept.of(json.dumps(document(answer), allow_nan=False).encode() + b"\n", 200), _JSON
    pieces = list(answer)
    file = pieces[0].name
    headers = [("content-disposition", f'attachment; filename="{file}"')] if _FILE_NAME.fullmatch(file) else []
    return Kept.of(b"".join(piece.data for piece in pieces), 200, tuple(headers)), "application/octet-stream"


def _question(request: Request, path: str, rpc: str) -> Message:
    """Return the message that a request stands for.

    Raises:
        BadQuestion: if it says something that the message cannot have.
    """
    question: Message = question_of(rpc)()
    in_path = names_in(path)
    fields: dict[str, Any] = {field.name: field for field in question.DESCRIPTOR.fields if field.name not in in_path}
    for name in in_path:
        setattr(question, name, _text(name, str(request.path_params[name])))
    seen = set()
    for name, value in request.query_params.multi_items():
        beginning, _, key = name.partition("[")
        field = fields.get(beginning)
        if field is None or is_map(field) != (key.endswith("]") and len(key) > 1):
            known = ", ".join(f"{one.name}[KEY]" if is_map(one) else one.name for one in fields.values())
            raise BadQuestion(f"there is no parameter {name!r} here; there {'are: ' + known if known else 'is none'}")
        if name in seen:
            raise BadQuestion(f"{name!r} is given twice")
        seen.add(name)
        if is_map(field):
            getattr(question, beginning)[_text(name, key[:-1])] = _text(name, value)
        else:
            setattr(question, name, _value(field, value))
    return question


def _value(field: Any, text: str) -> object:
    if field.type == FieldDescriptor.TYPE_STRING:
        return _text(field.name, text)
    if field.type == FieldDescriptor.TYPE_BOOL:
        if text not in ("true", "false"):
            raise BadQuestion(f"{field.name} is true or false")
        return text == "true"
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= _MAX_UINT32):
        raise BadQuestion(f"{field.name} is a whole number from 0 to {_MAX_UINT32}")
    return int(text)


def _text(name: str, text: str) -> str:
    if len(text) > MAX_TEXT:
        raise BadQuestion(f"{name[:MAX_TEXT]} has more than {MAX_TEXT} characters")
    return text


def is_api(request: Request) -> bool:
    """Tell whether a program asks, who wants no pages."""
    return str(request.scope["path"]).startswith(f"{PREFIX}/")


def shared(site: Site, request: Request) -> dict[str, str]:
    """Return the headers by which a browser lets a page of another site read the answer; none if that may not."""
    origin = request.headers.get("origin", "")
    allowed = next((one for one in ("*", origin) if one in site.cors_origins), "")
    if not allowed:
        return {}
    return {"access-control-allow-origin": allowed, "access-control-expose-headers": "ETag, Retry-After"}


def failed(error: Exception, more: Mapping[str, str]) -> Response:
    """Return an answer that says what was wrong, with some more headers."""
    status, reason = told(error)
    headers = {"cache-control": "no-store", "vary": "Authorization, Origin", **more}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, TooMuch):
        headers["retry-after"] = str(error.seconds)
    elif status == 503:
        headers["retry-after"] = "60"
    said = {"code": ERRORS.get(status, "failed"), "message": visible(reason, MAX_REASON_CHARACTERS)}
    return Response(json.dumps({"error": said}) + "\n", status, headers, media_type=_JSON)


@cache
def _described(servers: str) -> Kept:
    return Kept.of(json.dumps(openapi(PATHS, servers)).encode() + b"\n", 200)
