"""Simulate thousands of comparisons at once: the sequential test of `referee.verdict` on arrays, with one row per comparison.

Computed one at a time, as the command does, the tests of docs/verdicts.md would take a day. The unit tests compare the
results of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.verdict.likelihood import LARGEST, UNSEEN, WEIGHTS, Margin
from referee.verdict.sequential import Terms
from referee.verdict.student import limit

BOUND = Terms(Margin(1.0), alpha=0.05, beta=0.05, max_blocks=1).bounds[1]
"""The logarithm of the likelihood ratio at which a test ends, for alpha and beta of 0.05."""
MAX_BLOCKS = 2_000
DRIFT_BLOCKS = 50
"""The number of blocks after which a drift changes its direction."""
_BATCH = 20_000
"""The maximum number of tests in an array."""
_MAX_STEPS = 100
_PRECISION = 1e-7

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Pool = tuple[Sequence[float], Sequence[float]]
"""Differences of blocks, and their weights."""


class Tally(NamedTuple):
    """The blocks of many tests."""

    values: Floats
    """All differences that a block can have, including -1 and 1."""
    counts: Floats
    """The number of blocks of a test (row) that had a difference (column)."""


Statistic = Callable[[Tally, Margin, Floats], Floats]
"""The logarithm of the likelihood ratio of each test, for a margin.

The last argument has a row for each effect. It contains the multipliers found for the previous block, and receives
those found for this block, which are close to them.
"""
EFFECTS = 6
"""The number of effects of both hypotheses together."""


# --- likelihoods -----------------------------------------------------------------------------------------------


def of_the_command(tally: Tally, margin: Margin, tilts: Floats) -> Floats:
    """Return the result of `referee.verdict.likelihood.log_likelihood_ratio` for each test."""
    values = _with_extremes(tally)
    size: Floats | float = margin.size
    if margin.in_deviations:
        _, variance = _moments(values)
        size = margin.size * np.sqrt(variance)
    size = np.broadcast_to(size, len(tally.counts))
    # A margin may exceed the largest effect; this keeps the effects in order.
    largest = np.maximum(size, LARGEST)
    better = (size, np.sqrt(size * largest), largest)
    effects = (*better, *(size - effect for effect in better))
    logs = [of_mean(values, effect, start) for effect, start in zip(effects, tilts, strict=True)]
    return _log_of_mixture(logs[:3]) - _log_of_mixture(logs[3:])


def one_effect(tally: Tally, margin: Margin, tilts: Floats) -> Floats:
    """Return the logarithm of the likelihood ratio with one effect for each hypothesis: the margin, and 0."""
    values = _with_extremes(tally)
    better, not_better = of_mean(values, margin.size, tilts[0]), of_mean(values, 0.0, tilts[1])
    return better - not_better


def one_normal_effect(tally: Tally, margin: Margin, _: Floats) -> Floats:
    """Return the logarithm of the likelihood ratio of normal distributions, each with the variance that fits best."""
    centre, variance = _moments(tally)
    not_better, better = variance + centre**2, variance + (centre - margin.size) ** 2
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # the variance of equal blocks is 0, and its logarithm infinite
        ratio: Floats = tally.counts.sum(axis=1) / 2 * (np.log(not_better) - np.log(better))
    ratio[np.isnan(ratio)] = 0.0
    return ratio


def of_mean(tally: Tally, mean: Floats | float, tilts: Floats) -> Floats:
    """Return the log-likelihood of `referee.verdict.likelihood.of_mean` for each test.

    The search begins with the multipliers in `tilts`, and replaces them with those that it finds.
    """
    distances = np.ascontiguousarray(tally.values - np.broadcast_to(mean, len(tally.counts))[:, None])
    tilts[:] = _tilts(distances, tally.counts, tilts)
    found: Floats = -np.einsum("ij,ij->i", tally.counts, np.log1p(tilts[:, None] * distances))
    return found


def _tilts(distances: Floats, counts: Floats, start: Floats) -> Floats:
    """Find the multipliers by Newton's method within brackets, all at the same time."""
    # Between these, 1 + tilt * distance is positive for every value. Values are sorted, and reach from -1 to 1.
    low, high = -1 / distances[:, -1], -1 / distances[:, 0]
    tilts = np.where((low < start) & (start < high), start, 0.0)
    for _ in range(_MAX_STEPS):
        terms = tilts[:, None] * distances
        terms += 1
        np.divide(distances, terms, out=terms)
        excess = np.einsum("ij,ij->i", counts, terms)
        # The excess falls with the tilt, so its sign shows the side of the solution.
        low, high = np.where(excess > 0, tilts, low), np.where(excess > 0, high, tilts)
        step = excess / np.einsum("ij,ij,ij->i", counts, terms, terms)
        before, wanted = tilts, tilts + step
        # This is Newton's step, or half the distance to the end of the bracket if the step would go beyond that end.
        tilts = np.where(wanted <= low, (before + low) / 2, np.where(wanted >= high, (before + high) / 2, wanted))
        if np.abs(tilts - before).max() < _PRECISION:
            break
    return tilts


