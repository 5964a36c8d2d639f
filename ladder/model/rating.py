"""Ratings: TrueSkill for free-for-all matches with ties.

The code is pure: it derives new ratings from old ones and a result.

Source: R. Herbrich, T. Minka, T. Graepel, "TrueSkill(TM): A Bayesian Skill Rating System", NIPS 2006; the package
`trueskill` does the inference. This module adds two things. The package updates players with equal ranks unequally,
depending on their order; this module averages the updates over all orders. Also, a new version of a bot starts at its
predecessor's mu, with more doubt (`inherit`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import erf, exp, fsum, sqrt

import trueskill

from ladder.model.match import AT_HOME_PREFIX, HOUSE_PREFIX

MU = 25.0
"""The first estimate of the skill of an unknown bot."""
SIGMA = MU / 3
"""The standard deviation of the first estimate for an unknown bot."""
NEW_VERSION_SIGMA = SIGMA / 2
"""The standard deviation that a new version adds, in quadrature, to that of its predecessor."""

# beta: the difference in skill at which the better player wins about 76 % of two-player matches. tau: the drift of skill per
# match, so that ratings never freeze. draw_probability: ties are rare in these games.
ENVIRONMENT = trueskill.TrueSkill(mu=MU, sigma=SIGMA, beta=SIGMA / 2, tau=SIGMA / 100, draw_probability=0.02)


@dataclass(frozen=True, slots=True)
class Rating:
    """An estimate of a version's skill under a condition."""

    mu: float = MU
    """The estimate of the skill."""
    sigma: float = SIGMA
    """The standard deviation of the estimate."""

    @property
    def low(self) -> float:
        """The estimate minus three standard deviations: the skill is almost certainly higher."""
        return self.mu - 3 * self.sigma


def update(
    ratings: Sequence[Rating], ranks: Sequence[int], environment: trueskill.TrueSkill = ENVIRONMENT
) -> list[Rating]:
    """Return the ratings after a match.

    Args:
        ratings: the ratings of the players, in any order.
        ranks: their places, 1 for the first; equal places are ties.
        environment: TrueSkill with its constants.

    Returns:
        The new ratings, in the same order. Players with equal ratings and equal ranks get equal new ratings.
    """
    sums: list[list[tuple[float, float]]] = [[] for _ in ratings]
    for order in _orders(ranks):
        groups = [(trueskill.Rating(ratings[player].mu, ratings[player].sigma),) for player in order]
        updated = environment.rate(groups, ranks=[ranks[player] for player in order])
        for player, (rating,) in zip(order, updated, strict=True):
            sums[player].append((rating.mu, rating.sigma))
    return [
        # `fsum` does not depend on the order, so tied players with equal ratings stay equal to the last digit.
        Rating(fsum(mu for mu, _ in values) / len(values), fsum(sigma for _, sigma in values) / len(values))
        for values in sums
    ]


def _orders(ranks: Sequence[int]) -> Iterable[list[int]]:
    """Yield all orders of the players by rank, with tied players in every possible order."""
    tied = [[player for player, rank in enumerate(ranks) if rank == place] for place in sorted(set(ranks))]
    for arrangement in product(*(permutations(group) for group in tied)):
        yield [player for group in arrangement for player in group]


def inherit(parent: Rating) -> Rating:
    """Return the first rating of a new version.

    It has its predecessor's mu, with more doubt, but no more than the rating of an unknown bot.
    """
    return Rating(parent.mu, min(SIGMA, sqrt(parent.sigma**2 + NEW_VERSION_SIGMA**2)))


def quality(one: Rating, other: Rating) -> float:
    """Return the quality of a match between two versions, from 0 to 1: the chance of a draw, relative to that between equals.

    Source: the paper above, on matchmaking. `trueskill.quality` returns the same for any number of players, but is much slower.
    """
    ours = 2 * ENVIRONMENT.beta**2
    spread = ours + one.sigma**2 + other.sigma**2
    return sqrt(ours / spread) * exp(-((one.mu - other.mu) ** 2) / (2 * spread))


APART = 0.975
"""Two versions are told apart if the chance that one of them is better exceeds this value.

The 95 % range of their difference then does not contain 0 (`fit.py`)."""


def expected_share(one: Rating, others: Sequence[Rating]) -> float:
    """Return the share of its rivals in a match, from 0 to 1, that a version is expected to beat, given the ratings."""
    chances = []
    for other in others:
        spread = 2 * ENVIRONMENT.beta**2 + one.sigma**2 + other.sigma**2
        chances.append((1 + erf((one.mu - other.mu) / sqrt(2 * spread))) / 2)
    return fsum(chances) / len(chances)


def rate(
    known: Mapping[int, Rating],
    versions: Sequence[int],
    ranks: Sequence[int],
    parents: Mapping[int, int | None],
    rated: Collection[int] | None = None,
) -> dict[int, Rating]:
    """Return the new ratings of the versions in a match.

    Args:
        known: the ratings before the match.
        versions: the version in each seat.
        ranks: the place of each seat, 1 for the first; equal places are ties.
        parents: the previous version of each version, if there is one.
        rated: the versions whose ratings change; None for all.
    """
    before = [current(known, version, parents) for version in versions]
    after = dict(zip(versions, update(before, ranks), strict=True))
    return {version: rating for version, rating in after.items() if rated is None or version in rated}


def rated_versions(contents: Mapping[int, str], absent: Collection[int], *, guests: bool) -> set[int]:
    """Return the versions that a match rates.

    If bots at home were absent, it rates only the absent bots, as the others did not cause the absence. If bots at home
    are guests, it does not rate submitted bots.

    Args:
        contents: the content hash of each version in the match.
        absent: the versions that did not start.
        guests: True if bots at home are guests in the block.
    """
    at_home = {version for version, content in contents.items() if content.startswith(AT_HOME_PREFIX)}
    if away := at_home.intersection(absent):
        return away
    if guests and at_home:
        return at_home | {version for version, content in contents.items() if content.startswith(HOUSE_PREFIX)}
    return set(contents)


def current(known: Mapping[int, Rating], version: int, parents: Mapping[int, int | None]) -> Rating:
    """Return the rating of a version: its own, or an inherited one, or if it has neither, that of an unknown bot."""
    if version in known:
        return known[version]
    parent = parents.get(version)
    while parent is not None and parent not in known:
        parent = parents.get(parent)
    return Rating() if parent is None else inherit(known[parent])
