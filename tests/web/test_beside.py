"""`dogana ladder web` and `serve --web` as processes: they begin anew, leave nothing behind, and say why they cannot be."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx
import pytest

from ladder.facts.store import Store
from ladder.http.pages.enter import ten_lines
from ladder.http.publishing import serving
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.intake.submission import submit
from ladder.operation.home import Home
from tests.commands.conftest import ROOT, Dogana, dogana
from tests.patience import patient, wait_until
from tests.processes import children, is_running, wait_for_the_end
from tests.referee.test_wire import certificate
from tests.web.at_the_table import sit_down
from tests.web.conftest import new_ladder

pytestmark = pytest.mark.ladders

__all__ = ["dogana"]

SECONDS = patient(120)


def pages_at(words: Sequence[str]) -> str:
    """The option that says where the pages are: `ladder serve` listens for authors besides."""
    return "--listen" if words[0] == "web" else "--web"


@contextmanager
def running(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A ladder whose pages are served; the process that was started, and their address."""
    said = home.with_name("said")
    with (
        said.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "-m", "ladder", "ladder", *words, "--home", str(home), pages_at(words), "localhost:0"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as process,
    ):
        try:
            while not (found := re.search(r"(https?://localhost:[0-9]+)/", said.read_text())):
                assert process.poll() is None, said.read_text()
                time.sleep(0.05)
            yield process, found[1]
        finally:
            process.kill()
            process.wait()


SERVE = ("serve", "--listen", "127.0.0.1:0", "--workers", "1", "--unconfined")


def below(pid: int) -> list[int]:
    """All processes below one."""
    found = children(pid)
    return [*found, *(other for one in found for other in below(one))]


@pytest.mark.parametrize("words", [("web",), SERVE], ids=lambda words: words[0])
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda end: end.name)
def test_nothing_is_left_when_it_is_ended(tmp_path: Path, words: tuple[str, ...], end: signal.Signals) -> None:
    home = new_ladder(tmp_path / "ladder")
    with running(home.folder, *words) as (process, address):
        assert httpx.get(address, timeout=SECONDS).status_code == 200
        started = below(process.pid)
        process.send_signal(end)
        assert process.wait(SECONDS) == (-end if end is signal.SIGKILL else 128 + end)
        wait_for_the_end(started)


def pages_of(pid: int) -> int:
    """The process of the pages of a served ladder on which nothing is played."""
    [pages] = [one for one in children(pid, "spawn_main") if is_running(one)]
    return pages


