"""A ladder whose matches are real and whose names are hostile, and how its pages are read."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from ladder.facts.store import Store
from ladder.http.app import PAGES
from ladder.http.rendering.render import rendered
from ladder.http.requests.visit import Site, Visit
from ladder.operation.home import Home
from ladder.play.running import count
from ladder.questions.caller import ANYBODY, Caller
from ladder.questions.desk import Desk
from tests.ladder.made import CONDITION, GAME, OTHER, next_matches, result_of
from tests.ladder.real_ladder import played_ladder

PLAYED = 40
MARKUP = "<svg onload=alert(1)>"
"""A bot that is called so, by an author who is called like the next."""
REVERSED = '\u202e"><script>alert(2)</script>'


def hostile_ladder(folder: Path) -> Home:
    """A ladder on which a bot with a hostile name plays, too, and one game was run under two conditions."""
    home = played_ladder(folder, PLAYED)
    with Store(home.database, create=False) as store:
        assert store.roster.condition(OTHER.game, OTHER.options, OTHER.clock) == OTHER
        hostile, _ = store.roster.add_version(MARKUP, REVERSED, "hash of it", ["./bot"], [GAME.name], MARKUP[:20])
        store.roster.add_version("best", "eve", "second hash", ["./bot"], [GAME.name])
        store.roster.add_version("untried", "fay", "its hash", ["./bot"], [GAME.name])
        for condition in (CONDITION, OTHER):
            store.admission.qualify(hostile.id, condition, passed=True, reason="")
        for version in store.roster.find_versions("good"):
            store.admission.qualify(version.id, OTHER, passed=True, reason="")
        for condition, blocks in ((CONDITION, 3), (OTHER, 2)):
            for number in range(blocks):
                for match in next_matches(store, number, condition):
                    count(store, match, result_of(match, range(1, len(match.seats) + 1)), "hash")
    return home


def page(
    home: Home,
    address: str,
    query: Mapping[str, str] | None = None,
    *,
    caller: Caller = ANYBODY,
    site: Site | None = None,
    **names: str,
) -> BeautifulSoup:
    """A page as it is without JavaScript."""
    path = address.format(**names).removeprefix("/")
    visit = Visit(Desk(home, caller), caller, site or Site(), path, names, query or {})
    return BeautifulSoup(rendered(PAGES[address](visit), visit), "html.parser")


def rows(table: Tag) -> list[dict[str, str]]:
    """The rows of a table, by the heads of the columns."""
    heads = [text_of(head) for head in table.select("thead th")]
    found = []
    for row in table.select("tbody tr"):
        cells = row.find_all(["th", "td"])
        assert len(cells) == len(heads)
        found.append(dict(zip(heads, map(text_of, cells), strict=True)))
    return found


def table_of(document: BeautifulSoup, caption: str) -> Tag:
    """The table with a caption that begins so."""
    return next(
        table for table in document.select("table") if table.caption and text_of(table.caption).startswith(caption)
    )


def text_of(tag: Tag) -> str:
    """What is read of a part of a page, without its drawings."""
    read = copy(tag)
    for drawing in read.select("svg"):
        drawing.extract()
    return " ".join(read.text.split())


def check_markup(document: BeautifulSoup) -> None:
    """Check what every page has to be, whoever has named what."""
    assert len(document.select("h1")) == 1
    assert not document.select("[onload], [onerror], [style], script:not([src])")
    assert "\u202e" not in document.text
    for tag in document.select("table"):
        assert tag.caption is not None
        assert all(head.get("scope") in ("col", "row", "rowgroup") for head in tag.select("th"))
    for link in document.select("a[href]"):
        assert not str(link["href"]).startswith(("javascript:", "//", "http"))
