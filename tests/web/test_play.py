"""A person at the table: whole matches by forms alone, who may see and move what, and what ends a table."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from starlette.applications import Starlette

from ladder.http.people import play
from ladder.http.people.play import COOKIE
from ladder.http.publishing import serving
from ladder.http.publishing.serving import config_of
from ladder.http.requests.visit import Site
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.operation.limits import Limits, TableLimits
from ladder.operation.meter import Allowance, Meter
from ladder.tables import open_tables, table_request
from ladder.tables.open_tables import OpenTables
from ladder.tables.process import RECORD, REPLAY, VIEW
from ladder.tables.table_request import offered_options, read_table_request
from ladder.tables.view import Asking, Stage
from referee.records.verify import Verified, verify
from referee.registry import find, games, shipped_board
from tests.patience import patient
from tests.processes import children, wait_for_the_end
from tests.web.at_the_table import AtTable, sit_down
from tests.web.conftest import Browse, browsing, new_ladder, soup

pytestmark = pytest.mark.ladders

TABLES = Site(has_tables=True)
GAME = "yunnan"
"""The game where a test is about no game: it can be the shortest."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return new_ladder(tmp_path / "ladder")


@pytest.fixture
def person(home: Home) -> Iterator[httpx.Client]:
    """The browser of somebody who plays, and the pages."""
    with browsing(home, TABLES) as client:
        yield client


@pytest.fixture
def other(person: httpx.Client) -> Iterator[httpx.Client]:
    """The browser of somebody else."""
    with httpx.Client(base_url=person.base_url, timeout=patient(60)) as client:
        yield client


def checked(client: httpx.Client, path: str, folder: Path) -> Verified:
    """The record of a finished match, which holds."""
    record = folder / "record.jsonl"
    record.write_bytes(client.get(f"{path}/record.jsonl").content)
    return verify(record, find)


def id_of(path: str) -> str:
    """The id of a table, by its address."""
    return path.rpartition("/")[2]


def tables_of(pid: int) -> list[int]:
    """The processes of the tables that one has laid."""
    return children(pid, "ladder.tables.process")


# --- whole matches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", games())
def test_a_person_plays_a_match_to_its_end_and_its_record_verifies(
    game: str, person: httpx.Client, tmp_path: Path
) -> None:
    """`make pages` plays those with the most seats, with the keyboard."""
    seats = find(game).seat_counts.start
    table = sit_down(person, game, seats, {"seat": str(seats - 1)})
    table.play_out(lambda table: table.choices[(7 * table.answers) % len(table.choices)])
    found = checked(person, table.path, tmp_path)
    assert found.plan.bots == ["random"] * (seats - 1) + ["person"]
    assert {seat.outcome.value for seat in found.result.seats} == {"played"}
    assert found.result.seats[seats - 1].decisions >= table.answers > 0
    rows = [[cell.text for cell in row.select("th, td")] for row in table.page.select(".result tbody tr")]
    ranks = sorted((seat.rank, seat.seat, seat.score) for seat in found.result.seats)
    assert [(int(row[0]), int(row[1]), int(row[3])) for row in rows] == ranks
    assert "you" in table.text


def test_the_end_leads_to_the_page_of_the_match_and_to_the_same_table_once_more(person: httpx.Client) -> None:
    table = sit_down(person, GAME, 3, {"clock": "medium"})
    table.play_out()
    page = person.get(f"{table.path}/replay.html")
    assert page.headers["content-type"].startswith("text/html")
    assert "script-src" not in page.headers["content-security-policy"]
    again = table.page.find("a", string="Play again")
    assert again is not None
    form = soup(person.get(str(httpx.URL(table.path).join(str(again["href"])))))
    assert [str(option["value"]) for option in form.select("select[name=clock] option[selected]")] == ["medium"]
    assert len(form.select("select[name^=bot]")) == 2


def test_a_finished_match_is_for_everybody_who_has_its_address(person: httpx.Client, other: httpx.Client) -> None:
    table = sit_down(person, GAME)
    table.play_out()
    assert other.get(f"{table.path}/record.jsonl").content == person.get(f"{table.path}/record.jsonl").content
    assert other.get(f"{table.path}/replay.html").status_code == 200
    page = other.get(table.path)
    assert page.status_code == 200
    assert "you (seat" not in page.text


