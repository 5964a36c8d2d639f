"""The certainty of a table: intervals, and the chance that an entrant is the best, by a bootstrap over blocks.

The matches of a block share their luck, so blocks are the unit that is drawn. They are drawn within each luck (each
table of a round robin, each company of hosts in a gauntlet), so that every resample has the same pairings. Of n blocks,
n - 1 are drawn with replacement, each with the weight n / (n - 1) (J. N. K. Rao and C. F. J. Wu, Resampling inference
with complex survey data, JASA 83, 1988): if n were drawn, two blocks would look twice as certain. A few blocks of one
luck are often alike by chance, and would look certain. So the blocks of all lucks with fewer than `MIN_BLOCKS` blocks
are drawn together. The differences between them then count as luck, too, which never makes the result too certain.

An entrant that has won all blocks would win all resamples, and look certain after two. So each resample gets one
further block of all entrants in a random order, with an exponential weight of one block on average: a result that has
not occurred in n blocks may occur in the next. This moves the points towards the middle by at most 1 / (2 n).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.tournament.fixtures import PlayedFixture, derived_seed
from referee.tournament.plan import Scoring, TournamentPlan
from referee.tournament.scoring import match_points

RESAMPLES = 2000
MIN_BLOCKS = 5
"""The minimum number of blocks with the same luck that are drawn separately from others."""
_TAIL = 0.025

Shares = dict[int, tuple[float, int]]
"""For each entrant, its points in the matches of a block, and the number of these matches."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certainty of entrants' points."""

    intervals: dict[int, tuple[float, float]]
    """The 95 % interval of the points per match, by entrant."""
    best: dict[int, float]
    """The chance that each entrant is the best; entrants that share first place in a resample divide it equally."""


def certainty(plan: TournamentPlan, played: Sequence[PlayedFixture], entrants: Sequence[int]) -> Certainty | None:
    """Return the certainty of the given entrants' points; None with fewer than two blocks.

    Equal arguments give equal results.
    """
    strata = _strata(plan, played, set(entrants))
    if not strata or not entrants:
        return None
    chance = random.Random(derived_seed(plan.seed, "bootstrap"))  # noqa: S311 has to be repeatable
    ends = _ends(plan, played)
    blocks_of = Counter(entrant for blocks in strata for shares in blocks for entrant in shares)
    drawn: dict[int, list[float]] = {entrant: [] for entrant in entrants}
    best = dict.fromkeys(entrants, 0.0)
    for _ in range(RESAMPLES):
        means = _resample(strata, blocks_of, ends, chance)
        first = max(means.values(), default=0.0)
        # These are sums of floats, so equal means may differ in their last bits.
        leaders = [entrant for entrant, mean in means.items() if mean >= first - 1e-9]
        for entrant in leaders:
            best[entrant] += 1 / len(leaders) / RESAMPLES
        for entrant, mean in means.items():
            drawn[entrant].append(mean)
    return Certainty({entrant: _interval(values) for entrant, values in drawn.items() if values}, best)


def _strata(plan: TournamentPlan, played: Sequence[PlayedFixture], entrants: set[int]) -> list[list[Shares]]:
    """Group blocks by their luck, and join small groups; return an empty list if there are fewer than two blocks."""
    blocks: dict[str, dict[int, Shares]] = {}
    for one in played:
        luck, number = one.fixture.luck
        shares = blocks.setdefault(luck, {}).setdefault(number, {})
        for entrant, points in zip(one.fixture.seats, match_points(plan.scoring, one.result), strict=True):
            if entrant in entrants:
                total, count = shares.get(entrant, (0.0, 0))
                shares[entrant] = (total + float(points), count + 1)
    strata = [list(of_luck.values()) for of_luck in blocks.values() if len(of_luck) >= MIN_BLOCKS]
    few = [shares for of_luck in blocks.values() if len(of_luck) < MIN_BLOCKS for shares in of_luck.values()]
    if len(few) == 1 and strata:
        # A single block cannot be resampled: `_resample` would divide by 0.
        strata[0] = strata[0] + few
        return strata
    return [*strata, few] if len(few) > 1 else strata


def _ends(plan: TournamentPlan, played: Sequence[PlayedFixture]) -> tuple[float, float]:
    """Return the minimum and the maximum points of a seat in a match."""
    if plan.scoring is not Scoring.SCORE:
        return 0.0, 1.0
    points = [float(each) for one in played for each in match_points(plan.scoring, one.result)]
    return min(points), max(points)


def _resample(
    strata: Sequence[Sequence[Shares]], blocks_of: Mapping[int, int], ends: tuple[float, float], chance: random.Random
) -> dict[int, float]:
    """Draw blocks from each stratum, and add a further block of all entrants; return the points per match."""
    totals: dict[int, float] = {}
    counts: dict[int, float] = {}
    for blocks in strata:
        size = len(blocks)
        # As in Rao and Wu, one block fewer is drawn than there are, and the drawn blocks stand for all.
        weight = size / (size - 1)
        for _ in range(size - 1):
            # Python promises the same `random()` in all versions, but not the same `randrange` or `choice`.
            for entrant, (points, matches) in blocks[int(chance.random() * size)].items():
                totals[entrant] = totals.get(entrant, 0.0) + weight * points
                counts[entrant] = counts.get(entrant, 0.0) + weight * matches
    order = sorted((chance.random(), entrant) for entrant in counts)
    further = -math.log(1 - chance.random())  # exponential; `random()` is never 1
    means = {}
    for place, (_, entrant) in enumerate(order):
        points = ends[0] + (ends[1] - ends[0]) * place / max(1, len(order) - 1)
        weight = further * counts[entrant] / blocks_of[entrant]  # in matches
        means[entrant] = (totals[entrant] + weight * points) / (counts[entrant] + weight)
    return means


def _interval(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    tail = int(_TAIL * len(ordered))
    return ordered[tail], ordered[-1 - tail]
