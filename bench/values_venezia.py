"""Fit the numbers of the search's estimate in Venezia: `python -m bench.values_venezia [MATCHES] [SEED]`, or `make values`.

Matches of `greedy` with a share of random actions are played. For each number of seats and of rounds left, a ridge
regression explains what a seat scores until the end, beyond the mean of its rivals, by its features beyond theirs.
Every fourth match is held out, and measures the error.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from house_bots.greedy.venezia import GreedyPolicy
from house_bots.search.venezia_value import FEATURES, MOST_LEFT, features

from bench.linear import Sums, beginnings, beyond_rivals
from referee.game import Setup
from referee.games.venezia.state import VeneziaState
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("venezia")
TARGET = Path(__file__).parents[1] / "agents" / "house_bots" / "search" / "venezia.toml"
RIDGE = 20.0
HELD_OUT = 4
Position = tuple[int, list[list[float]], list[int]]
"""The rounds left, the features and the scores of each seat."""


def played(setup: Setup, seed: int) -> tuple[list[Position], list[int]]:
    """Play a match; return its positions at the beginning of each round but the first, and the final scores."""
    chance = FastChance(seed=seed)
    state = GAME.start(setup, chance)
    assert isinstance(state, VeneziaState)
    found = [
        (state.last_round - state.round + 1, features(state), state.scores())
        for _ in beginnings(state, GreedyPolicy(), random.Random(seed), chance)
    ]
    return found, state.scores()


def fit(setup: Setup, matches: int, seed: int) -> dict[int, tuple[list[float], float]]:
    """Return, for each number of rounds left, the weights and the held-out R2."""
    fitted = {left: Sums(len(FEATURES)) for left in range(1, MOST_LEFT + 1)}
    held = {left: Sums(len(FEATURES)) for left in range(1, MOST_LEFT + 1)}
    for number in range(matches):
        positions, end = played(setup, seed + number)
        for left, numbers, scores in positions:
            targets = beyond_rivals([[float(last - now)] for last, now in zip(end, scores, strict=True)])
            for inputs, [target] in zip(beyond_rivals(numbers), targets, strict=True):
                (held if number % HELD_OUT == 0 else fitted)[left].add(inputs, target)
    found = {}
    for left, sums in fitted.items():
        weights = [round(weight, 4) for weight in sums.weights([RIDGE] * len(FEATURES))]
        found[left] = weights, held[left].explained(weights)
    return found


def main(matches: int = 1000, seed: int = 1) -> None:
    """Write the numbers for 2 to 4 seats."""
    lines = [f"# Made by `python -m bench.values_venezia {matches} {seed}`; R2 is of held-out matches.\n"]
    for seats in GAME.seat_counts:
        setup = GAME.setup(seats, {}, shipped_board(GAME))
        lines.append(f"\n[seats{seats}]\n")
        for left, (weights, r2) in fit(setup, matches, seed).items():
            lines.append(f"left{left} = {weights} # R2 {r2:.2f}\n")
    TARGET.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
