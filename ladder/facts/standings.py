"""The status of every version under a condition, with its reason, and the places of the rated versions.

Statuses follow from stored tallies. Places follow from the fit (`fitted.py`), for which the matches may have to be read.
A run needs no places between matches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

from ladder.facts.fitted import fitted
from ladder.facts.results import Tally
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Version
from ladder.model.rating import Rating, current
from ladder.model.schedule import Candidate, Queue
from ladder.operation.errors import LadderError
from referee.registry import house_bots

if TYPE_CHECKING:
    from ladder.model.fit import Estimate

KILLS_WORKERS = "workers died in its matches against house bots"
SUSPENDED_AFTER = 5
"""A version is suspended once it has been out in this many consecutive matches, because it costs everybody time."""


class Status(StrEnum):
    """The status of a version on the ladder; the values are the texts shown in tables."""

    ACTIVE = ""
    """The version is scheduled."""
    NEW = "waits for its first match"
    """The version is scheduled, but not rated yet."""
    UNTRIED = "waits to qualify"
    """The next run lets the version try to qualify."""
    FAILED = "not qualified"
    SUSPENDED = "suspended"
    RETIRED = "retired"
    """The author of the version, or the organiser, has taken it off the ladder."""
    REPLACED = "replaced"
    """A newer version of the bot plays instead."""
    AWAY = "not connected"
    """The version runs on its author's machine, and is not offered to the ladder at this moment."""


SCHEDULED = (Status.ACTIVE, Status.NEW)
STOPPED = (Status.FAILED, Status.SUSPENDED, Status.RETIRED)
"""The statuses of versions that can be brought back, or can try to qualify again."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The status of a version under a condition, with its rating and tally."""

    version: Version
    status: Status
    reason: str
    """The reason for this status; empty if there is nothing to say."""
    rating: Rating | None
    """The live rating; None if no match has rated the version."""
    tally: Tally
    """The tally of the version's matches."""


@dataclass(frozen=True, slots=True)
class Placing:
    """The place of a rated version under a condition."""

    number: int
    """The place, from 1, in the order of the table."""
    estimate: Estimate | None
    """The version's strength, and the places left open to it; None if all of its matches are newer than the fit."""
    lift: float
    """The median of live rating minus strength, over all versions under the condition that have both; 0 if none has."""


def statuses(store: Store, condition: Condition, among: Collection[int] | None = None) -> list[Standing]:
    """Return the status of every version that plays the game, oldest first.

    Args:
        store: the ladder.
        condition: the condition.
        among: the ids of versions; only the versions of their bots are returned. None for all versions.
    """
    among = None if among is None else store.roster.versions(among).keys()
    ratings = store.results.ratings(condition, among)
    tallies = store.results.tallies(condition, among)
    return [
        Standing(version, status, reason, ratings.get(version.id), tallies.get(version.id, Tally()))
        for version, (status, reason) in _statuses(store, condition, ratings, tallies, among).items()
    ]


def places(store: Store, condition: Condition) -> dict[int, Placing]:
    """Return the places of the rated versions by their ids, best first.

    They are ordered by the lower end of their strength's range; versions newer than the fit follow by age.
    """
    found = fitted(store, condition)
    ratings = store.results.ratings(condition)
    lifts = [ratings[version].mu - estimate.strength for version, estimate in found.items() if version in ratings]
    lift = median(lifts) if lifts else 0.0
    order = [*found, *sorted(ratings.keys() - found.keys())]
    return {version: Placing(number, found.get(version), lift) for number, version in enumerate(order, 1)}


def standings(store: Store, condition: Condition) -> list[tuple[Standing, Placing | None]]:
    """Return the standing of every version that plays the game: the rated versions by place, then the others by age."""
    placed, listed = places(store, condition), statuses(store, condition)
    by_id = {one.version.id: one for one in listed}
    return [
        *((by_id[version], place) for version, place in placed.items() if version in by_id),
        *((one, None) for one in listed if one.version.id not in placed),
    ]


def candidates(store: Store, condition: Condition, among: Collection[int] | None = None) -> list[Candidate]:
    """Return the scheduled versions as candidates for the queue, or only those of the given versions' bots.

    A version is accompanied by its predecessor if the latter could still play and runs on this machine.
    """
    versions = store.roster.versions(among)
    among = None if among is None else versions.keys()
    ratings, tallies = store.results.ratings(condition, among), store.results.tallies(condition, among)
    qualified, dues = store.admission.qualifications(condition, among), store.schedule.dues(condition, among)
    statuses = _statuses(store, condition, ratings, tallies, among)
    replaced = {
        version.bot: version.id
        for version, (status, _) in statuses.items()
        if status is Status.REPLACED and qualified.get(version.id, (False, ""))[0] and not version.is_at_home
    }
    parents = {version.id: version.parent for version in versions.values()}
    found = []
    for version, (status, _) in statuses.items():
        if status in SCHEDULED:
            tally = tallies.get(version.id, Tally())
            found.append(
                Candidate(
                    version=version.id,
                    author=version.author,
                    rating=current(ratings, version.id, parents),
                    blocks=tally.blocks,
                    last_block=tally.last_block,
                    due=dues.get(version.id),
                    faults_in_a_row=tally.faults_in_a_row,
                    predecessor=replaced.get(version.bot),
                    thinks=thinks(version),
                )
            )
    return found


def thinks(version: Version) -> bool:
    """Return True if a version is a house bot that thinks; the organiser sets its share of the matches."""
    return version.is_house and version.bot in house_bots() and house_bots()[version.bot].thinks


