"""Fit the value of the search in Cargo Noir: `python -m bench.values_cargo_noir [MATCHES] [SEED]`, or `make values`.

`greedy` plays against itself, with some decisions at random. A ridge regression predicts the final points of a seat from its
features at the beginning of each turn, both minus the means of its rivals' numbers. A fifth of the matches is held out.
"""

from __future__ import annotations

import random
import sys

from house_bots.greedy.cargo_noir import CargoNoirPolicy
from house_bots.search.cargo_noir_value import FEATURES, ROWS, features

from bench.linear import Fit, Sums, beginnings, beyond_rivals, write_values
from referee.game import Setup
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("cargo_noir")
RIDGE = 3.0
"""The penalty of a weight, in units of the mean square of its feature."""
HELD_OUT = 5
"""One match in this many is held out."""


def fit(setup: Setup, matches: int, seed: int) -> dict[str, Fit]:
    """Return the two rows of weights."""
    dice, policy = random.Random(seed), CargoNoirPolicy(setup)
    fitted, held = Sums(2 * len(FEATURES)), Sums(2 * len(FEATURES))
    for number in range(matches):
        chance = FastChance(seed=dice.getrandbits(40))
        state = GAME.start(setup, chance)
        assert isinstance(state, CargoNoirState)
        seats = range(setup.seats)
        seen = [
            [features(policy.worths, state, seat) for seat in seats] for _ in beginnings(state, policy, dice, chance)
        ]
        points = beyond_rivals([[float(score)] for score in state.scores()])
        for rows in seen:
            for row, [target] in zip(beyond_rivals(rows), points, strict=True):
                (held if number % HELD_OUT == 0 else fitted).add(row, target)
    # The added number keeps the equations solvable if a feature is 0 in all positions.
    penalties = [RIDGE * fitted.products[place][place] / fitted.count + 1e-9 for place in range(2 * len(FEATURES))]
    # The weights are rounded as in the file, so that the share belongs to the weights in the file.
    weights = [round(weight, 3) for weight in fitted.weights(penalties)]
    share = held.explained(weights)
    return {ROWS[0]: (weights[: len(FEATURES)], share), ROWS[1]: (weights[len(FEATURES) :], share)}


def main(matches: int = 1500, seed: int = 1) -> None:
    """Write the weights for every number of seats."""
    fits = {seats: fit(GAME.setup(seats, {}, shipped_board(GAME)), matches, seed) for seats in GAME.seat_counts}
    write_values(GAME.name, FEATURES, f"python -m bench.values_cargo_noir {matches} {seed}", fits)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
