"""Every page that links lead to: it is there, says what it is, and needs no script; whoever uses a keyboard or a screen reader finds their way."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from urllib.parse import unquote, urldefrag

import httpx
import pytest
from bs4 import BeautifulSoup, Tag

from ladder.http.requests.visit import Site
from ladder.operation.home import Home
from tests.cases import mostly_long
from tests.web.conftest import browsing

MAX_BYTES = 100_000
"""The size of a page without the board."""
MAX_OF_A_KIND = 3
"""How many pages with the same form of address are looked at."""

Found = Mapping[str, httpx.Response]


def kind_of(address: str) -> str:
    """The form of an address: bots and matches are alike."""
    path, _, query = address.partition("?")
    names = [re.sub(r"[0-9a-f]{16}", "ID", part) for part in path.split("/")]
    if names[1:2] in (["bots"], ["games"]):
        names[2:3] = ["NAME"] * len(names[2:3])
    return "/".join(names) + "?" + ",".join(sorted(part.partition("=")[0] for part in query.split("&")))


SERVED = Site(takes_bots=True, has_tables=True, address="ladder:7800", url="http://ladder:8780")


@pytest.fixture(scope="module", params=mostly_long([SERVED, Site()]), ids=["served", "looked at"])
def pages(request: pytest.FixtureRequest, played: Home) -> Found:
    """All that links lead to from the start page, some of each kind."""
    with browsing(played, request.param) as client:
        return crawled(client)


def crawled(client: httpx.Client) -> Found:
    """What links lead to from the start page, some of each kind."""
    found: dict[str, httpx.Response] = {}
    kinds: dict[str, int] = {}
    waiting = deque(["/"])
    while waiting:
        address = waiting.popleft()
        kind = kind_of(address)
        if address in found or kinds.get(kind, 0) >= MAX_OF_A_KIND:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = found[address] = client.get(address)
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        for tag in BeautifulSoup(answer.text, "html.parser").select(
            "a[href], link[href], img[src], script[src], iframe[src]"
        ):
            target = urldefrag(str(tag.get("href") or tag.get("src"))).url
            if target and not target.startswith(("data:", "mailto:")):
                there = httpx.URL(address).join(target)
                if not there.host:
                    waiting.append(str(there))
    return found


@pytest.fixture(scope="module")
def html(pages: Found) -> Mapping[str, BeautifulSoup]:
    """The pages that are drawn by our templates."""
    return {
        address: BeautifulSoup(answer.text, "html.parser")
        for address, answer in pages.items()
        if answer.headers["content-type"].startswith("text/html") and "replay.html" not in address
    }


def test_all_that_links_lead_to_is_there(pages: Found) -> None:
    assert {
        address: answer.status_code for address, answer in pages.items() if answer.status_code not in (200, 202)
    } == {}
    assert len(pages) > 20


def test_places_that_links_name_are_there(pages: Found, html: Mapping[str, BeautifulSoup]) -> None:
    missing = []
    places = {address: {str(tag["id"]) for tag in page.select("[id]")} for address, page in html.items()}
    for address, page in html.items():
        for tag in page.select("a[href*='#']"):
            target, fragment = urldefrag(str(tag["href"]))
            there = str(httpx.URL(address).join(target)) if target else address
            if there in html and unquote(fragment) not in places[there]:
                missing.append((address, str(tag["href"])))
    assert missing == []


def test_a_page_is_small(pages: Found) -> None:
    assert {
        address: len(answer.content)
        for address, answer in pages.items()
        if len(answer.content) > MAX_BYTES
        and answer.headers["content-type"].startswith("text/html")
        and "replay.html" not in address
        and "/play/" not in address
    } == {}


def test_a_page_says_what_it_is(html: Mapping[str, BeautifulSoup]) -> None:
    titles: dict[str, str] = {}
    for address, page in html.items():
        assert page.title is not None, address
        assert page.title.text.endswith("· Dogana"), address
        assert len(page.select("h1")) == 1, address
        assert page.html is not None
        assert page.html["lang"] == "en", address
        assert page.select_one("main#main") is not None, address
        assert page.select_one("a.skip[href='#main']") is not None, address
        titles[address.partition("?")[0]] = page.title.text
    twice = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    assert twice == set()


def test_nothing_in_a_page_is_forbidden_by_its_policy(html: Mapping[str, BeautifulSoup]) -> None:
    for address, page in html.items():
        for tag in page.find_all(True):
            assert isinstance(tag, Tag)
            assert not [name for name in tag.attrs if name == "style" or name.startswith("on")], f"{address}: {tag}"
        assert page.find_all("style") == [], address
        assert [tag for tag in page.find_all("script") if isinstance(tag, Tag) and not tag.get("src")] == [], address


def test_tables_name_what_they_show(html: Mapping[str, BeautifulSoup]) -> None:
    for address, page in html.items():
        for table in page.find_all("table"):
            assert isinstance(table, Tag)
            if table.find_parent("div", class_="rules") is None:
                assert table.find("caption") is not None, f"{address} has a table without a caption"
                for head in table.find_all("th"):
                    assert isinstance(head, Tag)
                    assert head.get("scope"), f"{address}: {head}"


def test_what_can_be_filled_in_has_a_name(html: Mapping[str, BeautifulSoup]) -> None:
    for address, page in html.items():
        for field in page.select("input:not([type=hidden]), select, textarea"):
            label = field.find_parent("label") or (page.select_one(f"label[for='{field.get('id')}']"))
            assert label is not None or field.get("aria-label"), f"{address}: {field}"
