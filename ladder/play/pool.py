"""A pool of worker processes that play matches.

Each worker plays one match at a time with its own referee. It ends with the ladder's process (its pipe closes; see also
`become_worker`), and takes its agents with it. A worker that dies, shows no sign of life, or exceeds the time that the
clock of its match allows is killed with all its descendants and replaced; its match is void. Agents' processes that
outlive a dead worker become children of the ladder's process, which kills them.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import math
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from ladder.archive.archive import USAGE
from ladder.facts.schema import MAX_VOIDS
from ladder.model.match import JOIN_SECONDS, Match, Version
from ladder.operation import journal
from ladder.operation.errors import NoRoom
from ladder.operation.home import Home
from ladder.operation.room import is_for_want_of_room
from ladder.play.playing import announced
from referee.bots.manifest import environment
from referee.files import private_folder
from referee.live.matches.driver import MatchVoid
from referee.live.matches.play import Command, Player, Remote, house_player, play_match
from referee.live.matches.server import RefereeServer
from referee.live.matches.worker import become_worker, undisturbed
from referee.live.seats.command import killed_by
from referee.live.seats.orphans import kill_below, kill_children
from referee.live.seats.telemetry import KeyValues
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.match.result import Result
from referee.records.record import RecordError
from referee.records.verify import verify
from referee.registry import find, shipped_board
from referee.sandbox.box import Sandbox
from referee.sandbox.socket_folder import check_room_for_sockets
from referee.sandbox.system import children, set_adopting

MAX_DECISIONS = 1_000
"""The maximum number of a seat's decisions in a match: five times as many as in the longest measured matches."""
EXTRA_SECONDS = 60.0
"""The time, in seconds, allowed for the referee's work and for agents to end.

It is added to the time for joining and the times on the clocks."""
_STOP_SECONDS = 2.0
"""The time, in seconds, within which all idle workers together must end; a server needs half a second."""


@dataclass(frozen=True, slots=True)
class WorkerTimeouts:
    """The pool's time limits for a worker.

    Time is counted in ticks of the pool itself, so suspending all processes at once harms no worker.
    """

    tick_seconds: float = 1.0
    """The time, in seconds, between the signs of life of a worker, and between the checks by the pool."""
    silent_ticks: int = 60
    """The number of ticks without a sign of life after which a worker is killed."""
    start_ticks: int = 120
    """The number of ticks without a sign of life after which a starting worker is killed."""
    extra_seconds: float = EXTRA_SECONDS
    """The time allowed for a match in addition to the times for joining and on the clocks; see `max_seconds`."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished match; its record is valid, and is in the folder of records."""

    result: Result
    record_hash: str
    """The hash of the last line of the match's record."""
    telemetry: Mapping[int, Mapping[str, KeyValues]] = field(default_factory=dict)
    """The bots' telemetry by seat and key."""
    logs: Mapping[str, bytes] = field(default_factory=dict)
    """The output and the resource usage of bots, by file name."""


@dataclass(frozen=True, slots=True)
class Void:
    """A match without a result, because the referee could not finish it."""

    reason: str
    worker_died: bool = False
    """True if the worker died or was killed, which the rules of a game cannot cause."""
    no_room: bool = False
    """True if a full disk was the reason."""


End = Finished | Void


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The settings with which workers play."""

    home: Home
    """The ladder whose matches the workers play."""
    join_seconds: float
    """The time allowed for agents to join."""
    sandbox: Sandbox | None
    """The sandbox of submitted bots; None to run them with the rights of this process."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A seat that waits for a bot at home."""

    match: Match
    seat: int
    token: str
    """The bot's token for joining."""
    address: str
    """The local address of the match's referee."""
    join_seconds: float
    """The time allowed for the bot to join."""


