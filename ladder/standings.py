"""The status of every version on the ladder of a game: who waits, is active, replaced, suspended, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ladder.match import HOUSE, Version
from ladder.rating import Rating
from ladder.store import Store
from referee.match.result import Outcome

SUSPENDED_AFTER = 5
"""A version that was out in this many matches in a row is not scheduled any more: it would cost everybody time."""
SUSPENDED_AFTER_GIVEN_UP = 3
"""A version that explains at least this many matches that were given up is not scheduled any more, either."""


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
            return Status.SUSPENDED, ""
        if newest_qualified.get(version.bot) == version:
            return (Status.ACTIVE if version.id in ratings else Status.NEW), ""
        if newest[version.bot] == version:
            return Status.UNTRIED, ""
        return Status.REPLACED, ""

    return {version: status(version) for version in playing}


def is_suspended(store: Store, game: str, versions: Sequence[int]) -> bool:
    """Return whether one of some versions is suspended."""
    return bool(_suspended(store, game) & set(versions))


def _suspended(store: Store, game: str) -> set[int]:
    """Return the versions that were out in all of their last matches, or that explain matches that were given up."""
    streak: dict[int, int] = {}
    for match in store.counted(game):
        assert match.count is not None  # noqa: S101 it counts
        for version, outcome in zip(match.versions, match.count.outcomes, strict=True):
            streak[version] = 0 if outcome is Outcome.PLAYED else streak.get(version, 0) + 1
    out = {version for version, length in streak.items() if length >= SUSPENDED_AFTER}
    house = {version.id for version in store.versions().values() if version.author == HOUSE}
    return out | (blamed([seats - house for seats in store.given_up(game)]) - set(streak))


def blamed(given_up: Sequence[set[int]]) -> set[int]:
    """Return those who are to blame for matches that were given up.

    Whoever sat in clearly the most of them, and in `SUSPENDED_AFTER_GIVEN_UP` or more, is to blame for all of those. The next
    is found among the matches that are left, so that nobody is blamed for having met a culprit.

    Args:
        given_up: the versions in each match that may be to blame for it.
    """
    found: set[int] = set()
    while True:
        left = [seats for seats in given_up if not seats & found]
        most = Counter(version for seats in left for version in seats).most_common(2)
        if not most or most[0][1] < SUSPENDED_AFTER_GIVEN_UP or (len(most) > 1 and most[1][1] == most[0][1]):
            return found
        found.add(most[0][0])
