"""On a full disk a ladder takes in nothing and plays nothing, says so, and goes on when there is room. Nothing is lost or doubled."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from ladder.archive.recompute import compare
from ladder.facts.store import Store
from ladder.http.requests.refused import refusal
from ladder.intake.authors import Authors
from ladder.intake.submission import submit
from ladder.model.match import Match
from ladder.operation.errors import LadderError, NoRoom
from ladder.operation.home import Home
from ladder.operation.room import NO_ROOM_TEXT, RESERVE_BYTES, check_room, is_for_want_of_room, lack_of_room
from ladder.play.pool import Pool, Void
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from tests.commands.conftest import ROOT
from tests.ladder.small_disk import SmallDisk, small_disk
from tests.ladder.soak import BOT
from tests.ladder.test_serving import served
from tests.patience import patient, wait_until

SECONDS = patient(300)
SIZE = 2 * RESERVE_BYTES


def test_there_is_room_as_long_as_the_reserve_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lack_of_room(tmp_path, 1) == ""
    assert re.search(
        r"the disk of .* has [0-9,]+ bytes left, and .* must be free; make room", lack_of_room(tmp_path, 2**62)
    )
    with pytest.raises(NoRoom, match="make room"):
        check_room(tmp_path, 2**62)
    found = list(os.statvfs(tmp_path))
    found[5:8] = [1_000_000, 10, 10]  # files: of the file system, free, free for others than root
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(found))
    assert "can have 10 more files" in lack_of_room(tmp_path)
    found[5] = 0
    assert lack_of_room(tmp_path) == "", "some file systems have no number of files"


def test_an_error_that_follows_from_a_full_disk_is_known_as_such() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    outer = LadderError("something")
    outer.__cause__ = full
    assert is_for_want_of_room(full)
    assert is_for_want_of_room(outer)
    assert is_for_want_of_room(NoRoom("x"))
    assert not is_for_want_of_room(OSError(errno.EACCES, "Permission denied"))
    assert not is_for_want_of_room(None)
    for error in (full, NoRoom("/srv/ladder: full")):
        assert (refusal(error).status, refusal(error).message) == (503, NO_ROOM_TEXT)


def test_a_submission_needs_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    found = list(os.statvfs(tmp_path))
    found[4] = RESERVE_BYTES // found[1] - 1  # free blocks, for others than root
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(found))
    with pytest.raises(NoRoom, match="bytes left"):
        submit(Home(tmp_path / "home"), tmp_path / "bot.py", "mybot", "ann")
    assert not (tmp_path / "home").exists()


# a real disk


def new_ladder(disk: SmallDisk) -> tuple[Home, str]:
    """A ladder with a bot, and the token of an author."""
    home = Home(disk.place / "home")
    bot = disk.place.with_name("bot.py")
    bot.write_text(BOT)
    submit(home, bot, "mybot", "ann")
    with Authors(home.database, create=False) as authors:
        return home, authors.add("ann")


def serving(disk: SmallDisk) -> AbstractContextManager[tuple[subprocess.Popen[bytes], str]]:
    """A served ladder on a disk, whose journal is elsewhere."""
    return served(disk.place / "home", "--workers", "2", journal=disk.place.with_name("said"))


def count_of(home: Home, table: str) -> int:
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True, timeout=patient(60))) as file:
        return int(file.execute(f"select count(*) from {table}").fetchone()[0])  # noqa: S608


def check_nothing_is_lost(home: Home) -> None:
    """Check that each match counts once or is still to be played, and no attempt at one was spoilt."""
    assert count_of(home, "voids") == 0
    assert count_of(home, "matches") == count_of(home, "results") + count_of(home, "open_matches")
    with Store(home.database, create=False) as store:
        assert compare(home, store).differences.reported == []
    assert not list(home.versions.glob(".*")), "of what was not taken in, nothing is left"


@pytest.mark.ladders
def test_a_served_ladder_waits_until_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path, SIZE) as disk:
        home, token = new_ladder(disk)
        journal = disk.place.with_name("said")
        with serving(disk) as (process, url), RemoteLadder(url, Login("ann", token)) as desk:
            wait_until(lambda: count_of(home, "results") >= 2)
            assert "its disk is full" not in httpx.get(url, timeout=SECONDS).text
            disk.fill(RESERVE_BYTES // 2)
            wait_until(lambda: " no_room text=" in journal.read_text())
            wait_until(lambda: is_idle(journal.read_text()))
            before, begun = count_of(home, "results"), journal.read_text().count(" match_begun ")
            other = tmp_path / "other.py"
            other.write_text(BOT + "# another one\n")
            with pytest.raises(LadderError, match=NO_ROOM_TEXT):
                desk.submit(other, "other", "")
            wait_until(lambda: "its disk is full" in httpx.get(url, timeout=SECONDS).text)
            time.sleep(3)
            assert journal.read_text().count(" match_begun ") == begun, "nothing is played"
            assert process.poll() is None
            disk.empty()
            wait_until(lambda: " room text=" in journal.read_text())
            assert desk.submit(other, "other", "").is_new
            wait_until(lambda: count_of(home, "results") > before + 2)
            wait_until(lambda: "its disk is full" not in httpx.get(url, timeout=SECONDS).text)
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)
        assert journal.read_text().count(" no_room ") == 1, "it is told once"
        check_nothing_is_lost(home)


def is_idle(journal: str) -> bool:
    """Tell whether all matches that have begun are over; the one in which a bot qualifies ends with that."""
    return journal.count(" match_begun ") == journal.count(" match_ended ") + journal.count(" qualified ")


@pytest.mark.ladders
def test_a_disk_that_is_filled_at_any_moment_ends_no_server(tmp_path: Path) -> None:
    chance = random.Random(12)
    with small_disk(tmp_path, SIZE) as disk:
        home, _ = new_ladder(disk)
        with Authors(home.database, create=False) as authors:  # one alone would send more than an author may in a day
            logins = [Login(name, authors.add(name)) for name in ("ben", "cleo", "dora")]
        with serving(disk) as (process, url):
            is_over = threading.Event()
            others = [
                threading.Thread(target=again_and_again, args=(is_over, work))
                for work in (
                    lambda number: send(url, logins[number % len(logins)], tmp_path, number),
                    lambda _: dogana(disk, "prune", "--logs-older-than", "1d"),
                    lambda number: dogana(disk, "backup", str(disk.place / f"backup{number}")),
                )
            ]
            for one in others:
                one.start()
            try:
                for _ in range(12):
                    time.sleep(chance.random() * 3)
                    disk.fill()
                    time.sleep(chance.random() * 3)
                    disk.empty()
                    assert process.poll() is None, disk.place.with_name("said").read_text()
            finally:
                is_over.set()
                for one in others:
                    one.join()
            before = count_of(home, "results")
            wait_until(lambda: count_of(home, "results") > before + 2)
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)
        assert set(told_to_authors) <= {NO_ROOM_TEXT}, "one clear line, whatever was full"
        check_nothing_is_lost(home)


def again_and_again(is_over: threading.Event, work: Callable[[int], None]) -> None:
    number = 0
    while not is_over.wait(0.5):
        number += 1
        work(number)


told_to_authors: list[str] = []


def send(url: str, login: Login, folder: Path, number: int) -> None:
    bot = folder / "bot.py"
    bot.write_text(f"{BOT}# {number}\n")
    try:
        with RemoteLadder(url, login) as desk:
            desk.submit(bot, f"{login.author}{number % 3}", "")
    except LadderError as error:
        told_to_authors.append(str(error))


def dogana(disk: SmallDisk, *words: str, status: Sequence[int] = (0, 1)) -> str:
    """Let a command of ladders work on the disk; return what it says, a line if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "ladder", "ladder", *words, "--home", str(disk.place / "home")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode in status, done.stderr
    if done.returncode:
        assert len(done.stderr.splitlines()) >= 1
        assert done.stderr.splitlines()[-1].startswith("dogana: ")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.ladders
