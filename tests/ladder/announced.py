"""Events of ladders in the process of a test: a clock that is set, terms, and matches that are played by their seats."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from ladder.facts import announcing, entering, entries
from ladder.facts.announcing import announce
from ladder.facts.entering import close_due
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.model.match import Match
from ladder.model.tournament import LadderTournament, TournamentTerms
from ladder.play.running import count
from ladder.play.tournament_matches import TournamentMatches
from ladder.questions import events
from referee.tournament.plan import Format, Scoring
from tests.ladder.made import CONDITION, result_of

CLOSES = "2126-12-18T18:00:00.000+00:00"


class Clock:
    """What the ladder takes for the time: it goes on by a millisecond each time that somebody looks."""

    def __init__(self) -> None:
        self.at = datetime(2126, 12, 18, 12, tzinfo=UTC)

    def __call__(self) -> str:
        self.at += timedelta(milliseconds=1)
        return self.at.isoformat(timespec="milliseconds")

    def pass_the_close(self) -> None:
        self.at = datetime.fromisoformat(CLOSES)


def set_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (entries, entering, announcing, events):
        monkeypatch.setattr(module, "now", made)
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return set_clock(monkeypatch)


def terms(name: str = "final", *, form: Format = Format.ROUND_ROBIN, **changes: object) -> TournamentTerms:
    plain = {"seats": 2, "blocks": 2, "rounds": 3, "advance": 1, "top": 4, "same_author": False, "share": 50}
    return TournamentTerms(
        **{  # type: ignore[arg-type]  # of many types
            **plain,
            "name": name,
            "conditions": (CONDITION,),
            "format": form,
            "scoring": Scoring.WINS,
            "closes": CLOSES,
            **changes,
        }
    )


def closed(store: Store, clock: Clock, **changes: object) -> LadderTournament:
    """Announce an event, and let its time come."""
    announce(store, terms(**changes))  # type: ignore[arg-type]
    clock.pass_the_close()
    [one] = close_due(store)
    return store.tournaments.find(one.terms.name)


def ranks_of(match: Match) -> list[int]:
    """The places of a match: they follow from its seed and its seats alone, however often it is played."""
    order = sorted(
        range(len(match.seats)), key=lambda seat: random.Random(f"{match.seed} {match.seats[seat].label}").random()
    )
    return [1 + order.index(seat) for seat in range(len(match.seats))]


def play_one(store: Store, match: Match) -> None:
    """Make a match count, and reveal the seed of its block if it was the last one."""
    count(store, match, result_of(match, ranks_of(match)), f"record of {match.match_id}")
    assert match.block is not None
    if store.schedule.is_over(match.block):
        store.evidence.note_sealed(match.block)


def matches_of(
    store: Store, is_killed: Callable[[], bool] = lambda: False, conditions: Sequence[Condition] = (CONDITION,)
) -> Iterator[Match]:
    """The matches of the events of a ladder, in the order in which one worker plays them.

    Each is played when the next one is asked for. If a kill comes before that, the next run finds it among the unfinished ones.
    """
    run = TournamentMatches(store, conditions)
    while True:
        list(run.advance())
        match = run.take(())
        if match is None:
            return
        if is_killed():
            run = TournamentMatches(store, conditions)
            for condition in conditions:
                run.add(store.schedule.unfinished(condition))
            continue
        yield match
        play_one(store, match)
        run.touch()


def play_out(
    store: Store, is_killed: Callable[[], bool] = lambda: False, conditions: Sequence[Condition] = (CONDITION,)
) -> int:
    """Play all matches of the events of a ladder; return their number."""
    return sum(1 for _ in matches_of(store, is_killed, conditions))
