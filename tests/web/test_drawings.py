"""The pages of matches: drawn once, one at a time, in a process of their own, and kept as long as there is room."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ladder.http.pictures.drawing import prune
from ladder.http.pictures.drawings import LIMITS, Drawing, DrawingLimits, Drawings, name_of, pages_folder, start_drawing
from ladder.operation.errors import TooMuch
from ladder.operation.home import Home
from referee.pages.match import make_page
from referee.registry import find
from tests.patience import wait_until
from tests.tables import Table, plan_of

REMOVING = """
import shutil, sys
from ladder.http.pictures import drawing

def remove_and_draw(*args, **kwargs):
    drawing.make_page = really
    shutil.rmtree(sys.argv[1])
    return really(*args, **kwargs)

really, drawing.make_page = drawing.make_page, remove_and_draw
drawing.main()
"""
"""Draws a page in a folder that somebody removes meanwhile."""

REMOVING_FILES = """
import sys
from pathlib import Path
from ladder.http.pictures import drawing

def write_and_remove(path, data):
    really(path, data)
    for file in Path(sys.argv[1]).iterdir():
        file.unlink()

really, drawing.write_private = drawing.write_private, write_and_remove
drawing.main()
"""
"""Draws a page that somebody removes at once, with all else in the folder, as the first half of removing the folder."""


def record_of(path: Path, seed: int = 1) -> bytes:
    """The record of a short match."""
    plan = plan_of(options={"last_turn": 2}, seed=seed)
    table = Table(plan)
    while table.match.result is None:
        table.answer(min(table.open), 0)
    return table.record(path).read_bytes()


@pytest.fixture
def record(tmp_path: Path) -> bytes:
    return record_of(tmp_path / "match.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = Home(tmp_path / "home")
    home.make()
    return pages_folder(home)


@pytest.fixture
def drawings(folder: Path) -> Iterator[Drawings]:
    with Drawings(folder) as drawn:
        yield drawn


def drawn(drawings: Drawings, record: bytes) -> Drawing:
    """How a drawing ends."""
    return wait_until(lambda: now if (now := drawings.ask(record)).page or now.problem else None)


class Stopped:
    """Drawings that do not go on while a folder is locked.

    Attributes:
        started: the processes that are to draw.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self.started: list[int] = []

    def drawings(self, limits: DrawingLimits = LIMITS, clock: Callable[[], float] = time.monotonic) -> Drawings:
        """Return drawings with some limits."""
        return self._stack.enter_context(Drawings(self._folder, 0, limits, start=self._start, clock=clock))

    def _start(self, folder: Path, name: str, niceness: int) -> subprocess.Popen[bytes]:
        process = start_drawing(folder, name, niceness)
        self.started.append(process.pid)
        return process


@pytest.fixture
def stopped(folder: Path) -> Iterator[Stopped]:
    """No drawing goes on until this is left."""
    lock = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with ExitStack() as stack:
        yield Stopped(folder, stack)
    os.close(lock)


def test_a_page_is_the_one_that_the_command_writes(drawings: Drawings, record: bytes, tmp_path: Path) -> None:
    page = drawn(drawings, record).page
    assert page is not None
    made = make_page(tmp_path / "match.jsonl", find, lambda done, of: None)
    assert page.read_text() == made.html
    assert page.stat().st_mode & 0o077 == 0
    left = {path.name for path in page.parent.iterdir()} - {page.with_suffix(".png").name}
    assert left == {page.name, "lock"}


def test_equal_requests_share_a_drawing_and_others_wait_in_their_order(stopped: Stopped, tmp_path: Path) -> None:
    drawings = stopped.drawings()
    records = [record_of(tmp_path / f"{seed}.jsonl", seed) for seed in range(3)]
    threads = [threading.Thread(target=drawings.ask, args=(records[0],)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [drawings.ask(record).ahead for record in records] == [0, 1, 2]
    assert [drawings.ask(record).ahead for record in records] == [0, 1, 2]
    wait_until(lambda: stopped.started)
    assert len(stopped.started) == 1, "one draws at a time"


def test_a_drawing_is_no_less_urgent_than_a_match(stopped: Stopped, record: bytes) -> None:
    stopped.drawings().ask(record)
    [pid] = wait_until(lambda: stopped.started)
    wait_until(lambda: b"ladder.http.pictures.drawing" in Path(f"/proc/{pid}/cmdline").read_bytes())
    wait_until(lambda: waits_for_the_lock(pid))
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0)


def waits_for_the_lock(pid: int) -> bool:
    """Whether a process has come to where it can draw."""
    return any(int(line.split()[5]) == pid for line in Path("/proc/locks").read_text().splitlines() if " -> " in line)


def test_what_nobody_waits_for_any_more_is_drawn_last(stopped: Stopped) -> None:
    now = 1000.0
    drawings = stopped.drawings(clock=lambda: now)
    for record in (b"drawn", b"left", b"asked"):
        drawings.ask(record)
    wait_until(lambda: stopped.started)
    for _ in range(5):
        now += LIMITS.left_seconds / 3
        drawings.ask(b"asked")
    assert drawings.ask(b"asked").ahead == 1, "what is being drawn is drawn to its end"
    assert drawings.ask(b"newest").ahead == 2, "who has just come is before who has left"
    assert drawings.ask(b"left").ahead == 1, "who comes back has his old place"
    assert drawings.ask(b"drawn").ahead == 0


def test_who_asks_while_too_many_wait_is_told_to_come_back(stopped: Stopped, record: bytes) -> None:
    drawings = stopped.drawings(DrawingLimits(waiting=2))
    drawings.ask(record)
    drawings.ask(b"another")
    with pytest.raises(TooMuch, match="too many matches are to be drawn at the moment; come back in a minute"):
        drawings.ask(b"a third")
    assert drawings.ask(b"another").ahead == 1, "those who wait go on waiting"


def test_nobody_fills_the_queue_alone(stopped: Stopped) -> None:
    drawings = stopped.drawings(DrawingLimits(waiting_of_one=1))
    drawings.ask(b"one", "a stranger")
    with pytest.raises(TooMuch):
        drawings.ask(b"two", "a stranger")
    assert drawings.ask(b"two", "somebody else").ahead == 1


def test_of_a_drawing_that_is_killed_nothing_is_served_and_it_can_be_tried_again(
    stopped: Stopped, record: bytes, folder: Path
) -> None:
    now = 1000.0
    drawings = stopped.drawings(clock=lambda: now)
    drawings.ask(record)
    [pid] = wait_until(lambda: stopped.started)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: drawings.ask(record).problem)
    assert drawings.ask(record) == Drawing(problem="the process that drew it was ended; try again in a minute")
    assert not list(folder.glob("*.html"))
    assert len(stopped.started) == 1, "nothing is done about it at once"
    now += LIMITS.retry_seconds + 1
    assert drawings.ask(record) == Drawing()


