"""One ranking over all games: the share of the others that a version beats, averaged over the games.

The code is pure. Strengths from different games cannot be added: a game with little luck spreads them further, and
would decide the ranking alone.
Each game therefore contributes the share of the others that a version is expected to beat at tables of two, with the
same weight. docs/ratings.md contains the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ladder.model.fit import SPREAD, Fit, Floats, open_places, tail

_DIGITS = 5
"""The number of decimal places in results, which are rounded like the results of a fit."""


@dataclass(frozen=True, slots=True)
class Overall:
    """The overall standing of a version in all games."""

    share: float
    """The share of the others that the version is expected to beat, averaged over the games; from 0 to 1."""
    low: float
    """The lower end of the 95 % range of the share; it decides the order."""
    high: float
    """The upper end of the 95 % range of the share."""
    best: int
    """The best of the places that the matches leave open."""
    worst: int
    """The worst of the places that the matches leave open."""
    by_game: tuple[float, ...]
    """The share in each game, in the order of the fits."""


def overall(fits: Sequence[Fit]) -> dict[int, Overall]:
    """Return the standings of the versions that have a strength in every game, best first.

    There are none if there are fewer than two such versions.
    """
    common = sorted(set.intersection(*map(set, fits))) if fits else []
    if len(common) < 2:
        return {}
    shares, doubts = zip(*(_shares(fit, common) for fit in fits), strict=True)
    means = np.mean(shares, axis=0)
    doubt = np.sum(doubts, axis=0) / len(fits) ** 2  # results of one game say nothing about another
    half = np.sqrt(np.diag(doubt))
    rounded = np.round([means, np.maximum(0, means - half), np.minimum(1, means + half)], _DIGITS)
    best, worst = open_places(means, doubt)
    columns = (*rounded, best, worst, np.round(np.transpose(shares), _DIGITS))
    found = [
        Overall(share, low, high, first, last, tuple(by_game))
        for share, low, high, first, last, by_game in zip(*(column.tolist() for column in columns), strict=True)
    ]
    # Rounded, so that machines that differ in the last bits agree on the order.
    # `lexsort` begins with its last key. The order is by the lower end, then by the share, then by age.
    order = np.lexsort((common, *np.round([-means, half - means], _DIGITS))).tolist()
    return {common[number]: found[number] for number in order}


def _shares(fit: Fit, versions: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the share of rivals that each version is expected to beat in a game, and the doubt about these shares."""
    strengths, doubt = fit.of(versions)
    apart = (strengths[:, None] - strengths) / SPREAD
    others = len(versions) - 1
    ahead = tail(-apart.ravel()).reshape(apart.shape)
    slopes = -np.exp(-(apart**2) / 2) / math.sqrt(2 * math.pi) / SPREAD / others  # by the other's strength
    np.fill_diagonal(slopes, 0)
    # A shift of all strengths changes no share.
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    # 0.5 is the chance of a version against itself. The doubt is by the delta method.
    return (ahead.sum(axis=1) - 0.5) / others, slopes @ doubt @ slopes.T
