"""Facts of a ladder in words and numbers, as several pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ladder.model.rating import APART, better
from ladder.questions.rows import PlaceSpan, StandingRow
from referee.match.clock import TimeControl

_MAX_SPANS = 3
"""How many spans of places are named."""


def percent(share: float) -> str:
    """Return a part of 1 as a percentage. Nothing but 0 and 1 becomes 0 % or 100 %; no line breaks in it."""
    if 0 < share < 0.01:
        return "under 1\N{NO-BREAK SPACE}%"
    if 0.99 < share < 1:
        return "over 99\N{NO-BREAK SPACE}%"
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def change(value: float, digits: int) -> str:
    """Return a difference with its sign; none for one that rounds to nothing."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"


def places(spans: Sequence[PlaceSpan]) -> str:
    """Return places in words, such as `places 2-4 and 7`; empty for none."""
    shown = [str(one.first) if one.first == one.last else f"{one.first}-{one.last}" for one in spans[:_MAX_SPANS]]
    if not shown:
        return ""
    if len(spans) > _MAX_SPANS:
        return f"places {', '.join(shown)} and others"
    is_one = len(spans) == 1 and spans[0].first == spans[0].last
    return ("place " if is_one else "places ") + " and ".join(
        [", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown
    )


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads, and how sure that is."""

    leader: StandingRow
    other: StandingRow | None
    """The best of another bot; None if there is none that is rated."""
    chance: float
    """That the leader is the better of both: of 1. Places go by skill, so this can be below a half."""

    @property
    def is_likely(self) -> bool:
        """Whether the leader is rather the better than the worse of both."""
        return self.chance >= 0.5

    @property
    def is_sure(self) -> bool:
        """Whether both are told apart."""
        return self.chance >= APART


def lead_of(standings: Sequence[StandingRow]) -> Leader | None:
    """Return who leads in standings, given best first; None if nobody is rated."""
    rated = [(one, one.rating) for one in standings if one.rating is not None]
    if not rated:
        return None
    leader, its_rating = rated[0]
    for other, rating in rated:
        if other.bot != leader.bot:
            return Leader(leader, other, better(its_rating, rating))
    return Leader(leader, None, 1.0)


def status_of(one: StandingRow) -> str:
    """Return how it stands with a version, in words."""
    word = one.status or ("active, at home" if one.at_home else "active")
    return f"{word}: {one.reason}" if one.reason and one.reason != "house bot" else word


def clock_in_words(text: str) -> str:
    """Say what a clock allows: `60 s, 0.5 s more for each decision, at most 10 s for one`."""
    control = TimeControl.parse(text)
    more = f", {control.increment:g} s more for each decision" if control.increment else ""
    return f"{control.bank:g} s{more}, at most {control.cap:g} s for one"
