"""People against bots of authors: only against those whose authors consent, in a sandbox, and with nothing seen of what they write."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.pages.enter import ten_lines
from ladder.http.requests.visit import Site
from ladder.intake.offer import OfferedBot
from ladder.intake.offer import offered as offered_at_home
from ladder.intake.submission import submit
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.operation.limits import Limits, TableLimits
from ladder.play.qualifying import enter_house_bots
from ladder.questions.bots import ShowRequest
from ladder.questions.changes import AtTablesRequest, RetireRequest
from ladder.questions.desk import Desk
from ladder.tables.hosts import Hosts, Isolation, commands_of
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build
from tests.patience import wait_until
from tests.web.at_the_table import sit_down
from tests.web.conftest import Browse, new_ladder, soup

pytestmark = pytest.mark.ladders

GAME = "yunnan"
OPEN = Site(has_tables=True, isolation=Isolation(None))
LOUD = "import sys\nprint('my secret plan', flush=True)\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return new_ladder(tmp_path / "ladder")


def enter(
    home: Home, tmp_path: Path, name: str, program: str, *, at_tables: bool = True, qualified: bool = True
) -> str:
    """Submit a bot of ann; return the label of its version."""
    file = tmp_path / f"{name}.py"
    file.write_text(program)
    version, _ = submit(home, file, name, "ann", at_tables=at_tables)
    with Store(home.database, create=False) as store:
        store.admission.qualify(version.id, store.roster.condition(GAME, {}, "60+0.5/10"), passed=qualified, reason="")
    return version.label


def offered(client: httpx.Client) -> list[str]:
    """The bots of authors that the form offers."""
    groups = soup(client.get(f"/play/{GAME}")).select("optgroup[label='Bots of authors']")
    return [str(option["value"]) for group in groups[:1] for option in group.select("option")]


def against(label: str) -> dict[str, str]:
    return {"bot1": label, "seat": "0"}


# --- whom one may choose -----------------------------------------------------------------------------------


def test_the_newest_scheduled_version_of_a_bot_is_offered_as_long_as_its_author_consents(
    home: Home, tmp_path: Path, browse: Browse
) -> None:
    enter(home, tmp_path, "shy", ten_lines(), at_tables=False)
    enter(home, tmp_path, "failing", ten_lines(), qualified=False)
    enter(home, tmp_path, "willing", ten_lines())
    client, desk = browse(home, OPEN), Desk(home)
    assert offered(client) == ["willing v1"]
    enter(home, tmp_path, "willing", f"# better\n{ten_lines()}", at_tables=False)
    assert offered(client) == ["willing v2"], "consent is that of the bot"
    desk.ask(AtTablesRequest(bot="willing", at_tables=False))
    assert offered(client) == []
    desk.ask(AtTablesRequest(bot="willing", at_tables=True))
    desk.ask(RetireRequest(bot="willing"))
    assert offered(client) == []


@pytest.mark.parametrize("label", ["shy v1", "nobody v1", "willing", "willing v9"])
def test_nobody_else_can_be_made_to_play(label: str, home: Home, tmp_path: Path, browse: Browse) -> None:
    enter(home, tmp_path, "shy", ten_lines(), at_tables=False)
    enter(home, tmp_path, "willing", ten_lines())
    answer = browse(home, OPEN).post(f"/play/{GAME}", data={"seats": "2", **against(label)})
    assert answer.status_code == 422
    assert "opponent 1 must be one of: greedy, random, search, willing v1" in soup(answer).get_text(" ", strip=True)


def test_where_no_sandbox_is_known_there_are_house_bots_alone(home: Home, tmp_path: Path, browse: Browse) -> None:
    label = enter(home, tmp_path, "willing", ten_lines())
    client = browse(home, Site(has_tables=True))
    assert offered(client) == []
    assert client.post(f"/play/{GAME}", data={"seats": "2", **against(label)}).status_code == 422


def test_consent_is_for_bots_that_run_here(home: Home) -> None:
    at_home = OfferedBot(bot="away", content="1", matches=1, games=(GAME,))
    with Store(home.database, create=False) as store:
        enter_house_bots(store, store.roster.condition(GAME, {}, "60+0.5/10"))
        offered_at_home(store, "ann", at_home)
    for bot, why in (("greedy", "greedy is a house bot: everybody may"), ("away", "away runs at home")):
        with pytest.raises(LadderError, match=why):
            Desk(home).ask(AtTablesRequest(bot=bot, at_tables=True))


# --- at the table ----------------------------------------------------------------------------------------------


def sandboxes() -> list[object]:
    boxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap: apt-get install bubblewrap")
    return [
        pytest.param(lambda: Isolation(None), id="unconfined"),
        pytest.param(lambda: Isolation(build(ResourceLimits())), id="sandbox", marks=boxed),
    ]


@pytest.mark.parametrize("around", sandboxes())
def test_a_person_plays_against_a_bot_and_nothing_of_what_it_writes_is_kept(
    around: Callable[[], Isolation], home: Home, tmp_path: Path, browse: Browse
) -> None:
    label = enter(home, tmp_path, "willing", LOUD + ten_lines())

    def facts() -> list[str]:
        with sqlite3.connect(home.database) as database:
            return list(database.iterdump())

    client, before = browse(home, Site(has_tables=True, isolation=around())), facts()
    table = sit_down(client, GAME, 2, against(label))
    table.play_out()
    assert label in table.text
    assert facts() == before
    files = [file for file in home.tables.rglob("*") if file.is_file()]
    assert {file.name for file in files} == {"record.jsonl", "replay.html", "view.json"}
    assert not any(b"my secret plan" in file.read_bytes() for file in files)
    assert "my secret plan" not in table.text
    assert not home.archive.exists()


def test_a_bot_that_crashes_at_a_table_is_out_there_and_nowhere_else(
    home: Home, tmp_path: Path, browse: Browse
) -> None:
    crashing = ten_lines().replace("return ", "raise SystemExit('my secret plan')\n    return ")
    assert crashing != ten_lines()
    label = enter(home, tmp_path, "faulty", crashing)
    client = browse(home, OPEN)
    table = sit_down(client, GAME, 2, against(label))
    table.play_out()
    assert "out (crash)" in table.text
    assert "my secret plan" not in table.text + client.get(f"{table.path}/record.jsonl").text
    assert offered(client) == [label], "it is no fault of the ladder"
    [version] = Desk(home).ask(ShowRequest(bot="faulty")).versions
    assert [one.status for one in version.standings] == ["waits for its first match"]


def test_a_bot_that_does_not_start_is_named_and_what_it_wrote_is_not(
    home: Home, tmp_path: Path, browse: Browse
) -> None:
    label = enter(home, tmp_path, "broken", "raise SystemExit('my secret plan')\n")
    client = browse(home, OPEN)
    answer = client.post(f"/play/{GAME}", data={"seats": "2", **against(label)})
    path = str(httpx.URL(f"/play/{GAME}").join(answer.headers["location"]))
    wait_until(lambda: "there is no match" in client.get(path).text)
    text = soup(client.get(path)).get_text(" ", strip=True)
    assert f"{label} did not start, so there is no match." in text
    assert "my secret plan" not in text


def test_so_many_bots_of_authors_play_at_a_time_and_no_more(home: Home, tmp_path: Path, browse: Browse) -> None:
    label = enter(home, tmp_path, "willing", ten_lines())
    client = browse(home, OPEN, limits=Limits(tables=TableLimits(hosted=1)))
    first = sit_down(client, GAME, 2, against(label))
    refused = client.post(f"/play/{GAME}", data={"seats": "2", **against(label)})
    assert refused.status_code == 429
    assert "bots play at a time; come back later, or play against house bots" in refused.text
    assert client.post(f"{first.path}/leave").status_code == 303
    again = client.post(f"/play/{GAME}", data={"seats": "3", **against(label), "bot2": label})
    assert again.status_code == 429, "each seat counts"
    sit_down(client, GAME, 2, against(label))


def test_a_bot_whose_files_were_changed_is_refused(home: Home, tmp_path: Path, browse: Browse) -> None:
    label = enter(home, tmp_path, "willing", ten_lines())
    [file] = home.versions.glob("*/willing.py")
    file.chmod(0o600)
    file.write_text("print('another')")
    answer = browse(home, OPEN).post(f"/play/{GAME}", data={"seats": "2", **against(label)})
    assert answer.status_code == 400
    assert "the files of willing v1 are damaged" in answer.text
    assert str(home.folder) not in answer.text


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap: apt-get install bubblewrap")
def test_a_bot_is_stopped_while_the_person_thinks_where_this_machine_can_stop_it(home: Home, tmp_path: Path) -> None:
    sandbox = build(ResourceLimits())
    if "freezer" not in sandbox.groups.found:
        pytest.skip("this machine cannot stop agents; see dogana doctor")
    label = enter(home, tmp_path, "willing", ten_lines())
    hosts = Hosts(home, Isolation(sandbox))
    confined = commands_of(hosts.orders(hosts.willing(GAME)))[label].sandbox
    assert confined is not None
    assert not confined.limits.ponders
