"""The journal of a served ladder: one whole, harmless line for each event, whoever had a hand in its words."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.operation.journal import MAX_LINE_BYTES, Form, line
from ladder.questions.bots import ShowRequest
from ladder.questions.changes import RequalifyRequest, RetireRequest
from ladder.questions.standings import TopRequest
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.ladder.made import ladder
from tests.ladder.noted import Noted, noted
from tests.ladder.real_ladder import FAULTY, played_ladder
from tests.web.served import serving_pages

__all__ = ["dogana", "noted"]

HOSTILE = 'x\x1b[2J\r\n{"event":"stop"}\u202e\u2028 bot="mine" \ud800\x00\x7f\ufe0f'
NOON = 1_795_348_800.0


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("text", [HOSTILE, HOSTILE * 1000, "\U0001f600" * 50_000, "\\" * 9000], ids=["one", *"abc"])
def test_whatever_is_noted_is_one_line_that_shows_what_it_says(form: Form, text: str) -> None:
    fields = {"bot": text, "reason": text, "bots": [text] * 6, "seconds": 1.23456, "encrypted": True, "none": None}
    data = line(form, NOON, "WARNING", "match_void", fields)
    assert len(data) <= MAX_LINE_BYTES
    assert data.endswith(b"\n")
    printed = data.decode().removesuffix("\n")
    assert printed.isprintable()
    assert "none" not in printed
    if form is Form.TEXT:
        assert printed.startswith("2026-11-22T12:00:00.000Z warning match_void bot=")
        assert "seconds=1.235 encrypted=true" in printed
    else:
        content = json.loads(printed)
        assert (content["level"], content["event"], content["seconds"], content["encrypted"]) == (
            "warning",
            "match_void",
            1.235,
            True,
        )
        assert all(
            value.isprintable() for value in (content["bot"], content["reason"], *content["bots"])
        )  # `jq -r` shows it


WRITER = """
import logging, signal, sys, threading, warnings
from ladder.operation import journal
signal.alarm(60)  # if it waits for a reader after all
journal.begin(journal.Form.JSON)
for number in range(2000):
    journal.note("many", number=number)
print("full", flush=True)
sys.stdin.readline()
journal.note("after")
logging.getLogger("anybody").error("%s failed", "x\\x1b[2J\\ny")
warnings.warn("careful")
def fail(): raise ValueError("in a thread")
thread = threading.Thread(target=fail); thread.start(); thread.join()
raise RuntimeError("at the end")
"""


def test_a_journal_that_nobody_reads_stops_nothing_and_says_what_was_lost(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"full\n"  # though nobody has read a line
        os.set_blocking(process.stderr.fileno(), False)
        printed = process.stderr.read()
        os.set_blocking(process.stderr.fileno(), True)
        printed += process.communicate(b"\n")[1]
    lines = [json.loads(one) for one in printed.splitlines()]
    written = sum(one["event"] == "many" for one in lines)
    assert 0 < written < 2000
    [lost] = [one for one in lines if one["event"] == "lost"]
    assert lost["lines"] == 2000 - written


def test_what_else_a_process_says_goes_into_its_journal(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WRITER],
        input="\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    lines = [json.loads(one) for one in ended.stderr.splitlines()]
    others = [one for one in lines if one["event"] not in ("many", "lost", "after")]
    logged, warned, in_thread, at_end = others
    assert (logged["level"], logged["from"], logged["text"]) == ("error", "anybody", r"x\x1b[2J\ny failed")
    assert "careful" in warned["text"]
    for one, reason in ((in_thread, "ValueError: in a thread"), (at_end, "RuntimeError: at the end")):
        assert (one["event"], one["reason"]) == ("failed", reason)
        assert reason in one["traceback"]


def spoil(home: Path, how: str) -> None:
    if how == "a newer ladder":
        with contextlib.closing(sqlite3.connect(home / "ladder.db")) as database, database:
            database.execute("pragma user_version = 1000")
    elif how == "no ladder":
        (home / "ladder.db").unlink()
        (home / "mine").touch()


@pytest.mark.parametrize(
    ("how", "reason"),
    mostly_long(
        [
            ("a newer ladder", "was made by a newer version of Dogana"),
            ("no ladder", "is neither a ladder nor an empty folder"),
            ("a port in use", "cannot listen on"),
            ("a run", "another run is going on"),
        ]
    ),
)
def test_what_keeps_a_server_from_starting_is_the_last_line_of_its_journal(
    dogana: Dogana, tmp_path: Path, how: str, reason: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    ladder(home).close()
    spoil(home, how)
    with contextlib.ExitStack() as stack:
        if how == "a run":
            stack.enter_context(Home(home).only_run())
        port = 0
        if how == "a port in use":
            taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = taken.getsockname()[1]
        words = ["serve", "--home", "home", "--listen", f"127.0.0.1:{port}", "--web", "127.0.0.1:0", "--unconfined"]
        ended = dogana("ladder", *words, "--log-format", "json", status=1)
    *_, last = map(json.loads, ended.stderr.splitlines())
    assert (last["event"], last["level"]) == ("stop", "error")
    assert reason in last["reason"]
    assert ended.stdout == ""


# --- what a server notes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", 3)


@pytest.fixture(scope="module")
def token(home: Home) -> str:
    with Authors(home.database, create=False) as authors:
        return authors.add("ann")


@pytest.fixture
def address(home: Home) -> Iterator[str]:
    """A server of this test's own: what it tells of each who asks is limited."""
    with serving_pages(home, Site(takes_bots=True)) as url:
        yield url