class Pool:
    """Worker processes; use it as a context manager.

    While this context lasts, no other code in this process may start processes, because they would be killed as
    leftovers of agents.
    """

    def __init__(
        self,
        home: Home,
        workers: int,
        patience: WorkerTimeouts | None = None,
        join_seconds: float = JOIN_SECONDS,
        sandbox: Sandbox | None = None,
        invite: Callable[[Invitation], None] | None = None,
    ) -> None:
        """Prepare at most `workers` workers; each starts with its first match. See `WorkerSettings` and `RunPlan`."""
        self._settings = WorkerSettings(home, join_seconds, sandbox)
        self._invite = invite
        self._patience = patience or WorkerTimeouts()
        # A fork would share SQLite's open files, and the locks that threads hold at that moment.
        self._context = multiprocessing.get_context("spawn")
        self._most = workers
        self.workers: list[_Worker] = []
        resource_tracker.ensure_running()  # otherwise `multiprocessing` would start this process with the first worker
        self._others = children()

    def __enter__(self) -> Pool:
        """Start the pool.

        Raises:
            PathTooLong: if the path of the temporary folder is too long for the sockets of workers.
        """
        check_room_for_sockets()
        set_adopting(adopting=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        set_adopting(adopting=False)

    def clear(self) -> None:
        """End all workers, and any descendant processes that agents have left running."""
        workers, self.workers = self.workers, []
        for worker in workers:
            worker.close()
        deadline = time.monotonic() + _STOP_SECONDS
        # All workers are asked before any is awaited, so that they end at the same time.
        for worker in workers:
            worker.end(deadline)
        self._kill_leftovers()

    def _kill_leftovers(self) -> None:
        kill_children([*self._others, *(worker.process.pid for worker in self.workers)])

    def _idle(self) -> _Worker:
        """Return an idle worker; start one if there is none."""
        for worker in self.workers:
            if worker.match is None:
                return worker
        self.workers.append(_Worker(self._context, self._settings, self._patience))
        return self.workers[-1]

    def play_alone(self, match: Match) -> End:
        """Play a match on a new worker, after the end of all agents that the ladder has started.

        Only bots in the match itself can therefore harm the worker. Call this only while no other match is running.
        """
        self.clear()
        [(_, end)] = self.play([match])
        return end

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
        """Play matches, and yield each match with how it ended. The next match is taken when a worker is free.

        None among the matches means that no match can start now; the next item is taken after a tick, or at the end of
        a match.

        Raises:
            NoRoom: if a match is void because a disk is full. This does not count as an attempt, and no end is
            yielded for the other running matches.
        """
        source = iter(matches)
        next_tick = time.monotonic() + self._patience.tick_seconds
        while True:
            while len(busy := self._busy()) < self._most and (match := next(source, None)) is not None:
                self._idle().give(match)
            if not busy:
                return
            signs = [sign for worker in busy for sign in (worker.pipe, worker.process.sentinel)]
            ready = wait(signs, max(0.0, next_tick - time.monotonic()))
            for worker in busy:
                if worker.pipe in ready or worker.process.sentinel in ready:
                    message = worker.message()
                    if not isinstance(message, Invitation):
                        yield self._take(worker, message)
                    elif self._invite is not None:
                        self._invite(message)
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + self._patience.tick_seconds
                for worker in busy:
                    reason = worker.tick() if worker.match is not None else ""  # the match may have just ended
                    if reason:
                        yield self._take(worker, Void(reason, worker_died=True))

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self.workers if worker.match is not None]

    def _take(self, worker: _Worker, end: End) -> tuple[Match, End]:
        """Release a worker from its match, or remove a dead worker; return the match and how it ended."""
        match = worker.match
        assert match is not None  # noqa: S101 it was busy
        worker.match = None
        if isinstance(end, Void) and end.worker_died:
            worker.kill()
            self.workers.remove(worker)
            self._kill_leftovers()
            # A dead worker leaves behind its control groups, its unfinished record, and the address for spectators.
            home, sandbox = self._settings.home, self._settings.sandbox
            if sandbox is not None:
                sandbox.groups.sweep()
            home.sweep_records(match.match_id)
            (home.playing / match.match_id).unlink(missing_ok=True)
        if isinstance(end, Void) and end.no_room:
            raise NoRoom(end.reason)
        return match, end


