"""A ladder as organisers run it: submitted Python bots of four authors in separate processes, in sandboxes where possible.

One worker is compared with one worker per processor. Runs take turns, and each begins with a copy of the same ladder, so that all
play the same number of tables of each size. Rates leave out one match per worker at the start, and one at the end, when some
workers have nothing to play. Processor time is that of all processes, including the start of the run.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.matches import BOT, ENVIRONMENT, ROOT, cpu_of_children
from bench.report import Report
from referee.registry import games
from referee.sandbox.box import CannotIsolate
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build
from referee.sandbox.system import processors

ROUNDS = 3
MATCHES = 24
SHARE_OF_WORKERS = 0.95
"""The aim for the rate per worker, relative to one worker. Two workers should play 1.9 times as many matches as one."""
_POLL_SECONDS = 0.02


class Ran(NamedTuple):
    """The measurements of a run, or the medians of several."""

    rate: float
    """The number of matches per second."""
    cpu: float
    """Processor time per match, in seconds."""


class Way(NamedTuple):
    """The settings of a run."""

    workers: int
    confined: bool


class Ladder:
    """A ladder whose bots have qualified."""

    def __init__(self, folder: Path, way: Way) -> None:
        """Submit the bots in a folder, and let them qualify for all games."""
        self._home = folder / "ladder"
        for number in range(4):
            bot = folder / f"bot{number}.py"
            bot.write_text(f"# {number}\n{BOT}")
            self._call("submit", str(bot), "--name", bot.stem, "--author", bot.stem)
        for _ in self._run(way, 1):
            pass
        self._qualified = self._home.rename(folder / "qualified")

    def _call(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "ladder", "ladder", *arguments, "--home", str(self._home)]
        subprocess.run(command, env=ENVIRONMENT, cwd=ROOT, capture_output=True, check=True)

    def _run(self, way: Way, matches: int) -> Iterator[tuple[float, int]]:
        """Run the ladder; yield times with the number of results at each.

        Raises:
            RuntimeError: if it fails, with its output.
        """
        chosen = [word for game in games() for word in ("--game", game)]
        isolation = [] if way.confined else ["--unconfined"]
        command = [sys.executable, "-m", "ladder", "ladder", "run", *chosen, "--home", str(self._home), *isolation]
        command += ["--workers", str(way.workers), "--matches", str(matches), "--search-share", "0"]
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, env=ENVIRONMENT, cwd=ROOT, stdout=said, stderr=said)
            while process.poll() is None:
                yield time.monotonic(), self.counted()
                time.sleep(_POLL_SECONDS)
            if process.returncode:  # the output is read only if the run has failed
                said.seek(0)
                raise RuntimeError(said.read())
        yield time.monotonic(), self.counted()

    def counted(self) -> int:
        """Return the number of counted results."""
        if not (database := self._home / "ladder.db").exists():
            return 0
        with contextlib.closing(sqlite3.connect(database)) as db:
            return int(db.execute("select count(*) from results").fetchone()[0])

    def run(self, way: Way, matches: int) -> Ran:
        """Play at least a number of matches on a copy of the qualified ladder; return the measurements."""
        # Every run begins with the same ladder, so that all play the same number of tables of each size.
        shutil.rmtree(self._home, ignore_errors=True)
        shutil.copytree(self._qualified, self._home)
        before = self.counted()
        cpu = cpu_of_children()
        seen = [(moment, count - before) for moment, count in self._run(way, matches)]
        return Ran(steady_rate(seen, way.workers), (cpu_of_children() - cpu) / seen[-1][1])


def steady_rate(seen: list[tuple[float, int]], workers: int) -> float:
    """Return the matches per second in the steady state, which leaves out one result per worker at either end.

    Args:
        seen: times in seconds, with the number of results at each.
        workers: the number of workers.
    """
    last = seen[-1][1] - workers
    begin, first = next((moment, count) for moment, count in seen if count >= workers)
    # From then on some workers have nothing to play.
    end, after = next((moment, count) for moment, count in seen if count >= last)
    return (after - first) / (end - begin)


def can_confine() -> bool:
    """Return True if this machine can confine agents."""
    try:
        build(ResourceLimits())
    except CannotIsolate:
        return False
    return True


def measure(ways: dict[str, Way], rounds: int = ROUNDS, matches: int = MATCHES) -> dict[str, list[Ran]]:
    """Run a ladder with each of several settings in turn, for a number of rounds; each run plays at least `matches` matches.

    Raises:
        RuntimeError: if a run fails, with its output.
    """
    with tempfile.TemporaryDirectory(prefix="running-") as name:
        ladder = Ladder(Path(name), next(iter(ways.values())))
        ran: dict[str, list[Ran]] = {what: [] for what in ways}
        for _ in range(rounds):
            for what, way in ways.items():
                ran[what].append(ladder.run(way, matches))
    return ran


def middle(ran: list[Ran]) -> Ran:
    """Return the medians of several runs."""
    return Ran(median(one.rate for one in ran), median(one.cpu for one in ran))


def add_rows(report: Report) -> None:
    """Compare the rates of a ladder with one worker and with one worker per processor."""
    cores, confined = processors(), can_confine()
    report.section(f"A ladder as it is run, all games, {'confined' if confined else 'unconfined'} Python bots")
    ran = measure({"many": Way(cores, confined), "one": Way(1, confined)}, report.rounds(ROUNDS))
    many, one = (middle(runs) for runs in ran.values())
    report.ratio(
        f"ladder run, {cores} workers",
        f"{many.rate:.2f} matches/s",
        f"1 worker {one.rate:.2f}",
        median(a.rate / b.rate for a, b in zip(ran["many"], ran["one"], strict=True)),
        SHARE_OF_WORKERS * cores,
    )
    report.figure("ladder run, 1 worker, processor time a match", f"{one.cpu * 1e3:.0f} ms")
