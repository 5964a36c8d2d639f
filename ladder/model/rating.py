"""Ratings: TrueSkill for free-for-all matches with ties. Pure: old ratings and a result give new ratings.

Source: R. Herbrich, T. Minka, T. Graepel, "TrueSkill(TM): A Bayesian Skill Rating System", NIPS 2006; the package
`trueskill` does the inference. Two things are added. The package updates players with equal ranks unequally, after the order in
which they are given; here the updates of all orders are averaged. And a new version of a bot does not start from nothing: it
starts at its predecessor's mu, with more doubt (`inherit`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import erf, exp, fsum, sqrt
from statistics import NormalDist

import trueskill

MU = 25.0
"""Where an unknown bot starts."""
SIGMA = MU / 3
"""How uncertain that is."""
NEW_VERSION_SIGMA = SIGMA / 2
"""The standard deviation that a new version adds to its predecessor's."""

# beta: by how much skill must differ for the better one to win in about 76 % of two-player matches. tau: how much skill may drift
# with each match, so that ratings never freeze. draw_probability: ties are rare in these games.
_ENVIRONMENT = trueskill.TrueSkill(mu=MU, sigma=SIGMA, beta=SIGMA / 2, tau=SIGMA / 100, draw_probability=0.02)


@dataclass(frozen=True, slots=True)
class Rating:
    """What is known of a version's skill at a game."""

    mu: float = MU
    """The estimate."""
    sigma: float = SIGMA
    """The standard deviation of the estimate."""

    @property
    def low(self) -> float:
        """Mu - 3 sigma: the skill that it has almost certainly; ladders are sorted by it."""
        return self.mu - 3 * self.sigma


def update(ratings: Sequence[Rating], ranks: Sequence[int]) -> list[Rating]:
    """Return the ratings after a match.

    Args:
        ratings: of the players, in any order.
        ranks: their places, 1 for the first; equal places are ties.

    Returns:
        The new ratings, in the same order. Players with equal ratings and equal ranks get equal ones.
    """
    sums: list[list[tuple[float, float]]] = [[] for _ in ratings]
    for order in _orders(ranks):
        groups = [(trueskill.Rating(ratings[player].mu, ratings[player].sigma),) for player in order]
        updated = _ENVIRONMENT.rate(groups, ranks=[ranks[player] for player in order])
        for player, (rating,) in zip(order, updated, strict=True):
            sums[player].append((rating.mu, rating.sigma))
    return [
        Rating(fsum(mu for mu, _ in values) / len(values), fsum(sigma for _, sigma in values) / len(values))
        for values in sums
    ]


def _orders(ranks: Sequence[int]) -> Iterable[list[int]]:
    """Yield all orders of the players by rank, with players who tied in every order among themselves."""
    tied = [[player for player, rank in enumerate(ranks) if rank == place] for place in sorted(set(ranks))]
    for arrangement in product(*(permutations(group) for group in tied)):
        yield [player for group in arrangement for player in group]


def inherit(parent: Rating) -> Rating:
    """Return where a new version starts: at its predecessor's mu, with more doubt, but no more than for an unknown bot."""
    return Rating(parent.mu, min(SIGMA, sqrt(parent.sigma**2 + NEW_VERSION_SIGMA**2)))


def quality(one: Rating, other: Rating) -> float:
    """Return how even a match of two would be, from 0 to 1: the chance of a draw against that of one among equals.

    Source: the paper above, on matchmaking. `trueskill.quality` gives the same for any number of players, much slower.
    """
    ours = 2 * _ENVIRONMENT.beta**2
    spread = ours + one.sigma**2 + other.sigma**2
    return sqrt(ours / spread) * exp(-((one.mu - other.mu) ** 2) / (2 * spread))


APART = 0.95
"""Two versions are told apart if the chance that one of them is the better one is at least this."""


_UNLIKELY = 1e-9


def better(one: Rating, other: Rating) -> float:
    """Return the chance that the skill of one is greater than that of another, by what is known of both: of 1.

    It is not the chance to win a match, in which luck has a part, too. Nothing is certain, so it is never quite 0 or 1.
    """
    chance = (1 + erf((one.mu - other.mu) / sqrt(2 * (one.sigma**2 + other.sigma**2)))) / 2
    return min(max(chance, _UNLIKELY), 1 - _UNLIKELY)


def level_with(ratings: Sequence[Rating]) -> list[list[int]]:
    """Return for each of some ratings which others it is not told apart from, as their places in the sequence, from 0."""
    apart = NormalDist().inv_cdf(APART) ** 2  # in squares, because this is done for each two on the ladder
    known = [(place, one.mu, one.sigma**2) for place, one in enumerate(ratings)]
    return [
        [other for other, mu, doubt in known if (mu - own) ** 2 < apart * (doubt + own_doubt) and other != place]
        for place, own, own_doubt in known
    ]


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
        parents: for each version, the version before it, if there is one.
        rated: the versions whose ratings change; None for all.
    """
    before = [current(known, version, parents) for version in versions]
    after = dict(zip(versions, update(before, ranks), strict=True))
    return {version: rating for version, rating in after.items() if rated is None or version in rated}


def current(known: Mapping[int, Rating], version: int, parents: Mapping[int, int | None]) -> Rating:
    """Return the rating of a version: its own, else what it inherits, else that of an unknown bot."""
    if version in known:
        return known[version]
    parent = parents.get(version)
    while parent is not None and parent not in known:
        parent = parents.get(parent)
    return Rating() if parent is None else inherit(known[parent])


class History:
    """What follows from matches that are taken in the order in which they count.

    Attributes:
        ratings: by condition and version. Nothing is kept for each match: there may be a million.
    """

    def __init__(self, parents: Mapping[int, int | None]) -> None:
        """`parents` has, for each version, the version before it, if there is one."""
        self.ratings: dict[int, dict[int, Rating]] = {}
        self._parents = parents

    def add(
        self, condition: int, versions: Sequence[int], ranks: Sequence[int], rated: Collection[int] | None = None
    ) -> dict[int, Rating]:
        """Rate the versions in a match that nothing equalled before, or some of them; return their new ratings."""
        ratings = self.ratings.setdefault(condition, {})
        new = rate(ratings, versions, ranks, self._parents, rated)
        ratings.update(new)
        return new
