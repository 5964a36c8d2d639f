"""The strength of `search` against `greedy`: plays blocks, and keeps each match in docs/strength.jsonl.

`make strength`, or `python -m bench.strength --games yunnan --seats 2 --seconds 0.1 --blocks 20`. A block is a seed in all
rotations of the one seat of `search`. Where a game has no chance after the start, 4 random decisions come first. Time is the
processor's, so a loaded machine gives the same figures. A cell that has its blocks already is not played again.
`--change` measures a changed recipe. `--page` plays nothing: `strength_page.py` writes docs/strength.md and the plot.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from house_bots.search import SearchBot

from bench.strength_changes import CHANGES
from bench.strength_page import write_page
from bench.strength_results import RESULTS, Cell, Played, blocks_of, kept
from referee.game import Action, Chance, Game, Observation, Setup, State
from referee.kit.chance import LiveChance
from referee.match.house import HouseBot
from referee.playout import play_row
from referee.registry import find, games, house_bots, rules_are_compiled, shipped_board

OPENINGS = {"yunnan": 4}
"""Random decisions before the match, in games without chance after the start; without them, matches repeat."""


class _Question(NamedTuple):
    """A decision without a clock."""

    observation: Observation
    actions: Sequence[Action]
    budget: float = math.inf
    bank: float = math.inf


def play(cell: Cell, seed: int, seat: int) -> Played:
    """Play one match between `search` in a seat and `greedy` in all others."""
    game = find(cell.game)
    setup = game.setup(cell.seats, {}, shipped_board(game))
    change = CHANGES[cell.change][0] if cell.change else None
    search = SearchBot(game, setup, f"strength {seed}", seat, seconds=cell.seconds, change=change)
    greedy = house_bots()["greedy"](game, setup, "", 0)
    began, chance = time.process_time(), LiveChance(seed)
    state = opened(game, setup, seed, chance, OPENINGS.get(game.name, 0))
    decisions = rollouts = departures = 0
    while not state.is_over():
        actor = state.seats_to_act()[0]
        question = _Question(state.observation(actor), state.legal_actions(actor))
        row = greedys = _answer(greedy, question)
        if actor == seat:
            row = _answer(search, question)
            if search.last is not None and len(question.actions) > 1:
                decisions += 1
                rollouts += search.last.rollouts
                departures += row != greedys
        play_row(state, actor, row, chance)
    ranks, scores = state.ranks(), state.scores()
    return Played(
        **cell._asdict(),
        seed=seed,
        seat=seat,
        first=(ranks[seat] == 1) / ranks.count(1),
        difference=round(scores[seat] - (sum(scores) - scores[seat]) / (cell.seats - 1), 3),
        decisions=decisions,
        rollouts=rollouts,
        departures=departures,
        cpu=round(time.process_time() - began, 2),
    )


def play_block(cell: Cell, seed: int) -> list[Played]:
    """Play the matches of one seed, with `search` in each seat in turn."""
    return [play(cell, seed, seat) for seat in range(cell.seats)]


def opened(game: Game, setup: Setup, seed: int, chance: Chance, openings: int) -> State:
    """Begin a match with a number of random decisions."""
    state, draw = game.start(setup, chance), random.Random(seed)
    for _ in range(openings):
        actor = state.seats_to_act()[0]
        state.apply(actor, draw.choice(state.legal_actions(actor)), chance)
    return state


def _answer(bot: HouseBot, question: _Question) -> list[Action]:
    """Return the actions that a bot plays."""
    row = bot.choose(question)
    return [question.actions[row]] if isinstance(row, int) else list(row)


# --- the command -----------------------------------------------------------------------------------------------


def main() -> None:
    """Play what is missing, block by block, then write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.strength", description=__doc__)
    parser.add_argument("--games", nargs="*", default=[name for name, game in games().items() if SearchBot.plays(game)])
    parser.add_argument("--seats", nargs="*", type=int, default=[2, 3, 4, 5])
    parser.add_argument("--seconds", nargs="*", type=float, default=[0.1, 1.0, 5.0])
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--change", nargs="*", choices=sorted(CHANGES), default=[""])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="play nothing: write the page from the matches played")
    chosen = parser.parse_args()
    if not chosen.page:
        if not rules_are_compiled():
            parser.error("the rules are not compiled here: make strength compiles them first")
        play_missing(
            [
                Cell(name, seats, seconds, change)
                for name in chosen.games
                for seats in chosen.seats
                for seconds in chosen.seconds
                for change in chosen.change
                if seats in find(name).seat_counts
            ],
            chosen.blocks,
            chosen.workers,
        )
    write_page(blocks_of(kept()))


def play_missing(cells: Sequence[Cell], blocks: int, workers: int, results: Path = RESULTS) -> None:
    """Play the missing blocks of all cells in turn, and store each complete block."""
    have = blocks_of(kept(results))
    wanted = [(cell, seed) for seed in range(1, blocks + 1) for cell in cells if seed not in have.get(cell, ())]
    with ProcessPoolExecutor(workers) as pool, results.open("a") as file:
        for block in pool.map(play_block, *zip(*wanted, strict=True)) if wanted else ():
            file.write("".join(json.dumps(asdict(match)) + "\n" for match in block))
            file.flush()


if __name__ == "__main__":
    main()
