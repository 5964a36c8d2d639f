"""The blocks from which bench/luck.py measures luck: bots of known strength play every seed in all rotations.

The bots are `greedy` with a share of random decisions; bot b has seat (b + r) mod n in rotation r. The seed
determines everything, and no clock is involved: `play` repeats any block of docs/luck.csv.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from house_bots.greedy.cargo_noir import CargoNoirPolicy
from house_bots.greedy.venezia import GreedyPolicy as VeneziaPolicy
from house_bots.greedy.yunnan import GreedyPolicy as YunnanPolicy
from house_bots.search.cargo_noir import CargoNoirRecipe
from house_bots.search.recipe import Recipe
from house_bots.search.valparaiso_policy import ValparaisoPolicy
from house_bots.search.venezia import VeneziaRecipe

from bench.draws import Luck
from bench.matches import ROOT
from bench.strength import OPENINGS, opened
from referee.game import Action, Chance, RolloutPolicy, Setup, State
from referee.kit.chance import FastChance, LiveChance
from referee.playout import rollout
from referee.registry import find, shipped_board

RESULTS = ROOT / "docs" / "luck.csv"
REPEATS = ROOT / "docs" / "luck_repeats.csv"
AT_RANDOM = (0.03, 0.12, 0.06, 0.24, 0.0)
"""The share of decisions that each bot makes at random, by the bot's number."""
MATCHES = 40
"""The number of matches of a policy against itself, among which repetitions are counted."""
POLICIES: Mapping[str, Callable[[Setup], RolloutPolicy]] = {
    "cargo_noir": CargoNoirPolicy,
    "valparaiso": lambda setup: ValparaisoPolicy(),
    "venezia": lambda setup: VeneziaPolicy(),
    "yunnan": YunnanPolicy,
}
"""The policy that plays each game: that of `greedy`, or in Valparaíso that of the rollouts of `search`, which is much faster."""
VALUES: Mapping[str, Callable[[Setup], Recipe]] = {"cargo_noir": CargoNoirRecipe, "venezia": VeneziaRecipe}
"""The recipes whose values measure the luck in draws, for the games that draw after the start."""

Number = TypeVar("Number")


class Cell(NamedTuple):
    """A game, and the number of seats at its table."""

    game: str
    seats: int


@dataclass(frozen=True, slots=True)
class Block:
    """The matches of one seed. Each list contains, for each rotation, a number for each bot, in the bots' order."""

    seed: int
    places: Sequence[Sequence[int]]
    scores: Sequence[Sequence[int]]
    luck: Sequence[Sequence[float]]
    """The luck of the bots' seats in the draws, in points (`bench/draws.py`); empty for a game that is not in `VALUES`."""


class _Match(NamedTuple):
    """One match of a block: in each list, a number for each bot."""

    places: list[int]
    scores: list[int]
    luck: list[float]


# --- playing ---------------------------------------------------------------------------------------------------


def play(cell: Cell, seed: int) -> Block:
    """Play a block."""
    matches = [_match(cell, seed, rotation) for rotation in range(cell.seats)]
    luck = [match.luck for match in matches if match.luck]
    return Block(seed, [match.places for match in matches], [match.scores for match in matches], luck)