def _log_of_mixture(logs: Sequence[Floats]) -> Floats:
    weighted = np.array(logs) + np.log(WEIGHTS)[:, None]
    found: Floats = np.logaddexp.reduce(weighted, axis=0)
    return found


def _with_extremes(tally: Tally) -> Tally:
    # As in `referee.verdict.likelihood`: either extreme may still occur.
    return Tally(tally.values, tally.counts + UNSEEN * (np.abs(tally.values) == 1))


def _moments(tally: Tally) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each test."""
    totals = tally.counts.sum(axis=1)
    centre = tally.counts @ tally.values / totals
    squares = (tally.values - centre[:, None]) ** 2
    return centre, (tally.counts * squares).sum(axis=1) / totals


# --- tests -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """The common terms of many tests."""

    parts: Sequence[Pool]
    """The pool of blocks, or two pools that alternate if the strength drifts."""
    repeats: float
    """The probability that a block has the same difference as the previous block."""
    margin: Margin
    truth: float
    """The mean difference of a block."""
    statistic: Statistic
    first: int
    """The first block at which a test may end."""


class Ended(NamedTuple):
    """Simulated comparisons, with one element for each."""

    conclusions: Integers
    """1 for better, -1 for not better, 0 for undecided."""
    blocks: Integers
    covers: Booleans
    """True if the 95 % interval contains the mean difference."""


def simulated(kind: Kind, tests: int, seed: str) -> Ended:
    """Simulate tests; the same seed gives the same results."""
    draw = np.random.default_rng(list(seed.encode()))
    # Both extremes are among the values, even if no block had them (`_with_extremes`).
    values = np.array(sorted({-1.0, 1.0}.union(*(values for values, _ in kind.parts))))
    weights = [_weights(pool, values) for pool in kind.parts]
    batches = [min(_BATCH, tests - first) for first in range(0, tests, _BATCH)]
    found = [_batch(kind, values, drawn(weights, kind.repeats, size, draw), size) for size in batches]
    return Ended(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _weights(pool: Pool, values: Floats) -> Floats:
    known = dict(zip(*pool, strict=True))
    return np.array([known.get(float(value), 0.0) for value in values])


def drawn(weights: Sequence[Floats], repeats: float, tests: int, draw: np.random.Generator) -> Iterator[Integers]:
    """Yield the next block of all tests, endlessly: the index of each test's difference.

    Two sets of weights alternate, each for a run of blocks; each test begins at a random point in a run.
    """
    limits = [np.cumsum(one) / np.sum(one) for one in weights]
    part, begun = draw.integers(len(weights), size=tests), draw.integers(DRIFT_BLOCKS, size=tests)
    last = np.full(tests, -1)
    for number in count():
        chance = draw.random(tests)
        of_parts = np.array([np.searchsorted(limit, chance, side="right") for limit in limits])
        values = of_parts[(part + (begun + number) // DRIFT_BLOCKS) % len(weights), np.arange(tests)]
        last = np.where((draw.random(tests) < repeats) & (last >= 0), last, values)
        yield last


def _batch(kind: Kind, values: Floats, blocks: Iterator[Integers], tests: int) -> Ended:
    """Draw blocks until all tests have ended."""
    ended = Ended(np.zeros(tests, np.int64), np.full(tests, MAX_BLOCKS), np.zeros(tests, np.bool_))
    running, counts, tilts = np.arange(tests), np.zeros((tests, len(values))), np.zeros((EFFECTS, tests))
    # Each value has a random number, so that tests with the same counts have the same sum, and others hardly ever do.
    hashes = np.random.default_rng(0).integers(2**62, size=len(values))
    for number, block in zip(range(1, MAX_BLOCKS + 1), blocks, strict=False):
        counts[np.arange(len(running)), block[running]] += 1
        if number < kind.first:
            continue
        _, first, member = np.unique(counts.astype(np.int64) @ hashes, return_index=True, return_inverse=True)
        different = tilts[:, first]  # tests with the same counts have the same ratio
        ratios = kind.statistic(Tally(values, counts[first]), kind.margin, different)[member]
        tilts = different[:, member]
        ends = (np.abs(ratios) >= BOUND) | (number == MAX_BLOCKS)
        if ends.any():
            which = running[ends]
            ended.conclusions[which] = np.where(np.abs(ratios) >= BOUND, np.sign(ratios), 0)[ends]
            ended.blocks[which] = number
            ended.covers[which] = covers(Tally(values, counts[ends]), kind.truth)
            running, counts, tilts = running[~ends], counts[~ends], tilts[:, ~ends]
        if not len(running):
            break
    return ended


def covers(tally: Tally, truth: float) -> Booleans:
    """Return, for each test, whether `referee.verdict.likelihood.interval` contains the true value."""
    # Student's t in place of the normal limit, squared and halved: the difference in log-likelihood that an interval allows.
    lacks = np.array([limit(int(number) - 1) ** 2 / 2 for number in tally.counts.sum(axis=1)])
    found: Booleans = -of_mean(_with_extremes(tally), truth, np.zeros(len(lacks))) < lacks
    return found
