"""The sequential test, which adds blocks until one of two hypotheses is rejected or the maximum number is reached."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from referee.verdict.block import BlockScore
from referee.verdict.likelihood import Margin, deviation, interval, log_likelihood_ratio

MIN_BLOCKS = 10
"""The minimum number of blocks for a conclusion: the likelihood ratio of fewer blocks says little."""
STRICTNESS = 0.9
"""The share of alpha and beta for which Wald's bounds are computed.

A test with estimated distributions errs up to a fifth more often (docs/verdicts.md).
"""
_RARE = 0.05
"""Versions that differ in this share of blocks are taken for identical only with a probability of about beta."""
_MAX_REPEATS = 20
"""The minimum number of successive blocks that repeat the play of earlier ones before nothing new is expected."""
_LEAST_VARIANCE = 1e-9
"""The variance assumed for a walk that has none, because `expected_exit` divides by the variance."""
_DIGITS = 12
"""The number of decimal places to which differences are compared."""


class Conclusion(Enum):
    """The outcome of a comparison; the values are the words in summaries."""

    BETTER = "better"
    NOT_BETTER = "not better"
    IDENTICAL = "identical play"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a test, fixed before its first block."""

    margin: Margin
    alpha: float
    """The probability of "better" if the difference is 0."""
    beta: float
    """The probability of "not better" if the difference is the margin."""
    max_blocks: int

    @property
    def bounds(self) -> tuple[float, float]:
        """The logarithms of the likelihood ratio at which the test ends with "not better" and "better"."""
        alpha, beta = STRICTNESS * self.alpha, STRICTNESS * self.beta
        return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)

    @property
    def can_end(self) -> bool:
        """True if the maximum number of blocks is enough for either conclusion when one version wins all of them."""
        low, high = self.bounds
        won, lost = (log_likelihood_ratio({sign: self.max_blocks}, self.margin) for sign in (1.0, -1.0))
        return won >= high and lost <= low


@dataclass(slots=True)
class SequentialTest:
    """A running test. A block with the same play as an earlier one is counted, but is not new evidence."""

    terms: Terms
    blocks: int = 0
    """The number of blocks played."""
    different: int = 0
    """The number of blocks that are evidence."""
    ratio: float = 0.0
    """The logarithm of the likelihood ratio."""
    is_alike: bool = True
    """True if both versions have played identically in all blocks."""
    conclusion: Conclusion | None = None
    """The conclusion of the test; None while the test goes on."""
    _counts: Counter[float] = field(default_factory=Counter)
    _keys: set[tuple[str, ...]] = field(default_factory=set)
    _repeats: int = 0
    """The number of blocks since the last one whose play was new."""

    def add(self, block: BlockScore) -> bool:
        """Take the next block; return whether it is evidence."""
        self.blocks += 1
        self._repeats += 1
        self.is_alike = self.is_alike and block.is_alike
        is_new = block.key not in self._keys
        if is_new:
            self._keys.add(block.key)
            self._repeats = 0
            self.different += 1
            # Equal shares that are added up in another order may differ in their last bits.
            self._counts[round(block.difference, _DIGITS)] += 1
            self.ratio = log_likelihood_ratio(self._counts, self.terms.margin)
        self.conclusion = self._concluded()
        return is_new

    def _concluded(self) -> Conclusion | None:
        low, high = self.terms.bounds
        if self.different >= MIN_BLOCKS and self.ratio >= high:
            return Conclusion.BETTER
        # Versions that differ in a share p of blocks are alike in n blocks with probability (1 - p)^n.
        if self.is_alike and (self.is_repeating or self.different * math.log1p(-_RARE) <= low):
            return Conclusion.IDENTICAL
        if self.different >= MIN_BLOCKS and self.ratio <= low:
            return Conclusion.IDENTICAL if self.is_alike else Conclusion.NOT_BETTER
        # This comes last, because enough evidence decides even if nothing new is expected.
        if self.is_repeating:
            return Conclusion.UNDECIDED
        return Conclusion.UNDECIDED if self.blocks >= self.terms.max_blocks else None

    @property
    def is_repeating(self) -> bool:
        """True if the latest blocks all repeated the play of earlier ones."""
        return self._repeats >= max(_MAX_REPEATS, self.different)

    @property
    def mean(self) -> float:
        """The mean difference of the blocks that are evidence."""
        return sum(value * count for value, count in self._counts.items()) / max(1, self.different)

    @property
    def deviation(self) -> float:
        """The standard deviation of a block's difference."""
        return deviation(self._counts)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean difference; see `likelihood.interval`."""
        return interval(self._counts)

    @property
    def blocks_left(self) -> tuple[int, int] | None:
        """The expected number of further blocks, as a range; None if too few blocks are evidence so far.

        The lower number is for the difference observed so far. The upper one also allows for versions that differ by
        the margin or not at all, if the difference may be that small.
        """
        if self.different < MIN_BLOCKS:
            return None
        low, high = self.terms.bounds
        # Blocks that differ by less than the margin vary less in what they contribute; equal ones not at all.
        spread = 0.0 if len(self._counts) == 1 else min(self.deviation / self._size, 1.0)
        variance = max(self._variance * spread**2, _LEAST_VARIANCE)
        start = min(max(self.ratio, low), high)  # at the end of the test, the ratio is beyond one of the bounds
        seen = math.ceil(expected_exit(start, self.ratio / self.different, variance, low, high))
        close = self.blocks_for_margin - self.different if self.is_close else 0
        most = self.terms.max_blocks - self.blocks
        return min(max(seen, 1), most), min(max(seen, close, 1), most)

    @property
    def blocks_for_margin(self) -> int:
        """The expected total number of blocks, if the versions differ by the margin or not at all (docs/compare.md)."""
        low, high = self.terms.bounds
        return math.ceil(expected_exit(0.0, self._variance / 2, self._variance, low, high) + 2 / self._size)

    @property
    def is_close(self) -> bool:
        """True if the difference may be between 0 and the margin, according to its 95 % interval."""
        low, high = self.interval
        return low <= self._size and high >= 0

    @property
    def _size(self) -> float:
        """The margin, as a share of rivals beaten."""
        return self.terms.margin.size * (self.deviation if self.terms.margin.in_deviations else 1)

    @property
    def _variance(self) -> float:
        """The variance of a block's contribution to the ratio."""
        return (self._size / max(self.deviation, self._size)) ** 2


def expected_exit(start: float, drift: float, variance: float, low: float, high: float) -> float:
    """Return the expected number of steps until a random walk leaves an interval.

    Brownian motion with the same drift and variance stands in for the walk (D. Siegmund, "Sequential Analysis", 1985, III).

    Args:
        start: the starting point, from `low` to `high`.
        drift: the mean of a step.
        variance: the variance of a step.
        low: the lower end of the interval.
        high: the upper end of the interval.
    """
    # The limit for drift 0, where the formula below divides 0 by 0.
    if abs(drift) * (high - low) < 1e-6 * variance:
        return (high - start) * (start - low) / variance
    if drift < 0:
        # The walk is mirrored, so that `expm1` only gets negative numbers and cannot overflow.
        return expected_exit(-start, -drift, variance, -high, -low)
    rate = 2 * drift / variance
    to_high = math.expm1(-rate * (start - low)) / math.expm1(-rate * (high - low))
    return (to_high * (high - low) - (start - low)) / drift
