"""Round robins at tables of any size, in which every two entrants meet equally often.

With tables of two, everybody meets everybody. Larger tables need a balanced incomplete block design: n points in blocks
of k, with every two points together in lambda blocks. Two counts must be whole numbers: lambda (n - 1) / (k - 1) tables
for each entrant, and lambda n (n - 1) / (k (k - 1)) in all. For k up to 5, there is a design whenever both are whole, except
for n = 15, k = 5, lambda = 2 (H. Hanani, Balanced incomplete block designs and related designs, Discrete Mathematics
11, 1975).

`families.txt` contains a design with the fewest tables for each n up to 40, unless it needs more tables than
there are pairs. Each is written as base blocks, from which it is developed: points p < c m are c copies of the integers
modulo m, a last point stays where it is, and all m translations of the base blocks are the design (R. C. Bose, On the
construction of balanced incomplete block designs, Annals of Eugenics 9, 1939: differences, with a fixed point). The base
blocks were found by simulated annealing on the number of times that each difference occurs; `balance_of` proves them.
Small cases are older: all k-subsets for n = k + 1, the planes of order 2 to 5 for n = 7, 9, 13, 16, 21 and 25.

Without such a design, or if fewer tables are wanted, the tables are the translations of a few base blocks modulo n,
whose differences occur as evenly as a search can make them: everybody has the same number of tables, and the numbers of
meetings differ little (`balance_of` counts them).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import combinations

_STEPS = 4000
"""The number of steps of the search for each base block."""
_MORE = 3
"""The number of sizes to try, from the smallest upwards, until the numbers of meetings differ by at most one.

More sizes are tried if some entrants never meet.
"""
_COOLING = 4.0
"""The inverse temperature at the end of the search."""

Blocks = list[tuple[int, ...]]


def balance_of(points: int, blocks: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return the minimum and the maximum number of tables that two entrants share."""
    met = Counter(pair for block in blocks for pair in combinations(sorted(block), 2))
    meetings = [met[pair] for pair in combinations(range(points), 2)]
    return min(meetings, default=0), max(meetings, default=0)


def exact_design(points: int, size: int) -> Blocks | None:
    """Return the smallest design in which every two of `points` meet equally often in blocks of `size`.

    Return None if no such design is known, or if it needs more tables than there are pairs.
    """
    if size in (2, points, points - 1):
        return list(combinations(range(points), size))
    found = _families().get((points, size))
    return None if found is None else develop(points, *found)


def near_design(points: int, size: int) -> Blocks:
    """Return a design in which every two of `points` meet at least once, and nearly equally often.

    The exact design is preferred if it is not larger.
    """
    exact = exact_design(points, size)
    # A base block of k has k (k - 1) differences, and each of the n - 1 must occur for all to meet.
    fewest = math.ceil((points - 1) / (size * (size - 1)))
    count = fewest
    while True:
        # A base block has as many translations as there are points.
        if exact is not None and len(exact) <= count * points:
            return exact
        blocks = develop(points, points, _even_base(points, size, count))
        least, most = balance_of(points, blocks)
        count += 1
        if least > 0 and (most - least <= 1 or count >= fewest + _MORE):
            return blocks


def develop(points: int, modulus: int, base: Sequence[Sequence[int]]) -> Blocks:
    """Return all translations of base blocks.

    A point beyond the last whole copy of the integers modulo `modulus` stays where it is.
    """
    moving = points // modulus * modulus

    def moved(point: int, by: int) -> int:
        return point if point >= moving else point // modulus * modulus + (point + by) % modulus

    return [tuple(sorted(moved(point, by) for point in block)) for block in base for by in range(modulus)]


@cache
def _families() -> dict[tuple[int, int], tuple[int, Blocks]]:
    """Read the modulus and the base blocks for each number of points and block size, from `families.txt`.

    A line is `n k lambda m: block; block`.
    """
    found = {}
    for line in resources.files(__package__).joinpath("families.txt").read_text(encoding="ascii").splitlines():
        head, _, tail = line.partition(":")
        points, size, _, modulus = map(int, head.split())
        found[points, size] = (modulus, [tuple(map(int, block.split())) for block in tail.split(";")])
    return found


@cache
def _even_base(points: int, size: int, count: int) -> Blocks:
    """Search for base blocks modulo `points` whose differences occur as evenly as possible.

    The result is the same each time.
    """
    chance = random.Random(points * size)  # noqa: S311 a search that can be repeated
    base = [list(range(size)) for _ in range(count)]
    counts = [0] * points
    for block in base:
        for one, other in combinations(block, 2):
            _count_difference(counts, one - other, 1)
    steps = _STEPS * count
    for step in range(steps):
        # Only `random()` is the same in all versions of Python, and `verify` must find the same design again.
        block = base[int(chance.random() * count)]
        place, point = int(chance.random() * size), int(chance.random() * points)
        if point in block:
            continue
        others, before = block[:place] + block[place + 1 :], block[place]
        change = sum(_count_difference(counts, before - other, -1) for other in others)
        change += sum(_count_difference(counts, point - other, 1) for other in others)
        # Annealing: the temperature falls to 1 / `_COOLING` in equal steps of its inverse.
        if change <= 0 or chance.random() < math.exp(-change * _COOLING * step / steps):
            block[place] = point
        else:
            for other in others:
                _count_difference(counts, point - other, -1)
                _count_difference(counts, before - other, 1)
    return [tuple(block) for block in base]


def _count_difference(counts: list[int], difference: int, by: int) -> int:
    """Count a difference and its opposite; return the change in the sum of the squares of all counts."""
    change = 0
    # For an even n, n / 2 is its own opposite, and is counted twice.
    for place in (difference % len(counts), -difference % len(counts)):
        change += 2 * by * counts[place] + 1  # (c + by)² - c², as by is 1 or -1
        counts[place] += by
    return change
