"""The entry of bots to the ladder: house bots at once, and new versions after a match against `random`.

If a version fails while other matches are running, it tries again alone.
"""

from __future__ import annotations

import logging
import math
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ladder.archive.archive import Archive
from ladder.archive.sealing import seal_match
from ladder.archive.traces import with_last_said
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.standings import scheduled, to_qualify
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, HOUSE_PREFIX, Match, Version
from ladder.operation.errors import SealBroken
from ladder.operation.home import QUALIFY, Home
from ladder.operation.progress import Remark
from ladder.play.cluster_pool import ClusterPool
from ladder.play.pool import End, Finished, Pool, Void
from referee.match.result import Outcome
from referee.registry import find, games, house_bots
from referee.version import installed_version

TRY_AGAIN_SECONDS = 900.0
"""The time, in seconds, after which a version may try to qualify again in the same run.

It applies if the match was void, or files of the version were missing."""


def enter_house_bots(store: Store, condition: Condition, *, thinking: bool = False) -> None:
    """Add the house bots that play a game, including those that think if `thinking` is True; they need not qualify."""
    game = find(condition.game)
    for name, bot in house_bots().items():
        if bot.plays(game) and (thinking or not bot.thinks):
            # A house bot may play differently in each version of Dogana, so it counts as a different version of the bot there.
            content = f"{HOUSE_PREFIX}{name}:{installed_version()}"
            playable = [other.name for other in games().values() if bot.plays(other)]
            version, _ = store.roster.add_version(name, HOUSE, content, [], playable, "Python")
            if version.id not in store.admission.qualifications(condition):
                store.admission.qualify(version.id, condition, passed=True, reason="house bot")


class Newcomers:
    """The versions that try to qualify in a run, and the times of their attempts.

    Attributes:
        tried: the number of versions that have tried since the last block was scheduled, even in an earlier run.
    """

    def __init__(
        self, store: Store, chosen: Mapping[Condition, Sequence[int]], *, is_endless: bool, with_bots_at_home: bool
    ) -> None:
        """Begin a run under the `chosen` conditions, each with its possible numbers of seats.

        In an endless run, versions that are submitted later qualify, too; otherwise, only those that are waiting now.
        """
        self._store = store
        self._chosen = chosen
        self._with_bots_at_home = with_bots_at_home
        self._undecided = (
            None
            if is_endless
            else {(version.id, condition.id) for condition in chosen for version in to_qualify(store, condition)}
        )
        """The versions that still have to qualify, each with a condition; None for all versions."""
        self._tries_again: dict[tuple[int, int], float] = {}
        """The time (`time.monotonic`) of each version's next attempt under a condition.

        It is infinite during an attempt."""
        self.tried = store.schedule.newcomers_since_the_last_block()

    def are_left(self, condition: Condition) -> bool:
        """Return True if a version still has to qualify, or is qualifying.

        A version that waits for its next attempt does not count.
        """
        now = time.monotonic()
        return any(
            # Infinity means that an attempt is in progress. Before any other time, the version rests, and nobody waits for it.
            not now < self._tries_again.get((version.id, condition.id), 0.0) < math.inf
            for version in self._waiting(condition)
        )

    def begin(self, most: int) -> list[Match]:
        """Return a match for each version that has to qualify and is not doing so yet, but at most `most` matches."""
        matches = list(islice(self._matches(), max(0, most)))
        self.tried += len(matches)
        return matches

    def _matches(self) -> Iterator[Match]:
        for condition, seat_counts in self._chosen.items():
            for version in self._waiting(condition):
                key = version.id, condition.id
                if self._tries_again.get(key, 0.0) <= time.monotonic():
                    self._tries_again[key] = math.inf
                    yield qualifying(version, partner_of(self._store, condition), condition, min(seat_counts))

    def _waiting(self, condition: Condition) -> list[Version]:
        if self._undecided is not None and not self._undecided:
            return []
        return [
            version
            for version in to_qualify(self._store, condition)
            if (self._undecided is None or (version.id, condition.id) in self._undecided)
            and (self._with_bots_at_home or not version.is_at_home)
        ]

    def let_try_later(self, match: Match) -> None:
        """Let the version of a match try again later, because it has neither qualified nor failed."""
        self._tries_again[match.seats[0].id, match.condition.id] = time.monotonic() + TRY_AGAIN_SECONDS

    def note_decided(self, match: Match) -> None:
        """Note that a match has decided the qualification of its version."""
        key = match.seats[0].id, match.condition.id
        self._tries_again.pop(key, None)
        if self._undecided is not None:
            self._undecided.discard(key)


