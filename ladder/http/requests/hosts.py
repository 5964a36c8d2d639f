"""The host names of the pages.

They are checked because a site whose name resolves to this server (DNS rebinding) could otherwise read the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address
from socket import gethostname
from urllib.parse import urlsplit

from starlette.requests import Request

from ladder.http.requests.visit import Site
from ladder.operation.errors import LadderError

ANY = "*"
"""The entry in a set of names that stands for any name."""
_NAME = re.compile(r"[^\s/:@?#*\[\]]+")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^\s/:@?#*\[\]A-Z]+|\[[0-9a-f:.]+\])(?::[0-9]+)?")
_URL = re.compile(r"(https?://(?:[^\s/:@?#\[\]]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?)((?:/[^\s?#]*)?)", re.IGNORECASE)


class WrongHost(LadderError):
    """A request for a host name that may belong to anybody."""


def names_of(addresses: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """Return the host names of pages that listen on the given addresses.

    Args:
        addresses: the addresses, as `HOST:PORT`.
        others: further names from the organiser.

    Raises:
        LadderError: if one of the further names is not a host name.
    """
    others = list(others)
    for name in others:
        if name != ANY and not _NAME.fullmatch(name) and not _is_address(name):
            raise LadderError(
                f"--host-name {name}: this is not a host name; write it without a scheme, a port or a path, such as"
                " ladder.example.org"
            )
    own = gethostname()
    hosts = (address.rpartition(":")[0] for address in addresses)
    return frozenset(map(_plain, (own, f"{own}.local", *hosts, *others)))


def origins_of(origins: Iterable[str]) -> frozenset[str]:
    """Return the other sites whose pages may read the API.

    Raises:
        LadderError: if one of them is not written as browsers write origins.
    """
    origins = frozenset(origins)
    for origin in origins - {ANY, "null"}:
        if not _ORIGIN.fullmatch(origin):
            raise LadderError(
                f"--cors-origin {origin}: no browser names a site like this; write its scheme, name and port alone, in"
                " lower case and without a slash at the end, such as https://charts.example"
            )
    return origins


def public_url_of(url: str) -> str:
    """Return the public URL of the pages, with scheme and host in lower case and without a slash at the end.

    Raises:
        LadderError: if it is not a URL.
    """
    if not url:
        return ""
    found = _URL.fullmatch(url)
    if not found:
        raise LadderError(
            f"--public-url {url}: this is not the URL of a site; write it with its scheme, such as"
            " https://ladder.example.org"
        )
    return (found[1].lower() + found[2]).rstrip("/")


def check_host(site: Site, request: Request) -> None:
    """Check that a request names this server by an IP address, by a known name, or by a name without a dot, which nobody can own.

    Raises:
        WrongHost: if the request may be for another site.
    """
    host = request.headers.get("host", "")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    name = _plain(name)
    known = {*site.host_names, _plain(urlsplit(site.public_url).hostname or "")}
    # Names that end in .localhost never leave the machine (RFC 6761).
    if "." not in name or name.endswith(".localhost") or _is_address(name) or not known.isdisjoint((name, ANY)):
        return
    raise WrongHost("nobody has said that this ladder has that name; its organiser can: --host-name NAME")


def _plain(name: str) -> str:
    return name.lower().removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
