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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from ladder.intake import environment
from ladder.store import Version
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
HOUSE_PREFIX = "house:"
"""Marks the content hash of a house bot, which is no folder but plays in the worker's process."""


@dataclass(frozen=True, slots=True)
class Job:
    """A match to be played."""

    match: str
    game: str
    seats: Sequence[Version]
    seed: int
    options: Mapping[str, Any]
    clock: str
    record: Path
    logs: Path
    versions: Path
    """The folder with the files of all versions."""


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

    def __init__(self, workers: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._workers = [self._start() for _ in range(workers)]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def play(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobEnd]]:
        """Plays matches, and gives each with its end as soon as it has one. A job is taken when a worker is free."""
        source = iter(jobs)
        again: deque[Job] = deque()
        deaths: dict[str, int] = {}
        while True:
            for worker in self._workers:
                if worker.job is None:
                    job = again.popleft() if again else next(source, None)
                    if job is not None:
                        worker.give(job)
            busy = [worker for worker in self._workers if worker.job is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy] + [worker.process.sentinel for worker in busy])
            for worker in busy:
                if worker.pipe not in ready and worker.process.sentinel not in ready:
                    continue
                job = worker.job
                assert job is not None  # noqa: S101 it is busy
                end = worker.take()
                if end is None:  # the worker has died
                    worker.stop()
                    self._workers[self._workers.index(worker)] = self._start()
                    deaths[job.match] = deaths.get(job.match, 0) + 1
                    if deaths[job.match] < MAX_DEATHS:
                        again.append(job)
                        continue
                    end = Spoilt(f"the worker has died {MAX_DEATHS} times over it", worker_died=True)
                yield job, end


class _Worker:
    """One process, and the match that it plays."""

    def __init__(self, process: SpawnProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        """Lets it play a match. If it is dead already, `take` will tell."""
        self.job = job
        try:
            self.pipe.send(job)
        except OSError:
            self.process.join(1)

    def take(self) -> JobEnd | None:
        """The end of its match; None if it has died before it had one."""
        self.job = None
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


def _work(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the ladder, which then closes the pipe
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    adopt_orphans()
    asyncio.run(_play_jobs(pipe))


async def _play_jobs(pipe: Connection) -> None:
    async with RefereeServer() as server:
        while True:
            try:
                job: Job = pipe.recv()
            except (EOFError, OSError):
                return
            try:
                end = await _play(job, server)
            except Exception as error:  # whatever it is: the ladder must hear of it, and this worker goes on
                end = Spoilt(f"{type(error).__name__}: {error}")
            try:
                pipe.send(end)
            except OSError:
                return


async def _play(job: Job, server: RefereeServer) -> JobEnd:
    game = find(job.game)
    plan = MatchPlan(
        game=game,
        setup=game.setup(len(job.seats), job.options, shipped_board(game)),
        match_id=job.match,
        seed=job.seed,
        bots=[version.label for version in job.seats],
        control=TimeControl.parse(job.clock),
    )
    gone = [version.label for version in job.seats if not _is_there(version, job.versions)]
    if gone:
        return Spoilt(
            f"the files of {', '.join(gone)} are gone from {job.versions}; submit the same again to restore them"
        )
    players = [_player(version, job.versions) for version in job.seats]
    try:
        report = await play_match(plan, players, server=server, record=job.record)
        verify(job.record, find)
    except MatchVoid as error:
        return Spoilt(str(error))
    except RecordError as error:
        return Spoilt(f"the record does not verify: {error}")
    for seat, text in report.logs.items():
        job.logs.mkdir(parents=True, exist_ok=True)
        (job.logs / f"seat{seat}.log").write_text(text)
    return Finished(report.result, report.record_hash)


def _is_there(version: Version, versions: Path) -> bool:
    return version.content_hash.startswith(HOUSE_PREFIX) or (versions / version.content_hash).is_dir()


def _player(version: Version, versions: Path) -> Player:
    if version.content_hash.startswith(HOUSE_PREFIX):
        return House(house_bots()[version.bot])
    return Command(version.run, environment(), versions / version.content_hash)
