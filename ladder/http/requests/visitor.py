"""The visitor of a page: an author whose browser has a cookie, or anybody."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from ladder.http.requests.limits import address_of
from ladder.http.requests.visit import Site
from ladder.intake.tokens import Tokens
from ladder.operation.errors import Forbidden, TooMuch, Unauthenticated
from ladder.questions.caller import ANYBODY, Caller

COOKIE = "dogana"
"""The name of the cookie that holds an author's token."""
ENCRYPTED_COOKIE = "__Host-dogana"
"""The name of the cookie for a token on encrypted pages: browsers accept it only from this very host, and send it only over TLS."""


def is_encrypted(site: Site, request: Request) -> bool:
    """Return True if a browser reaches the pages over TLS, here or at a proxy in front of them."""
    return request.scope["scheme"] == "https" or site.public_url.startswith("https:")


def cookie_of(site: Site, request: Request) -> str:
    """Return the name of the cookie that holds an author's token."""
    return ENCRYPTED_COOKIE if is_encrypted(site, request) else COOKIE


def visitor(tokens: Tokens, site: Site, request: Request) -> Caller:
    """Return the visitor: `ANYBODY` without a valid token, or after too many invalid tokens from the same address."""
    token = request.cookies.get(cookie_of(site, request), "")
    if not token:
        return ANYBODY
    try:
        return Caller(tokens.author_of(token, address_of(request)))
    except (Unauthenticated, TooMuch):
        return ANYBODY


def check_same_origin(site: Site, request: Request) -> None:
    """Check that a form comes from one of our own pages, using the browser's Fetch Metadata or, if it is missing, the origin.

    Raises:
        Forbidden: if it comes from another site.
    """
    fetched = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if fetched is not None:
        is_ours = fetched in ("same-origin", "none")  # none: typed, or from a bookmark
    elif origin is None:
        is_ours = True  # a program, which has nobody else's cookies
    else:
        scheme, _, host = origin.partition("://")
        is_ours = host in (request.headers.get("host"), urlsplit(site.public_url).netloc) and bool(host)
        if is_encrypted(site, request):  # an unencrypted form may come from an attacker on the network
            is_ours = is_ours and scheme == "https"
    if not is_ours:
        raise Forbidden("this form was sent from another site; open the page here, and send it again")
