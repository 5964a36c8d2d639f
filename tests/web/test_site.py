"""`dogana ladder site`: the pages as files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup

from ladder.archive.key import ladder_key
from ladder.archive.sealing import seal_block
from ladder.facts.store import Store
from ladder.http.app import PAGES
from ladder.http.publishing.site import CONTENTS, write_site
from ladder.http.rendering.links import address_of, link, links_of
from ladder.http.requests.visit import Page, Site, Visit
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.play.tournament_matches import TournamentMatches
from referee.files import unfinished
from tests.commands.conftest import Dogana, dogana, here
from tests.ladder.announced import closed, set_clock
from tests.ladder.made import CONDITION
from tests.ladder.real_ladder import play_really, played_ladder
from tests.web.conftest import GAMES, new_ladder

__all__ = ["dogana", "here"]


def silent(done: int, of: int) -> None:
    """Nobody is told how far it is."""


@pytest.fixture(scope="module")
def site(played: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with two matches of each game."""
    folder = tmp_path_factory.mktemp("site") / "public"
    write_site(played, folder, 2, silent)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.long
def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    missing = []
    for page in site.rglob("*.html"):
        for tag in BeautifulSoup(page.read_text(), "html.parser").select("[href], [src]"):
            target = unquote(urldefrag(str(tag.get("href") or tag.get("src"))).url)
            if target and not target.startswith(("data:", "http:", "https:")) and not (page.parent / target).is_file():
                missing.append((str(page.relative_to(site)), target))
    assert missing == []


@pytest.mark.long
def test_nothing_can_be_asked_of_a_site(site: Path) -> None:
    for page in site.rglob("*.html"):
        found = BeautifulSoup(page.read_text(), "html.parser")
        assert found.select("form[method]") == [], page
        assert not re.search(r'href="[^"]*\?', str(found.main)), page


@pytest.mark.long
def test_it_lists_its_files_and_has_no_others(site: Path) -> None:
    assert sorted(json.loads((site / CONTENTS).read_text())["files"]) == sorted(files(site).keys() - {CONTENTS})


@pytest.mark.long
def test_it_has_the_last_matches_and_links_to_no_others(site: Path) -> None:
    assert len(list(site.glob("matches/*.html"))) == 2 * len(GAMES)
    assert len(list(site.glob("matches/*/replay.html"))) == 2 * len(GAMES)


