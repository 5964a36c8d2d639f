"""Play a series of matches in several processes, and yield them in order."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from referee.errors import DoganaError
from referee.game import Seat
from referee.live.matches.play import Player, StartFailed, play_match
from referee.live.matches.server import RefereeServer
from referee.live.matches.worker import become_worker, undisturbed
from referee.live.seats.command import killed_by
from referee.live.seats.orphans import kill_below
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan, canonical, match_id_for
from referee.match.result import Result
from referee.match.seatings import Seating
from referee.records.record import RecordError
from referee.records.verify import verify
from referee.registry import find

if TYPE_CHECKING:  # most series are no tournaments
    from referee.live.matches.fixture_matches import FixtureMatches

_STOP_SECONDS = 5.0
"""The time allowed for a stopped worker to end its agents."""
MAX_DEATHS = 3
"""The number of worker deaths after which a match is given up."""


class SeriesError(DoganaError):
    """A series cannot go on; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A game of a series, with the seatings in which it is played for each seed."""

    game: str
    options: Mapping[str, Any]
    board: Mapping[str, Any]
    position: Mapping[str, Any] | None
    """The position to start from; None for new matches."""
    seatings: Sequence[Seating]
    """One seating for each of the matches that share a seed."""

    def plan(self, seed: int, seating: Seating, bots: Sequence[str], control: TimeControl) -> MatchPlan:
        """Return the plan of a match."""
        game = find(self.game)
        setup = game.setup(len(seating), self.options, self.board)
        return MatchPlan(
            game=game,
            setup=setup,
            match_id=match_id_for(game, setup, seed, self.position),
            seed=seed,
            bots=[bots[place] for place in seating],
            control=control,
            position=self.position,
        )


class SeriesFixture(NamedTuple):
    """The part of a match that distinguishes it from the other matches in its series."""

    seed: int
    setting: Setting
    turn: int
    """The index of the match's seating in its setting."""

    @property
    def seating(self) -> Seating:
        """The index of the player in each seat."""
        return self.setting.seatings[self.turn]


@dataclass(frozen=True, slots=True)
class Series:
    """Matches that differ only in their seeds, games and seatings; a series can be sent to another process.

    A block consists of all matches with one seed: the first game in each of its seatings, then the next game.
    """

    settings: Sequence[Setting]
    """The games, each with its seatings."""
    bots: Sequence[str]
    """The names of the players, in the order of the command line."""
    players: Sequence[Player]
    """The players, in the same order."""
    control: TimeControl
    first_seed: int
    count: int
    """The number of matches."""
    records: Path | None
    """The folder for records."""
    resumes: bool
    """True to skip matches that already have a record."""

    @property
    def block_size(self) -> int:
        """The number of matches with the same seed."""
        return sum(len(setting.seatings) for setting in self.settings)

    def fixture(self, number: int) -> SeriesFixture:
        """Return the seed, the game and the seating of a match; numbers begin at 0."""
        block, turn = divmod(number, self.block_size)
        for setting in self.settings:
            if turn < len(setting.seatings):
                return SeriesFixture(self.first_seed + block, setting, turn)
            turn -= len(setting.seatings)
        raise AssertionError("the seatings of all games are a block")

    def plan(self, number: int) -> MatchPlan:
        """Return the plan of a match."""
        found = self.fixture(number)
        return found.setting.plan(found.seed, found.seating, self.bots, self.control)

    def seated(self, number: int) -> list[Player]:
        """Return the player of each seat in a match."""
        return [self.players[place] for place in self.fixture(number).seating]

    def must_start(self, number: int) -> bool:
        """Return True if this is a bot's first match; the series ends if a bot does not start in it."""
        earlier = {place for before in range(min(number, self.block_size)) for place in self.fixture(before).seating}
        return not earlier.issuperset(self.fixture(number).seating)

    def name(self, number: int, plan: MatchPlan) -> str:
        """Return the name of a match's files, which is different for each seating."""
        turn = self.fixture(number).turn
        return f"{plan.game.name}-{plan.match_id}" + (f"-seating{turn}" if turn else "")


MatchSource: TypeAlias = "Series | FixtureMatches"
"""Matches to be played in several processes, or on other machines: a series, or a round of a tournament."""


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """A finished match of a series."""

    number: int
    plan: MatchPlan
    name: str
    """The name of the match's files."""
    result: Result
    record: Path | None
    logs: Mapping[Seat, str]
    """The output of started agents; empty if an earlier command played the match."""
    is_earlier: bool = False
    """True if an earlier command played the match."""


