"""By which names pages may be asked. Another site whose name leads here (DNS rebinding) would else read them in a visitor's browser."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from socket import gethostname
from urllib.parse import urlsplit

from starlette.requests import Request

from ladder.errors import LadderError
from ladder.web.asked import Site

ANY = "*"
"""Among the names: whatever a browser calls us."""


class WrongHost(LadderError):
    """The pages are asked by a name that may be anybody's."""


def names_of(addresses: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """Return the names by which pages are known that listen here.

    Args:
        addresses: where they listen, as `HOST:PORT`.
        others: what the organiser has named besides.
    """
    own = gethostname()
    hosts = (address.rpartition(":")[0] for address in addresses)
    return frozenset(map(_plain, (own, f"{own}.local", *hosts, *others)))


def check_host(site: Site, request: Request) -> None:
    """Check that a browser means us: by an address, by a name without a dot, which nobody can own, or by one that we know.

    Raises:
        WrongHost: if it may mean another site.
    """
    host = request.headers.get("host", "")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    name = _plain(name)
    known = {*site.host_names, _plain(urlsplit(site.public_url).hostname or "")}
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