@pytest.mark.long
def test_a_site_is_written_again_and_what_is_gone_goes(played: Home, site: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(site, again)
    before = files(again)
    (again / ".htaccess").write_text("of the organiser")
    write_site(played, again, 1, silent)
    after = files(again)
    assert after.pop(".htaccess") == b"of the organiser"
    gone = before.keys() - after.keys()
    assert gone
    assert all(name.startswith("matches/") for name in gone)


@pytest.mark.long
def test_a_match_that_no_page_lists_has_its_page(played: Home, tmp_path: Path) -> None:
    write_site(played, tmp_path / "site", 2, silent, Site(listed=1))
    assert len(list(tmp_path.glob("site/matches/*/replay.html"))) == 2 * len(GAMES)


@pytest.fixture(scope="module")
def with_event(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder with an event of twelve matches, of which five blocks of two are over."""
    home = played_ladder(tmp_path_factory.mktemp("event") / "home", 2)
    with pytest.MonkeyPatch.context() as patch, Store(home.database, create=False) as store:
        closed(store, set_clock(patch), top=4, blocks=1)
        ladder_key(home, store)
        run = TournamentMatches(store, [CONDITION])
        for _ in range(5 * 2):
            match = run.take(())
            assert match is not None
            assert match.block is not None
            play_really(home, store, match)
            if store.schedule.is_over(match.block):
                assert seal_block(home, store, match.block) == []
            run.touch()
            list(run.advance())
        run.take(())
    return home


@pytest.mark.parametrize("most", [0, pytest.param(3, marks=pytest.mark.long)])
def test_the_last_matches_of_an_event_have_their_pages_and_viewers(with_event: Home, tmp_path: Path, most: int) -> None:
    _, written = write_site(with_event, tmp_path / "site", most, silent)
    with Store(with_event.database, create=False) as store:
        event = store.tournaments.find("final")
        scheduled, results = store.tournaments.scheduled(event), store.tournaments.results(event)
    of_event = [one.match_id for name, one in scheduled.items() if name in results]
    newest = of_event[len(of_event) - most :]
    assert len(of_event) == 10
    for kind in ("{}.html", "{}/replay.html"):
        assert [one for one in of_event if (tmp_path / "site" / "matches" / kind.format(one)).is_file()] == newest
    page = BeautifulSoup((tmp_path / "site" / "events" / "final.html").read_text(), "html.parser")
    linked = {Path(unquote(str(link["href"]))).stem for link in page.select("a[href*='matches/']")}
    assert linked == set(newest)
    assert page.select_one("table.crosstable") is not None
    assert written == len(list(tmp_path.glob("site/matches/*.html")))


def test_a_page_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(visit: Visit) -> Page:
        raise LadderError("the disk is on fire")

    monkeypatch.setitem(PAGES, "/bots", fail)
    with pytest.raises(LadderError, match=r"^bots\.html cannot be written: .*the disk is on fire"):
        write_site(new_ladder(tmp_path / "ladder"), tmp_path / "site", 2, silent)


@pytest.mark.parametrize(
    "path", ["", "games/yunnan", "bots/my bot", "bots/index", "bots/a.html", "matches/ab/replay.html"]
)
def test_a_static_link_leads_back_to_its_address(path: str) -> None:
    html = f'<a href="{link("games/x/rules", path, is_static=True, fragment="top")}">'
    [file] = links_of("games/x/rules.html", html)
    assert address_of(file) == path


def test_links_to_elsewhere_are_not_followed() -> None:
    html = '<a href="https://example.org/a"><a href="#top"><img src="data:image/png;base64,AA"><a href="//host/b">'
    assert links_of("index.html", html) == {"index.html"}


def test_the_site_of_a_ladder_without_matches_has_its_pages(tmp_path: Path) -> None:
    write_site(new_ladder(tmp_path / "ladder"), tmp_path / "site", 2, silent)
    contents = json.loads((tmp_path / "site" / CONTENTS).read_text())["files"]
    assert "index.html" in contents
    assert sorted(contents) == sorted(files(tmp_path / "site").keys() - {CONTENTS})


def test_a_second_writer_of_a_site_is_refused_while_the_first_one_writes(tmp_path: Path, here: Dogana) -> None:
    """Otherwise neither list of files would be complete, and pages of matches that are gone would stay for ever."""
    home = new_ladder(tmp_path / "ladder")
    folder = tmp_path / "site"
    refused: list[str] = []

    def write_beside(done: int, of: int) -> None:
        if done == 1:
            refused.append(here("ladder", "site", folder, "--force", "--home", home.folder, status=1).stderr)

    write_site(home, folder, 2, write_beside)
    [text] = refused
    assert f"another process is writing a site into {folder}" in text
    here("ladder", "site", folder, "--force", "--home", home.folder)


def test_unfinished_pages_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    folder = tmp_path / "site"
    write_site(home, folder, 2, silent)
    before = files(folder)
    for path in ("index.html", CONTENTS):
        unfinished(folder / path).write_text("half a")
    (folder / "mine.part").write_text("of the organiser")
    write_site(home, folder, 2, silent)
    assert files(folder).keys() == before.keys() | {"mine.part"}


@pytest.mark.parametrize("contents", [None, "no JSON", '{"files": ["../other.txt"]}', '{"files": [1]}'])
def test_a_folder_with_something_else_is_left_alone(tmp_path: Path, here: Dogana, contents: str | None) -> None:
    home = new_ladder(tmp_path / "ladder")
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    (tmp_path / "other.txt").write_text("more work")
    if contents is not None:
        (folder / CONTENTS).write_text(contents)
    before = files(folder)
    ended = here("ladder", "site", folder, "--home", home.folder, status=1)
    assert "contains something other than the pages of a ladder" in ended.stderr
    assert files(folder) == before
    assert (tmp_path / "other.txt").exists()
