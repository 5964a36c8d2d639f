"""The pairings of a Swiss tournament: entrants with similar points meet, but no two meet again if that can be avoided.

The entrants are put in order: by points, then by a lot drawn for the round. If they do not fill all tables, the last of
those with the fewest byes have a bye. At tables of two, the pairs are a matching with the smallest cost (J. Edmonds,
Paths, trees, and flowers, Canadian Journal of Mathematics 17, 1965): first the number of repeated meetings, then the
sum of squared distances in the order. So nobody meets anybody again while that is avoidable. At larger tables, the best
partition is out of reach (finding it is NP-hard for three or more seats). There, the order is cut into tables, and any two
entrants change places as long as that lowers the same cost. If some still meet again, the search starts again from
other orders.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from referee.kit.chance import LiveChance

_FURTHER = 400
"""The total number of entrants in all further starts of the search; a small field gets many, and a huge one none."""

Meetings = Mapping[tuple[int, int], int]
"""The number of tables that two entrants have shared, by pair; the lower number in a pair comes first."""


def tables_and_byes(
    seed: int,
    round_number: int,
    seats: int,
    points: Sequence[tuple[int, Fraction]],
    met: Meetings,
    byes: Mapping[int, int],
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the tables of a round, best first, and the entrants that have a bye.

    Args:
        seed: the seed of the tournament.
        round_number: the round, from 1.
        seats: the number of seats at a table.
        points: the entrants with their points.
        met: the meetings so far.
        byes: the number of byes of each entrant so far.
    """
    lots = LiveChance(seed).stream(f"order of round {round_number}").permutation(len(points))
    order = [
        entrant for (entrant, _), _ in sorted(zip(points, lots, strict=True), key=lambda one: (-one[0][1], one[1]))
    ]
    count = len(order) % seats
    # The sort is stable, so those with the fewest byes are at the end, still in their order.
    out = sorted(order, key=lambda entrant: -byes.get(entrant, 0))[len(order) - count :]
    field = tuple(entrant for entrant in order if entrant not in out)
    # The cache needs arguments that can be hashed.
    known = tuple(sorted((pair, times) for pair, times in met.items()))
    return (_pairs(field, known) if seats == 2 else _tables(field, seats, known)), out


@cache  # the same pairing is needed again after every result
def _pairs(field: tuple[int, ...], known: tuple[tuple[tuple[int, int], int], ...]) -> list[tuple[int, ...]]:
    """Pair entrants, given in order, at the smallest cost."""
    import networkx  # here, because it would take a third of the import time of every ladder command

    met = dict(known)
    again = len(field) ** 3  # more than all distances together
    graph = networkx.Graph()
    for one, other in combinations(range(len(field)), 2):
        cost = again * met.get(_pair(field[one], field[other]), 0) + (other - one) ** 2
        # Of the matchings with the most pairs, networkx finds the one with the largest weight: the smallest cost.
        graph.add_edge(one, other, weight=-cost)
    matching = networkx.max_weight_matching(graph, maxcardinality=True)
    return [(field[one], field[other]) for one, other in sorted(map(sorted, matching))]


@cache
def _tables(
    field: tuple[int, ...], seats: int, known: tuple[tuple[tuple[int, int], int], ...]
) -> list[tuple[int, ...]]:
    """Cut the order into tables, and let entrants change places as long as that lowers the cost.

    If some meet again after that, other starting orders are tried, and the tables with the smallest cost are taken.
    """
    met = dict(known)
    again = len(field) ** 3

    def cost(table: Sequence[int]) -> int:
        return sum(
            again * met.get(_pair(field[one], field[other]), 0) + (other - one) ** 2
            for one, other in combinations(sorted(table), 2)
        )

    chance = random.Random(len(field))  # noqa: S311 a search that can be repeated
    best = _improved(range(len(field)), seats, cost)
    for _ in range(_FURTHER // len(field)):
        if sum(map(cost, best)) < again:
            break
        # Python promises the same `random()` in all versions, but not the same `sample` or `shuffle`.
        beginning = sorted(range(len(field)), key=lambda _: chance.random())
        other = _improved(beginning, seats, cost)
        best = min(best, other, key=lambda tables: sum(map(cost, tables)))
    return [tuple(field[place] for place in sorted(table)) for table in sorted(best, key=sorted)]


def _improved(order: Sequence[int], seats: int, cost: Callable[[Sequence[int]], int]) -> list[list[int]]:
    """Cut an order into tables, and let any two at different tables change places as long as that lowers the cost."""
    tables = [list(order[first : first + seats]) for first in range(0, len(order), seats)]
    improved = True
    while improved:
        improved = False
        for one, other in combinations(tables, 2):
            for own, its in product(range(seats), repeat=2):
                before = cost(one) + cost(other)
                one[own], other[its] = other[its], one[own]
                if cost(one) + cost(other) < before:
                    improved = True
                else:
                    one[own], other[its] = other[its], one[own]
    return tables


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
