"""The entrants of an event: the best bots in the standings of its games.

Each enters with its newest version that has qualified in all of these games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ladder.facts.entries import now
from ladder.facts.fitted import fitted_overall
from ladder.facts.standings import SCHEDULED, Standing, Status, places, statuses
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Version
from ladder.model.tournament import EnteredVersion, LadderTournament, Phase, TournamentTerms

MAX_LEFT_OUT = 500
"""The maximum number of left-out versions that the log lists, because log lines have a maximum length."""


MAX_REASON_CHARACTERS = 200
"""The maximum length of the reason for leaving out a version, because log lines have a maximum length."""


@dataclass(frozen=True, slots=True)
class EntryList:
    """The entrants of an event, and the versions that were left out."""

    entrants: Sequence[EnteredVersion]
    """The entrants, in the order of their seeding, which is the order of the standings."""
    left_out: Sequence[tuple[Version, str]]
    """The other versions that are not replaced, each with the reason for leaving it out."""


def entry_list(store: Store, terms: TournamentTerms) -> EntryList:
    """Return the entry list that an event with these terms would have if it closed now.

    The order of the standings also decides which versions make the cut. Versions without a place come last, oldest
    first.
    """
    seeding, found = places_by_version(store, terms.conditions), _candidates(store, terms.conditions)
    entrants: list[EnteredVersion] = []
    left_out: list[tuple[Version, str]] = []
    best_of: dict[str, str] = {}
    for version in sorted(found, key=lambda each: (seeding.get(each.id, math.inf), each.id)):
        reason = found[version]
        if not reason and not terms.same_author and version.author in best_of:
            reason = f"{best_of[version.author]} of the same author is before it"
        if not reason and len(entrants) >= terms.top:
            reason = f"{len(entrants)} are before it"
        if reason:
            left_out.append((version, reason))
        else:
            best_of.setdefault(version.author, version.label)
            entrants.append(EnteredVersion(version, seeding.get(version.id, 0)))
    return EntryList(entrants, left_out)


def places_by_version(store: Store, conditions: Sequence[Condition]) -> dict[int, int]:
    """Return the place of each version in the standings of one game, or in the ranking over several, best first."""
    if len(conditions) == 1:
        return {version: placing.number for version, placing in places(store, conditions[0]).items()}
    return {version: number for number, version in enumerate(fitted_overall(store, conditions), 1)}


def _candidates(store: Store, conditions: Sequence[Condition]) -> dict[Version, str]:
    """Return the versions that are not replaced, whatever their place, each with the obstacle to its entry, if any."""
    found: dict[Version, dict[Condition, Standing]] = {}
    for condition in conditions:
        for one in statuses(store, condition):
            if one.version.author != HOUSE:
                found.setdefault(one.version, {})[condition] = one
    qualified = [store.admission.qualifications(condition) for condition in conditions]
    retired = store.admission.retired()
    newest = {
        version.bot: version
        for version in sorted(found, key=lambda each: each.id)
        if version.id not in retired and all(of_game.get(version.id, (False, ""))[0] for of_game in qualified)
    }
    candidates = {}
    for version, known in found.items():
        replaced = [one.status is Status.REPLACED for one in known.values()]
        # A newer version that has qualified in some of the games cannot be entered, so it replaces nothing here.
        if not any(replaced) or (newest.get(version.bot) == version and not all(replaced)):
            candidates[version] = _obstacle(version, conditions, known)
    return candidates


def _obstacle(version: Version, conditions: Sequence[Condition], known: Mapping[Condition, Standing]) -> str:
    """Return the reason why a version cannot be entered; empty if it can.

    A newer version of the bot may have replaced it in some of the games.
    """
    if version.is_at_home:
        return "it runs at home, so its files cannot be frozen"
    for condition in conditions:
        where = f"{condition.game}: " if len(conditions) > 1 else ""
        one = known.get(condition)
        if one is None:
            return f"{where}it does not play that"
        if one.status not in (*SCHEDULED, Status.REPLACED):
            return where + (f"{one.status.value}: {one.reason}" if one.reason else one.status.value)
    return ""


def close_due(store: Store) -> list[LadderTournament]:
    """Close the events whose closing time has passed, and return them. A run calls this before it adds anything to the log.

    Only a run qualifies versions and counts matches, so nothing that happened after the closing time affects the entrants.
    """
    closed = []
    for due in [one for one in store.tournaments.all() if one.phase_at(now()) is Phase.CLOSED]:
        # The fit can take seconds. It is cached here, before the transaction, so that nobody has to wait for the log.
        places_by_version(store, due.terms.conditions)
        with store.writing():
            # Meanwhile it may have been cancelled, or the clock set back: then a close would contradict the log.
            one, at = store.tournaments.find(due.terms.name), now()
            if one.phase_at(at) is not Phase.CLOSED:
                continue
            # Inside the closing transaction, because a recomputation chooses again from the views just before the close.
            found = entry_list(store, one.terms)
            left_out = [(version, reason[:MAX_REASON_CHARACTERS]) for version, reason in found.left_out[:MAX_LEFT_OUT]]
            store.tournaments.close(one, found.entrants, left_out, at)
            closed.append(one)
    return closed
