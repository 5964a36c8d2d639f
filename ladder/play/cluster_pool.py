"""A pool with workers on the machines of a cluster.

It has the interface of `ladder.play.pool.Pool`, and trusts only verified records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from ladder.model.match import JOIN_SECONDS, Match
from ladder.operation.home import Home
from ladder.play.cluster_slot import LadderSlot, Order, Reply, pack
from ladder.play.pool import End, Finished, Void, max_seconds
from referee.files import private_folder, write_private
from referee.live.matches.cluster import MAX_LOST, Crew, Done, Job, Machine, joined, share
from referee.match.clock import TimeControl
from referee.records.record import RecordError
from referee.records.verify import Verified, verify
from referee.registry import find, shipped_board
from referee.sandbox.limits import ResourceLimits
from referee.version import installed_version

_PACKED_AT_A_TIME = 32
"""The maximum number of cached archives with the files of a version, for machines that lack these files.

Other archives are made again when they are needed."""


@contextmanager
def ladder_crew(
    address: str,
    home: Home,
    workers: int | None,
    limits: ResourceLimits | None,
    join_seconds: float,
    tell: Callable[[str], None],
) -> Iterator[Crew[Match]]:
    """Provide slots for matches of a ladder on a cluster (see `referee.live.matches.cluster.joined`), as a context manager.

    Without `workers`, there is a slot for each processor of the cluster; without `limits`, bots have the rights
    of the cluster's owner. `tell` is called with remarks on machines, in words.

    Raises:
        ClusterError: if the cluster cannot be used.
    """
    order = Order(installed_version(), limits, tuple(home.runtimes()), join_seconds)
    with joined(address, workers), Crew[Match](LadderSlot, (order,), workers, tell) as crew:
        yield crew


class ClusterPool:
    """A pool of slots on other machines that play the matches of a ladder; use it as a context manager."""

    def __init__(self, home: Home, crew: Crew[Match], join_seconds: float = JOIN_SECONDS) -> None:
        self._home = home
        self._join_seconds = join_seconds
        self._crew = crew
        self._packed = lru_cache(_PACKED_AT_A_TIME)(lambda content: share(pack(home.versions / content)))

    def __enter__(self) -> ClusterPool:
        return self

    def __exit__(self, *_: object) -> None:
        """End the open matches; the next run has the same crew, and plays them again."""
        self._crew.forget()

    def play_alone(self, match: Match) -> End:
        """Play a match on a new worker, after the end of all other matches and their agents."""
        self._crew.rest()
        [(_, end)] = self.play([match])
        return end

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
        """Play matches, and yield each match with how it ended; see `Pool.play`.

        Raises:
            LadderError: if no machine is left.
        """
        for done in self._crew.play(None if match is None else self._job(match) for match in matches):
            yield done.what, self._settle(done)

    def _job(self, match: Match) -> Job[Match]:
        contents = {version.content_hash for version in match.seats if not version.is_house}
        files = {content: self._packed(content) for content in contents}
        return Job(match, (match, files), self._join_seconds + max_seconds(match))

    def _settle(self, done: Done[Match]) -> End:
        """Verify the record that a machine has sent for a match, and store it; return how the match ended."""
        match, reply = done.what, done.answer
        if reply is None:
            # A lost match says nothing about its bots.
            return Void(f"it was lost on other machines {MAX_LOST} times")
        if not isinstance(reply, Reply) or not isinstance(reply.end, Finished | Void):
            return self._disbelieve(match, done.machine, "its answer is not a valid reply")
        if isinstance(reply.end, Void):
            if reply.position:
                private_folder(self._home.positions)
                write_private(self._home.position(match.match_id), reply.position)
            return reply.end
        path = self._home.record(match.match_id)
        try:
            found = verify(path, find, match.seed, data=reply.record)
        except RecordError as error:
            return self._disbelieve(match, done.machine, f"its record does not verify: {error}")
        if problem := _is_another(match, found):
            return self._disbelieve(match, done.machine, f"its record has {problem}")
        if found.last_hash != reply.end.record_hash:
            return self._disbelieve(match, done.machine, "its record is not the one that it says")
        private_folder(path.parent)
        write_private(path, reply.record)
        self._crew.note_lag(done.machine, lagged=found.result.lagged)
        # The result is taken from the verified record, not from the machine's reply.
        return Finished(found.result, found.last_hash, reply.end.telemetry, reply.end.logs)

    def _disbelieve(self, match: Match, machine: Machine, problem: str) -> Void:
        """Stop using a machine whose reply cannot be verified."""
        self._crew.refuse(machine, f"of match {match.match_id}, {problem}")
        return Void(problem)


def _is_another(match: Match, found: Verified) -> str:
    """Return the difference between a record and a match; empty if the record belongs to the match."""
    game = find(match.condition.game)
    setup = game.setup(len(match.seats), match.condition.options, shipped_board(game))
    plan = found.plan
    for what, has, wanted in (
        ("the id", plan.match_id, match.match_id),
        ("the game", plan.game.name, game.name),
        ("the bots", list(plan.bots), match.labels),
        ("the clock", str(plan.control), str(TimeControl.parse(match.condition.clock))),
        ("the options", dict(plan.setup.options), dict(setup.options)),
        ("the board", plan.setup.board_data, setup.board_data),
        ("the position", plan.position, None),
    ):
        if has != wanted:
            return f"{what} of another match"
    return ""
