"""The simulated comparisons: their blocks are scored as real ones are, and the same seeds give the same figures."""

from __future__ import annotations

import random
from itertools import islice, pairwise

import pytest

from bench import verdicts
from bench.verdicts import (
    CELLS,
    DRIFT_BLOCKS,
    Cell,
    beaten,
    drawn,
    ended,
    mean,
    of_the_command,
    one_normal_effect,
    pools,
    side,
    together,
)
from referee.verdict import block
from referee.verdict.block import NEW, OLD, seatings_at_one_table
from referee.verdict.likelihood import Margin
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
    "cell", [CELLS[0], Cell("field", 3, in_field=True), CELLS[-5], CELLS[-1]], ids=lambda cell: cell.name
)
def test_equal_versions_have_no_difference_and_a_better_one_has(cell: Cell) -> None:
    assert mean(*together(pools(cell, better=False))) == pytest.approx(0, abs=1e-9)
    assert mean(*together(pools(cell, better=True))) > 0.02


def test_a_test_ends_at_a_bound_and_the_same_seeds_give_the_same_figures() -> None:
    found = ended(iter([1.0] * 100), Margin(0.05), 1.0, of_the_command)
    assert (found.conclusion, found.blocks) == (1, 10)
    cell = next(cell for cell in CELLS if cell.values)
    assert side(cell, True, 5) == side(cell, True, 5)


def test_normal_distributions_are_sure_of_ten_equal_blocks() -> None:
    """Which is the reason why they are not used."""
    assert ended(iter([0.0] * 100), Margin(0.05), 0.05, one_normal_effect).blocks == 10
    assert ended(iter([0.0] * 100), Margin(0.05), 0.05, of_the_command).blocks > 50


def test_a_block_repeats_the_last_as_often_as_the_cell_says() -> None:
    pool = [float(number) for number in range(1000)], [1.0] * 1000
    values = list(islice(drawn([pool], 0.3, random.Random(1)), 4000))
    assert sum(one == other for one, other in pairwise(values)) / 4000 == pytest.approx(0.3, abs=0.03)


def test_a_drift_turns_after_each_run_of_blocks() -> None:
    values = list(islice(drawn([([1.0], [1.0]), ([-1.0], [1.0])], 0.0, random.Random(1)), 1000))
    turns = [number for number, (one, other) in enumerate(pairwise(values)) if one != other]
    assert turns[0] < DRIFT_BLOCKS
    assert {other - one for one, other in pairwise(turns)} == {DRIFT_BLOCKS}


def test_the_page_says_what_it_was_made_with() -> None:
    text = verdicts.PAGE.read_text()
    assert all(f"| {cell.name} |" in text for cell in CELLS)
