"""`make ratings`: simulated ladders, whose figures depend on nothing but their seeds, and the table on the page."""

from __future__ import annotations

import pytest

from bench.ratings import SETTINGS, Range, coverage, error, play, slope, table

SMALL = next(setting for setting in SETTINGS if setting.bots == 10)


def test_a_seed_says_all() -> None:
    assert play(SMALL, 3) == play(SMALL, 3) != play(SMALL, 4)


def test_estimates_that_are_all_too_high_are_right_but_those_spread_too_wide_are_not() -> None:
    shifted = [Range(strength, strength + 7, 0.1, 20) for strength in (20, 25, 30)]
    assert coverage(shifted) == (3, 3)
    assert [slope(shifted), error(shifted)] == pytest.approx([1, 0])
    wide = [Range(strength, 2 * strength, 3, 20) for strength in (20, 25, 30)]
    assert coverage(wide) == (1, 3)
    assert slope(wide) == pytest.approx(0.5)
    assert error(wide) == pytest.approx((50 / 3) ** 0.5)


def test_new_bots_are_those_with_few_blocks() -> None:
    mixed = [Range(25, 25, 1, 20), Range(25, 28, 1, 2), Range(25, 22, 1, 2)]
    assert coverage(mixed) == (1, 3)
    assert coverage(mixed, 10) == (0, 2)


def test_bots_that_come_and_go_are_rated_like_the_others() -> None:
    setting = next(setting for setting in SETTINGS if setting.come_and_go)
    online, fitted = play(setting, 5)
    assert sorted(one.strength for one in online) == sorted(one.strength for one in fitted)
    assert min(one.blocks for one in fitted) < max(one.blocks for one in fitted) / 3


def test_ranges_of_the_fit_contain_the_truth_more_often_than_those_of_online_ratings() -> None:
    courses = [play(SMALL, seed) for seed in range(500, 512)]
    online, fitted = ([coverage(ranges)[0] for ranges in (course[rating] for course in courses)] for rating in (0, 1))
    assert sum(fitted) >= 0.9 * 120
    assert sum(fitted) > sum(online)


def test_the_table_has_both_ratings_for_each_setting() -> None:
    found = table({SMALL.name: [play(SMALL, seed) for seed in (1, 2)]})
    assert found.startswith("2 ladders in each row:\n\n| bots and games |")
    assert [line.split("|")[1:3] for line in found.splitlines()[4:]] == [
        [f" {SMALL.name} ", " online "],
        ["  ", " **fit** "],
    ]
