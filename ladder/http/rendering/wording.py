"""Facts of a ladder in words and numbers, as several pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ladder.model.rating import APART, better
from ladder.questions.rows import PlaceSpan, StandingRow
from referee.match.clock import TimeControl

_MAX_SPANS = 3
"""The maximum number of spans of places in a text."""


def percent(share: float) -> str:
    """Return a share as a percentage without line breaks. Only exactly 0 and 1 become 0 % and 100 %."""
    if 0 < share < 0.01:
        return "under 1\N{NO-BREAK SPACE}%"
    if 0.99 < share < 1:
        return "over 99\N{NO-BREAK SPACE}%"
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def change(value: float, digits: int) -> str:
    """Return a difference with its sign; without one if it rounds to zero."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"


def places(spans: Sequence[PlaceSpan]) -> str:
    """Return places in words, such as `places 2-4 and 7`; an empty text for none."""
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
    """The leader of a table, and the certainty of its lead."""

    leader: StandingRow
    other: StandingRow | None
    """The best version of another bot; None if no other bot is rated."""
    chance: float
    """The probability that the leader is the better of both, from 0 to 1. It can be below a half, because the order is by skill."""

    @property
    def is_likely(self) -> bool:
        """True if the leader is more likely to be the better one."""
        return self.chance >= 0.5

    @property
    def is_sure(self) -> bool:
        """True if both can be distinguished."""
        return self.chance >= APART


def lead_of(standings: Sequence[StandingRow]) -> Leader | None:
    """Return the leader of standings, which are sorted best first; None if no version is rated."""
    rated = [(one, one.rating) for one in standings if one.rating is not None]
    if not rated:
        return None
    leader, its_rating = rated[0]
    for other, rating in rated:
        if other.bot != leader.bot:
            return Leader(leader, other, better(its_rating, rating))
    return Leader(leader, None, 1.0)


def status_of(one: StandingRow) -> str:
    """Return the status of a version in words."""
    word = one.status or ("active, at home" if one.at_home else "active")
    return f"{word}: {one.reason}" if one.reason and one.reason != "house bot" else word


def clock_in_words(text: str) -> str:
    """Describe a clock: `60 s, 0.5 s more for each decision, at most 10 s for one`."""
    control = TimeControl.parse(text)
    more = f", {control.increment:g} s more for each decision" if control.increment else ""
    return f"{control.bank:g} s{more}, at most {control.cap:g} s for one"