class _Worker:
    """A worker process with the pool's end of the pipe to it, and its match, which is None if the worker is idle."""

    def __init__(
        self, context: multiprocessing.context.SpawnContext, settings: WorkerSettings, patience: WorkerTimeouts
    ) -> None:
        self._patience = patience
        self._join_seconds = settings.join_seconds
        # A raw value has no lock, which a killed worker would never release.
        self._beats = context.RawValue(ctypes.c_ulong, 0)
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_work,
            args=(theirs, settings, self._beats, patience.tick_seconds, journal.form_of_this_process()),
            daemon=True,
        )
        with undisturbed():
            self.process.start()
        # From now on, only the worker holds that end of the pipe, so the pipe closes when the worker ends.
        theirs.close()
        self.match: Match | None = None
        self._seen = 0
        self._silent = 0
        self._ticks = 0
        self._max_ticks = 0

    def give(self, match: Match) -> None:
        """Send a match to the worker. If the worker is already dead, `message` reports that."""
        self.match = match
        self._silent = self._ticks = 0
        seconds = self._join_seconds + max_seconds(match, self._patience.extra_seconds)
        self._max_ticks = math.ceil(seconds / self._patience.tick_seconds)
        self._out_of_memory = _out_of_memory_kills()
        try:
            self.pipe.send(match)
        except OSError:
            self.process.join(1)

    def tick(self) -> str:
        """Check for a sign of life; return the reason to kill the worker, or an empty text if there is none."""
        self._ticks += 1
        if self._beats.value == self._seen:
            self._silent += 1
        else:
            self._seen, self._silent = self._beats.value, 0
        if self._silent >= (self._patience.silent_ticks if self._seen else self._patience.start_ticks):
            return f"the worker showed no sign of life for {self._silent * self._patience.tick_seconds:g} s"
        if self._ticks >= self._max_ticks:
            return f"the match took {self._ticks * self._patience.tick_seconds:g} s, more than its clock allows"
        return ""

    def message(self) -> End | Invitation:
        """Return the end of the match, or an invitation to a seat that waits for a bot at home.

        If the worker has died, the match is void.
        """
        with contextlib.suppress(EOFError, OSError):
            # The last message of the worker counts, even if it has died since.
            if self.pipe.poll():
                message: End | Invitation = self.pipe.recv()
                return message
        self.process.join(1)
        code = self.process.exitcode
        how = "ended" if code is None else killed_by(-code) if code < 0 else f"ended with status {code}"
        memory = "; the machine ran out of memory meanwhile" if _out_of_memory_kills() != self._out_of_memory else ""
        return Void(f"the worker {how}{memory}", worker_died=True)

    def kill(self) -> None:
        """Kill the process and all its descendants, even stopped ones."""
        self.pipe.close()
        if self.process.is_alive() and self.process.pid is not None:
            kill_below(self.process.pid)
        self.process.join()

    def close(self) -> None:
        """Ask the process to end, together with its agents; see `end`."""
        self.pipe.close()

    def end(self, deadline: float) -> None:
        """Wait until the process ends; kill it at the deadline (`time.monotonic`), or at once if it is playing."""
        if self.match is None:
            self.process.join(max(0.0, deadline - time.monotonic()))
        if self.process.is_alive():
            self.kill()


def max_seconds(match: Match, extra_seconds: float = EXTRA_SECONDS) -> float:
    """Return the maximum duration of a match after all have joined, in seconds.

    It is the sum of the times on all seats' clocks, plus `extra_seconds`.
    """
    control = TimeControl.parse(match.condition.clock)
    return len(match.seats) * (control.bank + MAX_DECISIONS * control.increment) + extra_seconds


