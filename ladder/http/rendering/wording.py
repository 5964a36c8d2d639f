"""Facts about a ladder in words and numbers, for several pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ladder.questions.all_games import OverallRow
from ladder.questions.rows import StandingRow
from referee.match.clock import TimeControl

_MAX_NAMED = 3
"""The maximum number of a leader's rivals that are named."""


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


@dataclass(frozen=True, slots=True)
class Leader:
    """The first version in a table, and the other versions that may be the best, judging by the matches so far."""

    first: StandingRow | OverallRow
    others: Sequence[StandingRow | OverallRow]
    """The other versions that can be first, at most `_MAX_NAMED`."""
    unnamed: int
    """The number of versions that can also be first but are not in `others`."""
    rated: int
    """The number of rated versions."""

    @property
    def is_sure(self) -> bool:
        """True if the leader's place is certain, because no other place is open to it."""
        return self.first.worst == 1


def lead_of(standings: Sequence[StandingRow | OverallRow]) -> Leader | None:
    """Return the leader of the standings, which are sorted by place; None if no version is rated."""
    rated = [one for one in standings if one.place is not None]
    if not rated:
        return None
    others = [one for one in rated[1:] if one.best == 1]
    return Leader(rated[0], others[:_MAX_NAMED], max(0, len(others) - _MAX_NAMED), len(rated))


def status_of(one: StandingRow) -> str:
    """Return the status of a version in words."""
    word = one.status or ("active, at home" if one.at_home else "active")
    return f"{word}: {one.reason}" if one.reason and one.reason != "house bot" else word


def clock_in_words(text: str) -> str:
    """Describe a clock, for example as `60 s, 0.5 s more for each decision, at most 10 s for one`."""
    control = TimeControl.parse(text)
    more = f", {control.increment:g} s more for each decision" if control.increment else ""
    return f"{control.bank:g} s{more}, at most {control.cap:g} s for one"


_CLEARLY = 0.6
"""Cells of a crosstable are shaded from this share upwards; cells up to 1 minus this share have another shade."""


def shade(share: float) -> str:
    """Return the CSS class of a cell in a crosstable; an empty text if the cell has no shade."""
    if share >= _CLEARLY:
        return "well"
    return "poorly" if share <= 1 - _CLEARLY else ""
