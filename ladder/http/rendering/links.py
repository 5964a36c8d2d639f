"""Links from page to page. They are relative, so that the pages work under any address and as files."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

_SAFE = "/+,=:@"
_FILE = re.compile(r"static/.*|matches/[^/]+/.*|.*feed\.xml")
"""The paths of files that are not pages. A suffix alone does not identify them, because the name of a bot may end with it."""
_LINK = re.compile(r' (?:href|src)="([^"]*)"')


def link(
    here: str, there: str, *, is_static: bool = False, fragment: str = "", query: dict[str, str] | None = None
) -> str:
    """Return a link from one page to another.

    Args:
        here: the path of the page that contains the link, such as `games/yunnan`.
        there: the path of the other page; empty for the start page.
        is_static: True if the pages are files.
        fragment: the anchor on the other page; empty for its beginning.
        query: the query of the link; entries without a value are left out.
    """
    target = there
    if is_static and not is_file(there):
        target = f"{there or 'index'}.html"
    way = "../" * here.count("/") + quote(target, safe=_SAFE)
    text = urlencode({name: value for name, value in (query or {}).items() if value})
    return (way or "./") + (f"?{text}" if text else "") + (f"#{quote(fragment, safe=_SAFE)}" if fragment else "")


def is_file(path: str) -> bool:
    """Return True for the path of a file that is not a page."""
    return _FILE.fullmatch(path) is not None


def address_of(path: str) -> str:
    """Return the served address for the path of a static page, such as `games/yunnan.html`."""
    if path == "index.html":
        return ""
    return path if is_file(path) else path.removesuffix(".html")


def links_of(path: str, html: str) -> set[str]:
    """Return the paths of the files to which a static page links.

    Args:
        path: the file of the page.
        html: its content.
    """
    links = {urljoin(path, unescape(found)) for found in _LINK.findall(html)}
    parts = [urlsplit(one) for one in links]
    return {unquote(one.path) for one in parts if one.path and not one.scheme and not one.netloc}
