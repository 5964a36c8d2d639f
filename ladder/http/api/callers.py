"""The callers of the API: their tokens, their limits, and access for pages of other sites."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from ladder.http.requests.limits import address_of, name_of
from ladder.http.requests.refused import refused
from ladder.http.requests.visit import Site
from ladder.intake.tokens import Tokens
from ladder.operation.calls import CallFigures
from ladder.operation.errors import Unauthenticated
from ladder.operation.home import Home
from ladder.operation.journal import of_this_call
from ladder.operation.limits import Limits
from ladder.operation.refusals import Refusals
from ladder.operation.threads import Threads
from ladder.questions.caller import ANYBODY, Caller

RECEIVED = "dogana.received"
"""The key under which a request's scope holds the number of bytes of a bot that have arrived."""
MAX_LOOKUPS = 4
"""The maximum number of tokens looked up at a time."""
_PREFLIGHT = {
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "Authorization, If-None-Match",
    "access-control-max-age": "86400",
}


@dataclass(frozen=True, slots=True)
class Callers:
    """The callers of one server's API."""

    home: Home
    site: Site
    limits: Limits
    tokens: Tokens
    figures: CallFigures
    refusals: Refusals
    _lookups: Threads = field(default_factory=lambda: Threads(MAX_LOOKUPS))

    async def caller(self, request: Request, requests: int = 1) -> Caller:
        """Return the caller, after charging them for a number of requests.

        Raises:
            Unauthenticated: if the token is invalid or malformed.
            TooMuch: if the caller has sent too many invalid tokens or requests.
        """
        caller = await self.identified(request)
        if caller.author:
            of_this_call(author=caller.author)
        self.limits.requests.take(name_of(caller, request), requests)
        return caller

    async def identified(self, request: Request) -> Caller:
        """Return the caller, without a charge.

        Raises:
            Unauthenticated: if the token is invalid or malformed.
            TooMuch: if the caller has sent too many invalid tokens.
        """
        header = request.headers.get("authorization")
        if header is None:
            return ANYBODY
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":  # RFC 9110: case does not matter
            raise Unauthenticated("show a token as: Authorization: Bearer TOKEN")
        return Caller(await self._lookups.run(self.tokens.author_of, token.strip(), address_of(request)))

    @contextmanager
    def measured(self, request: Request, method: str) -> Iterator[None]:
        """Count a call by its outcome, and log a refusal or a failure."""
        of_this_call(address=address_of(request))
        status, began = "OK", time.monotonic()
        try:
            yield
        except asyncio.CancelledError:
            status = "CANCELLED"
            raise
        except Exception as error:
            status = refused(self.refusals, request, method, error).code.name
            raise
        finally:
            self.figures.note(method, status, time.monotonic() - began, request.scope.get(RECEIVED, 0))

    def options(self, request: Request) -> Response:
        """Answer an OPTIONS request with the methods that a question allows, and the CORS headers for a page of another site."""
        their = shared(self.site, request)
        return Response(
            status_code=204, headers={"allow": "GET, HEAD, OPTIONS", **their, **(_PREFLIGHT if their else {})}
        )

    def headers(self, request: Request, *, is_private: bool) -> dict[str, str]:
        """Return the headers of an answer; a private answer must not be cached."""
        return {
            **shared(self.site, request),
            "cache-control": "no-store" if is_private else "no-cache",
            # No cache on the way may give one caller's answer to another caller.
            "vary": "Accept-Encoding, Authorization" + (", Origin" if self.site.cors_origins else ""),
        }


def shared(site: Site, request: Request) -> dict[str, str]:
    """Return the CORS headers that let a page of another site read the answer; none if that site is not allowed."""
    origin = request.headers.get("origin", "")
    allowed = next((one for one in ("*", origin) if one in site.cors_origins), "")
    if not allowed:
        return {}
    # Scripts of other sites see only the headers that are named here.
    return {"access-control-allow-origin": allowed, "access-control-expose-headers": "ETag, Retry-After"}