def _match(cell: Cell, seed: int, rotation: int) -> _Match:
    game = find(cell.game)
    setup = game.setup(cell.seats, {}, shipped_board(game))
    policy, luck = POLICIES[cell.game](setup), _luck(cell, setup, f"{seed} {rotation}")
    dice = [random.Random(f"{seed} {rotation} {bot}") for bot in range(cell.seats)]
    chance = LiveChance(seed)
    openings = OPENINGS.get(cell.game, 0)
    state = opened(game, setup, seed, chance, openings)
    if luck:
        luck.add(state, lambda other: opened(game, setup, seed, other, openings))
    while not state.is_over():
        seat = state.seats_to_act()[0]
        bot = (seat - rotation) % cell.seats
        if dice[bot].random() < AT_RANDOM[bot]:
            row: Sequence[Action] = [dice[bot].choice(state.legal_actions(seat))]
        else:
            # The policy has its own chance, so that only the rules draw from the chance of the match.
            row = policy.row(state, seat, FastChance(0))
        # This plays as `play_row` does, but one action at a time, because the luck of each action is measured.
        for number, action in enumerate(row):
            if number and action not in state.legal_actions(seat):
                break
            _apply(state, seat, action, chance, luck)
    seats = [(bot + rotation) % cell.seats for bot in range(cell.seats)]
    ranks, scores = state.ranks(), state.scores()
    found = [round(luck.points[seat], 2) for seat in seats] if luck else []
    return _Match([ranks[seat] for seat in seats], [scores[seat] for seat in seats], found)


def _luck(cell: Cell, setup: Setup, seed: str) -> Luck[State] | None:
    return Luck(VALUES[cell.game](setup).value, cell.seats, seed) if cell.game in VALUES else None


def _apply(state: State, seat: int, action: Action, chance: LiveChance, luck: Luck[State] | None) -> None:
    """Play an action, and add its draws to the luck."""
    if luck is None:
        state.apply(seat, action, chance)
        return
    before, drawn = state.clone(), len(chance.draws)
    state.apply(seat, action, chance)

    def again(other: Chance) -> State:
        found = before.clone()
        found.apply(seat, action, other)
        return found

    if len(chance.draws) > drawn:  # an action that draws nothing has no luck
        luck.add(state, again)


def ends(cell: Cell, openings: int) -> list[str]:
    """Return hashes of the final positions of a policy's matches against itself, by seed."""
    game = find(cell.game)
    setup = game.setup(cell.seats, {}, shipped_board(game))
    found = []
    for seed in range(1, MATCHES + 1):
        chance = LiveChance(seed)
        state = opened(game, setup, seed, chance, openings)
        rollout(state, POLICIES[cell.game](setup), chance)
        # 32 bits are enough, because among 40 matches, different ones hardly ever have the same hash.
        found.append(hashlib.sha256(json.dumps(state.to_json(), sort_keys=True).encode()).hexdigest()[:8])
    return found


# --- results ---------------------------------------------------------------------------------------------------


def written(cell: Cell, block: Block) -> str:
    """Return a block as a line of the file."""
    columns = [_written(block.places), _written(block.scores), _written(block.luck)]
    return ",".join([cell.game, str(cell.seats), str(block.seed), *columns]) + "\n"


def _written(matches: Iterable[Iterable[float]]) -> str:
    return "/".join(" ".join(f"{number:g}" for number in match) for match in matches).strip("/")


def results(lines: Iterable[str]) -> dict[Cell, list[Block]]:
    """Read the blocks of each cell, in the order of their seeds."""
    found: dict[Cell, dict[int, Block]] = {}
    for line in lines:
        game, seats, seed, places, scores, luck = line.rstrip("\n").split(",")
        block = Block(int(seed), _read(places, int), _read(scores, int), _read(luck, float) if luck else [])
        found.setdefault(Cell(game, int(seats)), {})[block.seed] = block
    return {cell: [blocks[seed] for seed in sorted(blocks)] for cell, blocks in sorted(found.items())}


def _read(text: str, number: Callable[[str], Number]) -> list[list[Number]]:
    return [[number(word) for word in match.split()] for match in text.split("/")]


def stored() -> dict[Cell, list[Block]]:
    """Read all blocks played so far."""
    return results(RESULTS.read_text().splitlines()) if RESULTS.exists() else {}


def repeats() -> dict[tuple[Cell, int], list[str]]:
    """Read the final positions of matches of a policy against itself, by cell and number of random decisions at the start."""
    found = {}
    for line in REPEATS.read_text().splitlines() if REPEATS.exists() else []:
        game, seats, openings, hashes = line.split(",")
        found[Cell(game, int(seats)), int(openings)] = hashes.split()
    return found