@dataclass(frozen=True, slots=True)
class SeriesEnd:
    """A worker's report on a match."""

    result: Result | None
    record: Path | None
    logs: Mapping[Seat, str]
    error: str
    """The reason why there is no result; empty if there is one."""
    is_earlier: bool = False
    """True if an earlier command played the match."""


def play_series(series: MatchSource, workers: int) -> Generator[FinishedMatch, None, None]:
    """Play matches; yield them in order, each as soon as it and all matches before it are over.

    The first match ends before the others begin: if its bots do not start, the series ends. A match whose worker dies
    is played again. Closing the iterator ends all workers and their agents.

    Args:
        series: the matches.
        workers: the number of processes.

    Raises:
        SeriesError: if a match cannot be played or written, or an existing record is invalid or of another series.
    """
    context = multiprocessing.get_context("spawn")
    busy: list[SeriesWorker] = []
    waiting = deque([0])
    next_new, deaths = 1, dict[int, int]()
    ends = dict[int, FinishedMatch]()
    yielded = 0
    idle: list[SeriesWorker] = []
    try:
        while yielded < series.count:
            while waiting and len(busy) < workers:
                worker = idle.pop() if idle else SeriesWorker(context, series)
                worker.give(waiting.popleft())
                busy.append(worker)
            ready = wait([sign for worker in busy for sign in (worker.pipe, worker.process.sentinel)])
            for worker in [worker for worker in busy if worker.pipe in ready or worker.process.sentinel in ready]:
                busy.remove(worker)
                number, end = worker.number, worker.end()
                if isinstance(end, str):
                    worker.sweep(series)
                    deaths[number] = deaths.get(number, 0) + 1
                    if deaths[number] >= MAX_DEATHS:
                        raise SeriesError(
                            f"match {number + 1} of {series.count} cannot be played: its worker {end}, {MAX_DEATHS} times"
                        )
                    # It goes before all others, because no later match is yielded before it.
                    waiting.appendleft(number)
                    continue
                idle.append(worker)
                if end.result is None:
                    raise SeriesError(end.error)
                plan = series.plan(number)
                name = series.name(number, plan) if end.record is None else end.record.stem
                ends[number] = FinishedMatch(number, plan, name, end.result, end.record, end.logs, end.is_earlier)
                while next_new < series.count and len(waiting) + len(busy) < workers:
                    waiting.append(next_new)
                    next_new += 1
            while yielded in ends:
                yield ends.pop(yielded)
                yielded += 1
    finally:
        for worker in [*idle, *busy]:
            # All workers are signalled first, so that they end at the same time.
            worker.process.terminate()
        for worker in [*idle, *busy]:
            worker.stop()
        for worker in busy:
            worker.sweep(series)


