"""The strength of `search` against `greedy`: plays blocks, keeps each match in docs/strength.jsonl, writes docs/strength.md.

`make strength`, or `python -m bench.strength --games yunnan --seats 2 --seconds 0.1 --blocks 20`. A block is a seed in all
rotations of the one seat of `search`. Where a game has no chance after the start, 4 random decisions come first. Time is the
processor's, so a loaded machine gives the same figures. A cell that has its blocks already is not played again.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import NamedTuple

from house_bots.search import SearchBot

from bench.matches import ROOT
from referee.game import Action, Chance, Game, Observation, Setup, State
from referee.kit.chance import LiveChance
from referee.playout import play_row
from referee.registry import find, games, house_bots, rules_are_compiled, shipped_board

PAGE = ROOT / "docs" / "strength.md"
RESULTS = ROOT / "docs" / "strength.jsonl"
OPENINGS = {"yunnan": 4}
"""Random decisions before the match, in games without chance after the start; without them, matches repeat."""
HEAD = """# The strength of `search`

One seat of `search` against `greedy` in all others, blocks of one seed in all rotations, written by `make strength`.
The time is processor seconds for a decision, with compiled rules. *First* is the share of first places, ties shared, with
Wilson's 95 % interval in which a block is one trial, so it is wider than it need be; *fair* is the share that `greedy` would have. *Difference* is the score beyond the rivals' mean.
Yunnan begins with 4 random decisions, because it has no chance after the start. [Every match](strength.jsonl) is a line with its seed.
"""


class Cell(NamedTuple):
    """One row of the table."""

    game: str
    seats: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Played:
    """A match of `search` in one seat."""

    game: str
    seats: int
    seconds: float
    seed: int
    seat: int
    first: float
    """1 for the first place, divided by those who share it; 0 for any other."""
    difference: float
    """Points beyond the rivals' mean."""
    decisions: int
    """Decisions that `search` made among several rows."""
    rollouts: int
    departures: int
    """Decisions in which it played another row than `greedy`."""
    cpu: float
    """Processor seconds of the whole match."""


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
    search = SearchBot(game, setup, f"strength {seed}", seat, seconds=cell.seconds)
    greedy = house_bots()["greedy"](game, setup, "", 0)
    began, chance = time.process_time(), LiveChance(seed)
    state = opened(game, setup, seed, chance, OPENINGS.get(game.name, 0))
    decisions = rollouts = departures = 0
    while not state.is_over():
        actor = state.seats_to_act()[0]
        question = _Question(state.observation(actor), state.legal_actions(actor))
        row = (search if actor == seat else greedy).choose(question)
        if actor == seat and search.last is not None and len(question.actions) > 1:
            decisions += 1
            rollouts += search.last.rollouts
            departures += row is not search.last.rows[0]
        play_row(state, actor, [question.actions[row]] if isinstance(row, int) else row, chance)
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


def opened(game: Game, setup: Setup, seed: int, chance: Chance, openings: int) -> State:
    """Begin a match, with a number of random decisions first."""
    state, draw = game.start(setup, chance), random.Random(seed)
    for _ in range(openings):
        actor = state.seats_to_act()[0]
        state.apply(actor, draw.choice(state.legal_actions(actor)), chance)
    return state


# --- results ---------------------------------------------------------------------------------------------------


def kept() -> list[Played]:
    """Read all matches played so far."""
    if not RESULTS.exists():
        return []
    return [Played(**json.loads(line)) for line in RESULTS.read_text().splitlines()]


def blocks_of(matches: Iterable[Played]) -> dict[Cell, dict[int, list[Played]]]:
    """Return the whole blocks of each cell, by seed."""
    found: dict[Cell, dict[int, dict[int, Played]]] = defaultdict(lambda: defaultdict(dict))
    for match in matches:
        found[Cell(match.game, match.seats, match.seconds)][match.seed][match.seat] = match
    return {
        cell: {seed: [*block.values()] for seed, block in blocks.items() if len(block) == cell.seats}
        for cell, blocks in sorted(found.items())
    }


def row_of(cell: Cell, blocks: dict[int, list[Played]]) -> str:
    """Return a row of the table."""
    shares = [mean(match.first for match in block) for block in blocks.values()]
    gains = [mean(match.difference for match in block) for block in blocks.values()]
    all_matches = [match for block in blocks.values() for match in block]
    decisions = max(1, sum(match.decisions for match in all_matches))
    rollouts = sum(match.rollouts for match in all_matches) / decisions
    departs = sum(match.departures for match in all_matches) / decisions
    first = mean(shares)
    low, high = wilson(first, len(shares))
    interval = f"{100 * low:.0f} to {100 * high:.0f}"
    return (
        f"| {find(cell.game).title} | {cell.seats} ({100 / cell.seats:.0f}) | {cell.seconds:g} | **{100 * first:.0f} %** ({interval})"
        f" | {len(shares)} | {mean(gains):+.1f} ± {half_width(gains):.1f} | {rollouts:.0f} | {100 * departs:.0f} % |"
    )


def half_width(values: Sequence[float]) -> float:
    """Return half of the 95 % interval of a mean; that of the whole range for a single value."""
    return 1.96 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def wilson(share: float, blocks: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval, with a block for one trial: it is wide, as matches of a block depend on each other."""
    z = 1.96
    middle = (share + z * z / (2 * blocks)) / (1 + z * z / blocks)
    half = z / (1 + z * z / blocks) * math.sqrt(share * (1 - share) / blocks + z * z / (4 * blocks * blocks))
    return middle - half, middle + half


def page() -> str:
    """Return docs/strength.md, made from the results."""
    lines = [
        HEAD,
        "| game | seats (fair) | seconds | first, 95 % | blocks | difference | rollouts a decision | departs from `greedy` |",
        "|---|---|---|---|---|---|---|---|",
        *(row_of(cell, blocks) for cell, blocks in blocks_of(kept()).items() if blocks),
    ]
    return "\n".join(lines) + "\n"


# --- the command -----------------------------------------------------------------------------------------------


def main() -> None:
    """Play what is missing, then write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.strength", description=__doc__)
    parser.add_argument("--games", nargs="*", default=[name for name, game in games().items() if SearchBot.plays(game)])
    parser.add_argument("--seats", nargs="*", type=int, default=[2, 3, 4, 5])
    parser.add_argument("--seconds", nargs="*", type=float, default=[0.1, 1.0, 5.0])
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if not rules_are_compiled():
        parser.error("the rules are not compiled here: make strength compiles them first")
    have = {cell: blocks.keys() for cell, blocks in blocks_of(kept()).items()}
    wanted = [
        (cell, seed, seat)
        for seed in range(1, chosen.blocks + 1)
        for name in chosen.games
        for seats in chosen.seats
        for seconds in chosen.seconds
        if seats in find(name).seat_counts and seed not in have.get(cell := Cell(name, seats, seconds), ())
        for seat in range(seats)
    ]
    with ProcessPoolExecutor(chosen.workers) as pool, RESULTS.open("a") as results:
        for match in pool.map(play, *zip(*wanted, strict=True)) if wanted else ():
            results.write(json.dumps(asdict(match)) + "\n")
            results.flush()
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