def queue(store: Store, condition: Condition, *, same_author: bool = False, search_share: int = 0) -> Queue:
    """Return the queue under a condition, in order, without the versions whose authors have used up their budgets."""
    out_of_budget = store.budgets.out_of_budget()
    return Queue(
        [one for one in candidates(store, condition) if one.author not in out_of_budget],
        store.schedule.blocks_by_seats(condition),
        store.schedule.last_round(condition),
        same_author=same_author,
        search_share=search_share,
    )


def scheduled(store: Store, condition: Condition) -> list[Version]:
    """Return the versions that are scheduled: the newest of each bot that has qualified, unless it is suspended."""
    return [one.version for one in statuses(store, condition) if one.status in SCHEDULED]


def to_qualify(store: Store, condition: Condition) -> list[Version]:
    """Return the versions that will try to qualify in the next run: the newest of each bot, if it has not tried yet."""
    return [one.version for one in statuses(store, condition) if one.status is Status.UNTRIED]


def _statuses(
    store: Store,
    condition: Condition,
    ratings: Mapping[int, Rating],
    tallies: Mapping[int, Tally],
    among: Collection[int] | None = None,
) -> dict[Version, tuple[Status, str]]:
    """Return the status, with its reason, of every version that plays the game, or only of the given versions' bots."""
    qualified = store.admission.qualifications(condition, among)
    playing = [version for version in store.roster.versions(among).values() if condition.game in version.games]
    retired = store.admission.retired()
    staying = [version for version in playing if version.id not in retired]
    # `newest` skips failed versions. The next line also skips untried ones, whose predecessors play until they qualify.
    newest = {version.bot: version for version in staying if qualified.get(version.id, (True, ""))[0]}
    newest_qualified = {version.bot: version for version in staying if qualified.get(version.id, (False, ""))[0]}

    guilty = store.admission.guilty()
    connected = {version for version, connection in store.roster.connected().items() if not connection.is_leaving}

    def status(version: Version) -> tuple[Status, str]:
        if version.id in retired:
            return Status.RETIRED, ""
        passed, reason = qualified.get(version.id, (None, ""))
        if passed is False:
            return Status.FAILED, reason
        if version.id in guilty:
            return Status.SUSPENDED, KILLS_WORKERS
        if tallies.get(version.id, Tally()).faults_in_a_row >= SUSPENDED_AFTER:
            return Status.SUSPENDED, f"out in its last {SUSPENDED_AFTER} matches"
        is_away = version.is_at_home and version.id not in connected
        if is_away and version in (newest_qualified.get(version.bot), newest[version.bot]):
            return Status.AWAY, ""
        if newest_qualified.get(version.bot) == version:
            return (Status.ACTIVE if version.id in ratings else Status.NEW), ""
        if newest[version.bot] == version:
            return Status.UNTRIED, ""
        return Status.REPLACED, ""

    return {version: status(version) for version in playing}


def at_rest(store: Store) -> set[int]:
    """Return the submitted versions that will not be started again unless somebody brings them back.

    They are retired or, under every possible condition, they have failed to qualify or are replaced. Two playable
    versions of each bot are left out, because a bot falls back on its previous version if its newest one does not
    qualify or is retired.
    """
    versions, retired = store.roster.versions(), store.admission.retired()
    found: dict[int, set[Status]] = {}
    needed: set[int | None] = set()
    for condition in store.roster.conditions().values():
        for one in statuses(store, condition):
            found.setdefault(one.version.id, set()).add(one.status)
        needed |= {one.predecessor for one in candidates(store, condition)} | store.schedule.playing(condition)
    could_play: dict[str, list[int]] = {}
    for version in versions.values():
        if version.id not in retired and found.get(version.id) != {Status.FAILED}:
            could_play.setdefault(version.bot, []).append(version.id)
    needed.update(one for ids in could_play.values() for one in ids[-2:])
    return {
        version.id
        for version in versions.values()
        if not (version.is_house or version.is_at_home or version.id in needed)
        and (version.id in retired or found.get(version.id, {Status.UNTRIED}) <= {Status.FAILED, Status.REPLACED})
    }


def retire(store: Store, versions: Sequence[Version]) -> None:
    """Retire versions: they are no longer scheduled, but keep their results.

    Raises:
        LadderError: if they are house bots.
    """
    if versions[0].author == HOUSE:
        raise LadderError(f"{versions[0].bot} is a house bot: they are on every ladder, as anchors")
    with store.writing():
        gone = store.admission.retired()
        for version in versions:
            if version.id not in gone:
                store.admission.retire(version.id, retired=True)


def requalify(store: Store, versions: Sequence[Version]) -> tuple[list[Version], list[tuple[Version, Condition]]]:
    """Bring back retired versions, and let those that failed to qualify or are suspended try again.

    Returns:
        The versions that are back, and the versions that may try to qualify again, with their conditions.

    Raises:
        LadderError: if none of the versions needs this.
    """
    with store.writing():
        # Retired versions come first, because their status does not show whether they have failed or are suspended.
        back = [version for version in versions if version.id in store.admission.retired()]
        for version in back:
            store.admission.retire(version.id, retired=False)
        again = [
            (standing.version, condition)
            for condition in store.roster.conditions().values()
            for standing in statuses(store, condition)
            if standing.version in versions
            and (standing.status is Status.FAILED or standing.status is Status.SUSPENDED)
        ]
        for version, condition in again:
            store.admission.let_qualify_again(version.id, condition)
        for version in versions:
            if version.id in store.admission.guilty():
                store.admission.pardon(version.id)
        if back or again:
            return back, again
        raise LadderError(
            f"{versions[-1].label} is neither retired nor suspended, and has not failed to qualify: it needs no second chance"
        )