def test_pages_that_die_are_there_again_and_the_ladder_goes_on(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    said = home.folder.with_name("said")
    with running(home.folder, *SERVE) as (process, address):
        for times in (1, 2):
            httpx.get(address, timeout=SECONDS)
            os.kill(pages_of(process.pid), signal.SIGKILL)
            assert httpx.get(address, timeout=SECONDS).status_code == 200  # the connection waited
            assert said.read_text().count("the pages have died") == times
        assert "in 1 s" in said.read_text()
        assert "in 2 s" in said.read_text(), "it waits longer each time"
        assert process.poll() is None
        started = below(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 128 + signal.SIGTERM
        wait_for_the_end(started)


FAILING = """
import logging, sys
from pathlib import Path
from ladder.http.app import PAGES
from ladder.http.publishing.serving import listening, serve_pages
from ladder.http.requests.visit import Site
from ladder.operation import journal
from ladder.operation.home import Home

def fail(visit): raise ZeroDivisionError("a fault of ours")

PAGES["/enter"] = fail
with listening("127.0.0.1:0") as bound:
    journal.begin(journal.Form.TEXT)
    print(bound.getsockname()[1], flush=True)
    serve_pages(Home(Path(sys.argv[1])), Site(takes_bots=True), bound)
"""


def test_requests_that_fail_do_not_flood_the_journal(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    form = {"cookie": f"dogana={token}", "content-type": "multipart/form-data; boundary=x"}
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-c", FAILING, str(home.folder)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=said,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            address = f"http://127.0.0.1:{int(process.stdout.readline())}"
            # A connection each, because the server closes one whose request has failed.
            assert {httpx.get(f"{address}/enter", timeout=SECONDS).status_code for _ in range(100)} == {500}
            assert httpx.post(f"{address}/submit", content=b"no form", headers=form, timeout=SECONDS).status_code == 400
        finally:
            process.kill()
    lines = (tmp_path / "said").read_text().splitlines()
    assert any("a fault of ours" in line for line in lines)
    assert len([line for line in lines if " remark " in line]) <= 70
    assert not any("from=python_multipart" in line for line in lines)


def test_pages_that_die_leave_nothing_of_their_tables(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    with running(home.folder, *SERVE) as (process, address):
        assert httpx.post(f"{address}/play/yunnan", data={"seats": "2"}, timeout=SECONDS).status_code == 303
        pages = pages_of(process.pid)
        tables = below(pages)
        assert children(pages, "ladder.tables.process")
        os.kill(pages, signal.SIGKILL)
        wait_for_the_end(tables)
        assert httpx.get(address, timeout=SECONDS).status_code == 200
        assert not below(pages_of(process.pid))


def test_pages_that_die_leave_nothing_of_what_they_were_receiving(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    with Authors(home.database, create=False) as authors:
        token = authors.add("ann")
    with running(home.folder, *SERVE) as (process, address):
        httpx.get(address, timeout=SECONDS)
        pages = pages_of(process.pid)
        url = httpx.URL(address)
        with socket.create_connection((url.host, url.port), SECONDS) as connection:
            connection.sendall(
                f"POST /submit HTTP/1.1\r\nHost: x\r\nCookie: dogana={token}\r\nContent-Length: 100000\r\n"
                "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
                '--x\r\nContent-Disposition: form-data; name="bot"\r\n\r\nmybot\r\n'
                '--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\nbegin'.encode()
            )
            wait_until(lambda: list(home.versions.glob(".receiving-*")))
            os.kill(pages, signal.SIGKILL)
        assert httpx.get(address, timeout=SECONDS).status_code == 200
        assert not list(home.versions.glob(".*"))


def test_many_who_come_at_once_leave_files_to_open(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    with running(home.folder, "web") as (process, address), ExitStack() as stack:
        httpx.get(address, timeout=SECONDS)
        [family, *_, where], *_ = socket.getaddrinfo("localhost", address.rpartition(":")[2], type=socket.SOCK_STREAM)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (500, 500))
        process.send_signal(signal.SIGSTOP)
        for _ in range(560):
            one = stack.enter_context(socket.socket(family))
            one.setblocking(False)
            one.connect_ex(where)
        process.send_signal(signal.SIGCONT)
        assert httpx.get(f"{address}/bots", timeout=SECONDS).status_code == 200
    assert "Too many open files" not in home.folder.with_name("said").read_text()


class Full:
    """Starts processes on a machine that has no room for the second one."""

    def __init__(self, started: list[BaseProcess]) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._started = started

    def Process(self, **what: Any) -> BaseProcess:  # noqa: N802 as its name is in a context
        process = self._context.Process(**what)
        self._started.append(process)
        if len(self._started) == 2:

            def start() -> None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

            process.start = start  # type: ignore[method-assign]
        return process


def test_pages_that_cannot_be_started_are_reported_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = new_ladder(tmp_path / "ladder")
    notes: list[str] = []
    started: list[BaseProcess] = []
    full = Full(started)
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: full)
    monkeypatch.setattr(serving, "note", lambda *_, text, **__: notes.append(text))
    with serving.pages_beside(home, Site(), "127.0.0.1:0", None) as url:
        started[0].kill()
        wait_until(lambda: len(started) == 3)
        assert httpx.get(url, timeout=SECONDS).status_code == 200
    assert [text for text in notes if "temporarily unavailable; it is tried again in 2 s" in text]
    assert not started[2].is_alive()


def test_a_port_that_is_taken_is_reported_in_a_line(tmp_path: Path, dogana: Dogana) -> None:
    new_ladder(tmp_path / "ladder")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = dogana("ladder", "web", "--home", "ladder", "--listen", address, status=1)
        assert f"cannot show pages at {address}: Address already in use" in ended.stderr
        ended = dogana("ladder", *SERVE, "--home", "ladder", "--web", address, status=1)
        assert f"cannot show pages at {address}: Address already in use" in ended.stderr


@pytest.mark.parametrize("words", [("web",), SERVE], ids=lambda words: words[0])
def test_too_few_open_files_are_reported_in_a_line_at_the_start(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Else asyncio would write some megabytes of tracebacks a second as soon as many come."""
    home = new_ladder(tmp_path / "ladder")
    ended = subprocess.run(
        [sys.executable, "-m", "ladder", "ladder", *words, "--home", str(home.folder), pages_at(words), "127.0.0.1:0"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ended.returncode == 1
    assert "this process may have 64" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:http", "127.0.0.1:99999", "no.such.host.invalid:80"])
def test_an_address_that_is_none_is_reported_in_a_line(tmp_path: Path, dogana: Dogana, address: str) -> None:
    new_ladder(tmp_path / "ladder")
    ended = dogana("ladder", "web", "--home", "ladder", "--listen", address, status=1)
    assert address in ended.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--public-url", "ladder.example.org"),
        ("--public-url", "https:/ladder.example.org"),
        ("--host-name", "ladder.example.org:8780"),
        ("--host-name", "https://ladder.example.org"),
        ("--cors-origin", "https://charts.example/"),
        ("--cors-origin", "charts.example"),
    ],
)
def test_what_would_match_nothing_is_reported_in_a_line_at_the_start(
    tmp_path: Path, dogana: Dogana, option: str, value: str
) -> None:
    new_ladder(tmp_path / "ladder")
    serve = (*SERVE, "--home", "ladder", "--web", "127.0.0.1:0", option, value)
    assert f"{option} {value}: " in dogana("ladder", *serve, status=1).stderr
    if option != "--public-url":
        ended = dogana("ladder", "web", "--home", "ladder", "--listen", "127.0.0.1:0", option, value, status=1)
        assert ended.stderr.startswith(f"dogana: {option} {value}: ")
        assert len(ended.stderr.splitlines()) == 1


def test_people_play_beside_pages_that_only_show_and_the_ladder_stays_as_it_is(tmp_path: Path, dogana: Dogana) -> None:
    home = new_ladder(tmp_path / "ladder")

    def facts() -> list[str]:
        with sqlite3.connect(home.database) as database:
            return list(database.iterdump())

    before = facts()
    with (
        running(home.folder, "web", "--play") as (_, address),
        httpx.Client(base_url=address, timeout=SECONDS) as client,
    ):
        assert "Play" in client.get("/").text
        table = sit_down(client, "yunnan")
        table.play_out()
        ended = dogana("ladder", "web", "--play", "--home", "ladder", "--listen", "127.0.0.1:0", status=1)
        assert "people play at" in ended.stderr
        assert "one program at a time can let them" in ended.stderr
        assert client.get("/login").status_code == 404
    assert facts() == before
    assert (home.tables / table.path.rpartition("/")[2] / "record.jsonl").exists()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap: apt-get install bubblewrap")
def test_at_a_served_ladder_people_play_against_bots_of_authors_in_its_sandbox(tmp_path: Path) -> None:
    home = new_ladder(tmp_path / "ladder")
    (tmp_path / "bot.py").write_text(ten_lines())
    version, _ = submit(home, tmp_path / "bot.py", "willing", "ann", at_tables=True)
    with Store(home.database, create=False) as store:
        store.admission.qualify(version.id, store.roster.condition("yunnan", {}, "10+1/10"), passed=True, reason="")
    words = ("serve", "--listen", "127.0.0.1:0", "--workers", "1", "--game", "yunnan")
    with running(home.folder, *words) as (_, address), httpx.Client(base_url=address, timeout=SECONDS) as client:
        table = sit_down(client, "yunnan", 2, {"bot1": "willing v1", "seat": "0"})
        table.play_out()
        assert "willing v1" in table.text
        assert "out (" not in table.text


def test_tables_that_cannot_be_kept_are_reported_in_a_line(tmp_path: Path, dogana: Dogana) -> None:
    home = new_ladder(tmp_path / "ladder")
    home.tables.write_text("no folder")
    ended = dogana("ladder", "web", "--play", "--home", "ladder", "--listen", "127.0.0.1:0", status=1)
    assert ended.stderr.startswith(f"dogana: {home.tables}")
    assert len(ended.stderr.splitlines()) == 1


def test_a_folder_without_a_ladder_is_reported_in_a_line(dogana: Dogana) -> None:
    assert "nothing" in dogana("ladder", "web", "--home", "nothing", "--listen", "127.0.0.1:0", status=1).stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl: apt-get install openssl")
def test_with_a_certificate_the_pages_are_encrypted(tmp_path: Path) -> None:
    _, _, file = certificate(tmp_path)
    home: Home = new_ladder(tmp_path / "ladder")
    words = ("--tls-cert", str(file), "--tls-key", str(tmp_path / "key.pem"))
    with running(home.folder, *SERVE, *words) as (_, address):
        assert address.startswith("https://")
        trusted = ssl.create_default_context(cafile=file)
        assert httpx.get(address, verify=trusted, timeout=SECONDS).status_code == 200
