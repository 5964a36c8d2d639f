"""Announce events, and cancel them before they close."""

from __future__ import annotations

from datetime import UTC, datetime

from ladder.facts.entries import now
from ladder.facts.store import Store
from ladder.model.names import ORGANISER_NAME, skeleton
from ladder.model.tournament import Phase, TournamentTerms, plan_of
from ladder.operation.errors import LadderError
from referee.game import SetupError
from referee.registry import find, shipped_board
from referee.tournament.plan import Format, size_problem

MAX_MATCHES = 100_000
"""The maximum number of matches in an event, because a run keeps the whole plan in memory, and pages read it, too."""


def read_closing(text: str) -> str:
    """Parse a closing time, and return it in the ladder's time format.

    Raises:
        LadderError: if it is not a time, has no time zone, or is in the past.
    """
    try:
        at = datetime.fromisoformat(text)
        # Times are compared as text, here and in SQL, so all of them must have the same format.
        written = at.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        raise LadderError(f"{text!r} is not a time; write it as in 2026-12-18T18:00Z") from None
    if at.tzinfo is None:
        local = text if ":" in text else at.isoformat()  # a date without a time takes no time zone
        raise LadderError(f"{text!r} has no time zone; write {local}Z for UTC, or for instance {local}+01:00")
    if written <= now():
        raise LadderError(f"{text} is in the past; an event must close in the future")
    return written


def announce(store: Store, terms: TournamentTerms) -> None:
    """Announce an event.

    Raises:
        LadderError: if its terms contradict each other or the game, its name is taken or could be confused with another
            event's, or its closing time passed while this function waited for the ladder.
    """
    with store.writing():
        for one in store.tournaments.all():
            if one.terms.name == terms.name:
                state = one.phase_at(now()).value
                raise LadderError(f"there is an event {terms.name} already, {state}; choose another name")
            if skeleton(one.terms.name) == skeleton(terms.name):
                raise LadderError(
                    f"{terms.name} could be taken for {one.terms.name}, another event; choose another name"
                )
        if problem := _problem(terms):
            raise LadderError(problem)
        at = now()  # also the time in the log, in which no event is announced after its close
        if terms.closes <= at:
            raise LadderError(f"{terms.closes} has passed meanwhile; an event must close in the future")
        store.tournaments.announce(terms, at)
        store.log.note_act(ORGANISER_NAME, "event new", terms.name)


def cancel(store: Store, name: str) -> None:
    """Cancel an event before its closing time.

    Raises:
        LadderError: if there is no such event, or it is closed.
    """
    with store.writing():
        one = store.tournaments.find(name)
        phase = one.phase_at(now())
        if phase is not Phase.OPEN:
            raise LadderError(f"event {name} is {phase.value}; it can be cancelled only before it closes")
        store.tournaments.end(one)
        store.log.note_act(ORGANISER_NAME, "event cancel", name)


def _problem(terms: TournamentTerms) -> str:
    """Return the first contradiction in the terms of an event; empty if there is none."""
    if terms.top < terms.seats:
        return f"--top {terms.top} is fewer than sit at a table of {terms.seats}"
    if terms.format is Format.KNOCKOUT and 2 * terms.advance > terms.seats:
        return f"--advance {terms.advance}: at most half of a table of {terms.seats} can go on"
    largest = plan_of(terms, [str(number) for number in range(terms.top)], seed=0)
    if problem := size_problem(largest, MAX_MATCHES):
        return problem
    for condition in terms.conditions:
        game = find(condition.game)
        # The number of entrants is known only at the close, so a knockout may need tables of any size.
        for size in sorted(terms.table_sizes()):
            try:
                game.setup(size, condition.options, shipped_board(game))
            except SetupError as error:
                return f"--seats {terms.seats} can lead to a table of {size}: {error}"
    return ""
