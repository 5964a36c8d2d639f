"""A pool of worker processes that play matches. A worker that dies loses nothing: its match is played again.

Each worker plays one match at a time on a referee of its own. It ends when the ladder's process does (its pipe closes, and Linux
kills it with its parent), and takes its agents with it.
"""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from ladder.home import Home
from ladder.intake import environment
from ladder.match import HOUSE_PREFIX, Match, Version
from referee.live.driver import MatchVoid
from referee.live.orphans import adopt_orphans
from referee.live.play import Command, House, Player, play_match
from referee.live.server import RefereeServer
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.match.result import Result
from referee.records.record import RecordError
from referee.records.verify import verify
from referee.registry import find, house_bots, shipped_board

MAX_DEATHS = 3
"""A match whose worker has died so often is given up: it kills them."""
_STOP_SECONDS = 2.0
"""How long an idle worker may take to end; its server needs half a second."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A match that was played; its record verifies."""

    result: Result
    record_hash: str


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A match that the referee could not play to its end; it has no result."""

    reason: str
    worker_died: bool = False
    """Whether it killed its worker, again and again."""


JobEnd = Finished | Spoilt


class Pool:
    """Worker processes; use it as a context manager."""

    def __init__(self, home: Home, workers: int) -> None:
        self._home = home
        self._context = multiprocessing.get_context("spawn")
        self._workers = [self._start() for _ in range(workers)]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._home), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def play(self, matches: Iterable[Match]) -> Iterator[tuple[Match, JobEnd]]:
        """Plays matches, and gives each with its end as soon as it has one. One is taken when a worker is free."""
        source = iter(matches)
        again: deque[Match] = deque()
        deaths: dict[str, int] = {}
        while True:
            for worker in self._workers:
                if worker.match is None:
                    match = again.popleft() if again else next(source, None)
                    if match is not None:
                        worker.give(match)
            busy = [worker for worker in self._workers if worker.match is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy] + [worker.process.sentinel for worker in busy])
            for worker in busy:
                if worker.pipe not in ready and worker.process.sentinel not in ready:
                    continue
                match = worker.match
                assert match is not None  # noqa: S101 it is busy
                end = worker.take()
                if end is None:  # the worker has died
                    worker.stop()
                    self._workers[self._workers.index(worker)] = self._start()
                    deaths[match.match_id] = deaths.get(match.match_id, 0) + 1
                    if deaths[match.match_id] < MAX_DEATHS:
                        again.append(match)
                        continue
                    end = Spoilt(f"the worker has died {MAX_DEATHS} times over it", worker_died=True)
                yield match, end


class _Worker:
    """One process, and the match that it plays."""

    def __init__(self, process: SpawnProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.match: Match | None = None

    def give(self, match: Match) -> None:
        """Lets it play a match. If it is dead already, `take` will tell."""
        self.match = match
        try:
            self.pipe.send(match)
        except OSError:
            self.process.join(1)

    def take(self) -> JobEnd | None:
        """The end of its match; None if it has died before it had one."""
        self.match = None
        try:
            if not self.pipe.poll():
                return None
            end: JobEnd = self.pipe.recv()
            return end
        except (EOFError, OSError):
            return None

    def stop(self) -> None:
        """Ends the process, and with it its agents."""
        self.pipe.close()
        self.process.join(_STOP_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


# --- in the worker ----------------------------------------------------------------------------------


def _work(pipe: Connection, home: Home) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the ladder, which then closes the pipe
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    adopt_orphans()
    asyncio.run(_play_matches(pipe, home))


async def _play_matches(pipe: Connection, home: Home) -> None:
    async with RefereeServer() as server:
        while True:
            try:
                match: Match = pipe.recv()
            except (EOFError, OSError):
                return
            try:
                end = await _play(match, home, server)
            except Exception as error:  # whatever it is: the ladder must hear of it, and this worker goes on
                end = Spoilt(f"{type(error).__name__}: {error}")
            try:
                pipe.send(end)
            except OSError:
                return


async def _play(match: Match, home: Home, server: RefereeServer) -> JobEnd:
    game = find(match.game)
    plan = MatchPlan(
        game=game,
        setup=game.setup(len(match.seats), match.options, shipped_board(game)),
        match_id=match.match_id,
        seed=match.seed,
        bots=match.labels,
        control=TimeControl.parse(match.clock),
    )
    gone = [version.label for version in match.seats if not _is_there(version, home.versions)]
    if gone:
        return Spoilt(
            f"the files of {', '.join(gone)} are gone from {home.versions}; submit the same again to restore them"
        )
    players = [_player(version, home.versions) for version in match.seats]
    record, logs = home.record(match.match_id), home.logs(match.match_id)
    try:
        report = await play_match(plan, players, server=server, record=record)
        verify(record, find)
    except MatchVoid as error:
        return Spoilt(str(error))
    except RecordError as error:
        return Spoilt(f"the record does not verify: {error}")
    for seat, text in report.logs.items():
        logs.mkdir(parents=True, exist_ok=True)
        (logs / f"seat{seat}.log").write_text(text)
    return Finished(report.result, report.record_hash)


def _is_there(version: Version, versions: Path) -> bool:
    return version.content_hash.startswith(HOUSE_PREFIX) or (versions / version.content_hash).is_dir()


def _player(version: Version, versions: Path) -> Player:
    if version.content_hash.startswith(HOUSE_PREFIX):
        return House(house_bots()[version.bot])
    return Command(version.run, environment(), versions / version.content_hash)
