"""The certainty of a table: intervals, and the chance that the first is the best, by a bootstrap over blocks.

The matches of a block share their luck, so the block is the unit that is drawn. Blocks are drawn within each luck (each
table of a round robin, each company of hosts in a gauntlet), so that every resample has the same pairings: one block
fewer than there are, with replacement, and each counts so much more (J. N. K. Rao and C. F. J. Wu, Resampling inference
with complex survey data, JASA 83, 1988), since drawing as many as there are would make two blocks look twice as certain.
Few blocks of one luck are often alike by chance, and would look certain. So where there are fewer than `MIN_BLOCKS`, the blocks
of all such tables are drawn together: then the differences between tables count as luck, too, which is never too certain.

An entrant that has won all blocks would win all resamples, and look certain after two. So each resample gets one further block of all
entrants, who come in at random, with an exponential weight of one block on average: what has not happened in n blocks may
happen in the next. It shifts the points by 1 / (2 n) towards the middle at most.
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
"""The fewest blocks of one luck that are drawn by themselves."""
_TAIL = 0.025

Shares = dict[int, tuple[float, int]]
"""For entrants, the points of a block and the number of matches."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certainty of the points of some entrants."""

    intervals: dict[int, tuple[float, float]]
    """The 95 % interval of the points per match."""
    best: dict[int, float]
    """The chance to be the best of them; shared first places share it."""


def certainty(plan: TournamentPlan, played: Sequence[PlayedFixture], entrants: Sequence[int]) -> Certainty | None:
    """Return the certainty of the points of some entrants; None if a single block has been played.

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
        # Sums of floats: equal means may differ in their last bits.
        leaders = [entrant for entrant, mean in means.items() if mean >= first - 1e-9]
        for entrant in leaders:
            best[entrant] += 1 / len(leaders) / RESAMPLES
        for entrant, mean in means.items():
            drawn[entrant].append(mean)
    return Certainty({entrant: _interval(values) for entrant, values in drawn.items() if values}, best)


def _strata(plan: TournamentPlan, played: Sequence[PlayedFixture], entrants: set[int]) -> list[list[Shares]]:
    """Group blocks by their luck, those with few blocks together; return nothing if there is only one block."""
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
        # A block cannot be drawn from by itself: `_resample` would divide by 0.
        strata[0] = strata[0] + few
        return strata
    return [*strata, few] if len(few) > 1 else strata


def _ends(plan: TournamentPlan, played: Sequence[PlayedFixture]) -> tuple[float, float]:
    """Return the fewest and the most points of a match."""
    if plan.scoring is not Scoring.SCORE:
        return 0.0, 1.0
    points = [float(each) for one in played for each in match_points(plan.scoring, one.result)]
    return min(points), max(points)


def _resample(
    strata: Sequence[Sequence[Shares]], blocks_of: Mapping[int, int], ends: tuple[float, float], chance: random.Random
) -> dict[int, float]:
    """Draw blocks of each stratum, and a further one of all entrants; return the points per match."""
    totals: dict[int, float] = {}
    counts: dict[int, float] = {}
    for blocks in strata:
        size = len(blocks)
        # Rao and Wu: one block fewer is drawn than there are, and they stand for all.
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