def _out_of_memory_kills() -> str:
    """Return the number of processes that Linux has killed for lack of memory; empty if it does not report that."""
    with contextlib.suppress(OSError):
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
        return found[1] if found else ""
    return ""


# --- in the worker ----------------------------------------------------------------------------------


def _work(
    pipe: Connection,
    settings: WorkerSettings,
    beats: ctypes.c_ulong,
    beat_seconds: float,
    form: journal.Form | None,
) -> None:
    become_worker()
    if form is not None:
        journal.begin(form)
    os.umask(0o077)
    asyncio.run(_play_matches(pipe, settings, beats, beat_seconds))


async def _play_matches(pipe: Connection, settings: WorkerSettings, beats: ctypes.c_ulong, beat_seconds: float) -> None:
    beating = asyncio.create_task(_beat(beats, beat_seconds))
    async with RefereeServer() as server:
        while True:
            try:
                # This blocks the event loop, which has nothing to do between matches; the pool expects beats only during a match.
                match: Match = pipe.recv()
            except (EOFError, OSError):
                break
            try:
                end = await _play(match, settings, server, pipe)
            except Exception as error:  # any error is reported to the ladder, and this worker goes on
                end = Void(f"{type(error).__name__}: {error}", no_room=is_for_want_of_room(error))
            try:
                pipe.send(end)
            except OSError:
                break
    beating.cancel()


async def _beat(beats: ctypes.c_ulong, seconds: float) -> None:
    """Show that the event loop is running."""
    while True:
        beats.value += 1
        await asyncio.sleep(seconds)


async def _play(match: Match, settings: WorkerSettings, server: RefereeServer, pipe: Connection) -> End:
    home, sandbox = settings.home, settings.sandbox
    game = find(match.condition.game)
    plan = MatchPlan(
        game=game,
        setup=game.setup(len(match.seats), match.condition.options, shipped_board(game)),
        match_id=match.match_id,
        seed=match.seed,
        bots=match.labels,
        control=TimeControl.parse(match.condition.clock),
        reveals_seed=False,  # the seed would tell a bot the draws of other matches, or that this match is not part of a block
    )
    # No other match shares the draws of a match without a block, so its runtimes may stay in memory for the next match.
    sandbox = None if sandbox is None else replace(sandbox, forgets=match.block is not None)
    players = [_player(version, replace(settings, sandbox=sandbox)) for version in match.seats]
    path = home.record(match.match_id)
    private_folder(path.parent)
    try:
        with announced(home, match, server.local_address):
            report = await play_match(
                plan,
                players,
                server=server,
                record=path,
                announce=lambda seat, token: pipe.send(
                    Invitation(match, seat, token, server.local_address, settings.join_seconds)
                ),
                position_file=home.position(match.match_id),
                starved_is_void=match.voids < MAX_VOIDS - 1,  # at the last attempt, a failed start counts in any case
            )
        record = verify(path, find, match.seed)
    except MatchVoid as error:
        return Void(str(error), no_room=is_for_want_of_room(error))
    except RecordError as error:
        return Void(f"the record does not verify: {error}")
    if record.last_hash != report.record_hash:
        return Void("the record was replaced by another one before it could be verified")
    logs = {f"seat{seat}.log": text.encode(errors="replace") for seat, text in report.logs.items()}
    used = {seat: asdict(usage) for seat, usage in report.usages.items()}
    if logs and used:
        logs[USAGE] = json.dumps(used).encode()
    return Finished(report.result, report.record_hash, report.telemetry, logs)


def _player(version: Version, settings: WorkerSettings) -> Player:
    if version.is_house:
        return house_player(version.bot, settings.join_seconds)
    if version.is_at_home:
        return Remote(settings.join_seconds)
    home = settings.home
    folder = home.versions / version.content_hash
    return Command(version.run, environment(home.runtimes()), folder, settings.join_seconds, settings.sandbox)
