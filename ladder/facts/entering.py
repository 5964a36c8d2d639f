"""Who is entered in an event: the best in the standings of its condition, in their newest versions that have qualified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ladder.facts.entries import now
from ladder.facts.standings import SCHEDULED, Standing, Status, places, standings
from ladder.facts.store import Store
from ladder.model.match import HOUSE, Version
from ladder.model.tournament import EnteredVersion, LadderTournament, Phase, TournamentTerms

MAX_LEFT_OUT = 500
"""The most versions of which the log says why they are left out: a line of the log is bounded."""


MAX_REASON_CHARACTERS = 200
"""The length to which each reason is cut, for the same purpose."""


@dataclass(frozen=True, slots=True)
class EntryList:
    """Those that are entered, and those that are not."""

    entrants: Sequence[EnteredVersion]
    """In the order of their seeding, which is that of the standings."""
    left_out: Sequence[tuple[Version, str]]
    """The other versions that are not replaced, with the reason."""


def entry_list(store: Store, terms: TournamentTerms) -> EntryList:
    """Return who would be entered in an event that closed now.

    The order of the standings decides at the cut, too: that of equals is the order in which the versions came in.
    """
    entrants: list[EnteredVersion] = []
    left_out: list[tuple[Version, str]] = []
    best_of: dict[str, str] = {}
    for one, placing in standings(store, terms.condition):
        version = one.version
        if version.author == HOUSE or one.status is Status.REPLACED:
            continue
        reason = _obstacle(one)
        if not reason and not terms.same_author and version.author in best_of:
            reason = f"{best_of[version.author]} of the same author is before it"
        if not reason and len(entrants) >= terms.top:
            reason = f"{len(entrants)} are before it"
        if reason:
            left_out.append((version, reason))
        else:
            best_of.setdefault(version.author, version.label)
            entrants.append(EnteredVersion(version, 0 if placing is None else placing.number))
    return EntryList(entrants, left_out)


def _obstacle(one: Standing) -> str:
    """Return why a version cannot be entered, whatever its place; empty if it can."""
    if one.version.is_at_home:
        return "it runs at home, so its files cannot be frozen"
    if one.status in SCHEDULED:
        return ""
    return f"{one.status.value}: {one.reason}" if one.reason else one.status.value


def close_due(store: Store) -> list[LadderTournament]:
    """Close the events whose time has come, and return them. The run calls this before all that it adds to the log.

    Only a run qualifies versions and counts matches; so what happened after the time of the close has no part in it.
    """
    due = [one for one in store.tournaments.all() if one.phase is Phase.OPEN and one.terms.closes <= now()]
    for one in due:
        places(
            store, one.terms.condition
        )  # the fit can take seconds, and is remembered: nobody waits for the log meanwhile
        with store.writing():
            found = entry_list(store, one.terms)
            left_out = [(version, reason[:MAX_REASON_CHARACTERS]) for version, reason in found.left_out[:MAX_LEFT_OUT]]
            store.tournaments.close(one, found.entrants, left_out)
    return due
