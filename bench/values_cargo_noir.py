"""Fits the value of the search in Cargo Noir: `python -m bench.values_cargo_noir [MATCHES] [SEED]`, or `make values`.

Greedy plays against itself, with some decisions at random. At the beginning of each turn, the features of a seat beyond the
mean of its rivals' predict its final points beyond theirs, by ridge regression. A fifth of the matches is held out.
"""

from __future__ import annotations

import operator
import random
import sys
from pathlib import Path
from typing import NamedTuple

from house_bots.greedy.cargo_noir import CargoNoirPolicy
from house_bots.search.cargo_noir_value import FEATURES, beyond_rivals, features

from bench.linear import solve
from referee.game import IllegalAction, Setup
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

TARGET = Path(__file__).parents[1] / "agents" / "house_bots" / "search" / "cargo_noir.toml"
NOISE = 0.1
"""The share of decisions at random."""
RIDGE = 3.0
HELD_OUT = 5
"""One of this number of matches is held out."""


class Sample(NamedTuple):
    """A seat at the beginning of a turn."""

    features: list[float]
    points: float
    """Its final points beyond the mean of its rivals'."""
    held_out: bool


def samples(setup: Setup, matches: int, seed: int) -> list[Sample]:
    """Play matches of a noisy greedy; return the samples at the beginnings of turns."""
    rng = random.Random(seed)
    policy = CargoNoirPolicy(setup)
    found: list[Sample] = []
    for number in range(matches):
        seen, scores = _match(setup, policy, rng)
        points = beyond_rivals([[float(score)] for score in scores])
        for seats in seen:
            for seat, row in enumerate(beyond_rivals(seats)):
                found.append(Sample(row, points[seat][0], number % HELD_OUT == 0))
    return found


def _match(setup: Setup, policy: CargoNoirPolicy, rng: random.Random) -> tuple[list[list[list[float]]], list[int]]:
    """Play a match; return the features of each seat at the beginning of each turn, and the scores."""
    chance = FastChance(seed=rng.getrandbits(40))
    state = find("cargo_noir").start(setup, chance)
    assert isinstance(state, CargoNoirState)
    turn, seen = 1, []
    while not state.is_over():
        if state.turn > turn:
            turn = state.turn
            seen.append([features(policy.worths, state, seat) for seat in range(setup.seats)])
        row = policy.row(state, state.seat, chance)
        if rng.random() < NOISE:
            row = [rng.choice(state.legal_actions(state.seat))]
        seat = state.seat
        for action in row:
            try:
                state.apply(seat, action, chance)
            except IllegalAction:
                break
    return seen, state.scores()


def fit(setup: Setup, matches: int, seed: int) -> tuple[list[float], float]:
    """Return the weights, and the share of the variance that they explain where held out."""
    rows = samples(setup, matches, seed)
    weights = ridge([(one.features, one.points) for one in rows if not one.held_out])
    errors = total = 0.0
    for one in rows:
        if one.held_out:
            errors += (one.points - sum(map(operator.mul, weights, one.features))) ** 2
            total += one.points**2
    return weights, 1 - errors / total


def ridge(rows: list[tuple[list[float], float]]) -> list[float]:
    """Return the weights that minimise the squared errors plus RIDGE times the squared weights of scaled features."""
    size = len(rows[0][0])
    moments = [[sum(x[i] * x[j] for x, _ in rows) for j in range(size)] for i in range(size)]
    right = [sum(x[i] * y for x, y in rows) for i in range(size)]
    for place in range(size):
        moments[place][place] += RIDGE * moments[place][place] / len(rows) + 1e-9
    return [round(weight, 3) for weight in solve(moments, right)]


def main(matches: int = 1500, seed: int = 1) -> None:
    """Write the weights for every number of seats."""
    game = find("cargo_noir")
    lines = [
        f"# The value of the search in Cargo Noir: python -m bench.values_cargo_noir {matches} {seed}",
        f"# For each number of seats, the points for a unit of: {', '.join(FEATURES)};",
        "# then what another ten turns left add to each of these weights.",
    ]
    for seats in game.seat_counts:
        weights, explained = fit(game.setup(seats, {}, shipped_board(game)), matches, seed)
        lines += ["", f"seats_{seats} = [ # explains {explained:.0%} of the variance in held-out matches"]
        for half in (weights[: len(FEATURES)], weights[len(FEATURES) :]):
            lines.append(f"    {', '.join(map(str, half))},")
        lines.append("]")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
