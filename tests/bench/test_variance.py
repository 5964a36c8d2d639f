"""The analysis of variance of crossed blocks: made-up outcomes whose parts are known."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.variance import Block, Shares, bootstrap, shares_and_gain, shares_of, table_of
from tests.cases import mostly_long


def beyond(numbers: list[float], variance: float) -> list[float]:
    """Return numbers with the mean 0 and this variance."""
    mean = sum(numbers) / len(numbers)
    found = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    return [(number - mean) * (variance / found) ** 0.5 for number in numbers]


def made_up(seats: int, blocks: int, parts: Shares, seed: int) -> list[Block]:
    """Return blocks whose outcomes are sums of the parts."""
    dice = random.Random(seed)
    of_seats = beyond([dice.gauss(0, 1) for _ in range(seats)], parts.seat)
    of_bots = beyond([dice.gauss(0, 1) for _ in range(seats)], parts.bot)
    found: list[Block] = []
    for _ in range(blocks):
        of_seeds = [dice.gauss(0, parts.seed**0.5) for _ in range(seats)]
        seated = [[(bot + rotation) % seats for bot in range(seats)] for rotation in range(seats)]
        found.append(
            [
                [
                    of_seats[seat] + of_seeds[seat] + of_bots[bot] + dice.gauss(0, parts.rest**0.5)
                    for bot, seat in enumerate(match)
                ]
                for match in seated
            ]
        )
    return found


@pytest.mark.parametrize("seats", mostly_long([2, 3, 4, 5]))
@pytest.mark.parametrize(
    "parts", [Shares(0.1, 0.2, 0.3, 0.4), Shares(0.0, 0.05, 0.4, 0.55), Shares(0.05, 0.0, 0.0, 0.95)]
)
def test_known_shares_are_within_the_intervals(seats: int, parts: Shares) -> None:
    *shares, _ = bootstrap(table_of(made_up(seats, 300, parts, seats)), shares_and_gain)
    for true, found in zip(parts, shares, strict=True):
        assert found.low - 0.02 <= true <= found.high + 0.02
        assert found.high - found.low < 0.25


@pytest.mark.parametrize("seats", mostly_long([2, 3, 5]))
def test_intervals_contain_the_true_share_of_the_seed_as_often_as_they_say(seats: int) -> None:
    parts, caught = Shares(0.0, 0.2, 0.3, 0.5), 0
    for seed in range(40):
        found = bootstrap(table_of(made_up(seats, 60, parts, seed)), shares_and_gain)[1]
        caught += found.low <= parts.seed <= found.high
    assert caught >= 34  # 38 expected; 33 or fewer by chance in 1 of 50 runs, but the seeds are fixed


def test_a_part_alone_has_the_whole_variance() -> None:
    bots: list[Block] = [[[3, 1, 2], [3, 1, 2], [3, 1, 2]]] * 4
    seats: list[Block] = [[[3, 1, 2], [1, 2, 3], [2, 3, 1]]] * 4
    assert shares_of(bots) == pytest.approx(Shares(0, 0, 1, 0))
    assert shares_of(seats) == pytest.approx(Shares(1, 0, 0, 0))
    assert shares_of([[[1, 1], [1, 1]]] * 4) == Shares(0, 0, 0, 1)


def test_a_block_gains_what_the_seed_repeats() -> None:
    """With two seats, matches with seeds of their own have the variance of seed and rest, blocks that of the rest."""
    found = bootstrap(table_of(made_up(2, 400, Shares(0.0, 0.3, 0.4, 0.3), 1)), shares_and_gain)[4]
    assert found.low < 2 < found.high
    nothing = bootstrap(table_of(made_up(2, 400, Shares(0.0, 0.0, 0.4, 0.6), 1)), shares_and_gain)[4]
    assert nothing.low < 1 < nothing.high


OUTCOMES = st.integers(2, 5).flatmap(
    lambda seats: st.lists(
        st.lists(st.lists(st.integers(-50, 50), min_size=seats, max_size=seats), min_size=seats, max_size=seats),
        min_size=2,
        max_size=6,
    )
)


@given(OUTCOMES)
def test_shares_sum_to_one(blocks: list[Block]) -> None:
    shares = shares_of(blocks)
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0


@given(OUTCOMES, st.integers(0, 4), st.integers(0, 4), st.randoms(use_true_random=False))
def test_other_names_for_bots_seats_and_blocks_change_nothing(
    blocks: list[Block], bots: int, seats: int, dice: random.Random
) -> None:
    def renamed(block: Block) -> Block:
        size = len(block)
        return [[block[(r + seats) % size][(bot + bots) % size] for bot in range(size)] for r in range(size)]

    other = [renamed(block) for block in blocks]
    dice.shuffle(other)
    assert shares_of(other) == pytest.approx(shares_of(blocks), abs=1e-9)


@given(OUTCOMES, st.integers(1, 9), st.integers(-9, 9))
def test_the_unit_and_the_points_that_all_have_change_nothing(blocks: list[Block], unit: int, points: int) -> None:
    other = [[[unit * outcome + points * r for outcome in match] for r, match in enumerate(block)] for block in blocks]
    assert shares_of(other) == pytest.approx(shares_of(blocks), abs=1e-9)
