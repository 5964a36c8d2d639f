"""Fits the value of the search in Cargo Noir: `python -m bench.values_cargo_noir [MATCHES] [SEED]`, or `make values`.

Greedy plays against itself, with some decisions at random. At the beginning of each turn, the features of a seat beyond the
mean of its rivals' predict its final points beyond theirs, by ridge regression. A fifth of the matches is held out.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from house_bots.greedy.cargo_noir import CargoNoirPolicy
from house_bots.search.cargo_noir_value import FEATURES, features

from bench.linear import Sums, beginnings, beyond_rivals
from referee.game import Setup
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("cargo_noir")
TARGET = Path(__file__).parents[1] / "agents" / "house_bots" / "search" / "cargo_noir.toml"
RIDGE = 3.0
"""The penalty of a weight, in means of its feature's squares."""
HELD_OUT = 5
"""One of this number of matches is held out."""


def fit(setup: Setup, matches: int, seed: int) -> tuple[list[float], float]:
    """Return the weights, and the share of the variance that they explain where held out."""
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
    penalties = [RIDGE * fitted.products[place][place] / fitted.count + 1e-9 for place in range(2 * len(FEATURES))]
    weights = [round(weight, 3) for weight in fitted.weights(penalties)]
    return weights, held.explained(weights)


def main(matches: int = 1500, seed: int = 1) -> None:
    """Write the weights for every number of seats."""
    lines = [
        f"# The value of the search in Cargo Noir: python -m bench.values_cargo_noir {matches} {seed}",
        f"# For each number of seats, the points for a unit of: {', '.join(FEATURES)};",
        "# then what another ten turns left add to each of these weights.",
    ]
    for seats in GAME.seat_counts:
        weights, explained = fit(GAME.setup(seats, {}, shipped_board(GAME)), matches, seed)
        lines += ["", f"seats_{seats} = [ # explains {explained:.0%} of the variance in held-out matches"]
        for half in (weights[: len(FEATURES)], weights[len(FEATURES) :]):
            lines.append(f"    {', '.join(map(str, half))},")
        lines.append("]")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
