"""The measurement of luck: blocks that can be played again, and the page of all results."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from bench import luck
from bench.luck import blocks_needed, is_stale, outcomes, saved, verdict
from bench.luck_blocks import AT_RANDOM, POLICIES, VALUES, Block, Cell, ends, play, results, written
from bench.sections import fill
from bench.strength import OPENINGS, opened
from referee.kit.chance import LiveChance
from referee.playout import rollout
from referee.registry import find, games, shipped_board

BLOCK = Block(7, [[1, 2, 3], [1, 1, 3], [3, 2, 1]], [[9, 5, 4], [6, 6, 0], [1, 2, 3]], [[0.5, -1.0, 0.25]] * 3)


def test_a_block_is_played_again_from_its_seed() -> None:
    block = play(Cell("venezia", 2), 5)
    assert block == play(Cell("venezia", 2), 5)
    assert block != play(Cell("venezia", 2), 6)
    assert all(sorted(match) in ([1, 1], [1, 2]) for match in block.places)
    assert any(map(any, block.luck))


def test_results_of_other_rules_or_bots_are_noticed() -> None:
    cell = Cell("yunnan", 2)
    block = play(cell, 1)
    assert not is_stale(cell, [block])
    assert not is_stale(cell, [])
    assert is_stale(cell, [replace(block, scores=block.scores[::-1])])


def test_a_line_is_read_as_it_was_written() -> None:
    assert results([written(Cell("cargo_noir", 3), BLOCK)]) == {Cell("cargo_noir", 3): [BLOCK]}
    without = Block(7, BLOCK.places, BLOCK.scores, [])
    assert results([written(Cell("yunnan", 3), without)]) == {Cell("yunnan", 3): [without]}


def test_cells_and_blocks_are_in_order_and_each_counts_once() -> None:
    lines = [
        written(Cell(game, 3), Block(seed, BLOCK.places, BLOCK.scores, []))
        for game, seed in (("yunnan", 2), ("cargo_noir", 1), ("yunnan", 1), ("yunnan", 2))
    ]
    found = results(lines)
    assert [(cell.game, [block.seed for block in blocks]) for cell, blocks in found.items()] == [
        ("cargo_noir", [1]),
        ("yunnan", [1, 2]),
    ]


def test_shared_places_count_in_parts() -> None:
    found = outcomes([BLOCK])
    assert found.first == [[[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]]
    assert found.beaten == [[[1, 0.5, 0], [0.75, 0.75, 0], [0, 0.5, 1]]]


@pytest.mark.parametrize(("z", "blocks"), [(0.15, 236), (0.48, 24), (1.18, 10), (0.0, math.inf), (-0.3, math.inf)])
def test_the_blocks_that_a_verdict_needs_follow_from_z(z: float, blocks: float) -> None:
    assert blocks_needed(z) == blocks


def test_a_verdict_says_how_sure_it_is() -> None:
    wins, losses = [[[first, 3 - first]] * 2 for first in (1, 2)]
    z, needed = verdict([Block(seed, wins if seed % 4 else losses, wins, []) for seed in range(100)])
    assert z.value == pytest.approx(0.574, abs=0.001)
    assert z.low < z.value < z.high
    assert needed.low < needed.value == 17 < needed.high


def test_the_share_saved_is_the_squared_correlation() -> None:
    luck_of = [math.sin(number) for number in range(400)]
    results_of = [2 * lucky + 2 * math.sin(number * 17) for number, lucky in enumerate(luck_of)]
    found = saved(results_of, luck_of)
    assert found.low < 0.5 < found.high
    assert found.value == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("game", games())
def test_luck_in_draws_is_measured_where_the_rules_draw_after_the_start(game: str) -> None:
    setup = find(game).setup(2, {}, shipped_board(find(game)))
    chance = LiveChance(1)
    state = opened(find(game), setup, 1, chance, OPENINGS.get(game, 0))
    drawn = len(chance.draws)
    rollout(state, POLICIES[game](setup), chance)
    assert (len(chance.draws) > drawn) == (game in VALUES)


def test_there_is_a_share_for_every_bot() -> None:
    assert len(AT_RANDOM) == max(game.seat_counts[-1] for game in games().values())


def test_openings_make_matches_differ() -> None:
    assert len(set(ends(Cell("yunnan", 2), 0))) < 10
    assert len(set(ends(Cell("yunnan", 2), 4))) > 35


@pytest.mark.long
def test_the_page_is_made_from_the_results(tmp_path: Path) -> None:
    page = tmp_path / "luck.md"
    page.write_text(luck.PAGE.read_text())
    fill(page, "make luck", luck.parts())
    assert page.read_text() == luck.PAGE.read_text()
