"""The entry of bots: house bots at once, a new version after a match against `random`, repeated alone if it failed beside other matches."""

from __future__ import annotations

import logging
import secrets

from ladder.archive.archive import Archive
from ladder.archive.sealing import seal_match
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.standings import scheduled
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


def enter_house_bots(store: Store, condition: Condition, *, thinking: bool = False) -> None:
    """Add the house bots that play a game, those that think only if asked for; they need not qualify."""
    game = find(condition.game)
    for name, bot in house_bots().items():
        if bot.plays(game) and (thinking or not bot.thinks):
            content = f"{HOUSE_PREFIX}{name}:{installed_version()}"
            playable = [other.name for other in games().values() if bot.plays(other)]
            version, _ = store.roster.add_version(name, HOUSE, content, [], playable, "Python")
            if version.id not in store.admission.qualifications(condition):
                store.admission.qualify(version.id, condition, passed=True, reason="house bot")


def partner_of(store: Store, condition: Condition) -> Version:
    """Return the opponent in qualifying matches."""
    return next(
        version for version in scheduled(store, condition) if version.author == HOUSE and version.bot == "random"
    )


def qualify_alone(home: Home, store: Store, pool: Pool | ClusterPool, failed: Match) -> Remark:
    """Let a version try once more to qualify while no other match is running; this attempt decides."""
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
    version, hint = match.seats[0], ""
    if isinstance(end, Void) and not end.worker_died:
        return not_this_time(version, match.condition, end.reason)
    reason = why_not(end)
    if isinstance(end, Finished):
        hint = f" (its log: dogana ladder log {match.match_id})" if reason else ""
        try:
            seal_match(home, match.match_id, match.seed, end.record_hash)
        except SealBroken as error:
            hint += f"; {error}"
    store.admission.qualify(version.id, match.condition, passed=not reason, reason=reason)
    text = f"does not qualify: {reason}" if reason else f"qualifies for {match.condition.game}"
    fields = {"bot": version.label, "author": version.author, "game": match.condition.game, "match": match.match_id}
    event = "not_qualified" if reason else "qualified"
    return Remark(f"{version.label} {text}{hint}", event, fields={**fields, "reason": reason})


def why_not(end: End) -> str:
    """Return the reason why a version does not qualify; empty if it does."""
    if isinstance(end, Void):
        return f"its worker died {MAX_VOIDS} times: {end.reason}" if end.worker_died else end.reason
    seat = end.result.seats[0]
    return "" if seat.outcome is Outcome.PLAYED else f"{seat.outcome.value}: {seat.detail}"
