"""The simulated comparisons: their blocks are scored as real ones are, and the same seeds give the same figures."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest

from bench import verdicts
from bench.many_tests import (
    DRIFT_BLOCKS,
    EFFECTS,
    MAX_BLOCKS,
    Kind,
    Statistic,
    Tally,
    covers,
    drawn,
    of_the_command,
    one_normal_effect,
    simulated,
)
from bench.verdicts import CELLS, Cell, beaten, mean, pools, side, together
from referee.verdict import block
from referee.verdict.block import NEW, OLD, seatings_at_one_table
from referee.verdict.likelihood import Margin, interval, log_likelihood_ratio
from tests.referee.test_block_scores import result


@pytest.mark.parametrize("lost", [(), (NEW,), (OLD,), (NEW, OLD)])
def test_a_block_is_scored_as_the_command_does(lost: tuple[int, ...]) -> None:
    seatings = seatings_at_one_table(3)
    draw = random.Random(1)
    for seating in seatings:
        performances = [float(draw.randrange(3)) for _ in seating]
        left = [-10.0 if place in lost else value for place, value in zip(seating, performances, strict=True)]
        ranks = [1 + sum(other > mine for other in left) for mine in left]
        played = result(*ranks, lost=tuple(seating.index(place) for place in lost))
        for place in (NEW, OLD):
            simulated = beaten(performances, seating, place, set(lost))
            assert simulated == pytest.approx(block.beaten(played, seating.index(place)))


@pytest.mark.parametrize(
    "cell",
    [CELLS[0], Cell("field", 3, in_field=True), Cell("drift", drift=3.0), Cell("repeats", repeats=0.3)],
    ids=lambda cell: cell.name,
)
def test_equal_versions_have_no_difference_and_a_better_one_has(cell: Cell) -> None:
    assert mean(*together(pools(cell, better=False))) == pytest.approx(0, abs=1e-9)
    assert mean(*together(pools(cell, better=True))) > 0.02


@pytest.mark.parametrize("margin", [Margin(0.02), Margin(0.1), Margin(0.95), Margin(0.3, True)], ids=str)
def test_a_simulated_test_has_the_ratio_and_the_interval_of_the_command(margin: Margin) -> None:
    draw = random.Random(1)
    for values in ([-1.0, 0.0, 1.0], [-1.0, -0.5, 0.0, 0.5, 1.0], [-1.0, -0.211, -0.1, 0.1, 0.123, 0.9, 1.0]):
        counts, tilts = Counter[float](), np.zeros((EFFECTS, 1))
        weights = [draw.random() ** 3 for _ in values]
        for number in range(1, 101):
            counts[draw.choices(values, weights)[0]] += 1
            if number >= 10:
                tally = Tally(np.array(values), np.array([[float(counts[value]) for value in values]]))
                assert of_the_command(tally, margin, tilts)[0] == pytest.approx(
                    log_likelihood_ratio(counts, margin), abs=1e-6
                )
                low, high = interval(+counts)
                assert covers(tally, low + 1e-4)
                assert covers(tally, high - 1e-4)
                assert not covers(tally, low - 1e-4)
                assert not covers(tally, high + 1e-4)


def length(value: float, margin: float, statistic: Statistic) -> tuple[int, int]:
    """Return the conclusion and the number of blocks of a test whose blocks are all equal."""
    kind = Kind([([value], [1.0])], 0.0, Margin(margin), 0.0, statistic, 10)
    found = simulated(kind, 1, "seed")
    return int(found.conclusions[0]), int(found.blocks[0])


def test_a_test_ends_at_a_bound_and_the_same_seeds_give_the_same_figures() -> None:
    assert length(1.0, 0.05, of_the_command) == (1, 10)
    cell = next(cell for cell in CELLS if cell.values)
    assert side(cell, True, 5) == side(cell, True, 5)


@pytest.mark.long
def test_a_test_without_a_conclusion_is_undecided() -> None:
    assert length(0.0, 0.001, of_the_command) == (0, MAX_BLOCKS)


def test_normal_distributions_are_sure_of_ten_equal_blocks() -> None:
    """Which is the reason why they are not used."""
    assert length(0.0, 0.05, one_normal_effect) == (-1, 10)
    assert length(0.0, 0.05, of_the_command)[1] > 50


def test_a_block_repeats_the_last_as_often_as_the_cell_says() -> None:
    blocks = islice(drawn([np.ones(1000)], 0.3, 100, np.random.default_rng(1)), 40)
    same = [float(np.mean(one == other)) for one, other in pairwise(blocks)]
    assert sum(same) / len(same) == pytest.approx(0.3, abs=0.03)


def test_a_drift_turns_after_each_run_of_blocks() -> None:
    blocks = drawn([np.array([0.0, 1.0]), np.array([1.0, 0.0])], 0.0, 1, np.random.default_rng(1))
    values = [int(block[0]) for block in islice(blocks, 1000)]
    changes = [number for number, (one, other) in enumerate(pairwise(values)) if one != other]
    assert changes[0] < DRIFT_BLOCKS
    assert {other - one for one, other in pairwise(changes)} == {DRIFT_BLOCKS}


def test_the_page_says_what_it_was_made_with() -> None:
    text = verdicts.PAGE.read_text()
    assert all(f"| {cell.name} |" in text for cell in CELLS)


def test_rows_of_the_page_are_replaced_by_their_names() -> None:
    page = "| matches |\n| 2 seats | 1 |\n| 2 seats, ties | 2 |\n\n| 2 seats | 3 |\n"
    found = verdicts.with_rows(page, ["| 2 seats | new |"])
    assert found == "| matches |\n| 2 seats | new |\n| 2 seats, ties | 2 |\n\n| 2 seats | 3 |\n"
