"""The cost of a match for the counting process and the disk, in a real run that does not play its matches itself.

The matches are played in this process, and the time for playing is left out. The run itself schedules, archives, rates, counts
and seals them, on this disk, with every sync.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from house_bots.random_bot import RandomBot

from bench.ladder import CLOCK
from bench.report import Report
from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.model.condition import agree
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play.pool import Finished, Pool
from ladder.play.running import RunPlan, only_run, run_locked
from referee.files import private_folder
from referee.live.matches.play import House, play_match
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.registry import find, games, shipped_board

MATCHES, QUICK_MATCHES = 160, 8
AUTHORS = 8
LOG_BYTES = 200
"""The size of a bot's output in a match."""
STORED_AIM_BYTES = 30_000


class Stored(NamedTuple):
    """The mean cost of a match in a run."""

    counting: float
    """The time of the counting process, in seconds."""
    sent: float
    """The size of the records and logs, in bytes."""
    stored: float
    """The bytes that the ladder's folder takes up on the disk."""


def store(matches: int = MATCHES) -> Stored:
    """Run a ladder of all games whose matches are played elsewhere, and measure its own process."""
    with tempfile.TemporaryDirectory(prefix="storing-") as name:
        home = Home(Path(name) / "ladder")
        for number in range(AUTHORS):
            bot = Path(name) / "bot.py"
            bot.write_text(f"print({number})\n")
            submit(home, bot, f"bot{number}", f"author{number}")
        plan = RunPlan([agree(game, {}, None) for game in games().values()], matches, 1, TimeControl.parse(CLOCK))
        elsewhere = _Elsewhere(home)
        with (
            patch.object(Pool, "play", elsewhere.play),
            Store(home.database, create=False) as opened,
            only_run(home, opened),
        ):
            for progress in run_locked(home, opened, plan):
                assert progress.remark.level < logging.ERROR, progress.remark.text
        # This is the space on the disk, not the lengths of the files; `st_blocks` counts 512 bytes each on every file system.
        disk = sum(file.lstat().st_blocks * 512 for file in home.folder.rglob("*"))
    counted = elsewhere.matches
    return Stored(elsewhere.counting / counted, elsewhere.sent / counted, disk / counted)


class _Elsewhere:
    """A pool that replaces the workers.

    Attributes:
        matches: the number of played matches that belong to blocks.
        counting: the seconds that the run took between these matches.
        sent: the bytes of the records and logs of these matches.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.matches = self.sent = 0
        self.counting = 0.0

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, Finished]]:
        """Play as `Pool.play` does, and measure the time that the run takes in between."""
        given = time.perf_counter()
        for match in matches:
            assert match is not None
            took = time.perf_counter() - given
            end, written = self._play(match)
            if match.block is not None:  # otherwise the match is to qualify a version
                self.counting += took
                self.matches += 1
                self.sent += written
            given = time.perf_counter()
            yield match, end
        self.counting += time.perf_counter() - given

    def _play(self, match: Match) -> tuple[Finished, int]:
        """Play a match and write its record, as a worker does; also return the number of bytes in its record and logs."""
        game = find(match.condition.game)
        setup = game.setup(len(match.seats), match.condition.options, shipped_board(game))
        control = TimeControl.parse(match.condition.clock)
        plan = MatchPlan(game, setup, match.match_id, match.seed, match.labels, control, reveals_seed=False)
        record = self._home.record(match.match_id)
        private_folder(record.parent)
        report = asyncio.run(play_match(plan, [House(RandomBot)] * len(match.seats), record=record))
        logs = {f"seat{seat}.log": b"." * LOG_BYTES for seat in range(len(match.seats))}
        end = Finished(report.result, report.record_hash, logs=logs)
        return end, record.stat().st_size + sum(map(len, logs.values()))


def add_rows(report: Report) -> None:
    """Measure the cost of a match for the ladder."""
    report.section("A match that was played, all games")
    stored = store(QUICK_MATCHES if report.quick else MATCHES)
    report.figure("a match: sent to the ladder", f"{stored.sent / 1e3:.1f} kB")
    report.figure("a match: archived, scheduled, rated, counted, sealed", f"{stored.counting * 1e3:.1f} ms")
    size = f"{stored.stored / 1e3:.1f} kB"
    report.ratio("a match: stored", size, "30 kB", stored.stored / STORED_AIM_BYTES, most=1)
