"""Ratings: TrueSkill with symmetric ties, against published numbers and by its inequalities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from ladder.model.rating import (
    ENVIRONMENT,
    MU,
    SIGMA,
    Rating,
    current,
    inherit,
    quality,
    rate,
    update,
)

RATINGS = st.builds(Rating, st.floats(0, 50), st.floats(0.8, SIGMA))


def test_the_published_numbers_for_two_and_more_players() -> None:
    """Moser, "The Math Behind TrueSkill" (2010): new players, draw probability 10 %, tau 1/12."""
    new, usual = Rating(), trueskill.TrueSkill()
    winner, loser = update([new, new], [1, 2], usual)
    assert [winner.mu, winner.sigma] == pytest.approx([29.396, 7.171], abs=1e-3)
    assert [loser.mu, loser.sigma] == pytest.approx([20.604, 7.171], abs=1e-3)
    drawn = update([new, new], [1, 1], usual)
    assert drawn[0].sigma == pytest.approx(6.458, abs=1e-3)
    eight = update([new] * 8, list(range(1, 9)), usual)
    assert eight[0].mu == pytest.approx(36.771, abs=1e-3)
    assert eight[7].mu == pytest.approx(13.229, abs=1e-3)


@given(st.lists(RATINGS, min_size=2, max_size=4), st.data())
def test_ratings_do_not_depend_on_the_order_of_the_players(ratings: list[Rating], data: st.DataObject) -> None:
    ranks = data.draw(st.lists(st.integers(1, 3), min_size=len(ratings), max_size=len(ratings)))
    order = data.draw(st.permutations(range(len(ratings))))
    straight = update(ratings, ranks)
    mixed = update([ratings[player] for player in order], [ranks[player] for player in order])
    for place, player in enumerate(order):
        assert mixed[place].mu == pytest.approx(straight[player].mu, abs=1e-6)
        assert mixed[place].sigma == pytest.approx(straight[player].sigma, abs=1e-6)


def test_players_who_tie_with_equal_ratings_get_equal_ratings_which_the_package_does_not_give() -> None:
    for ranks in ([1, 1, 1], [1, 2, 2], [1, 1, 3], [1, 1, 1, 1]):
        updated = update([Rating()] * len(ranks), ranks)
        for one, other in permutations(range(len(ranks)), 2):
            if ranks[one] == ranks[other]:
                assert updated[one] == updated[other]
    [(first,), (second,), *_] = trueskill.TrueSkill().rate([(trueskill.Rating(),)] * 3, ranks=[0, 0, 0])
    assert (first.mu, first.sigma) != (second.mu, second.sigma)


@given(st.lists(RATINGS, min_size=2, max_size=5))
def test_a_sole_winner_never_falls_and_the_last_never_rises(ratings: list[Rating]) -> None:
    updated = update(ratings, list(range(1, len(ratings) + 1)))
    assert updated[0].mu >= ratings[0].mu - 1e-9
    assert updated[-1].mu <= ratings[-1].mu + 1e-9


def test_certainty_grows_with_every_match_but_ratings_never_freeze() -> None:
    one, two = Rating(), Rating()
    for _ in range(400):
        before = one
        one, two = update([one, two], [1, 2])
        two, one = update([two, one], [1, 2])
    assert one.sigma < 2
    assert one.sigma > 0.5
    assert one.mu == pytest.approx(before.mu, abs=1)


def rate_all(matches: Sequence[tuple[Sequence[int], Sequence[int]]]) -> dict[int, Rating]:
    known: dict[int, Rating] = {}
    for versions, ranks in matches:
        known.update(rate(known, versions, ranks, {}))
    return known


def test_the_better_bot_is_recognised() -> None:
    known = rate_all([((1, 2, 3), (1, 2, 3))] * 30)
    assert known[1].low > known[2].low > known[3].low


def test_a_new_version_starts_at_its_predecessors_mu_with_more_doubt() -> None:
    known = {1: Rating(31, 1.5)}
    parents = {1: None, 2: 1, 3: 2}
    assert current(known, 2, parents).mu == 31
    assert 1.5 < current(known, 2, parents).sigma < SIGMA
    assert current(known, 3, parents) == current(known, 2, parents)
    assert current(known, 1, parents) == known[1]
    assert current({}, 3, parents) == Rating(MU, SIGMA)
    assert inherit(Rating(10, SIGMA)).sigma == SIGMA


def test_an_even_match_is_worth_more_than_an_uneven_one() -> None:
    assert quality(Rating(25, 1), Rating(25, 1)) > quality(Rating(25, 1), Rating(35, 1))


@given(RATINGS, RATINGS)
def test_the_quality_of_a_match_is_that_of_the_package(one: Rating, other: Rating) -> None:
    groups = [(trueskill.Rating(rating.mu, rating.sigma),) for rating in (one, other)]
    assert quality(one, other) == pytest.approx(ENVIRONMENT.quality(groups), rel=1e-9)


def test_rating_the_same_matches_again_gives_the_same_to_the_last_digit() -> None:
    matches = [((1 + n % 3, 4 + n % 2, 6), ((1, 2, 2), (3, 1, 1), (1, 1, 1))[n % 3]) for n in range(40)]
    assert rate_all(matches) == rate_all(matches)
