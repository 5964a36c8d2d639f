"""How many matches a day a ladder plays on N machines, and what limits it: `python -m bench.machines [CORES]`.

A small model of measured costs. What a match costs the ladder's own process is measured through a real run, whose matches are played
elsewhere: records and logs come as bytes, are verified and written as a worker does, and counted, rated, scheduled, sealed and packed
by the run itself, on this disk, with every sync. What a match costs a machine that plays is measured by `bench/running.py`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from house_bots.random_bot import RandomBot
from rich.console import Console

from bench.ladder import CLOCK
from bench.report import Report
from bench.running import Way, has_walls, measure, middle
from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.model.condition import agree
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play.pool import Finished, Pool
from ladder.play.running import RunPlan, run
from referee.files import private_folder, write_private
from referee.live.matches.play import House, play_match
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.records.verify import verify
from referee.registry import find, games, shipped_board

NODES = (1, 10, 100, 1_000)
MATCHES = 160
AUTHORS = 8
LOG_BYTES = 200
"""What a bot prints in a match."""
STORED_AIM_BYTES = 30_000
NETWORK_BYTES = 125_000_000.0
"""What comes to the ladder's machine in a second at most: 1 Gbit."""
DAY_SECONDS = 86_400


class Costs(NamedTuple):
    """What a match costs."""

    node: float
    """Processor time of all processes of the machine on which it is played, in seconds."""
    verify: float
    """Processor time to verify its record, in seconds."""
    write: float
    """Time in which the ladder's process writes its files, in seconds."""
    counting: float
    """The same to schedule, rate, count, seal and pack it."""
    sent: float
    """Bytes that come to the ladder's machine."""


class Limit(NamedTuple):
    """Something of which there is only so much."""

    what: str
    rate: float
    """The matches per second that it allows."""


def limits(costs: Costs, nodes: int, cores: int, verifiers: int = 0) -> list[Limit]:
    """Return what limits a ladder, the narrowest first.

    Args:
        costs: those of a match.
        nodes: how many machines play.
        cores: how many processors each has.
        verifiers: how many processes verify records beside the one that counts; 0 if that one verifies them.
    """
    counting = costs.write + costs.counting + (0 if verifiers else costs.verify)
    found = [
        Limit("machines that play", nodes * cores / costs.node),
        Limit("the one process that counts", 1 / counting),
        Limit("the network of the ladder", NETWORK_BYTES / costs.sent),
    ]
    if verifiers:
        found.append(Limit("processes that verify", verifiers / costs.verify))
    return sorted(found, key=lambda limit: limit.rate)


class Stored(NamedTuple):
    """What a run whose matches were played elsewhere has cost the ladder's process, for each match."""

    verify: float
    write: float
    counting: float
    """Seconds: processor time to verify, time for the rest."""
    sent: float
    kept: float
    """Bytes: what came, and what the folder of the ladder takes of the disk."""


def store(matches: int = MATCHES) -> Stored:
    """Run a ladder of all games whose matches are played elsewhere, and measure its own process."""
    with tempfile.TemporaryDirectory(prefix="machines-") as name:
        home = Home(Path(name) / "ladder")
        for number in range(AUTHORS):
            bot = Path(name) / "bot.py"
            bot.write_text(f"print({number})\n")
            submit(home, bot, f"bot{number}", f"author{number}")
        plan = RunPlan([agree(game, {}, None) for game in games().values()], matches, 1, TimeControl.parse(CLOCK))
        elsewhere = _Elsewhere(home, Path(name) / "record.jsonl")
        with (
            patch.object(Pool, "play", elsewhere.play),
            Store(home.database, create=False) as opened,
        ):
            for progress in run(home, opened, plan):
                assert progress.remark.level < logging.ERROR, progress.remark.text
        seconds, done = elsewhere.seconds, elsewhere.matches
        disk = sum(file.lstat().st_blocks * 512 for file in home.folder.rglob("*"))
    return Stored(
        seconds["verify"] / done, seconds["write"] / done, seconds["count"] / done, elsewhere.sent / done, disk / done
    )


