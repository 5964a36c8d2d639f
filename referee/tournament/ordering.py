"""The order of entrants: by points, then by the tie-breaks one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from referee.tournament.fixtures import PlayedFixture
from referee.tournament.plan import TieBreak, TournamentPlan
from referee.tournament.scoring import Numbers, break_tie


def in_order(
    plan: TournamentPlan, played: Sequence[PlayedFixture], points: Numbers, entrants: Sequence[int]
) -> list[tuple[list[int], dict[TieBreak, Fraction]]]:
    """Order entrants by points, then by the tie-breaks; return groups with the same place, best first."""

    def split(group: list[int], breaks: Sequence[TieBreak], known: dict[TieBreak, Fraction]) -> None:
        if len(group) == 1 or not breaks:
            found.append((group, known))
            return
        numbers = break_tie(breaks[0], plan, played, points, group)
        for number in sorted(set(numbers.values()), reverse=True):
            tied = [entrant for entrant in group if numbers[entrant] == number]
            split(tied, breaks[1:], {**known, breaks[0]: number})

    found: list[tuple[list[int], dict[TieBreak, Fraction]]] = []
    lowest = min(points.values(), default=Fraction(0))
    # An entrant that has not played comes last.
    totals = {entrant: points.get(entrant, lowest - 1) for entrant in entrants}
    for total in sorted(set(totals.values()), reverse=True):
        split([entrant for entrant in entrants if totals[entrant] == total], plan.tie_breaks, {})
    return found
