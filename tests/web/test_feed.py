"""The feeds: valid Atom, whatever bots are called and have done, with ids that stay."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.operation.home import Home
from tests.ladder.real_ladder import FAULTY, LONG, LOUD, played_ladder
from tests.web.conftest import Browse

ATOM = "{http://www.w3.org/2005/Atom}"
EVIL = f"</title><script>alert(1)</script>]]>&{LOUD}\x00\ufffe"


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder on which a bot has not qualified, for a reason that is hostile."""
    home = played_ladder(tmp_path_factory.mktemp("shared") / "home", 5)
    with Store(home.database, create=False) as store:
        [version] = store.roster.versions_called(FAULTY)
        [condition] = store.roster.conditions().values()
        store.admission.qualify(version.id, condition, passed=False, reason=EVIL)
    return home


def read(answer: httpx.Response) -> ET.Element:
    """Read a feed, and check what RFC 4287 asks of it."""
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = ET.fromstring(answer.content)  # noqa: S314 it is ours
    assert feed.tag == f"{ATOM}feed"
    entries = feed.findall(f"{ATOM}entry")
    for one in (feed, *entries):
        for name in ("title", "id", "updated"):
            assert [bool(found.text) for found in one.findall(f"{ATOM}{name}")] == [True], name
        assert one.findtext(f"{ATOM}author/{ATOM}name")
        assert str(one.findtext(f"{ATOM}id")).startswith("tag:")
        assert datetime.fromisoformat(str(one.findtext(f"{ATOM}updated"))).tzinfo is not None
    ids = [one.findtext(f"{ATOM}id") for one in entries]
    assert len(set(ids)) == len(ids)
    assert all(len(one.findall(f"{ATOM}link[@rel='alternate']")) == 1 for one in entries)
    times = [datetime.fromisoformat(str(one.findtext(f"{ATOM}updated"))) for one in entries]
    assert times == sorted(times, reverse=True)
    assert not times or times[0] == datetime.fromisoformat(str(feed.findtext(f"{ATOM}updated")))
    return feed


def ids_of(feed: ET.Element) -> list[str]:
    return [str(one.text) for one in feed.iter(f"{ATOM}id")]


@pytest.mark.parametrize("path", ["/feed.xml", f"/bots/{FAULTY}/feed.xml", f"/bots/{LONG}/feed.xml"])
def test_a_feed_is_valid_and_its_links_lead_somewhere(home: Home, browse: Browse, path: str) -> None:
    client = browse(home)
    feed = read(client.get(path))
    assert len(feed.findall(f"{ATOM}entry")) > 2
    for link in feed.iter(f"{ATOM}link"):
        there = urljoin(path, link.attrib["href"])
        assert there.startswith("/")  # no address of the world, while none is configured
        assert client.get(there).status_code in (200, 403), there


def test_the_feed_has_what_has_happened(home: Home, browse: Browse) -> None:
    client = browse(home)
    titles = [str(one.text) for one in read(client.get("/feed.xml")).iter(f"{ATOM}title")]
    assert any("best v1 by eve was sent" in title for title in titles)
    assert any("faulty v1 has not qualified for" in title for title in titles)
    own = [str(one.text) for one in read(client.get("/bots/best/feed.xml")).iter(f"{ATOM}title")]
    assert any("best v1 was placed" in title for title in own)


def test_text_of_strangers_stays_text(home: Home, browse: Browse) -> None:
    answer = browse(home).get("/feed.xml")
    feed = read(answer)
    assert "<script>" not in answer.text
    assert LOUD not in answer.text
    [title] = [str(one.text) for one in feed.iter(f"{ATOM}title") if "not qualified" in str(one.text)]
    assert "</title><script>alert(1)</script>]]>&\\x1b[2J\\u202e\\x00\\ufffe" in title


def test_where_the_world_finds_the_pages_links_are_whole_and_ids_stay(
    home: Home, browse: Browse, tmp_path: Path
) -> None:
    before = read(browse(home).get("/feed.xml"))
    shutil.copytree(home.folder, tmp_path / "moved")
    client = browse(Home(tmp_path / "moved"), Site(public_url="https://ladder.example/x", host_names=frozenset("*")))
    after = read(client.get("/feed.xml", headers={"host": "evil.example"}))
    assert all(link.attrib["href"].startswith("https://ladder.example/x/") for link in after.iter(f"{ATOM}link"))
    assert ids_of(after) == ids_of(before)


def test_a_bot_that_is_not_there_has_no_feed(home: Home, browse: Browse) -> None:
    assert browse(home).get("/bots/bset/feed.xml").status_code == 404


def test_who_looks_changes_nothing_in_the_ladder(home: Home, browse: Browse) -> None:
    """Not even on a ladder that has no key yet: only its organiser makes one."""

    def inside() -> set[str]:
        return {path.name for path in home.folder.iterdir() if path.name.startswith("key")}

    assert inside() == set()
    client = browse(home)
    assert client.get("/feed.xml").status_code == 200
    assert client.get("/api/v1/key").status_code == 404
    assert inside() == set()
