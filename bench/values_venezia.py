"""Fit the weights of the search's estimate in Venezia: `python -m bench.values_venezia [MATCHES] [SEED]`, or `make values`.

`greedy` plays matches with a share of random actions. For each number of seats and each number of rounds left, a ridge
regression predicts the points that a seat will still score from its features, both minus the means of its rivals'
numbers.
Every fourth match is held out, to measure the error.
"""

from __future__ import annotations

import random
import sys

from house_bots.greedy.venezia import GreedyPolicy
from house_bots.search.venezia_value import FEATURES, MOST_LEFT, ROWS, features

from bench.linear import Fit, Sums, beginnings, beyond_rivals, write_values
from referee.game import Setup
from referee.games.venezia.state import VeneziaState
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("venezia")
RIDGE = 20.0
HELD_OUT = 4
Position = tuple[int, list[list[float]], list[int]]
"""The number of rounds left, and the features and the score of each seat."""


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


def fit(setup: Setup, matches: int, seed: int) -> dict[str, Fit]:
    """Return a row of weights for each number of remaining rounds."""
    fitted = {left: Sums(len(FEATURES)) for left in range(1, MOST_LEFT + 1)}
    held = {left: Sums(len(FEATURES)) for left in range(1, MOST_LEFT + 1)}
    for number in range(matches):
        positions, end = played(setup, seed + number)
        for left, numbers, scores in positions:
            targets = beyond_rivals([[float(last - now)] for last, now in zip(end, scores, strict=True)])
            for inputs, [target] in zip(beyond_rivals(numbers), targets, strict=True):
                (held if number % HELD_OUT == 0 else fitted)[left].add(inputs, target)
    found = {}
    for left, row in enumerate(ROWS, 1):
        # The weights are rounded as in the file, so that the share belongs to the weights in the file.
        weights = [round(weight, 4) for weight in fitted[left].weights([RIDGE] * len(FEATURES))]
        found[row] = weights, held[left].explained(weights)
    return found


def main(matches: int = 1000, seed: int = 1) -> None:
    """Write the weights for 2 to 4 seats."""
    fits = {seats: fit(GAME.setup(seats, {}, shipped_board(GAME)), matches, seed) for seats in GAME.seat_counts}
    write_values(GAME.name, FEATURES, f"python -m bench.values_venezia {matches} {seed}", fits)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
