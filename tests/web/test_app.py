"""What holds for all pages: addresses, errors, headers, what browsers keep."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.rendering.links import link
from ladder.operation.errors import Busy, NoRoom
from ladder.operation.home import Home
from ladder.operation.room import NO_ROOM_TEXT
from ladder.questions.desk import Desk
from tests.ladder.noted import Noted, noted
from tests.web.conftest import Browse, new_ladder, soup

__all__ = ["noted"]


def test_pages_need_nothing_from_elsewhere_and_may_run_no_foreign_script(seen: httpx.Client) -> None:
    answer = seen.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in soup(answer).select("[src], link[href]"):
        assert not str(tag.get("src") or tag.get("href")).startswith(("http:", "https:", "//"))


def test_what_the_style_sheet_is_called_changes_with_its_content_so_it_is_kept_for_ever(seen: httpx.Client) -> None:
    for page in ("/", "/games/yunnan", "/games/nothing"):
        sheet = soup(seen.get(page)).select_one("link[rel=stylesheet]")
        assert sheet is not None
        answer = seen.get(str(httpx.URL(page).join(str(sheet["href"]))))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]


def test_a_page_that_the_browser_has_already_is_not_sent_again(seen: httpx.Client) -> None:
    first = seen.get("/games/yunnan")
    again = seen.get("/games/yunnan", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_changes_as_soon_as_the_ladder_does(tmp_path: Path, browse: Browse) -> None:
    """And the cache has no older one."""
    home = new_ladder(tmp_path / "ladder")
    client = browse(home, fresh_seconds=0.0)
    assert "newcomer" not in client.get("/games/yunnan").text
    with Store(home.database, create=False) as store:
        store.roster.add_version("newcomer", "ann", "hash", ["./bot"], ["yunnan"])
    assert "newcomer" in client.get("/games/yunnan").text


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/bots/nope",
        "/events/nope",
        "/games/cargo_noir/matches?before=zzz",
        "/games/yunan",
        "/games/%3Cscript%3E",
        "/static/../app.py",
        "/static/x.css",
    ],
)
def test_what_is_not_there_is_a_real_404_in_words(seen: httpx.Client, path: str) -> None:
    answer = seen.get(path)
    assert answer.status_code == 404
    page = soup(answer)
    assert page.select_one("h1") is not None
    assert page.find("script") is None
    assert "dogana " not in page.get_text(), "a page shows no command"


def test_a_page_that_is_misspelt_names_the_one_that_was_meant(seen: httpx.Client) -> None:
    assert "did you mean /games/yunnan?" in soup(seen.get("/game/yunnan")).text


@pytest.mark.parametrize(
    ("path", "leads_to"), [("/games/yunnan/", "/games/yunnan"), ("//evil.example/", ".//evil.example")]
)
def test_a_slash_at_the_end_leads_to_the_page_and_to_no_other_host(
    seen: httpx.Client, path: str, leads_to: str
) -> None:
    answer = seen.get(httpx.URL(str(seen.base_url).rstrip("/") + path))
    assert answer.status_code == 308
    assert httpx.URL(answer.url).join(answer.headers["location"]) == seen.base_url.join(leads_to)


def test_links_lead_from_any_page_to_any_other_below_any_address_and_on_a_disk() -> None:
    assert link("", "bots/a b") == "bots/a%20b"
    assert link("games/yunnan", "") == "../"
    assert link("games/yunnan", "bots/x", query={"q": "1", "none": ""}) == "../bots/x?q=1"
    assert link("a/b/c", "games/x", is_static=True, fragment="C3.4") == "../../games/x.html#C3.4"
    assert link("games/x", "", is_static=True) == "../index.html"
    assert link("games/x", "bots/a.jsonl", is_static=True) == "../bots/a.jsonl.html"
    assert link("games/x", "matches/1/record.jsonl", is_static=True) == "../matches/1/record.jsonl"


def test_what_is_wrong_with_the_ladder_is_reported_to_its_organiser_alone(
    tmp_path: Path, browse: Browse, noted: Noted
) -> None:
    client = browse(Home(tmp_path / "nowhere"))
    for path in ("/bots", "/api/v1/bots"):
        answer = client.get(path)
        assert answer.status_code == 500
        assert "nowhere" not in answer.text
    assert answer.json()["error"]["code"] == "failed"
    assert [event for event, _ in noted.events] == ["failed", "failed"]
    for _, fields in noted.events:
        assert "nowhere is not a ladder" in str(fields["reason"])
        assert fields["address"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (Busy("/srv/ladder.db: locked"), "another program keeps the ladder busy; come back in a minute"),
        (OSError(5, "Input/output error", "/srv/x"), "the ladder cannot do that now: Input/output error"),
        (OSError(28, "No space left on device", "/srv/x"), NO_ROOM_TEXT),
        (NoRoom("/srv/ladder.db: the disk is full"), NO_ROOM_TEXT),
    ],
    ids=["locked", "broken", "full", "no-room"],
)
def test_where_the_ladder_is_stays_secret(
    tmp_path: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Desk, "ask", fail)
    client = browse(new_ladder(tmp_path / "ladder"))
    for path in ("/bots", "/api/v1/bots"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert says in answer.text
        assert "/srv" not in answer.text
