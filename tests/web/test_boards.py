"""Pictures of last positions, which pages show beside a match."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.questions.matches import MatchesRequest
from tests.ladder.archived import damage, put_record, record_of, recorded
from tests.ladder.real_ladder import FAULTY, played_ladder
from tests.web.conftest import GAMES, Browse, soup


def test_the_start_page_shows_how_a_match_of_each_game_has_ended(seen: httpx.Client) -> None:
    links = soup(seen.get("/")).select("a.featured")
    assert len(links) == len(GAMES)
    for link in links:
        picture = seen.get("/" + str(link.img["src"]))  # type: ignore[index]
        assert picture.headers["content-type"] == "image/svg+xml"
        assert ElementTree.fromstring(picture.content).tag.endswith("svg")  # noqa: S314 it is our own
        assert seen.get("/" + str(link["href"])).status_code == 200


def test_it_stays_the_same_for_some_matches(played: Home, seen: httpx.Client) -> None:
    links = {str(link["href"]).removeprefix("matches/") for link in soup(seen.get("/")).select("a.featured")}
    for game in GAMES:
        matches = Desk(played).ask(MatchesRequest(game=game, limit=100)).matches
        twos = {match.match: match.number & -match.number for match in matches}
        [ours] = links & twos.keys()
        assert twos[ours] == max(twos.values()), "the one whose number has the most twos in it"


@pytest.mark.parametrize("match", ["0000000000000000", "..%2f..", "qualify-1-0"])
def test_of_what_is_no_match_there_is_none(seen: httpx.Client, match: str) -> None:
    assert seen.get(f"/matches/{match}/board.svg").status_code == 404


def test_a_record_that_does_not_hold_has_no_picture(played: Home, tmp_path: Path, browse: Browse) -> None:
    home = Home(tmp_path / "ladder")
    shutil.copytree(played.folder, home.folder)
    [match] = Desk(home).ask(MatchesRequest(limit=1)).matches
    damage(home, match.match)
    assert browse(home).get(f"/matches/{match.match}/board.svg").status_code == 404


def test_it_is_compressed_for_those_alone_who_can_read_that_and_not_sent_twice(seen: httpx.Client) -> None:
    link = soup(seen.get("/")).select_one("a.featured img")
    assert link is not None
    plain = seen.get(f"/{link['src']}", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content.startswith(b"<svg")
    assert seen.get(f"/{link['src']}", headers={"if-none-match": plain.headers["etag"]}).status_code == 304


def test_the_picture_of_a_match_that_is_for_its_author_is_kept_for_nobody_else(tmp_path: Path, browse: Browse) -> None:
    home = played_ladder(tmp_path / "ladder", 2)
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    with Store(home.database, create=False) as store:
        [faulty] = store.roster.versions_called(FAULTY)
    tried = f"qualify-{faulty.id}-0123456789abcdef"
    put_record(home, tried, record_of(home, recorded(home)[0]))
    client = browse(home, Site(takes_bots=True))
    address = f"/matches/{tried}/board.svg"
    assert client.get(address, headers={"cookie": f"dogana={token}"}).status_code == 200
    assert client.get(address).status_code == 404