class SeriesWorker:
    """A worker process, and its match.

    Attributes:
        process: the process.
        pipe: this process's end of the pipe to the worker.
        number: the number of the worker's match.
    """

    def __init__(self, context: SpawnContext, series: MatchSource) -> None:
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_work, args=(theirs, series), daemon=True)
        with undisturbed():
            self.process.start()
        # Only the worker has this end now, so the pipe ends when the worker dies.
        theirs.close()
        self.number = -1

    def give(self, number: int) -> None:
        """Let the worker play a match. If the worker is already dead, `end` reports that."""
        self.number = number
        with contextlib.suppress(OSError):
            self.pipe.send(number)

    def end(self) -> SeriesEnd | str:
        """Return the worker's report on its match, or the cause of its death if it died before reporting."""
        with contextlib.suppress(EOFError, OSError):
            # The pipe may contain the report of a worker that has died since.
            if self.pipe.poll():
                end: SeriesEnd = self.pipe.recv()
                return end
        self.kill()
        code = self.process.exitcode or 0
        return killed_by(-code) if code < 0 else f"ended with status {code}"

    def sweep(self, series: MatchSource) -> None:
        """Remove the unfinished record of a worker that ended before it gave the record its final name."""
        if series.records is not None:
            name = series.name(self.number, series.plan(self.number))
            for left in series.records.glob(f"{unsaved(name, self.process.pid)}*"):
                left.unlink(missing_ok=True)

    def stop(self) -> None:
        """Wait for a process that has been told to stop; kill it if it takes too long to end."""
        self.process.join(_STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process and all processes below it."""
        self.pipe.close()
        if self.process.is_alive() and self.process.pid is not None:
            kill_below(self.process.pid)
        self.process.join()


# --- in the worker ----------------------------------------------------------------------------------


def _work(pipe: Connection, series: MatchSource) -> None:
    become_worker()
    signal.signal(signal.SIGTERM, _end_quietly)  # at once, even while a house bot thinks
    asyncio.run(_play_matches(pipe, series))


def _end_quietly(number: int, frame: FrameType | None) -> NoReturn:
    """End the process, without asyncio's messages about the interrupted match."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(1)


async def _play_matches(pipe: Connection, series: MatchSource) -> None:
    try:
        async with RefereeServer() as server:
            await _play_on(server, pipe, series)
    except DoganaError as error:  # the server cannot start
        with contextlib.suppress(EOFError, OSError):
            pipe.recv()
            pipe.send(SeriesEnd(None, None, {}, str(error)))


async def _play_on(server: RefereeServer, pipe: Connection, series: MatchSource) -> None:
    while True:
        try:
            number: int = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            end = await _play(series, number, server)
        except StartFailed as error:
            bots = series.plan(number).bots
            faults = (f"seat {seat} ({bots[seat]}): {fault.detail}" for seat, fault in error.faults.items())
            end = SeriesEnd(None, None, {}, "; ".join(faults))
        except OSError as error:
            end = SeriesEnd(None, None, {}, f"{error.filename}: {error.strerror}")
        except DoganaError as error:
            end = SeriesEnd(None, None, {}, str(error))
        except Exception as error:  # whatever it is, it must be reported
            end = SeriesEnd(None, None, {}, f"{type(error).__name__}: {error}")
        pipe.send(end)


async def _play(series: MatchSource, number: int, server: RefereeServer) -> SeriesEnd:
    plan = series.plan(number)
    name = series.name(number, plan)
    if series.records is None:
        report = await play_match(plan, series.seated(number), server=server, all_must_start=series.must_start(number))
        return SeriesEnd(report.result, None, report.logs, "")
    if (path := recorded_at(series, name)) is not None:
        return SeriesEnd(recorded(path, plan), path, {}, "", is_earlier=True)
    written = series.records / unsaved(name, os.getpid())
    report = await play_match(
        plan, series.seated(number), server=server, record=written, all_must_start=series.must_start(number)
    )
    return SeriesEnd(report.result, finish(series, written, name), report.logs, "")


def recorded_at(series: MatchSource, name: str) -> Path | None:
    """Return the path of the record with this name; None if the series is not resumed, or has no such record."""
    path = None if series.records is None or not series.resumes else series.records / f"{name}.jsonl"
    # An empty file only reserves a name for a moment (`keep`).
    return path if path is not None and path.exists() and path.stat().st_size else None


def finish(series: MatchSource, written: Path, name: str) -> Path:
    """Give the record of a finished match its final name; return its path."""
    with undisturbed():  # a worker that must end now names the record first, or leaves an empty one
        return written.replace(written.with_name(f"{name}.jsonl")) if series.resumes else keep(written, name)


def recorded(path: Path, plan: MatchPlan) -> Result:
    """Return the result of an earlier match from its record.

    Raises:
        SeriesError: if the record is not valid, or belongs to another match.
    """
    try:
        found = verify(path, find)
    except RecordError as error:
        raise SeriesError(f"cannot resume: {error}; remove the file to play the match again") from error
    if other := differences(found.plan, plan):
        raise SeriesError(f"cannot resume: {path} has {other}; use another folder")
    return found.result


def differences(found: MatchPlan, wanted: MatchPlan) -> str:
    """Describe the first difference between the plan in a verified record and another plan; empty if there is none.

    A record's id is only a claim, so its terms and its seed are compared, too.
    """
    for what, one, other in (
        ("bots", list(found.bots), list(wanted.bots)),
        ("clock", str(found.control), str(wanted.control)),
        ("game", found.game.name, wanted.game.name),
        ("options", dict(found.setup.options), dict(wanted.setup.options)),
        ("seed", found.seed, wanted.seed),
        ("match", found.match_id, wanted.match_id),
    ):
        if one != other:
            return f"the {what} {one}, not {other}"
    if canonical([found.setup.board_data, found.position]) != canonical([wanted.setup.board_data, wanted.position]):
        return "another board or position"
    return ""


def unsaved(name: str, pid: int | None) -> str:
    """Return the temporary name that a record has while a process is writing it."""
    return f"{name}.{pid}"


def keep(written: Path, name: str) -> Path:
    """Give a record the first unused name that begins with `name` in its folder.

    Other processes may do so at the same time.
    """
    number = 1
    while True:
        path = written.with_name(f"{name}{'' if number == 1 else f'-{number}'}.jsonl")
        try:
            # Only one of several processes can make the file; the record then takes its place.
            path.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return written.replace(path)