def test_no_decision_is_drawn_for_a_person(person: httpx.Client) -> None:
    assert find(GAME).setup(2, {}, shipped_board(find(GAME))).options["openings"] == 4
    assert read_table_request(find(GAME), {}).options == {"openings": 0}
    assert "openings" not in person.get(f"/play/{GAME}").text


def test_what_people_play_changes_nothing_on_the_ladder(home: Home, person: httpx.Client) -> None:
    def facts() -> list[str]:
        with sqlite3.connect(home.database) as database:
            return list(database.iterdump())

    before = facts()
    sit_down(person, GAME).play_out()
    assert facts() == before
    assert not home.records.exists()
    assert len(list(home.tables.iterdir())) == 1


# --- who may see and do what --------------------------------------------------------------------------


def test_nobody_but_the_person_sees_the_table_or_moves_the_seat(person: httpx.Client, other: httpx.Client) -> None:
    table = sit_down(person, GAME)
    for answer in (
        other.get(table.path),
        other.get(f"{table.path}?seen=x"),
        other.post(table.path, data={**table.form, "choice": "0"}),
        other.post(f"{table.path}/leave"),
        other.get(table.path, headers={"cookie": f"{COOKIE}{id_of(table.path)}=guessed"}),
    ):
        assert answer.status_code == 403
        assert "somebody else plays at this table" in answer.text
        assert "<svg" not in answer.text
    before = table.form
    table.look()
    assert table.form == before


@pytest.mark.parametrize("name", ["record.jsonl", "replay.html"])
def test_nothing_of_a_record_is_given_away_while_the_match_goes_on(
    name: str, person: httpx.Client, other: httpx.Client
) -> None:
    table = sit_down(person, GAME)
    assert person.get(f"{table.path}/{name}").status_code == 404
    assert other.get(f"{table.path}/{name}").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/play/table/0000",
        "/play/table/" + "0" * 20,
        "/play/table/..%2f..%2fladder.db",
        "/play/table/%2e%2e",
        "/play/table/%00",
    ],
)
def test_a_table_that_is_not_there_is_a_404(path: str, home: Home, person: httpx.Client) -> None:
    for name in (VIEW, RECORD, REPLAY):
        (home.folder / name).touch()
    for address in (path, f"{path}/record.jsonl", f"{path}/replay.html"):
        assert person.get(address).status_code == 404


