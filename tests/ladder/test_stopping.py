"""`dogana ladder serve` ends within seconds of a signal, at whatever moment of its life that comes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ladder.intake.submission import submit
from ladder.operation.home import Home
from tests.cases import mostly_long
from tests.commands.conftest import ROOT
from tests.ladder.soak import BOT
from tests.patience import patient

SECONDS = 5.0
"""How long it may take on a machine that has nothing else to do."""
AT_ITS_PAGES = """
import functools, multiprocessing.context as context, os, signal
from ladder.operation import stopping
stopping.heeding_signals = functools.partial(stopping.heeding_signals, 3600.0)  # nothing but its own order ends it
start = context.SpawnProcess.start
def starting(process):
    start(process)
    if process.name == "pages":
        os.kill(os.getpid(), signal.Signals[os.environ["SENT"]])
context.SpawnProcess.start = starting
if __name__ == "__main__":
    from ladder.__main__ import main
    main()
"""
SWALLOWED = """
import os, signal, sys, threading, time
from ladder.operation import stopping
class Swallows:
    def __del__(self):  # where Python tells of exceptions, and goes on
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
if __name__ == "__main__":
    with stopping.heeding_signals(0.1):
        Swallows()
        print("it goes on", flush=True)
        threading.Event().wait()
"""

IN_AN_IMPORT = """
import os, signal
from ladder.commands import lazy
class Drops:
    def __del__(self):  # as in the callbacks of imports: Python prints an exception, and goes on
        os.kill(os.getpid(), signal.Signals[os.environ["SENT"]])
        print("it goes on", flush=True)
import_module = lazy.import_module
def importing(name):
    Drops()
    return import_module(name)
lazy.import_module = importing
from ladder.__main__ import main
main()
"""


def seconds_of_a_start() -> float:
    """How long this machine takes now for what takes 0.2 s on one that has nothing else to do."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import ladder.facts.store"], env=environment(), check=True)
    return time.monotonic() - began


def scale() -> float:
    """How many times slower this machine is now than one that has nothing else to do."""
    return max(1.0, seconds_of_a_start() / 0.4)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def words(home: Home) -> list[str]:
    return [
        *("ladder", "serve", "--home", str(home.folder), "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"),
        *("--game", "cargo_noir", "--workers", "2", "--unconfined", "--clock", "60+0.5/10"),
    ]


def start(home: Home) -> subprocess.Popen[bytes]:
    errors = home.folder.with_name("journal").open("wb")
    with errors:
        return subprocess.Popen(
            [sys.executable, "-m", "ladder", *words(home)], env=environment(), stderr=errors, start_new_session=True
        )


def of_the_session(session: int) -> set[int]:
    """The processes of a session that have not ended."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def check_that_it_ends(process: subprocess.Popen[bytes], moment: str) -> None:
    """Check that a process that was signalled ends in time, and that nothing of its session is left then."""
    began = time.monotonic()
    limit = SECONDS * scale()
    try:
        process.wait(max(0.1, began + limit - time.monotonic()))
    except subprocess.TimeoutExpired:
        limit = SECONDS * scale()  # others may have begun meanwhile
        try:
            process.wait(max(0.1, began + limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            pytest.fail(f"it goes on {time.monotonic() - began:.1f} s after a signal, {moment}")
    while left := of_the_session(process.pid):
        assert time.monotonic() < began + 3 * limit, f"{left} are left after a signal, {moment}"
        time.sleep(0.05)


def end_at_random_moments(tmp_path: Path, seed: int, times: int) -> None:
    chance = random.Random(seed)
    home = Home(tmp_path / "home")
    (tmp_path / "bot.py").write_text(BOT)
    submit(home, tmp_path / "bot.py", "mybot", "ann")
    for number in range(times):
        sent = chance.choice([signal.SIGINT, signal.SIGTERM])
        share, again = chance.random(), chance.random() < 0.3
        process = start(home)
        try:
            time.sleep(share * 8 * seconds_of_a_start())
            moment = f"number {number} ({sent.name}{' twice' if again else ''} at {share:.3f})"
            process.send_signal(sent)
            if again:
                time.sleep(share)
                process.send_signal(sent)
            check_that_it_ends(process, moment)
            journal = home.folder.with_name("journal").read_text()
            assert "event=failed" not in journal
            assert " failed " not in journal, f"{moment}: {journal}"
        finally:
            for pid in of_the_session(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()


@pytest.mark.long
def test_a_signal_at_any_moment_ends_it(tmp_path: Path) -> None:
    end_at_random_moments(tmp_path, 21, 4)


@pytest.mark.ladders
def test_signals_at_fifty_moments_end_it(tmp_path: Path) -> None:
    end_at_random_moments(tmp_path, 50, 50)


@pytest.mark.parametrize("sent", mostly_long(["SIGINT", "SIGTERM"]))
def test_a_signal_while_its_pages_start_ends_it(tmp_path: Path, sent: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(AT_ITS_PAGES)
    process = subprocess.Popen(
        [sys.executable, str(program), *words(Home(tmp_path / "home"))],
        env={**environment(), "SENT": sent},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(30 * scale())
        assert process.returncode == 128 + signal.Signals[sent]
    finally:
        for pid in of_the_session(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()


def test_a_signal_that_somebody_swallows_ends_it_nevertheless() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SWALLOWED], env=environment(), capture_output=True, text=True, timeout=patient(300)
    )
    assert ended.stdout == "it goes on\n"
    assert ended.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize("sent", mostly_long(["SIGTERM", "SIGINT", "SIGHUP"]))
def test_a_signal_before_a_command_begins_kills_it(sent: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IN_AN_IMPORT, "games"],
        env={**environment(), "SENT": sent},
        capture_output=True,
        text=True,
        timeout=patient(300),
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.Signals[sent], "", "")
