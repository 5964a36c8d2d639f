"""The crosstable: for every pair of entrants, the share of their matches in which the first came before the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from referee.tournament.fixtures import PlayedFixture


@dataclass(frozen=True, slots=True)
class MeetingTable:
    """A table of the meetings between entrants."""

    order: Sequence[int]
    """The entrants, in the order of rows and columns."""
    shares: dict[tuple[int, int], tuple[Fraction, int]]
    """For (row, column), the number of matches in which the row came before the column, and of all their matches.

    A shared place counts as a half.
    """

    def text(self, row: int, column: int) -> str:
        """Return a cell: the share in percent, a dash if the entrants have not met, or nothing on the diagonal."""
        if row == column or (row, column) not in self.shares:
            return "" if row == column else "-"
        before, count = self.shares[row, column]
        return f"{float(before / count):.0%}"


def crosstable(played: Sequence[PlayedFixture], order: Sequence[int]) -> MeetingTable:
    """Count the meetings between entrants in the given matches."""
    shares: dict[tuple[int, int], tuple[Fraction, int]] = {}
    for one in played:
        for own, other in permutations(one.result.seats, 2):
            pair = one.fixture.seats[own.seat], one.fixture.seats[other.seat]
            before, count = shares.get(pair, (Fraction(0), 0))
            share = Fraction(1 + (own.rank < other.rank) - (own.rank > other.rank), 2)
            shares[pair] = (before + share, count + 1)
    return MeetingTable(order, shares)
