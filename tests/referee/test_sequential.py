"""The sequential test of two versions: what is known of it on paper, and how often it is wrong."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.verdict.block import BlockScore
from referee.verdict.likelihood import Margin, interval, log_likelihood_ratio, of_mean, weighted_ratio, with_extremes
from referee.verdict.sequential import MIN_BLOCKS, Conclusion, SequentialTest, Terms, expected_exit
from tests.cases import mostly_long

SHARES = Margin(0.05)
DEVIATIONS = Margin(0.3, in_deviations=True)
MARGINS = st.builds(Margin, st.floats(0.01, 0.9), st.booleans())
DIFFERENCES = st.lists(st.sampled_from([number / 8 for number in range(-8, 9)]), min_size=1, max_size=60)


def block(difference: float, number: int, *, is_alike: bool = False) -> BlockScore:
    """A block with a difference, played as no block of another number."""
    return BlockScore((1 + difference) / 2, (1 - difference) / 2, (str(number),), is_alike)


def after(differences: Iterable[float], terms: Terms) -> SequentialTest:
    """Test blocks until there is a conclusion, or they are used up."""
    test = SequentialTest(terms)
    for number, difference in enumerate(differences):
        test.add(block(difference, number))
        if test.conclusion is not None:
            break
    return test


def terms(margin: Margin = SHARES, *, alpha: float = 0.05, beta: float = 0.05, max_blocks: int = 2_000) -> Terms:
    return Terms(margin, alpha, beta, max_blocks)


# --- likelihoods -----------------------------------------------------------------------------------------------


def test_the_bounds_are_wald_s_for_nine_tenths_of_both_errors() -> None:
    low, high = terms(alpha=0.05, beta=0.1).bounds
    assert (low, high) == pytest.approx((math.log(0.09 / 0.955), math.log(0.91 / 0.045)))
    assert terms().bounds == pytest.approx((-math.log(0.955 / 0.045), math.log(0.955 / 0.045)))


@pytest.mark.parametrize("mean", [0.05, 0.2, 0.9])
def test_blocks_without_a_difference_have_the_likelihood_of_a_coin_that_never_shows_the_other_side(mean: float) -> None:
    """With mean m, at most 1 - m of all blocks are 0."""
    assert of_mean(with_extremes({0.0: 50}), mean) == pytest.approx(50 * math.log(1 - mean), abs=0.05)


def test_wins_and_losses_have_the_likelihood_of_the_binomial_distribution() -> None:
    """With mean 0 both have probability 1/2; the best distribution has the observed shares."""
    expected = 12 * math.log(0.5 / 0.6) + 8 * math.log(0.5 / 0.4)
    assert of_mean({1.0: 12, -1.0: 8}, 0.0) == pytest.approx(expected, abs=1e-6)


def test_many_blocks_have_the_ratio_of_normal_distributions() -> None:
    draw = random.Random(1)
    counts = Counter(round(draw.gauss(0.01, 0.2), 2) for _ in range(4_000))
    values, margin = [*counts.elements()], Margin(0.02)
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    normal = len(values) / 2 * math.log((variance + mean**2) / (variance + (mean - margin.size) ** 2))
    assert log_likelihood_ratio(counts, margin) == pytest.approx(normal, abs=0.1)
    in_deviations = Margin(0.02 / math.sqrt(variance), in_deviations=True)
    assert log_likelihood_ratio(counts, in_deviations) == pytest.approx(normal, abs=0.1)


@given(DIFFERENCES, st.floats(0.01, 0.95))
def test_the_ratio_changes_its_sign_if_versions_and_hypotheses_are_exchanged(
    differences: list[float], size: float
) -> None:
    """Seen from the old version, differences have the other sign, and "better by the margin" is "worse by it"."""
    mirrored = with_extremes(Counter(-difference for difference in differences))
    exchanged = weighted_ratio(lambda effect: of_mean(mirrored, effect - size), size)
    assert exchanged == pytest.approx(-log_likelihood_ratio(Counter(differences), Margin(size)), abs=1e-6)


@given(DIFFERENCES, st.floats(0.01, 0.95))
def test_a_better_block_never_gives_a_lower_ratio(differences: list[float], size: float) -> None:
    worse, better = Counter([*differences, -1.0]), Counter([*differences, 1.0])
    assert log_likelihood_ratio(worse, Margin(size)) <= log_likelihood_ratio(better, Margin(size)) + 1e-6


@pytest.mark.parametrize("margin", [SHARES, DEVIATIONS, Margin(0.95), Margin(1e-3)])
def test_ten_wins_are_enough_and_ten_losses_too(margin: Margin) -> None:
    low, high = terms().bounds
    assert log_likelihood_ratio({1.0: 10}, margin) > high
    assert log_likelihood_ratio({-1.0: 10}, margin) < low


def test_an_interval_is_within_the_possible_values_and_as_uneven_as_the_blocks() -> None:
    low, high = interval({1.0: 10})
    assert 0.4 < low < 0.7
    assert high == pytest.approx(1)
    low, high = interval({-0.25: 40, 1.0: 10})
    assert low < 0 < high
    assert high - 0 > 0 - low
    assert interval({0.5: 1}) == (-1, 1)


def test_an_interval_of_many_blocks_is_student_s() -> None:
    low, high = interval({-1.0: 300, 1.0: 300})
    assert (low, high) == pytest.approx((-0.0802, 0.0802), abs=5e-4)


# --- conclusions -----------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1.0]), max_size=MIN_BLOCKS - 1), MARGINS)
def test_nothing_is_concluded_before_the_tenth_block(differences: list[float], margin: Margin) -> None:
    assert after(differences, terms(margin)).conclusion is None


def test_a_version_that_wins_all_is_better_after_ten_blocks_and_one_that_loses_all_is_not() -> None:
    won, lost = after([1.0] * 50, terms()), after([-1.0] * 50, terms())
    assert (won.conclusion, won.blocks) == (Conclusion.BETTER, MIN_BLOCKS)
    assert (lost.conclusion, lost.blocks) == (Conclusion.NOT_BETTER, MIN_BLOCKS)


def test_no_difference_is_concluded_when_one_of_the_margin_would_have_been_seen() -> None:
    """In fewer than ln 19 / -ln 0.95 = 57.4 blocks, a version that wins one block in 20 may have won none."""
    assert after([0.0] * 57, terms()).conclusion is None
    assert after([0.0] * 60, terms()).conclusion is Conclusion.NOT_BETTER


@pytest.mark.parametrize("margin", [SHARES, DEVIATIONS, Margin(0.3)])
def test_versions_that_play_identically_are_found_identical(margin: Margin) -> None:
    test = SequentialTest(terms(margin))
    for number in range(60):
        if test.conclusion is None:
            test.add(block(0.0, number, is_alike=True))
    assert test.conclusion is Conclusion.IDENTICAL


def test_one_block_played_differently_makes_them_no_longer_identical() -> None:
    test = SequentialTest(terms())
    for number in range(60):
        if test.conclusion is None:
            test.add(block(0.0, number, is_alike=number != 30))
    assert test.conclusion is Conclusion.NOT_BETTER


def test_a_block_that_repeats_an_earlier_one_is_no_evidence() -> None:
    test = SequentialTest(terms())
    assert test.add(block(1.0, 1))
    ratio = test.ratio
    assert not test.add(block(1.0, 1))
    assert (test.ratio, test.blocks, test.different) == (ratio, 2, 1)


def test_a_test_of_few_different_blocks_ends_undecided_and_soon() -> None:
    test = SequentialTest(terms())
    number = 0
    while test.conclusion is None:
        test.add(block(1.0, number % 4))
        number += 1
    assert (test.conclusion, test.is_repeating) == (Conclusion.UNDECIDED, True)
    assert test.blocks < 30


def test_a_test_ends_undecided_at_its_maximum() -> None:
    test = after([1.0, -1.0, 0.0] * 20, terms(Margin(0.01), max_blocks=40))
    assert (test.conclusion, test.blocks, test.is_repeating) == (Conclusion.UNDECIDED, 40, False)


@pytest.mark.parametrize(
    ("alpha", "beta", "max_blocks", "can_end"),
    [(0.05, 0.05, MIN_BLOCKS, True), (0.01, 0.05, 11, False), (0.01, 0.05, 12, True), (0.05, 1e-9, 20, False)],
)
def test_a_test_can_end_if_its_maximum_of_wins_and_of_losses_reaches_the_bounds(
    alpha: float, beta: float, max_blocks: int, can_end: bool
) -> None:
    terms_ = terms(alpha=alpha, beta=beta, max_blocks=max_blocks)
    assert terms_.can_end is can_end
    ends = {after([sign] * max_blocks, terms_).conclusion for sign in (1.0, -1.0)}
    assert (Conclusion.UNDECIDED not in ends) is can_end


def test_the_blocks_for_a_margin_are_those_of_the_table_in_the_docs() -> None:
    """docs/compare.md, choosing the margin: with a deviation of 0.6, 60 blocks for the margin 0.2, and 5,000 for 0.02."""
    differences = [0.6, -0.6] * 10
    assert after(differences, terms(Margin(0.2))).blocks_for_margin == pytest.approx(60, abs=2)
    assert after(differences, terms(Margin(0.02))).blocks_for_margin == pytest.approx(5_100, abs=100)


def test_versions_are_close_if_their_difference_may_be_between_0_and_the_margin() -> None:
    assert after([1.0, -1.0] * 5, terms()).is_close
    assert not after([-1.0] * 9 + [0.0], terms()).is_close
    assert not after([1.0] * 9 + [0.0], terms()).is_close


def test_the_expected_rest_is_that_of_a_random_walk() -> None:
    assert expected_exit(0.0, 0.0, 0.5, -3.0, 3.0) == pytest.approx(18)
    assert expected_exit(0.0, 0.3, 1e-9, -3.0, 3.0) == pytest.approx(10)
    assert expected_exit(1.0, -0.3, 0.2, -3.0, 2.0) == pytest.approx(expected_exit(-1.0, 0.3, 0.2, -2.0, 3.0))
    assert expected_exit(3.0, 0.1, 0.2, -3.0, 3.0) == pytest.approx(0)


@given(DIFFERENCES, MARGINS)
def test_the_rest_is_at_least_a_block_and_never_beyond_the_maximum(differences: list[float], margin: Margin) -> None:
    test = after(differences, terms(margin, max_blocks=100))
    if test.conclusion is None and test.blocks_left:
        assert 1 <= test.blocks_left[0] <= test.blocks_left[1] <= 100 - test.blocks


def test_few_blocks_do_not_say_how_many_are_left() -> None:
    assert after([0.0] * (MIN_BLOCKS - 1), terms()).blocks_left is None
    assert after([1.0, -1.0] * 4, terms()).blocks_left is None


@pytest.mark.parametrize("margin", [0.01, 0.05])
def test_equal_blocks_have_as_many_left_as_equal_blocks_take(margin: float) -> None:
    """docs/compare.md: 60 blocks without any difference reach the bound for the margin 0.05."""
    end = after([0.0] * 1_000, terms(Margin(margin))).blocks
    for number in (10, 12, 30):
        left = after([0.0] * number, terms(Margin(margin))).blocks_left
        assert left == pytest.approx((end - number, end - number), rel=0.06)


def test_versions_that_may_be_close_have_as_many_left_as_the_margin_takes() -> None:
    test = after([-1.0] * 7 + [0.0, 0.0, 1.0], terms())
    assert test.is_close
    assert test.blocks_left == (35, test.blocks_for_margin - test.blocks)
    clear = after([-1.0] * 6 + [0.0] * 7, terms())
    assert not clear.is_close
    assert clear.blocks_left == (27, 27)


# --- error rates -----------------------------------------------------------------------------------------------

EQUAL, BETTER = [0.2, 0.6, 0.2], [0.11, 0.6, 0.29]
TESTS = 300


@pytest.mark.parametrize(
    ("weights", "wrong"),
    mostly_long([(EQUAL, Conclusion.BETTER), (BETTER, Conclusion.NOT_BETTER)]),
    ids=["alpha", "beta"],
)
def test_it_is_wrong_about_as_often_as_it_says(weights: list[float], wrong: Conclusion) -> None:
    """About 0.05 of 300 tests; with probability 0.9998 at most 0.105 of them are wrong if it is 0.05."""
    draw = random.Random(1)
    ends = [
        after((draw.choices([-1.0, 0.0, 1.0], weights)[0] for _ in range(2_000)), terms(Margin(0.18))).conclusion
        for _ in range(TESTS)
    ]
    assert 0.005 < ends.count(wrong) / TESTS < 0.105
    assert Conclusion.UNDECIDED not in ends