class _Elsewhere:
    """Stands in for the workers: plays in this process, and leaves that time out.

    Attributes:
        seconds: what verifying, writing and counting took.
        matches: how many of a block were played.
        sent: bytes of records and logs.
    """

    def __init__(self, home: Home, scratch: Path) -> None:
        self._home = home
        self._scratch = scratch
        self.seconds = dict.fromkeys(("verify", "write", "count"), 0.0)
        self.matches = self.sent = 0

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, Finished]]:
        """Play as `Pool.play` does; what the run does in between is counting."""
        given = time.perf_counter()
        for match in matches:
            assert match is not None
            if match.block is not None:
                self.seconds["count"] += time.perf_counter() - given
                self.matches += 1
            end = self._play(match)
            given = time.perf_counter()
            yield match, end
        self.seconds["count"] += time.perf_counter() - given if self.matches else 0

    def _play(self, match: Match) -> Finished:
        game = find(match.condition.game)
        setup = game.setup(len(match.seats), match.condition.options, shipped_board(game))
        control = TimeControl.parse(match.condition.clock)
        plan = MatchPlan(game, setup, match.match_id, match.seed, match.labels, control, reveals_seed=False)
        self._scratch.unlink(missing_ok=True)
        report = asyncio.run(play_match(plan, [House(RandomBot)] * len(match.seats), record=self._scratch))
        record = self._scratch.read_bytes()
        is_counted = match.block is not None
        with self._timed("verify", time.process_time, is_counted=is_counted):
            verify(self._scratch, find, match.seed)
        with self._timed("write", time.perf_counter, is_counted=is_counted):
            written = self._write(match, record)
        self.sent += written if is_counted else 0
        logs = {f"seat{seat}.log": b"." * LOG_BYTES for seat in range(len(match.seats))}
        return Finished(report.result, report.record_hash, logs=logs)

    @contextmanager
    def _timed(self, what: str, clock: Callable[[], float], *, is_counted: bool) -> Iterator[None]:
        begin = clock()
        yield
        self.seconds[what] += clock() - begin if is_counted else 0

    def _write(self, match: Match, record: bytes) -> int:
        """Write the record of a match as a worker writes it; return how many bytes it were."""
        path = self._home.record(match.match_id)
        private_folder(path.parent)
        write_private(path, record)
        return len(record)


def add_rows(report: Report, node: float | None = None, cores: int | None = None) -> None:
    """Measure, and forecast.

    Args:
        report: gets the rows.
        node: processor time of a match on a machine that plays, in seconds; measured if it is not given.
        cores: how many processors each of these machines has; as many as this one, if it is not given.
    """
    cores = cores or os.cpu_count() or 1
    if node is None:
        node = middle(measure({"one": Way(1, has_walls())}, rounds=1)["one"]).cpu
    stored = store()
    costs = Costs(node, stored.verify, stored.write, stored.counting, stored.sent)
    report.section(f"Machines: a forecast for nodes of {cores} processors, from what was measured here")
    report.figure("a match: on the node that plays it", f"{costs.node * 1e3:.0f} ms of processor time")
    report.figure("a match: sent to the ladder", f"{costs.sent / 1e3:.1f} kB")
    report.figure("a match: its record verified", f"{costs.verify * 1e3:.1f} ms of processor time")
    report.figure("a match: its record written, and synced", f"{costs.write * 1e3:.1f} ms")
    report.figure("a match: archived, scheduled, rated, counted, sealed", f"{costs.counting * 1e3:.1f} ms")
    kept = f"{stored.kept / 1e3:.1f} kB"
    report.ratio("a match: kept", kept, "30 kB", stored.kept / STORED_AIM_BYTES, most=1)
    both = costs.write + costs.counting
    report.figure("the one process that counts: it verifies, too", f"{1 / (both + costs.verify):.0f} results/s")
    report.figure("the same: others verify", f"{1 / both:.0f} results/s")
    report.figure("the same: others also write the files", f"{1 / costs.counting:.0f} results/s")
    for nodes in NODES:
        for who, verifiers in (("it verifies, too", 0), (f"{cores} others verify", cores)):
            first, second, *_ = limits(costs, nodes, cores, verifiers)
            a_day = f"{first.rate * DAY_SECONDS:,.0f} matches a day"
            limit = f"limit: {first.what}; then {second.what}, {second.rate / first.rate:.1f} x"
            report.figure(f"{nodes:,} node{'s' if nodes > 1 else ''}, {who}", f"{a_day}; {limit}")


def main() -> None:
    """Print the rows."""
    report = Report()
    add_rows(report, cores=int(sys.argv[1]) if len(sys.argv) > 1 else None)
    Console(width=None if sys.stdout.isatty() else 140).print(report.table())


if __name__ == "__main__":
    main()
