"""The fit: the strengths of all versions at once, from all counted matches, whatever their order. The code is pure.

The model is TrueSkill's (`rating.py`): a performance is the strength of a version plus Gaussian noise. The better
performance is ahead; two performances that differ by less than a margin tie. Each pair at a table is one comparison,
with a weight, so that a table counts according to its information. Ranges follow from the differences between blocks,
so the matches of a block may resemble each other. docs/ratings.md contains the derivation, the sources, and the share
of the ranges that contain the true strength.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from ladder.model.rating import APART, MU, SIGMA

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SPREAD = math.sqrt(2) * SIGMA / 2
"""The standard deviation of the difference between two performances; that of each performance is TrueSkill's beta."""
_USUAL = 3
"""The weight of TrueSkill's prior spread.

It counts as if this many strengths with this spread were known before the first match."""
_TRUST = 10
"""The number of blocks at which a version's own blocks have as much influence on its range as those of all versions.

The first guess at the information in the matches of a block has the same influence as the findings about this many
versions."""
_ROUNDS = 4
"""The number of times that the guesses are improved; a fifth improvement would change the fourth digit."""
_RANGE = NormalDist().inv_cdf(APART)
"""Half of a 95 % range, in standard deviations."""
_UNLIKELY = 1e-9
_DIGITS = 3
"""The number of decimal places in results; rounded, they do not depend on the processor or the order of additions."""


class CountedMatch(NamedTuple):
    """A counted match."""

    block: int
    """The id of the match's block."""
    versions: tuple[int, ...]
    """The version in each seat."""
    ranks: tuple[int, ...]
    """The rank of each seat, 1 for the first; equal ranks are ties."""
    rated: frozenset[int] | None = None
    """The versions that the match rates; None for all."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The strength of a version according to the counted matches."""

    strength: float
    """The strength, in the unit of mu.

    The average strength is 25, if each version is weighted by the number of its blocks that rate all their versions."""
    low: float
    high: float
    """The upper end of the 95 % range: of 100 such ranges, each from the same number of new blocks between the same bots, 95
    would contain the true strength."""
    best: int
    worst: int
    """The worst of the places that the matches leave open; `best` is the best of them."""
    blocks: int
    """The number of blocks that rate the version."""