def partner_of(store: Store, condition: Condition) -> Version:
    """Return the version of `random` that is the opponent in qualifying matches."""
    return next(
        version for version in scheduled(store, condition) if version.author == HOUSE and version.bot == "random"
    )


def qualify_alone(home: Home, store: Store, pool: Pool | ClusterPool, failed: Match) -> Remark:
    """Let a version try once more to qualify, while no other match is running; this attempt decides."""
    version, *partners = failed.seats
    for _ in range(MAX_VOIDS):
        match = qualifying(version, partners[0], failed.condition, len(failed.seats))
        end = pool.play_alone(match)
        archive_match(home, match, end)
        if not (isinstance(end, Void) and end.worker_died):
            break
    return settle_qualification(home, store, match, end)


def archive_match(home: Home, match: Match, end: End) -> None:
    """Put the record and the logs of a match into the archive, before it counts.

    Raises:
        NoRoom: if the disk is full.
    """
    if isinstance(end, Finished):
        record = home.record(match.match_id)
        with Archive(home.archive, create=True) as archive:
            archive.add(match.match_id, record.read_bytes(), end.logs)
        record.unlink()


def qualifying(version: Version, partner: Version, condition: Condition, seats: int) -> Match:
    """Return a qualifying match for a version."""
    return Match(
        match_id=f"{QUALIFY}{version.id}-{secrets.token_hex(8)}",
        block=None,
        condition=condition,
        seats=(version, *[partner] * (seats - 1)),
        seed=secrets.randbits(62),
    )


def not_this_time(version: Version, condition: Condition, reason: str) -> Remark:
    """Return the remark on a version that neither qualified nor failed."""
    fields = {"bot": version.label, "author": version.author, "game": condition.game, "reason": reason}
    text = f"{version.label} could not be qualified this time: {reason}"
    return Remark(text, "qualification_void", logging.WARNING, fields)


def settle_qualification(home: Home, store: Store, match: Match, end: End) -> Remark:
    """Store the outcome of a version's qualification; return a remark on it."""
    version = match.seats[0]
    if isinstance(end, Void) and not end.worker_died:
        return not_this_time(version, match.condition, end.reason)
    reason, broken = why_not(end), ""
    if isinstance(end, Finished):
        try:
            # The record is sealed at once, because no other match has this seed.
            seal_match(home, match.match_id, match.seed, end.record_hash)
        except SealBroken as error:
            broken = f"; {error}"
    store.admission.qualify(version.id, match.condition, passed=not reason, reason=reason)
    why = with_last_said(home, version, match.condition, reason)
    text = f"does not qualify: {why}" if reason else f"qualifies for {match.condition.game}"
    fields = {"bot": version.label, "author": version.author, "game": match.condition.game, "match": match.match_id}
    event = "not_qualified" if reason else "qualified"
    log = match.match_id if reason and isinstance(end, Finished) else ""
    return Remark(f"{version.label} {text}{broken}", event, fields={**fields, "reason": reason}, log=log)


def why_not(end: End) -> str:
    """Return the reason why a version does not qualify after a match with this end; empty if it qualifies."""
    if isinstance(end, Void):
        return f"its worker died {MAX_VOIDS} times: {end.reason}" if end.worker_died else end.reason
    seat = end.result.seats[0]
    return "" if seat.outcome is Outcome.PLAYED else f"{seat.outcome.value}: {seat.detail}"
