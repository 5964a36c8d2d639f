"""Links from page to page. They are relative, so the pages can lie below any address, and on a disk."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

_SAFE = "/+,=:@"
_FILE = re.compile(r"static/.*|matches/[^/]+/.*|.*feed\.xml")
"""What is a file, and no page: their names say so, but the name of a bot may end like that, too."""


def link(
    here: str, there: str, *, is_static: bool = False, fragment: str = "", query: dict[str, str] | None = None
) -> str:
    """Return a link from one page to another.

    Args:
        here: the path of the page that has the link, such as `games/yunnan`.
        there: the path of the other page; empty for the start page.
        is_static: whether the pages are files.
        fragment: a place on the other page.
        query: what is asked of it; entries without a value are left out.
    """
    target = there
    if is_static and not _FILE.fullmatch(there):
        target = f"{there or 'index'}.html"
    way = "../" * here.count("/") + quote(target, safe=_SAFE)
    asked = urlencode({name: value for name, value in (query or {}).items() if value})
    return (way or "./") + (f"?{asked}" if asked else "") + (f"#{quote(fragment, safe=_SAFE)}" if fragment else "")