def test_what_a_process_says_besides_ends_no_drawing(folder: Path, record: bytes) -> None:
    talks = "import sys; sys.stdin.buffer.read(); print('a warning'); print('1 x'); print(); print('1 2')"
    programs = [[sys.executable, "-c", talks]]

    def start(*where: Any) -> subprocess.Popen[bytes]:
        if programs:
            return subprocess.Popen(programs.pop(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return start_drawing(*where)

    with Drawings(folder, start=start) as drawings:
        assert drawn(drawings, record).page is not None
    assert not programs


def test_what_a_process_has_left_that_was_killed_is_in_nobodys_way(
    drawings: Drawings, record: bytes, folder: Path
) -> None:
    (folder / "drawn.record").write_bytes(b"half a rec")
    (folder / f"{name_of(record)}.html.0123abcd.part").write_bytes(b"<html>")
    page = drawn(drawings, record).page
    assert page is not None
    assert page.read_bytes().endswith(b"</html>\n")
    assert not list(folder.glob("*.part"))


def test_two_processes_may_have_one_folder(drawings: Drawings, record: bytes, folder: Path) -> None:
    with Drawings(folder) as others:
        for both in (drawings, others):
            both.ask(record)
        assert drawn(drawings, record) == drawn(others, record)


def test_what_is_no_record_has_no_page_and_the_reason_names_no_file(
    drawings: Drawings, record: bytes, folder: Path
) -> None:
    problem = drawn(drawings, b"{}\n").problem
    assert problem
    assert str(folder) not in problem
    assert drawn(drawings, record).page, "the next one is drawn"


def test_a_folder_that_cannot_be_written_is_reported(drawings: Drawings, record: bytes, folder: Path) -> None:
    (folder / "lock").mkdir()
    assert drawn(drawings, record).problem == "the page cannot be kept: Is a directory"


@pytest.mark.long
def test_the_folder_can_be_removed_at_any_time(drawings: Drawings, record: bytes, folder: Path) -> None:
    assert drawn(drawings, record).page
    shutil.rmtree(folder)
    assert drawn(drawings, record).page


def test_the_folder_can_be_removed_while_a_page_is_drawn(record: bytes, folder: Path) -> None:
    program = [sys.executable, "-c", REMOVING, str(folder), "name"]
    ended = subprocess.run(program, input=record, stdout=subprocess.PIPE, check=True)
    assert b"!" not in ended.stdout
    assert (folder / "name.html").exists()


def test_the_files_can_be_removed_as_soon_as_a_page_is_there(record: bytes, folder: Path) -> None:
    program = [sys.executable, "-c", REMOVING_FILES, str(folder), "name"]
    ended = subprocess.run(program, input=record, stdout=subprocess.PIPE, check=True)
    assert b"!" not in ended.stdout
    assert list(folder.iterdir()) == []


def test_the_pages_that_were_not_looked_at_for_longest_make_room(folder: Path) -> None:
    for age, name in enumerate(("new", "old", "oldest")):
        page = folder / f"{name}.html"
        page.write_bytes(bytes(100))
        os.utime(page, (1000 - age, 1000 - age))
    prune(folder, 250)
    assert sorted(page.name for page in folder.iterdir()) == ["new.html", "old.html"]
    prune(folder, 0)
    assert not list(folder.iterdir())


def test_a_page_that_is_looked_at_stays(drawings: Drawings, record: bytes, folder: Path) -> None:
    page = drawn(drawings, record).page
    assert page is not None
    os.utime(page, (0, 0))
    (folder / "other.html").write_bytes(bytes(100))
    os.utime(folder / "other.html", (1000, 1000))
    assert drawings.find(record) == page
    prune(folder, page.stat().st_size)
    assert page.exists()


def test_where_the_ladders_folder_cannot_be_written_pages_are_kept_for_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert pages_folder(Home(tmp_path / "nowhere" / "home")) == tmp_path / "cache" / "dogana" / "pages"
