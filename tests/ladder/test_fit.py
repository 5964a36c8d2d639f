"""The fit: the same for every order of the same matches, and as sure as the blocks allow."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist, fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.model.fit import CountedMatch, Estimate, fit
from ladder.model.rating import MU, SIGMA
from ladder.model.schedule import rotations
from tests.cases import mostly_long

LAST_DIGIT = 0.0011
SOME = settings(max_examples=20, deadline=None)


@st.composite
def ladders(draw: st.DrawFn) -> list[CountedMatch]:
    """Draw some blocks of two to five seats, with any results."""
    matches = []
    for block in range(1, draw(st.integers(2, 13))):
        table = draw(st.lists(st.integers(1, 8), min_size=2, max_size=5, unique=True))
        places = st.lists(st.integers(1, len(table)), min_size=len(table), max_size=len(table))
        matches += [CountedMatch(block, tuple(seats), tuple(draw(places))) for seats in rotations(table)]
    return matches


def of_two(results: Sequence[tuple[int, int]]) -> list[CountedMatch]:
    """Return matches of version 1 against version 2, each a block of its own."""
    return [CountedMatch(block, (1, 2), ranks) for block, ranks in enumerate(results)]


def half(estimate: Estimate) -> float:
    return (estimate.high - estimate.low) / 2


def test_without_a_match_nothing_is_estimated() -> None:
    assert fit([]) == {}


@pytest.mark.long
@SOME
@given(ladders(), st.randoms(use_true_random=False))
def test_the_order_of_matches_and_of_seats_says_nothing(matches: list[CountedMatch], chance: random.Random) -> None:
    mixed = []
    for match in chance.sample(matches, len(matches)):
        seats = chance.sample(range(len(match.versions)), len(match.versions))
        mixed.append(
            CountedMatch(match.block, tuple(match.versions[n] for n in seats), tuple(match.ranks[n] for n in seats))
        )
    assert list(fit(mixed).items()) == list(fit(matches).items())


@SOME
@given(ladders(), st.dictionaries(st.integers(1, 8), st.floats(-40, 90)))
def test_where_the_search_begins_says_nothing(matches: list[CountedMatch], start: dict[int, float]) -> None:
    assert fit(matches, start) == fit(matches)


@pytest.mark.long
@SOME
@given(ladders(), st.permutations(range(1, 9)), st.integers(1, 3))
def test_ids_of_versions_and_blocks_say_nothing(matches: list[CountedMatch], names: list[int], factor: int) -> None:
    named = [
        CountedMatch(-factor * match.block, tuple(names[one - 1] for one in match.versions), match.ranks)
        for match in matches
    ]
    other = fit(named)
    for version, one in fit(matches).items():
        same = other[names[version - 1]]
        assert [same.strength, same.low, same.high] == pytest.approx([one.strength, one.low, one.high], abs=LAST_DIGIT)
        assert (same.best, same.worst, same.blocks) == (one.best, one.worst, one.blocks)


@SOME
@given(ladders())
def test_where_all_results_are_turned_round_so_are_all_strengths(matches: list[CountedMatch]) -> None:
    turned = fit([match._replace(ranks=tuple(6 - rank for rank in match.ranks)) for match in matches])
    for version, one in fit(matches).items():
        assert turned[version].strength == pytest.approx(2 * MU - one.strength, abs=LAST_DIGIT)
        assert turned[version].low == pytest.approx(2 * MU - one.high, abs=LAST_DIGIT)


@SOME
@given(ladders())
def test_the_average_by_blocks_is_25_and_the_first_is_best_by_the_lower_end(matches: list[CountedMatch]) -> None:
    """Blocks are counted, and every place is one of those that are left open."""
    found = fit(matches)
    average = fmean((one.strength for one in found.values()), [one.blocks for one in found.values()])
    assert average == pytest.approx(MU, abs=LAST_DIGIT)
    for version, one in found.items():
        assert one.blocks == len({match.block for match in matches if version in match.versions})
        assert one.low < one.strength < one.high
    assert [one.low for one in found.values()] == sorted((one.low for one in found.values()), reverse=True)
    assert all(one.best <= place <= one.worst for place, one in enumerate(found.values(), 1))


def test_versions_that_always_tie_are_equal() -> None:
    found = fit([CountedMatch(block, (1, 2, 3), (1, 1, 1)) for block in range(30)])
    assert {(one.strength, one.best, one.worst) for one in found.values()} == {(MU, 1, 3)}
    assert len({one.low for one in found.values()}) == 1


def test_a_tie_draws_two_versions_together() -> None:
    wins = of_two([(1, 2)] * 30 + [(2, 1)] * 10)
    ties = of_two([(1, 2)] * 30 + [(2, 1)] * 10 + [(1, 1)] * 40)
    assert fit(wins)[1].strength > fit(ties)[1].strength > MU


@pytest.mark.parametrize(("ahead", "tied"), mostly_long([(0.76, 0.0), (0.9, 0.0), (0.5, 0.3), (0.1, 0.1)]))
def test_the_difference_of_two_is_that_of_the_model(ahead: float, tied: float) -> None:
    """With the margin m and the spread s of two performances: ahead is Phi((d - m) / s), behind is Phi((-d - m) / s)."""
    matches = 40_000
    wins, ties = round(ahead * matches), round(tied * matches)
    found = fit(of_two([(1, 2)] * wins + [(1, 1)] * ties + [(2, 1)] * (matches - wins - ties)))
    normal = NormalDist(0, SIGMA / 2 * 2**0.5)
    difference = (normal.inv_cdf(ahead) - normal.inv_cdf(1 - ahead - tied)) / 2
    assert found[1].strength - found[2].strength == pytest.approx(difference, abs=0.02)


def test_strengths_are_found_again_at_tables_of_all_sizes() -> None:
    chance = random.Random(1)
    strengths = {version: 25 + 2.0 * (version - 4) for version in range(1, 8)}
    matches = []
    for block in range(3_000):
        table = tuple(chance.sample(sorted(strengths), 2 + block % 4))
        performance = [chance.gauss(strengths[version], SIGMA / 2) for version in table]
        matches.append(
            CountedMatch(block, table, tuple(1 + sum(other > own for other in performance) for own in performance))
        )
    found = fit(matches)
    assert {version: one.strength for version, one in found.items()} == pytest.approx(strengths, abs=0.5)
    assert all(one.best == one.worst for one in found.values())
    assert all(0.2 < half(one) < 0.4 for one in found.values())


def test_a_match_that_is_repeated_within_its_block_tells_nothing_new() -> None:
    chance = random.Random(2)
    once = []
    for block in range(60):
        table = tuple(chance.sample(range(1, 9), 3))
        once.append(CountedMatch(block, table, tuple(chance.sample((1, 2, 3), 3))))
    five_times = [match for match in once for _ in range(5)]
    other_blocks = [match._replace(block=block) for block, match in enumerate(five_times)]
    usual, repeated, more = fit(once), fit(five_times), fit(other_blocks)
    for version in usual:
        assert half(repeated[version]) > 0.9 * half(usual[version])
        assert half(more[version]) < 0.65 * half(usual[version])


def test_a_single_block_leaves_nearly_everything_open() -> None:
    found = fit([CountedMatch(1, seats, (1, 2)) for seats in ((1, 2), (1, 2))])
    assert {(one.best, one.worst) for one in found.values()} == {(1, 2)}
    assert found[1].strength > MU > found[2].strength
    old = [CountedMatch(block, (1 + block % 3, 4), (1 + block // 3 % 2, 2 - block // 3 % 2)) for block in range(120)]
    newcomer = fit([*old, CountedMatch(500, (1, 9), (2, 1)), CountedMatch(500, (9, 1), (1, 2))])
    assert half(newcomer[9]) > 3 * max(half(newcomer[version]) for version in (1, 2, 3, 4))


def test_groups_that_never_met_are_not_told_apart() -> None:
    found = fit([CountedMatch(block, pair, (1, 2)) for block, pair in enumerate([(1, 2), (3, 4)] * 40)])
    assert found[1].strength == found[3].strength > found[2].strength == found[4].strength
    assert found[1].best == found[3].best == 1
    assert found[1].worst >= 2


def test_who_always_wins_has_no_endless_strength() -> None:
    found = fit(of_two([(1, 2)] * 2_000))
    assert 5 < found[1].strength - found[2].strength < 60
    assert half(found[1]) > 2


def test_two_far_apart_at_both_ends_of_a_chain() -> None:
    chain = [CountedMatch(100 * low + block, (low, low + 1), (1, 2)) for low in range(1, 12) for block in range(50)]
    found = fit(chain)
    for low, high in combinations(range(1, 13), 2):
        assert found[low].strength > found[high].strength


def test_a_match_that_tells_of_guests_only_tells_nothing_of_the_others() -> None:
    chance = random.Random(3)
    old = []
    for block in range(100):
        old.append(CountedMatch(block, tuple(chance.sample(range(1, 7), 3)), tuple(chance.sample((1, 2, 3), 3))))
    guest = frozenset({9})
    usual = fit(old)
    for ranks in ((1, 2), (2, 1)):
        found = fit([*old, *(CountedMatch(200 + number, (9, 1), ranks, guest) for number in range(50))])
        assert found[1].strength == pytest.approx(usual[1].strength, abs=0.1)
        assert (found[9].strength > found[1].strength + 3) == (ranks == (1, 2))
    found = fit([*old, *(CountedMatch(200 + number, (9, 1), (2, 1)) for number in range(50))])
    assert found[1].strength > usual[1].strength + 1
