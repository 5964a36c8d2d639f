"""Play a series, or a round of a tournament, on the machines of a cluster, with the same results as `play_series`.

Each slot has a worker like those of `play_series`. Records are sent back as bytes, and this machine gives them names.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path

from referee.errors import DoganaError
from referee.live.matches import bundle
from referee.live.matches.cluster import MAX_LOST, Crew, Job, Unfit, forget_main, joined, share
from referee.live.matches.play import Command
from referee.live.matches.series import (
    MAX_DEATHS,
    FinishedMatch,
    MatchSource,
    SeriesEnd,
    SeriesError,
    SeriesWorker,
    finish,
    recorded,
    recorded_at,
    unsaved,
)
from referee.live.seats.scratch import Scratch
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build
from referee.version import installed_version


@dataclass(frozen=True, slots=True)
class Party:
    """The files, limits and runtimes with which other machines start a series' commands in sandboxes."""

    files: bytes
    """The working folder of the commands, packed; see `bundle.pack`."""
    limits: ResourceLimits
    """The limits of each command's sandbox."""
    runtimes: Sequence[Path]
    """The runtimes that the commands need; each machine must have them in the same folders."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """The outcome of a match."""

    end: SeriesEnd
    record: bytes


class SeriesSlot:
    """A slot that plays the matches of a series; see `referee.live.matches.cluster.Slot`."""

    def __init__(self, series: MatchSource, dogana: str, party: Party | None) -> None:
        """Prepare to play matches of a series; `dogana` is the caller's version of Dogana."""
        self._series = series
        self._dogana = dogana
        self._party = party
        self._context = multiprocessing.get_context("spawn")
        self._worker: SeriesWorker | None = None

    def begin(self) -> list[str] | Unfit:
        """Make the folder for records, and the sandbox; return the limits that the sandbox cannot enforce."""
        here = installed_version()
        if here != self._dogana:
            return Unfit(f"it has dogana {here}, and this machine {self._dogana}; install the same there")
        import ray

        job = ray.get_runtime_context()
        try:
            self._scratch = Scratch(f"{job.get_node_id()}-{job.get_job_id()}")
            if self._series.records is not None:
                self._series = replace(self._series, records=Path(tempfile.mkdtemp(dir=self._scratch.folder)))
            losses = [] if self._party is None else self._take(self._party)
        except OSError as error:
            return Unfit(f"cannot write {error.filename}: {error.strerror}")
        except DoganaError as error:
            return Unfit(str(error))
        # The machine that runs the command has the earlier records, and does not send their matches.
        self._series = replace(self._series, resumes=False)
        forget_main()
        return losses

    def _take(self, party: Party) -> list[str]:
        """Get ready to start commands; return the limits that the sandbox cannot enforce."""
        sandbox = build(party.limits, party.runtimes)
        folder = bundle.unpack(party.files, self._scratch.folder)
        players = [
            replace(player, folder=folder / (player.folder or "."), sandbox=sandbox)
            if isinstance(player, Command)
            else player
            for player in self._series.players
        ]
        self._series = replace(self._series, players=players)
        return list(sandbox.losses())

    def play(self, number: int) -> _Reply:
        """Play a match; repeat it if its worker dies."""
        for _ in range(MAX_DEATHS):
            self._worker = worker = self._worker or SeriesWorker(self._context, self._series)
            worker.give(number)
            wait([worker.pipe, worker.process.sentinel])
            end = worker.end()
            if isinstance(end, SeriesEnd):
                record = b""
                if end.record is not None:
                    record = end.record.read_bytes()
                    end.record.unlink()
                return _Reply(replace(end, record=None), record)
            worker.sweep(self._series)
            self._worker = None
        count = self._series.count
        what = f"match {number + 1} of {count} cannot be played: its worker {end}, {MAX_DEATHS} times"
        return _Reply(SeriesEnd(None, None, {}, what), b"")

    def rest(self) -> None:
        """Do nothing, because no match of a series has to be played alone."""

    def close(self) -> None:
        """End the worker, and give up the share in the temporary folder."""
        if self._worker is not None:
            self._worker.process.terminate()
            self._worker.stop()
        self._scratch.leave()


def play_on_cluster(
    series: MatchSource, address: str, workers: int | None, tell: Callable[[str], None], party: Party | None = None
) -> Generator[FinishedMatch, None, None]:
    """Play a series on the machines of a cluster; yield its matches in their order, as `play_series` does.

    Args:
        series: the series.
        address: the address of the cluster; see `referee.live.matches.cluster.joined`.
        workers: the maximum number of concurrent matches; None for one per processor of the cluster.
        tell: a function called with remarks about machines.
        party: what other machines need to start the commands of the series; None if there are no commands.

    Raises:
        ClusterError: if the cluster cannot be joined, or cannot play.
        SeriesError: if a match cannot be played or written, or an existing record is invalid or of another series.
    """
    ends = dict[int, FinishedMatch]()
    yielded = 0

    def jobs() -> Iterator[Job[int] | None]:
        for number in range(series.count):
            # No other match begins before the first one ends, because the series ends if its bots do not start.
            while number and not yielded and 0 not in ends:
                yield None
            plan = series.plan(number)
            if (path := recorded_at(series, series.name(number, plan))) is not None:
                ends[number] = FinishedMatch(number, plan, path.stem, recorded(path, plan), path, {}, is_earlier=True)
            else:
                yield Job(number, (number,), None)

    # The environment variables stay on this machine; programs in a sandbox have their own.
    players = [replace(one, environment={}) if isinstance(one, Command) else one for one in series.players]
    with (
        joined(address, workers),
        Crew[int](
            SeriesSlot, (replace(series, players=players), installed_version(), share(party)), workers, tell
        ) as crew,
    ):
        for done in crew.play(jobs()):
            ends[done.what] = played = _settle(series, done.what, done.answer)
            crew.note_lag(done.machine, lagged=played.result.lagged)
            while yielded in ends:
                yield ends.pop(yielded)
                yielded += 1
        while yielded in ends:
            yield ends.pop(yielded)
            yielded += 1


def _settle(series: MatchSource, number: int, answer: object) -> FinishedMatch:
    """Write the record of a match, and return the match.

    Raises:
        SeriesError: if the match could not be played, or its record cannot be written.
    """
    if not isinstance(answer, _Reply):
        raise SeriesError(
            f"match {number + 1} of {series.count} cannot be played: it was lost on other machines {MAX_LOST} times"
        )
    if answer.end.result is None:
        raise SeriesError(answer.end.error)
    plan = series.plan(number)
    name, path = series.name(number, plan), None
    if series.records is not None:
        written = series.records / unsaved(name, os.getpid())
        try:
            written.write_bytes(answer.record)
            path = finish(series, written, name)
        except OSError as error:
            raise SeriesError(f"{error.filename}: {error.strerror}") from error
        finally:
            written.unlink(missing_ok=True)
    return FinishedMatch(number, plan, name if path is None else path.stem, answer.end.result, path, answer.end.logs)
