"""Events: tournaments that a ladder announces, and plays between the bots that are best placed when they close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ladder.model.condition import Condition
from ladder.model.match import Version
from referee.match.clock import TimeControl
from referee.tournament.fixtures import derived_seed
from referee.tournament.knockout import sizes
from referee.tournament.plan import (
    DEFAULT_TIE_BREAKS,
    SWISS_TIE_BREAKS,
    Balance,
    Entrant,
    EntrantLimits,
    FaultRule,
    Format,
    GameTerms,
    Preliminary,
    Scoring,
    TieBreak,
    TournamentPlan,
)

FORMATS = (Format.ROUND_ROBIN, Format.SWISS, Format.KNOCKOUT)
"""The formats of events.

A gauntlet is not one of them, because its challengers share seeds, and later ones would know revealed seeds."""
SCORINGS = (Scoring.WINS, Scoring.PLACES)
"""The scorings of events. `SCORE` is not among them, because a match that is given up has no score."""
_SETTLED_BY_THE_RUN = EntrantLimits(
    isolate=True, memory=None, tasks=None, cpus=None, pondering=True, runtimes=()
)  # isolation affects neither pairings nor places


class Phase(Enum):
    """The state of an event; the values are the texts shown in tables."""

    OPEN = "open"
    """The event is announced, but not closed."""
    CLOSED = "closed"
    """The closing time has passed, but no run or server has frozen the entrants of the event yet."""
    PLAYED = "being played"
    OVER = "over"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class TournamentTerms:
    """The announced terms of an event."""

    name: str
    conditions: tuple[Condition, ...]
    """One condition for each game; each table plays all of them, and the standings under them decide who is entered."""
    format: Format
    seats: int
    """The number of seats at a table."""
    blocks: int
    """The number of blocks for each table; a block plays one seed in every rotation of the seats."""
    rounds: int
    """The number of rounds of a Swiss tournament."""
    advance: int
    """The number of entrants at each table of a knockout that go on to the next round."""
    scoring: Scoring
    top: int
    """The maximum number of entrants."""
    same_author: bool
    """True if several bots of one author may be entered."""
    share: int
    """The event's percentage of the matches that begin while it is being played."""
    closes: str
    """The time at which entrants and versions are frozen, in the ladder's format."""

    @property
    def fields(self) -> dict[str, Any]:
        """The terms, as in the log."""
        return {
            "tournament": self.name,
            "conditions": [one.fields for one in self.conditions],
            "format": self.format.value,
            "seats": self.seats,
            "blocks": self.blocks,
            "rounds": self.rounds,
            "advance": self.advance,
            "scoring": self.scoring.value,
            "top": self.top,
            "same_author": self.same_author,
            "share": self.share,
            "closes": self.closes,
        }

    def table_sizes(self) -> set[int]:
        """Return the numbers of seats of all tables that may be played, for any number of entrants."""
        if self.format is not Format.KNOCKOUT:
            return {self.seats}
        fields = range(self.seats, self.top + 1)
        return {size for count in fields for tables in sizes(count, self.seats, self.advance) for size in tables}


@dataclass(frozen=True, slots=True)
class LadderTournament:
    """An event of a ladder."""

    id: int
    terms: TournamentTerms
    seed_commitment: str
    announced_at: str
    closed_at: str
    """The time at which the event's entrants were frozen; empty before the close."""
    ended_at: str
    """The time at which the event ended or was cancelled; empty until then."""
    seed: int | None
    """The seed; None until it is revealed at the end."""

    @property
    def phase(self) -> Phase:
        """The state of the event according to the log alone; it is never CLOSED."""
        if self.ended_at:
            return Phase.OVER if self.closed_at else Phase.CANCELLED
        return Phase.PLAYED if self.closed_at else Phase.OPEN

    def phase_at(self, now: str) -> Phase:
        """Return the state of the event at a time, which is given in the ladder's format."""
        return Phase.CLOSED if self.phase is Phase.OPEN and self.terms.closes <= now else self.phase


@dataclass(frozen=True, slots=True)
class EnteredVersion:
    """A version that is entered in an event."""

    version: Version
    place: int
    """The version's place at the close, in the standings or in the ranking over all games of the event; 0 for none."""


def plan_of(terms: TournamentTerms, entrants: Sequence[str], seed: int) -> TournamentPlan:
    """Return the plan of an event after its close.

    The seed of the plan follows from the secret seed and from the entrants. The ladder committed to the secret seed
    before anybody knew the entrants, so nobody could choose either to suit the other.

    Args:
        terms: the announced terms.
        entrants: the labels of the versions that are entered, in the order of their seeding.
        seed: the secret seed.
    """
    return TournamentPlan(
        title=terms.name,
        format=terms.format,
        seats=terms.seats,
        seed=derived_seed(seed, ", ".join(entrants)),
        blocks=terms.blocks,
        scoring=terms.scoring,
        tie_breaks=_tie_breaks(terms),
        faults=FaultRule.FORFEIT,
        balance=Balance.EXACT,
        rounds=terms.rounds,
        advance=terms.advance,
        preliminary=Preliminary.NONE,
        qualify=0,
        clock=TimeControl.parse(terms.conditions[0].clock),  # the run uses the clock of each condition
        wait=None,
        directory=".",
        games=tuple(GameTerms(one.game, one.game, one.options) for one in terms.conditions),
        entrants=tuple(Entrant(label, label, is_host=False) for label in entrants),
        isolation=_SETTLED_BY_THE_RUN,
    )


def _tie_breaks(terms: TournamentTerms) -> tuple[TieBreak, ...]:
    """Return the tie-breaks.

    With several games, the score difference is not one of them, because the game with the highest scores would decide.
    """
    known = SWISS_TIE_BREAKS if terms.format is Format.SWISS else DEFAULT_TIE_BREAKS
    return known if len(terms.conditions) == 1 else tuple(one for one in known if one is not TieBreak.SCORE_DIFFERENCE)