def test_a_form_of_another_site_is_refused(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
        for path in (table.path, f"{table.path}/leave", f"/play/{GAME}"):
            assert person.post(path, data={**table.form, "choice": "0"}, headers=headers).status_code == 403
    before = table.form
    table.look()
    assert table.form == before


def test_the_cookie_is_for_these_pages_alone_and_no_script_can_read_it(person: httpx.Client) -> None:
    answer = person.post(f"/play/{GAME}", data={"seats": "2"})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=" not in cookie  # the folder of the address, below whatever the pages are
    assert [found.path for found in person.cookies.jar] == ["/play"]


@pytest.mark.parametrize("beside", [True, False], ids=["of a table", "of none"])
def test_a_key_that_somebody_else_has_put_into_a_browser_is_that_of_no_new_table(
    beside: bool, person: httpx.Client, other: httpx.Client
) -> None:
    """`other` knows a key, and has made the browser of `person` keep it."""
    planted = {f"{COOKIE}{'0' * 20}": "planted", "dogana-table": "planted"}
    if beside:
        sit_down(other, GAME)
        planted = dict(other.cookies.items())
    for name, key in planted.items():
        person.cookies.set(name, key, path="/play")
    table = sit_down(person, GAME)
    for name, key in planted.items():
        other.cookies.set(name, key, path="/play")
    for key in planted.values():
        other.cookies.set(f"{COOKIE}{id_of(table.path)}", key, path="/play")
    answer = other.get(table.path)
    assert answer.status_code == 403
    assert id_of(table.path) not in other.get("/play").text


def test_where_the_pages_are_encrypted_no_other_host_can_plant_a_key(home: Home, browse: Browse) -> None:
    client = browse(home, Site(has_tables=True, public_url="https://ladder.example"))
    answer = client.post(f"/play/{GAME}", data={"seats": "2"})
    name, _, said = answer.headers["set-cookie"].partition("=")
    path = str(httpx.URL(f"/play/{GAME}").join(answer.headers["location"]))
    assert name == f"__Host-dogana-table-{id_of(path)}"
    assert "Secure" in said
    assert "Path=/;" in said
    key = said.partition(";")[0]
    client.cookies.clear()
    assert client.get(path, headers={"cookie": f"{COOKIE}{id_of(path)}={key}"}).status_code == 403
    assert client.get(path, headers={"cookie": f"{name}={key}"}).status_code == 200


def test_keys_of_tables_that_are_gone_are_forgotten_with_the_next_table(person: httpx.Client) -> None:
    for _ in range(3):
        table = sit_down(person, GAME)
        assert [name for name, _ in person.cookies.items()] == [f"{COOKIE}{id_of(table.path)}"]
        person.post(f"{table.path}/leave")


def test_the_log_says_nothing_of_a_plan_before_all_are_revealed(person: httpx.Client) -> None:
    table = sit_down(person, "venezia", 2, {"seat": "1"})  # the bot has made its plan when the person begins
    planned = 0
    log = [line.text for line in table.page.select(".log li")]
    while not any("all plans are made" in line for line in log):
        assert not [line for line in log if "(seat 0)" in line and "plans:" in line], log
        planned += any("you (seat 1): plans:" in line for line in log)
        table.send(table.choices[0])
        table.look()
        table.wait(lambda table: bool(table.form))
        log = [line.text for line in table.page.select(".log li")]
    assert planned


# --- answers ------------------------------------------------------------------------------------------


def test_the_same_answer_sent_twice_counts_once(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    fields = {**table.form, "choice": "0"}
    first, second = (person.post(table.path, data=fields) for _ in range(2))
    assert (first.status_code, second.status_code) == (303, 303)
    table.look()
    table.wait(lambda table: bool(table.form))
    assert table.form["decision"] == "2"


def test_an_answer_to_a_decision_that_is_over_is_refused_with_the_table_as_it_is(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    old = table.form
    assert table.send("0").status_code == 303
    table.look()
    table.wait(lambda table: bool(table.form))  # the others have answered
    answer = person.post(table.path, data={**old, "choice": "1"})
    assert answer.status_code == 409
    page = soup(answer)
    assert "not open any more" in page.select_one("[role=alert]").text  # type: ignore[union-attr]
    assert page.select_one("[name=decision]")["value"] == "2"  # type: ignore[index]


def test_an_answer_to_another_list_is_refused(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    assert table.send("0", digest="0" * 16).status_code == 409
    assert table.send("0", decision="2").status_code == 409
    table.look()
    assert table.form["decision"] == "1"


@pytest.mark.parametrize(
    ("choice", "status"),
    [
        ("-1", 400),
        ("999999999", 409),
        ("1000000000", 400),
        ("", 400),
        ("1.0", 400),
        ("0x1", 400),
        ("\u0663", 400),
        ("<b>", 400),
    ],
)
def test_a_choice_that_the_form_does_not_offer_changes_nothing(choice: str, status: int, person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    answer = table.send(choice)
    assert answer.status_code == status
    assert "<b>" not in answer.text
    table.look()
    assert table.form["decision"] == "1"


def test_forms_that_are_none_are_refused(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    assert person.post(table.path, content=b"x" * 20_000).status_code == 400
    assert person.post(table.path, content=b"\xff\xfe").status_code == 400
    assert person.post(table.path, content=b"&".join([b"a=1"] * 200)).status_code == 400
    assert person.post(table.path).status_code == 400


def news(table: AtTable, **other: str) -> httpx.Response:
    """Ask a table for what is new since the page that was seen last."""
    found = table.page.select_one("[data-revision]")
    assert found is not None
    seen = {"seen": str(found["data-revision"]), "question": str(found["data-question"])}
    return table.client.get(table.path, params={**seen, **other})


def limited(**limits: Any) -> Limits:
    return Limits(tables=TableLimits(**limits))


def test_a_browser_is_told_when_nothing_is_new(home: Home, browse: Browse) -> None:
    nothing = news(sit_down(browse(home, TABLES, limits=limited(news_seconds=0.2)), GAME))
    assert (nothing.status_code, nothing.text) == (204, "")


def test_a_browser_is_told_at_once_that_there_is_something_new(home: Home, browse: Browse) -> None:
    table = sit_down(browse(home, TABLES, limits=limited(news_seconds=3600.0)), GAME)
    table.send("0")
    page = news(table)
    assert page.status_code == 200
    decision = soup(page).select_one("[name=decision]")
    assert decision is None or decision["value"] == "2"
    assert news(table, seen="earlier", question="waits").status_code == 200


def test_what_others_do_while_the_same_decision_is_open_is_listed_together(home: Home, browse: Browse) -> None:
    table = sit_down(browse(home, TABLES, limits=limited(news_seconds=1.0)), GAME)
    began = time.monotonic()
    assert news(table, seen="earlier").status_code == 200
    assert time.monotonic() - began >= 1


def test_a_browser_does_not_wait_for_news_when_too_many_do(home: Home, browse: Browse) -> None:
    table = sit_down(browse(home, TABLES, limits=limited(news_seconds=3600.0, waiting=0)), GAME)
    assert news(table).status_code == 204


def test_no_answer_waits_longer_than_a_server_that_is_to_stop() -> None:
    """Else each stop would end answers with an error."""
    grace = config_of(Starlette()).timeout_graceful_shutdown
    assert grace is not None
    assert max(TableLimits().news_seconds, play.SETTLE_SECONDS) < min(grace, serving.STOP_SECONDS)


# --- going away, and time -----------------------------------------------------------------------------


def test_a_person_who_went_away_finds_the_table_as_it_is_with_the_cookie_alone(
    person: httpx.Client, other: httpx.Client
) -> None:
    table = sit_down(person, GAME)
    table.send("0")
    table.look()
    table.wait(lambda table: bool(table.form))
    person.close()
    [(name, key)] = person.cookies.items()
    other.cookies.set(name, key)
    link = soup(other.get("/play")).select_one("a[href*='play/table/']")
    assert link is not None
    assert "it is your turn" in link.parent.text  # type: ignore[union-attr]
    again = AtTable(other, "/" + str(link["href"]))
    assert again.form == table.form
    assert again.send("0").status_code == 303


def play_with(clock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give people at tables less time than the form offers."""
    monkeypatch.setattr(play, "read_table_request", lambda *form: replace(read_table_request(*form), clock=clock))


def test_time_that_runs_out_is_dealt_with_by_the_referee(
    person: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_with("0.3+0/0.3", monkeypatch)
    table = sit_down(person, GAME)
    table.wait(lambda table: table.is_over)
    assert "out (timeout)" in table.text
    found = checked(person, table.path, tmp_path)
    assert found.result.seats[found.plan.bots.index("person")].outcome.value == "timeout"


def test_a_person_who_was_too_slow_reads_it(person: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    play_with(f"1000+0/{patient(1):.1f}", monkeypatch)  # no look takes longer, so none misses the first strike
    table = sit_down(person, "yunnan", 2)
    table.wait(lambda table: "Your time was up" in table.text or table.is_over)
    assert "strike 1 of 3" in table.text


def test_a_sand_timer_that_all_share_is_shown_and_closes_what_the_person_plans(person: httpx.Client) -> None:
    fields = {"bot1": "greedy", "option.expert_timer": "true", "option.countdown_seconds": "0"}
    table = sit_down(person, "valparaiso", 2, {**fields, "option.timer_seconds": "600"})
    while "left for this decision" in table.text:
        table.send(table.choices[0])
        table.look()
        table.wait(lambda table: bool(table.form))
    assert "by the sand timer of all" in table.text  # the bot has made its plan
    table = sit_down(person, "valparaiso", 2, {**fields, "option.timer_seconds": "1"})
    while "The shared time was up" not in table.text:
        if "by the sand timer of all" not in table.text and table.form:
            table.send(table.choices[0])
        table.look()
        assert not table.is_over


def test_the_page_of_somebody_without_javascript_looks_again_by_itself(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    refresh = table.page.select_one("noscript meta[http-equiv=refresh]")
    assert refresh is not None
    assert int(str(refresh["content"])) > 60  # when the time is up


# --- ends ---------------------------------------------------------------------------------------------


def test_a_table_that_is_left_is_cleared(home: Home, person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    pids = tables_of(os.getpid())
    assert person.post(f"{table.path}/leave").status_code == 303
    wait_for_the_end(pids)
    assert person.get(table.path).status_code == 404
    assert list(home.tables.iterdir()) == []


@pytest.mark.parametrize("most", [32, 0], ids=["waits", "too many wait"])
def test_a_table_whose_page_was_closed_is_cleared(most: int, home: Home, browse: Browse) -> None:
    limits = limited(waiting=most, sweep_seconds=0.1, news_seconds=0.1, gone_seconds=patient(1))
    table = sit_down(browse(home, TABLES, limits=limits), GAME)
    assert news(table, seen="earlier").status_code == 200  # its script has asked
    pids = tables_of(os.getpid())
    assert pids
    wait_for_the_end(pids)


def test_tables_are_cleared_after_their_folder_could_not_be_read_once(
    home: Home, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = limited(sweep_seconds=0.1, news_seconds=0.1, gone_seconds=patient(1))
    client = browse(home, TABLES, limits=limits)
    list_files = Path.iterdir
    failed: list[Path] = []

    def fail_once(folder: Path) -> Iterator[Path]:
        if folder == home.tables and not failed and not tables_of(os.getpid()):  # the first table was just cleared
            failed.append(folder)
            raise OSError(errno.EMFILE, "Too many open files")
        return list_files(folder)

    for _ in range(2):
        assert news(sit_down(client, GAME), seen="earlier").status_code == 200  # its script has asked
        monkeypatch.setattr(Path, "iterdir", fail_once)
        wait_for_the_end(tables_of(os.getpid()))
    assert failed


GONE_SECONDS = TableLimits().gone_seconds


class Clock:
    """The time of tables, as a test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("ladder.tables.open_tables.time.monotonic", lambda: self.now)

    def clears(self, table: open_tables.Table, later: float) -> bool:
        """Let some seconds pass; tell whether the table is to be cleared then."""
        self.now += later
        return open_tables.is_idle(table, self.now, TableLimits())


def asked_until(deadline: float) -> open_tables.Table:
    """A table whose person has a decision to make."""
    process: Any = SimpleNamespace(returncode=None)
    laid = table_request.TableRequest(GAME, (table_request.PERSON, "greedy"), {}, "60+0/60")
    table = open_tables.Table("0" * 20, laid, 0, "", "192.0.2.1", process)
    table.view = replace(table.view, stage=Stage.DECIDES, asking=Asking(1, "", [], deadline, 0.0, is_shared=False))
    return table


def test_a_table_stays_while_its_person_thinks_with_the_page_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page asks for news all the time; in a window that nobody sees, once a minute."""
    clock = Clock(monkeypatch)
    table = asked_until(clock.now + 5000)
    table.look()
    for _ in range(60):
        asyncio.run(table.until("", 0.0))
        assert not clock.clears(table, 60)
    assert not clock.clears(table, GONE_SECONDS - 60)
    assert clock.clears(table, 1)


def test_without_javascript_a_table_stays_until_the_page_should_have_looked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    table = asked_until(clock.now + 1800)
    table.look()
    assert not clock.clears(table, 1800 + GONE_SECONDS)
    assert clock.clears(table, 1)
    table.look()  # that decision is over by the clock, and the page says so
    assert not clock.clears(table, GONE_SECONDS)
    assert clock.clears(table, 1)


def test_a_table_at_which_nobody_ever_looks_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    table = asked_until(clock.now + 1800)
    assert clock.clears(table, GONE_SECONDS + 1)


def test_a_table_whose_process_dies_says_so(person: httpx.Client) -> None:
    table = sit_down(person, GAME)
    [pid] = tables_of(os.getpid())
    os.kill(pid, signal.SIGKILL)
    table.wait(lambda table: "has no result" in table.text)
    assert person.get("/").status_code == 200


def test_a_table_that_cannot_go_on_says_so_and_the_journal_why(
    home: Home, person: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    table = sit_down(person, GAME)
    [part] = home.tables.glob("*/*.part")
    part.unlink()
    table.send("0")
    table.look()
    table.wait(lambda table: "has no result" in table.text)
    assert str(home.folder) not in table.text
    table.wait(lambda _: any("record.jsonl" in str(vars(line)) for line in caplog.records))


def test_matches_in_a_folder_that_took_the_place_of_another_are_left_alone(
    home: Home, person: httpx.Client, browse: Browse
) -> None:
    earlier = sit_down(person, GAME)
    home.tables.rename(home.folder / "earlier")
    second = browse(home, TABLES, limits=limited(sweep_seconds=0.1))
    table = sit_down(second, GAME)
    person.post(f"{earlier.path}/leave")  # its tables are swept
    table.play_out()
    refused = person.post(f"/play/{GAME}", data={"seats": "2"})
    assert (refused.status_code, "was replaced or removed" in refused.text) == (400, True)


async def test_where_the_folder_of_the_tables_was_removed_nobody_can_play_and_the_pages_end_as_usual(
    home: Home,
) -> None:
    async with OpenTables(home.tables, None, TableLimits()) as tables:
        home.tables.rmdir()
        with pytest.raises(LadderError, match="the folder of the tables was replaced or removed"):
            await tables.lay(Mock(), {}, "here")


def test_nothing_is_left_of_tables_when_the_pages_are_killed(home: Home) -> None:
    program = (
        "import sys, time; from pathlib import Path; from ladder.operation.home import Home; from ladder.http.requests.visit import Site\n"
        "from tests.web.served import serving_pages\n"
        "with serving_pages(Home(Path(sys.argv[1])), Site(has_tables=True)) as url:\n"
        "    print(url, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, home.folder], stdout=subprocess.PIPE, text=True) as pages:
        assert pages.stdout is not None
        with httpx.Client(base_url=pages.stdout.readline().strip(), timeout=patient(60)) as client:
            sit_down(client, GAME)
            pids = tables_of(pages.pid)
            assert pids
            pages.kill()
            wait_for_the_end(pids)
    assert len(list(home.tables.iterdir())) == 1
    with browsing(home, TABLES) as client:
        client.get("/play")
        assert list(home.tables.iterdir()) == []


def test_the_key_of_a_person_stays_on_encrypted_connections_behind_a_proxy_as_well(home: Home, browse: Browse) -> None:
    client = browse(home, Site(has_tables=True, public_url="https://ladder.example"))
    assert "; Secure" in client.post(f"/play/{GAME}", data={"seats": "2"}).headers["set-cookie"]


def test_who_leaves_one_table_after_the_other_has_to_wait(home: Home, browse: Browse) -> None:
    """Each takes a processor until its match can begin, also one that is left at once."""
    client = browse(home, TABLES, limits=limited(laid=Meter(Allowance("tables", 2, 1e9))))
    for _ in range(2):
        laid = client.post(f"/play/{GAME}", data={"seats": "2"})
        assert laid.status_code == 303
        assert client.post(f"/play/{laid.headers['location']}/leave").status_code == 303
    answer = client.post(f"/play/{GAME}", data={"seats": "2"})
    assert answer.status_code == 429
    assert "too many tables" in answer.text
    assert "retry-after" in answer.headers


def test_there_are_no_more_tables_than_the_machine_bears(home: Home, browse: Browse) -> None:
    person = browse(home, Site(has_tables=True, tables=3, tables_per_address=2))
    for _ in range(open_tables.MAX_OF_ONE):
        sit_down(person, GAME)
    answer = person.post(f"/play/{GAME}", data={"seats": "2"})
    assert answer.status_code == 429
    assert f"you are playing {open_tables.MAX_OF_ONE} matches already" in answer.text
    assert (
        sum("it is your turn" in item.text for item in soup(person.get("/play")).select("li")) == open_tables.MAX_OF_ONE
    )
    with httpx.Client(base_url=person.base_url, timeout=patient(60)) as other:
        assert "2 matches are being played from your address" in other.post(f"/play/{GAME}", data={"seats": "2"}).text


def test_a_class_behind_one_address_has_all_tables(home: Home, browse: Browse) -> None:
    assert Site().tables >= 32
    assert Site().tables_per_address is None
    person = browse(home, Site(has_tables=True, tables=3))
    for number in range(4):
        with httpx.Client(base_url=person.base_url, timeout=patient(60)) as other:
            answer = other.post(f"/play/{GAME}", data={"seats": "2"})
        assert answer.status_code == (303 if number < 3 else 429)
    assert "all 3 tables are taken" in answer.text


def test_finished_matches_are_kept_for_some_days_and_not_too_many(home: Home) -> None:
    with browsing(home, TABLES) as client:
        table = sit_down(client, GAME)
        table.play_out()
    with browsing(home, TABLES) as client:
        response = client.get(table.path)
        assert response.status_code == 200
        assert "person" in response.text
        assert "you (seat" not in response.text
    with browsing(home, TABLES, limits=limited(retention_seconds=0.0)) as client:
        assert client.get(table.path).status_code == 404
        assert client.get(f"{table.path}/record.jsonl").status_code == 404


def test_two_programs_do_not_keep_tables_in_one_folder(home: Home, person: httpx.Client, browse: Browse) -> None:
    table = sit_down(person, GAME)
    second = browse(home, TABLES)
    assert second.get("/").status_code == 200
    assert "nobody can play here at the moment" in second.get("/play").text
    table.look()
    assert table.form


def test_pages_without_tables_have_none(home: Home, browse: Browse) -> None:
    client = browse(home)
    assert client.get("/play").status_code == 404
    assert client.post(f"/play/{GAME}").status_code in (404, 405)
    assert "play" not in [link["href"] for link in soup(client.get("/")).select(".top a")]


# --- what is asked for --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"seats": "9"}, "Yunnan is for 2 to 5 seats"),
        ({"seats": "-2"}, "Yunnan is for 2 to 5 seats"),
        ({"seats": "3", "bot2": "<b>skynet"}, "opponent 2 must be one of: greedy, random"),
        ({"seat": "2"}, "your seat must be random, or a number from 0 to 1"),
        ({"clock": "0+0/0"}, "the clock must be one of: slow, medium, fast"),
        ({"option.nothing": "1"}, "has no option"),
    ],
)
def test_a_table_that_cannot_be_laid_is_refused_in_words_and_the_form_is_kept(
    fields: dict[str, str], said: str, person: httpx.Client
) -> None:
    answer = person.post(f"/play/{GAME}", data={"seats": "2", **fields})
    assert answer.status_code == 422
    page = soup(answer)
    assert said in page.select_one("[role=alert]").text  # type: ignore[union-attr]
    assert page.select_one("form") is not None
    assert "<b>" not in answer.text


@pytest.mark.parametrize("game", games())
def test_the_form_offers_every_number_of_seats_and_every_option(game: str, person: httpx.Client) -> None:
    for seats in find(game).seat_counts:
        page = soup(person.get(f"/play/{game}?seats={seats}"))
        assert len(page.select("select[name^=bot]")) == seats - 1
        named = {str(field["name"]) for field in page.select("[name^='option.']")}
        assert named == {f"option.{option.name}" for option in offered_options(find(game))}


@pytest.mark.parametrize("game", games())
def test_every_game_names_the_actions_before_which_people_are_asked(game: str) -> None:
    assert find(game).closing_actions
    assert find(game).closing_actions <= set(find(game).action_types)


def test_a_game_that_is_not_there_is_a_404(person: httpx.Client) -> None:
    assert person.get("/play/chess").status_code == 404
    assert person.post("/play/chess", data={"seats": "2"}).status_code == 404
