"""The status of every version on the ladder of a game: who waits, is active, replaced, suspended, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ladder.match import Version
from ladder.rating import Rating
from ladder.store import Store
from referee.match.result import Outcome

KILLS_WORKERS = "workers died in its matches against house bots"
SUSPENDED_AFTER = 5
"""A version that was out in this many matches in a row is not scheduled any more: it would cost everybody time."""


class Status(Enum):
    """What a version's place on the ladder is; the values are the words of tables."""

    ACTIVE = ""
    """It is scheduled."""
    NEW = "waits for its first match"
    """It is scheduled, and is not rated yet."""
    UNTRIED = "waits to qualify"
    """The next run lets it qualify."""
    FAILED = "not qualified"
    SUSPENDED = "suspended"
    REPLACED = "replaced"
    """A newer version of the bot plays instead."""


SCHEDULED = (Status.ACTIVE, Status.NEW)


@dataclass(frozen=True, slots=True)
class Standing:
    """A version's place on the ladder of a game."""

    version: Version
    status: Status
    reason: str
    """Why it has this status; empty if there is nothing to say."""
    rating: Rating | None
    """None for a version that has no match that counts."""
    matches: int
    wins: int
    """Matches in which it was first, shared first places included."""
    faults: int
    """Matches in which it was out by a fault of its own."""


def standings(store: Store, game: str) -> list[Standing]:
    """Return every version that plays the game: the rated ones, best first by mu - 3 sigma, then the others by age."""
    ratings = store.ratings(game)
    tallies = store.tallies(game)
    found = []
    for version, (status, reason) in _statuses(store, game, ratings).items():
        matches, wins, faults = tallies.get(version.id, (0, 0, 0))
        found.append(Standing(version, status, reason, ratings.get(version.id), matches, wins, faults))
    return sorted(found, key=_order)


def _order(standing: Standing) -> tuple[bool, float, int]:
    rating = standing.rating
    return rating is None, 0.0 if rating is None else -rating.low, standing.version.id


def scheduled(store: Store, game: str) -> list[Version]:
    """Return the versions that are scheduled: the newest of each bot that has qualified, unless it is suspended."""
    statuses = _statuses(store, game, store.ratings(game))
    return [version for version, (status, _) in statuses.items() if status in SCHEDULED]


def to_qualify(store: Store, game: str) -> list[Version]:
    """Return the versions that the next run lets qualify: the newest of each bot, if it has not tried."""
    statuses = _statuses(store, game, store.ratings(game))
    return [version for version, (status, _) in statuses.items() if status is Status.UNTRIED]


def _statuses(store: Store, game: str, ratings: Mapping[int, Rating]) -> dict[Version, tuple[Status, str]]:
    """Return the status of every version that plays the game, and the reason for it."""
    qualified = store.qualifications(game)
    playing = [version for version in store.versions().values() if game in version.games]
    newest = {version.bot: version for version in playing if qualified.get(version.id, (True, ""))[0]}
    newest_qualified = {version.bot: version for version in playing if qualified.get(version.id, (False, ""))[0]}
    suspended = _suspended(store, game)

    def status(version: Version) -> tuple[Status, str]:
        passed, reason = qualified.get(version.id, (None, ""))
        if passed is False:
            return Status.FAILED, reason
        if version.id in suspended:
            return Status.SUSPENDED, suspended[version.id]
        if newest_qualified.get(version.bot) == version:
            return (Status.ACTIVE if version.id in ratings else Status.NEW), ""
        if newest[version.bot] == version:
            return Status.UNTRIED, ""
        return Status.REPLACED, ""

    return {version: status(version) for version in playing}


def _suspended(store: Store, game: str) -> dict[int, str]:
    """Return why versions are suspended: out in all of their last matches, or guilty of killing workers."""
    streak: dict[int, int] = {}
    for match in store.counted(game):
        assert match.count is not None  # noqa: S101 it counts
        for version, outcome in zip(match.versions, match.count.outcomes, strict=True):
            streak[version] = 0 if outcome is Outcome.PLAYED else streak.get(version, 0) + 1
    out = {version for version, length in streak.items() if length >= SUSPENDED_AFTER}
    return dict.fromkeys(out, f"out in its last {SUSPENDED_AFTER} matches") | dict.fromkeys(
        store.guilty(), KILLS_WORKERS
    )
