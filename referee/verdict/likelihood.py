"""The likelihood of differences between two versions, without any assumption about their distribution.

An effect is the mean of a block's difference. Its likelihood is that of the best-fitting distribution with this mean,
over -1, 1 and all observed values. This is the generalised sequential probability ratio test for a multinomial
distribution, which fishtest applies to pairs of games
(https://github.com/official-stockfish/fishtest, `stats/LLRcalc.py`; M. Van den Bergh, "A practical introduction to the GSPRT").
A normal distribution would be shorter to write, but it is wrong where the versions differ in only a few blocks, and it
treats ten equal blocks as certainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from referee.verdict.student import limit

UNSEEN = 1e-3
"""The amount added to the counts of the values -1 and 1."""
LARGEST = 0.9
"""The largest effect of a hypothesis, unless the margin is larger: see `weighted_ratio`."""
WEIGHTS = (0.9, 0.05, 0.05)
"""The weights of the effects of a hypothesis, from the smallest effect to the largest."""
_MAX_STEPS = 100
_PRECISION = 1e-8
_HALVINGS = 20  # 2 / 2^20: each end of an interval is right to within two millionths
Counts = Mapping[float, float]
"""The number of blocks with each difference."""


class Margin(NamedTuple):
    """The smallest difference that is worth detecting."""

    size: float
    in_deviations: bool = False
    """True if the unit is the standard deviation of a block; otherwise it is the share of rivals beaten."""


def log_likelihood_ratio(counts: Counts, margin: Margin) -> float:
    """Return the logarithm of the likelihood ratio of "better by the margin" to "not better".

    A margin in standard deviations is converted into shares with the standard deviation of the blocks so far.
    """
    values = with_extremes(counts)
    size = margin.size * deviation(counts) if margin.in_deviations else margin.size
    return weighted_ratio(partial(of_mean, values), size)


def deviation(counts: Counts) -> float:
    """Return the standard deviation of the differences; it is never 0, because -1 and 1 are possible."""
    values = with_extremes(counts)
    total = sum(values.values())
    mean = sum(value * count for value, count in values.items()) / total
    return math.sqrt(sum((value - mean) ** 2 * count for value, count in values.items()) / total)


def with_extremes(counts: Counts) -> dict[float, float]:
    """Return the counts with a small addition for -1 and 1, because both are possible whatever has been seen."""
    return {**counts, **{extreme: counts.get(extreme, 0.0) + UNSEEN for extreme in (-1.0, 1.0)}}


def interval(counts: Counts) -> tuple[float, float]:
    """Return the 95 % interval of the mean difference: all means that are likely enough.

    Twice the shortfall of a mean's log-likelihood is compared with the square of Student's t (A. B. Owen, "Empirical
    Likelihood", 2001, section 3.3). So the interval is as asymmetric as the blocks, and does not shrink to a point
    after ten equal blocks.
    """
    number = round(sum(counts.values()))
    if number < 2:
        return -1.0, 1.0
    values, lack = with_extremes(counts), limit(number - 1) ** 2 / 2
    centre = sum(value * count for value, count in values.items()) / sum(values.values())
    low, high = (_edge(values, centre, end, lack) for end in (-1.0, 1.0))
    return low, high


def _edge(values: Counts, inside: float, outside: float, lack: float) -> float:
    """Return the mean, between a likely mean and an unlikely one, whose log-likelihood falls short by `lack`."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        # `middle` is never -1 or 1, where `_tilt` would divide by 0.
        if -of_mean(values, middle) < lack:
            inside = middle
        else:
            outside = middle
    return inside


def weighted_ratio(log_likelihood: Callable[[float], float], size: float) -> float:
    """Return the logarithm of the likelihood ratio of two hypotheses with three effects each.

    The effects of "better" are the margin, 0.9, and the geometric mean of both. Those of "not better" are 0, and minus
    the excess of each of the other two over the margin. The likelihood of a hypothesis is the weighted mean of the
    likelihoods of its effects (a weight function in the words of A. Wald, "Sequential Analysis", 1947). With the first
    effects alone, the test would be slow where one version is far better: such blocks fit a small difference hardly
    better than none.

    Args:
        log_likelihood: a function that returns the log-likelihood of an effect.
        size: the margin.
    """
    largest = max(size, LARGEST)
    effects = (size, math.sqrt(size * largest), largest)
    better = _log_of_mixture([log_likelihood(effect) for effect in effects])
    return better - _log_of_mixture([log_likelihood(size - effect) for effect in effects])


def _log_of_mixture(logs: Sequence[float]) -> float:
    """Return the logarithm of the weighted mean of likelihoods."""
    largest = max(logs)
    # The largest is taken out of the sum, because `exp` of a log-likelihood alone may be 0, which has no logarithm.
    return largest + math.log(sum(weight * math.exp(log - largest) for weight, log in zip(WEIGHTS, logs, strict=True)))


def of_mean(values: Counts, mean: float) -> float:
    """Return the log-likelihood of the best distribution with a given mean, less that of the observed distribution."""
    terms = [(value - mean, count) for value, count in values.items()]
    tilt = _tilt(terms)
    return -sum(count * math.log1p(tilt * distance) for distance, count in terms)


def _tilt(terms: Sequence[tuple[float, float]]) -> float:
    """Return the tilt with which the best probabilities, count / total / (1 + tilt * distance), give a mean distance of 0.

    It is the root of a decreasing function, found by Newton's method within a bracket.

    Args:
        terms: distances, of both signs, with their counts.
    """
    # Beyond these bounds, a probability would be negative.
    low = -1 / max(distance for distance, _ in terms)
    high = -1 / min(distance for distance, _ in terms)
    tilt = 0.0
    for _ in range(_MAX_STEPS):
        excess = slope = 0.0
        for distance, count in terms:
            term = distance / (1 + tilt * distance)
            excess += count * term
            slope += count * term * term
        if excess > 0:
            low = tilt
        else:
            high = tilt
        before, tilt = tilt, tilt + excess / slope
        # Newton's step may leave the bracket; the middle of the bracket comes closer in any case.
        if not low < tilt < high:
            tilt = (low + high) / 2
        if abs(tilt - before) < _PRECISION:
            break
    return tilt
