"""What several matches add up to, by the place on the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from rich.table import Table

from referee.match.result import Outcome, Result

_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Student's t: how many standard errors hold 95 %, for 1 to 9 degrees of freedom."""
_Z = 1.960
"""The same for any number of them."""


class Tally:
    """Sums matches up.

    The matches of a block (one seed, in every rotation of the seats) share their luck, so only blocks are independent:
    intervals are over the means of blocks. Without rotation, a block is one match.
    """

    def __init__(self, names: Sequence[str], block: int) -> None:
        """`names` of the players by their place; `block` is how many matches, one after the other, make a block."""
        self._names = names
        self._block = block
        self._scores: list[list[int]] = [[] for _ in names]
        self._ranks: list[list[int]] = [[] for _ in names]
        self._wins: list[list[float]] = [[] for _ in names]
        self._faults: list[dict[str, int]] = [{} for _ in names]

    def add(self, result: Result, turn: int) -> None:
        """Counts a match whose seats were rotated by `turn`; shared first places share the win."""
        winners = sum(seat.rank == 1 for seat in result.seats)
        for seat in result.seats:
            player = (seat.seat + turn) % len(self._names)
            self._scores[player].append(seat.score)
            self._ranks[player].append(seat.rank)
            self._wins[player].append(1 / winners if seat.rank == 1 else 0.0)
            if seat.outcome is not Outcome.PLAYED:
                faults = self._faults[player]
                faults[seat.outcome.value] = faults.get(seat.outcome.value, 0) + 1

    def table(self) -> Table:
        """A line for each player."""
        count = len(self._scores[0])
        blocks = count // self._block
        over = "" if self._block == 1 else " over 1 block" if blocks == 1 else f" over {blocks} blocks"
        table = Table(
            "player",
            "bot",
            "wins",
            "mean rank",
            "mean score",
            "out",
            title=f"{count} matches, mean and 95 % interval{over}",
        )
        for player, name in enumerate(self._names):
            faults = ", ".join(f"{number} {kind}" for kind, number in self._faults[player].items()) or "-"
            table.add_row(
                str(player),
                name,
                share(self._means(self._wins[player])),
                mean(self._means(self._ranks[player])),
                mean(self._means(self._scores[player])),
                faults,
            )
        return table

    def _means(self, values: Sequence[float]) -> list[float]:
        return [fmean(values[first : first + self._block]) for first in range(0, len(values), self._block)]


def mean(values: Sequence[float]) -> str:
    """The mean and its 95 % interval by Student's t; a dash where the values do not tell how much they vary."""
    count = len(values)
    if count < 2 or not stdev(values):
        return f"{fmean(values):.1f} ± -"
    return f"{fmean(values):.1f} ± {_t(count - 1) * stdev(values) / math.sqrt(count):.1f}"


def share(values: Sequence[float]) -> str:
    """The mean of shares from 0 to 1 in percent, and its 95 % interval by Wilson; a dash if there is only one share.

    Wilson's interval is that of shares that are all 0 or 1, which vary most; so it is never too narrow for others.
    """
    count, centre = len(values), fmean(values)
    if count < 2:
        return f"{centre:.1%} (-)"
    weight = _Z**2 / count
    middle = (centre + weight / 2) / (1 + weight)
    spread = math.sqrt(weight * (centre * (1 - centre) + weight / 4)) / (1 + weight)
    return f"{centre:.1%} ({max(0, middle - spread):.1%} to {min(1, middle + spread):.1%})"


def _t(degrees: int) -> float:
    """Student's t, to a hundredth: from the table, or by the expansion of Cornish and Fisher."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    return _Z + (_Z**3 + _Z) / (4 * degrees) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * degrees**2)