def test_a_change_is_noted_with_who_made_it_and_what_is_only_read_is_not(
    address: str, token: str, tmp_path: Path, noted: Noted
) -> None:
    (tmp_path / "bot.py").write_text("print('not run')\n")
    with RemoteLadder(address, Login("ann", token)) as desk:
        desk.submit(tmp_path / "bot.py", "mybot", "")
        desk.ask(RetireRequest(bot=FAULTY))
        desk.ask(RequalifyRequest(bot=FAULTY))
        desk.ask(TopRequest())
        with pytest.raises(LadderError):
            desk.ask(ShowRequest(bot=HOSTILE.replace("\ud800", "")))
    assert [event for event, _ in noted.events] == ["change"] * 3
    assert [(one["did"], one["about"], one["author"]) for _, one in noted.events] == [
        ("submit", "mybot v1", "ann"),
        ("retire", FAULTY, "ann"),
        ("requalify", FAULTY, "ann"),
    ]
    assert all(one["address"] == "127.0.0.1" for _, one in noted.events)
    assert [one.get("new") for _, one in noted.events] == [True, None, None]


def test_a_refused_change_and_a_wrong_token_are_noted_without_the_token(address: str, token: str, noted: Noted) -> None:
    with RemoteLadder(address, Login("ann", token)) as desk, pytest.raises(LadderError):
        desk.ask(RetireRequest(bot=HOSTILE.replace("\ud800", "")))
    wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
    with RemoteLadder(address, Login("ann", wrong)) as desk, pytest.raises(LadderError):
        desk.ask(TopRequest())
    refusals = [(event, one["method"], one["status"], one.get("author")) for event, one in noted.events]
    assert refusals == [("refused", "retire", "NOT_FOUND", "ann"), ("refused", "top", "UNAUTHENTICATED", None)]
    assert all(one.removesuffix("\n").isprintable() for one in noted.lines)
    secret = token.rpartition("_")[2]
    assert not any(secret[:-1] in one for one in noted.lines)


def test_whoever_is_refused_again_and_again_does_not_fill_the_journal(address: str, noted: Noted) -> None:
    with RemoteLadder(address, Login("ann", "dgn_00000000_" + "x" * 32)) as desk:
        for _ in range(40):
            with pytest.raises(LadderError):
                desk.ask(TopRequest())
    assert 1 <= len(noted.events) <= 3
    assert all(event == "refused" for event, _ in noted.events)


def test_a_failure_is_noted_with_its_reason_which_nobody_elsewhere_learns(
    home: Home, address: str, noted: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr("ladder.questions.desk.Desk.ask", fail)
    with RemoteLadder(address, Login()) as desk, pytest.raises(LadderError) as caught:
        desk.ask(TopRequest())
    assert "fault of ours" not in str(caught.value)
    [(event, fields)] = noted.events
    assert (event, fields["method"], fields["status"]) == ("failed", "top", "INTERNAL")
    assert "ZeroDivisionError: a fault of ours" in str(fields["reason"])