def test_a_run_on_a_disk_that_becomes_full_ends_in_a_line_and_the_next_one_takes_it_up(tmp_path: Path) -> None:
    run = ("run", "--game", "cargo_noir", "--matches", "12", "--workers", "2", "--unconfined", "--clock", "60+0.5/10")
    with small_disk(tmp_path, SIZE) as disk:
        home, _ = new_ladder(disk)
        disk.fill(RESERVE_BYTES // 2)
        assert "must be free; make room" in dogana(disk, *run, status=[1])
        disk.empty()

        def fill_soon() -> None:
            wait_until(lambda: count_of(home, "results") >= 2)
            disk.fill()

        filling = threading.Thread(target=fill_soon)
        filling.start()
        said = dogana(disk, *run, status=[1])
        assert re.search("make room|No space left|disk is full", said.splitlines()[-1])
        filling.join()
        disk.empty()
        check_nothing_is_lost(home)
        dogana(disk, *run, status=[0])
        check_nothing_is_lost(home)
        assert count_of(home, "open_matches") == 0


def test_a_match_that_is_void_because_a_disk_is_full_ends_the_run_and_is_no_attempt(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    pool = Pool(home, 1)
    pipe, theirs = multiprocessing.Pipe()
    theirs.close()  # so it has news at once
    alive, its_end = multiprocessing.Pipe()

    class Worker:
        match: Match | None = cast("Match", object())
        process = SimpleNamespace(sentinel=alive)

        def __init__(self) -> None:
            self.pipe = pipe

        def message(self) -> Void:
            return Void("No space left on device", no_room=True)

    worker = Worker()
    pool.workers.append(worker)  # type: ignore[arg-type]
    with pipe, alive, its_end, pytest.raises(NoRoom, match="No space left"):
        next(pool.play([]))
    assert worker.match is None