class Fit(Mapping[int, Estimate]):
    """The estimate of each rated version, best first, in the order of the lower ends of the ranges."""

    def __init__(self, estimates: Mapping[int, Estimate], strengths: Mapping[int, float], doubt: Floats) -> None:
        """Take the estimates; `doubt` is a matrix such as `_doubt` returns, in the order of `strengths`."""
        self._estimates = estimates
        self._strengths = strengths
        self._doubt = doubt
        self._numbers = {version: number for number, version in enumerate(strengths)}

    @override
    def __getitem__(self, version: int) -> Estimate:
        return self._estimates[version]

    @override
    def __iter__(self) -> Iterator[int]:
        return iter(self._estimates)

    @override
    def __len__(self) -> int:
        return len(self._estimates)

    def of(self, versions: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the strengths of the given versions, and a matrix of their doubt, such as `_doubt` returns."""
        numbers = [self._numbers[version] for version in versions]
        return np.array([self._strengths[version] for version in versions]), self._doubt[np.ix_(numbers, numbers)]

    def better(self, one: int, other: int) -> float:
        """Return the chance, between 0 and 1, that one version is stronger than another.

        The two are told apart if it is above `APART`, or below 1 - `APART`.
        """
        i, j = self._numbers[one], self._numbers[other]
        half = math.sqrt(self._doubt[i, i] + self._doubt[j, j] - 2 * self._doubt[i, j])
        chance = NormalDist().cdf(_RANGE * (self._strengths[one] - self._strengths[other]) / half)
        return min(max(chance, _UNLIKELY), 1 - _UNLIKELY)


class _Comparisons(NamedTuple):
    """The comparisons of one player in a block with another, in arrays with an entry for each match."""

    # A ladder may have a million matches, so the types are small.
    pair: NDArray[np.int32]
    """The number of the pair of versions."""
    sign: NDArray[np.int8]
    """1 if the first player is ahead, -1 if the first player is behind, 0 for a tie."""
    counts: NDArray[np.bool_]
    """True if the match rates the first player."""


class _Rows:
    """Matches with the same number of seats, as read: in arrays, which take a tenth of the memory of tuples."""

    def __init__(self) -> None:
        self.blocks = array("q")
        self.versions = array("q")
        """The versions in the seats of the first match, then of the second, and so on."""
        self.ranks = array("b")
        """The ranks of the same seats."""
        self.rated: dict[int, frozenset[int]] = {}
        """The versions that a match rates, by its place in these arrays; all others rate all their versions."""

    def add(self, match: CountedMatch) -> None:
        if match.rated is not None:
            self.rated[len(self.blocks)] = match.rated
        self.blocks.append(match.block)
        self.versions.extend(match.versions)
        self.ranks.extend(match.ranks)

    def by_match(self, column: array[int]) -> Ints:
        """Return the versions or the ranks, by match and seat."""
        return np.asarray(column, np.int64).reshape(len(self.blocks), -1)


@dataclass(frozen=True)
class _Tables:
    """All matches with the same number of seats; versions are represented by numbers from 0."""

    versions: Ints
    """By block and player: the versions of the block, in ascending order."""
    block: Ints
    """The block of each match."""
    is_rated: NDArray[np.bool_]
    """By block and player: whether any match of the block rates the player."""
    comparisons: dict[tuple[int, int], _Comparisons]
    """By pair of players in a block, in either order: the comparisons of the first player with the second.

    They rate the first player."""

    @property
    def seats(self) -> int:
        return int(self.versions.shape[1])


class _Data(NamedTuple):
    """All matches. The arrays by pair share one order, and contain each pair twice: once for each of its versions."""

    ids: Ints
    """The id of each version."""
    one: Ints
    other: Ints
    tables: list[_Tables]
    blocks: Ints
    """By version: the number of blocks that rate it."""
    shares: Floats
    """By version: its weight in the average strength, proportional to its blocks that rate all their versions."""


class _Guess(NamedTuple):
    """A guess at the parameters that all versions share."""

    prior: float
    """The precision (1 / variance) of a strength before the first match."""
    weights: dict[int, float]
    """By number of seats: the weight of each pair at a table."""


def fit(matches: Iterable[CountedMatch], start: Mapping[int, float] | None = None) -> Fit:
    """Return the estimate of every version that a match rates.

    Args:
        matches: the counted matches, in any order.
        start: strengths from which the search begins, such as the strengths of an earlier fit. They only save time.
    """
    by_seats: dict[int, _Rows] = {}
    for match in matches:
        by_seats.setdefault(len(match.versions), _Rows()).add(match)
    if not by_seats:
        return Fit({}, {}, np.zeros((0, 0)))
    data = _arranged(by_seats)
    strengths = np.array([(start or {}).get(version, MU) for version in data.ids.tolist()])
    guess = _Guess(1 / SIGMA**2, {seats: _weight(seats) for seats in by_seats})
    for _ in range(_ROUNDS):
        found = _most_likely(data, guess, strengths)
        guess, strengths = _better_guess(data, guess, found), found.strengths
    found = _most_likely(data, guess, strengths)
    return _estimates(data, found.strengths, _doubt(data, guess, found))


def _weight(seats: int) -> float:
    """Return the weight of a pair at which all pairs at a table of equals contain as much information as its result."""
    # Then the variance of a player's slope equals its information, as in a likelihood that counts nothing twice.
    return 3 / (seats + 1)


def _arranged(by_seats: Mapping[int, _Rows]) -> _Data:
    """Return the matches, arranged in arrays."""
    ids = np.unique(np.concatenate([np.unique(rows.versions) for rows in by_seats.values()]))
    tables = [_tables(rows, ids) for _, rows in sorted(by_seats.items())]
    keys = [np.unique(found.pair) for group in tables for found in group.comparisons.values()]
    pairs = np.unique(np.concatenate(keys)).astype(np.int64)
    for group in tables:
        for players, found in group.comparisons.items():
            group.comparisons[players] = found._replace(pair=np.searchsorted(pairs, found.pair).astype(np.int32))
    blocks = _seats(tables, [group.is_rated for group in tables], len(ids))
    whole = _seats(tables, [group.is_rated & group.is_rated.all(axis=1, keepdims=True) for group in tables], len(ids))
    # If no block rates all its versions, as when each has guests, all versions have equal shares.
    shares = whole / whole.sum() if whole.any() else np.full(len(ids), 1 / len(ids))
    return _Data(ids, pairs // len(ids), pairs % len(ids), tables, blocks, shares)


def _seats(tables: Sequence[_Tables], which: Sequence[NDArray[np.bool_]], versions: int) -> Ints:
    """Return the number of chosen seats of each version; `which` marks the chosen seats by block and player."""
    return np.asarray(
        sum(np.bincount(group.versions[some], minlength=versions) for group, some in zip(tables, which, strict=True))
    )


def _tables(rows: _Rows, ids: Ints) -> _Tables:
    """Return matches that all have the same number of seats, in arrays; each pair has a key instead of its number."""
    versions = np.searchsorted(ids, rows.by_match(rows.versions))
    order = np.argsort(versions, axis=1)
    players = np.take_along_axis(versions, order, axis=1)
    ranks = np.take_along_axis(rows.by_match(rows.ranks), order, axis=1)
    _, first, block = np.unique(rows.blocks, return_index=True, return_inverse=True)
    rated = np.ones(players.shape, bool)
    for number, some in rows.rated.items():
        rated[number] = [version in some for version in ids[players[number]].tolist()]
    comparisons = {
        # One key encodes two versions: `_arranged` numbers the pairs that occur. Keys exceed 32 bits only from 46,341
        # versions on, whose matrices would take 17 GB each.
        (a, b): _Comparisons(
            (players[:, a] * len(ids) + players[:, b]).astype(np.int32),
            np.sign(ranks[:, b] - ranks[:, a]).astype(np.int8),
            rated[:, a].copy(),
        )
        for a, b in permutations(range(players.shape[1]), 2)
    }
    is_rated = np.zeros(players[first].shape, bool)
    np.logical_or.at(is_rated, block, rated)
    return _Tables(players[first], block, is_rated, comparisons)


# the likelihood


class _Slopes(NamedTuple):
    """The first derivative and the negative second derivative of an outcome's log-probability, by pair."""

    first: Floats
    second: Floats


class _Found(NamedTuple):
    """The most likely strengths."""

    strengths: Floats
    slopes: dict[int, _Slopes]
    """By the sign of an outcome: the slopes with respect to the strength of the first version of a pair."""
    inverse: Floats
    """The inverse of the matrix of negative second derivatives.

    These are the derivatives of each version's slope with respect to each version's strength."""


def tail(z: Floats) -> Floats:
    """Return, for each value in `z`, the probability that a standard normal variable is above it."""
    # numpy has no erfc, and 1 - erf would lose all digits of a small tail.
    return np.fromiter(map(math.erfc, (z / math.sqrt(2)).tolist()), float, len(z)) / 2


def _density(z: Floats) -> Floats:
    return np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


def _ahead(difference: Floats, margin: float) -> _Slopes:
    """Return the slopes of the outcome "the first is ahead" at the given differences in strength."""
    z = np.maximum((difference - margin) / SPREAD, -30)  # beyond that, the tail is too small for a float
    mills = _density(z) / tail(-z)
    return _Slopes(mills / SPREAD, mills * (mills + z) / SPREAD**2)


def _tied(difference: Floats, margin: float) -> _Slopes:
    """Return the slopes of the outcome "the two tie" at the given differences in strength; 0 if the margin is 0."""
    if not margin:
        return _Slopes(np.zeros(len(difference)), np.zeros(len(difference)))
    # Computed from the absolute difference, so that both tails are small, and their difference keeps its digits.
    near = np.minimum((np.abs(difference) - margin) / SPREAD, 30)
    far = near + 2 * margin / SPREAD
    chance = tail(near) - tail(far)
    slope = (_density(near) - _density(far)) / chance
    curvature = slope**2 + (far * _density(far) - near * _density(near)) / chance
    return _Slopes(-np.sign(difference) * slope / SPREAD, curvature / SPREAD**2)


def _slopes(data: _Data, strengths: Floats, margin: float) -> dict[int, _Slopes]:
    difference = strengths[data.one] - strengths[data.other]
    ahead, behind = _ahead(difference, margin), _ahead(-difference, margin)
    return {1: ahead, -1: _Slopes(-behind.first, behind.second), 0: _tied(difference, margin)}


def _most_likely(data: _Data, guess: _Guess, strengths: Floats) -> _Found:
    """Find the most likely strengths by Newton's method, with the margin that predicts the observed number of ties."""
    counts = _counts(data, guess)
    margin = _first_margin(counts)
    for _ in range(100):
        slopes = _slopes(data, strengths, margin)
        slope, curvature = (np.asarray(sum(counts[sign] * slopes[sign][order] for sign in counts)) for order in (0, 1))
        gradient = _sums(data.one, slope, len(strengths)) - guess.prior * (strengths - MU)
        precision = _precision(data, curvature, guess.prior)
        step = np.linalg.solve(precision, gradient)
        # Far from the maximum, a whole step could overshoot, so no strength moves by more than SIGMA.
        strengths = strengths + step * min(1, SIGMA / np.abs(step).max(initial=1e-9))
        wider = _next_margin(data, counts, strengths, margin)
        if np.abs(step).max() < 1e-9 and abs(wider - margin) < 1e-9:
            break
        margin = wider
    return _Found(strengths, slopes, np.asarray(np.linalg.inv(precision), np.float64))


def _counts(data: _Data, guess: _Guess) -> dict[int, Floats]:
    """Return, for each sign of an outcome, the weighted number of comparisons of each pair that have it."""
    counts = {sign: np.zeros(len(data.one)) for sign in (1, -1, 0)}
    for group in data.tables:
        for one in group.comparisons.values():
            for sign, count in counts.items():
                count += guess.weights[group.seats] * _sums(one.pair, one.counts & (one.sign == sign), len(count))
    return counts


def _sums(places: NDArray[np.integer], values: NDArray[np.generic], size: int) -> Floats:
    """Return, for each index from 0 to `size - 1`, the sum of its values; `places` contains the index of each value."""
    return np.asarray(np.bincount(places, weights=values, minlength=size), np.float64)


def _precision(data: _Data, curvature: Floats, prior: float) -> Floats:
    # Not symmetric, because a match can rate only one of two versions, as a match with guests does.
    found = np.zeros((len(data.ids), len(data.ids)))
    found[data.one, data.other] = -curvature
    np.fill_diagonal(found, prior - found.sum(axis=1))
    return found


def _first_margin(counts: Mapping[int, Floats]) -> float:
    """Return the margin that would explain the ties if all versions were equally strong; 0 if there is no tie."""
    tied = counts[0].sum()
    share = tied / (sum(count.sum() for count in counts.values()) + 1)  # below 1, even if all tie
    return SPREAD * NormalDist().inv_cdf((1 + share) / 2) if tied else 0.0


def _next_margin(data: _Data, counts: Mapping[int, Floats], strengths: Floats, margin: float) -> float:
    """Return a better margin, found by one step of Newton's method."""
    if not margin:
        return 0.0
    difference = strengths[data.one] - strengths[data.other]
    low, high = (difference - margin) / SPREAD, (difference + margin) / SPREAD
    compared = np.asarray(sum(counts.values()))
    wanted = counts[0].sum() * compared.sum() / (compared.sum() + 1)  # if all tied, no margin would be wide enough
    excess = (compared * (tail(low) - tail(high))).sum() - wanted
    slope = (compared * (_density(low) + _density(high))).sum() / SPREAD
    # A whole step could go below 0.
    return float(min(max(margin - excess / slope, margin / 2), margin * 2))


# the spread of the versions, the resemblance between matches of a block, and the ranges that follow from both


class _Blocks(NamedTuple):
    """Arrays by block, for one number of seats."""

    slope: Floats
    """The slope of the block's log-likelihood, by player."""
    information: Floats
    """The negative second derivatives of the block's log-likelihood, by pair of players."""
    near: Floats
    """The entries of the inverse for the whole ladder (`_Found.inverse`), by pair of players."""

    @property
    def without(self) -> Floats:
        """The slope that each block would have if it had not been fitted itself (CR3)."""
        leverage = np.eye(self.slope.shape[1]) - self.information @ self.near
        return np.asarray(np.linalg.solve(leverage, self.slope[:, :, None])[:, :, 0])


def _blocks(group: _Tables, weight: float, found: _Found) -> _Blocks:
    count, seats = group.versions.shape
    slope, information = np.zeros((count, seats)), np.zeros((count, seats, seats))
    for (a, b), one in group.comparisons.items():
        first, second = (_sums(group.block, _chosen(found.slopes, order, one) * weight, count) for order in (0, 1))
        slope[:, a] += first
        information[:, a, a] += second
        information[:, a, b] -= second
    return _Blocks(slope, information, found.inverse[group.versions[:, :, None], group.versions[:, None, :]])


def _chosen(slopes: Mapping[int, _Slopes], order: int, one: _Comparisons) -> Floats:
    """Return the slopes of the observed outcomes."""
    return np.asarray(np.choose(one.sign + 1, [slopes[sign][order][one.pair] for sign in (-1, 0, 1)]) * one.counts)


def _better_guess(data: _Data, guess: _Guess, found: _Found) -> _Guess:
    """Return a better precision of the prior and better weights of pairs, from the current strengths and the blocks.

    The prior is MacKay's: its variance is the sum of the squared distances of the strengths from `MU`, divided by the
    number of strengths that the matches determine.
    """
    determined = len(data.ids) - guess.prior * np.trace(found.inverse)
    squares = ((found.strengths - MU) ** 2).sum()
    prior = (_USUAL + determined) / (_USUAL * SIGMA**2 + squares)
    weights = {}
    for group in data.tables:
        factor = guess.weights[group.seats] / _weight(group.seats)
        blocks = _blocks(group, guess.weights[group.seats], found)
        expected = np.einsum("bij,bji->", blocks.near, blocks.information) / factor
        noise = np.einsum("bi,bij,bj->", blocks.without, blocks.near, blocks.slope) / factor**2
        # If the matches of a block resemble each other, blocks differ more than independent matches would, and a pair weighs less.
        weights[group.seats] = _weight(group.seats) * float((_TRUST + expected) / (_TRUST + noise))
    return _Guess(float(prior), weights)


def _doubt(data: _Data, guess: _Guess, found: _Found) -> Floats:
    """Return a matrix W of squared half ranges.

    The square is W[i, i] for a strength, and W[i, i] + W[j, j] - 2 W[i, j] for the difference between two strengths.
    """
    versions = len(data.ids)
    noise = guess.prior * np.eye(versions)
    for group in data.tables:
        blocks = _blocks(group, guess.weights[group.seats], found)
        own = blocks.without[:, :, None] * blocks.without[:, None, :]
        fewest = data.blocks[group.versions].min(axis=1)
        trust = (fewest / (fewest + _TRUST))[:, None, None]
        keys = group.versions[:, :, None] * versions + group.versions[:, None, :]
        # A covariance is symmetric, even where the matches rate only one of two versions.
        mutual = np.maximum(blocks.information, blocks.information.transpose(0, 2, 1))
        parts = (trust * own + (1 - trust) * mutual).ravel()
        noise += _sums(keys.ravel(), parts, versions**2).reshape(versions, versions)
    doubt, modelled = (
        _centred(covariance, data.shares) for covariance in (found.inverse @ noise @ found.inverse.T, found.inverse)
    )
    wider = _RANGE * np.sqrt(
        np.maximum(1, np.diag(modelled) / np.diag(doubt))
    )  # blocks may look alike because there are few
    return np.asarray(doubt * wider * wider[:, None])


def _centred(covariance: Floats, shares: Floats) -> Floats:
    """Return the covariance of the strengths minus their average, in which each version has the weight of its share."""
    less = covariance - shares @ covariance
    return np.asarray(less - (less @ shares)[:, None])


def open_places(values: Floats, doubt: Floats) -> tuple[Ints, Ints]:
    """Return the best and the worst place open to each estimate; the greatest estimate is the best.

    Two estimates are told apart if the range of their difference does not contain 0; `doubt` has the form of `_doubt`.
    """
    squares = np.diag(doubt)
    apart = (values[:, None] - values) ** 2 > squares[:, None] + squares - 2 * doubt
    better = (apart & (values > values[:, None])).sum(axis=1)
    worse = (apart & (values < values[:, None])).sum(axis=1)
    return 1 + better, len(squares) - worse


def _estimates(data: _Data, strengths: Floats, doubt: Floats) -> Fit:
    """Return the estimates.

    A version that no match rates, such as one that met only guests, has no estimate and no place.
    """
    strengths = strengths + MU - data.shares @ strengths
    rated = np.flatnonzero(data.blocks)
    ids, strengths, blocks, doubt = data.ids[rated], strengths[rated], data.blocks[rated], doubt[np.ix_(rated, rated)]
    columns = (ids, strengths, np.sqrt(np.diag(doubt)), *open_places(strengths, doubt), blocks)
    found = {
        version: Estimate(
            round(strength, _DIGITS), round(strength - half, _DIGITS), round(strength + half, _DIGITS), *rest
        )
        for version, strength, half, *rest in zip(*(column.tolist() for column in columns), strict=True)
    }
    # Ordered by rounded numbers, so that all machines agree on the order.
    ordered = dict(sorted(found.items(), key=lambda one: (-one[1].low, -one[1].strength, one[0])))
    return Fit(ordered, dict(zip(ids.tolist(), strengths.tolist(), strict=True)), doubt)
