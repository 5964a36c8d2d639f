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

from bench.linear import solve
from referee.game import Setup
from referee.games.venezia.state import VeneziaState
from referee.kit.chance import FastChance
from referee.registry import find, shipped_board

GAME = find("venezia")
TARGET = Path(__file__).parents[1] / "agents" / "house_bots" / "search" / "venezia.toml"
AT_RANDOM = 0.1
"""The share of rows that are one random action, so that positions vary."""
RIDGE = 20.0
HELD_OUT = 4
Position = tuple[int, list[list[float]], list[int]]
"""The rounds left, the features and the scores of each seat."""


def played(setup: Setup, seed: int) -> tuple[list[Position], list[int]]:
    """Play a match; return its positions at the beginning of each round but the first, and the final scores."""
    dice, chance, policy = random.Random(seed), FastChance(seed=seed), GreedyPolicy()
    state = GAME.start(setup, chance)
    assert isinstance(state, VeneziaState)
    found: list[Position] = []
    while not state.is_over():
        if state.round > len(found) + 1:
            found.append((state.last_round - state.round + 1, features(state), state.scores()))
        seat = state.seats_to_act()[0]
        legal = state.legal_actions(seat)
        at_random = dice.random() < AT_RANDOM
        for at, action in enumerate([dice.choice(legal)] if at_random else policy.row(state, seat, chance)):
            if at and (seat not in state.seats_to_act() or action not in state.legal_actions(seat)):
                break
            state.apply(seat, action, chance)
    return found, state.scores()


def beyond(numbers: list[float]) -> list[float]:
    """Return each seat's number less the mean of its rivals'."""
    return [own - (sum(numbers) - own) / (len(numbers) - 1) for own in numbers]


class Sums:
    """Sums of products over many positions and seats: of the features with each other, and with what is to be explained."""

    def __init__(self) -> None:
        self.products = [[0.0] * len(FEATURES) for _ in FEATURES]
        self.sides = [0.0] * len(FEATURES)
        self.squares = 0.0

    def add(self, inputs: list[float], target: float) -> None:
        """Add one seat in one position."""
        for row, one in enumerate(inputs):
            self.sides[row] += one * target
            for column, other in enumerate(inputs):
                self.products[row][column] += one * other
        self.squares += target * target

    def error(self, weights: list[float]) -> float:
        """Return the sum of the squared errors with these weights."""
        crossed = sum(
            one * other * self.products[row][column]
            for row, one in enumerate(weights)
            for column, other in enumerate(weights)
        )
        return self.squares - 2 * sum(map(float.__mul__, weights, self.sides)) + crossed


def solved(sums: Sums) -> list[float]:
    """Return the weights of the ridge regression."""
    products = [list(row) for row in sums.products]
    for place in range(len(FEATURES)):
        products[place][place] += RIDGE
    return [round(weight, 4) for weight in solve(products, sums.sides)]


def fit(setup: Setup, matches: int, seed: int) -> dict[int, tuple[list[float], float]]:
    """Return, for each number of rounds left, the weights and the held-out R2."""
    fitted = {left: Sums() for left in range(1, MOST_LEFT + 1)}
    held = {left: Sums() for left in range(1, MOST_LEFT + 1)}
    for number in range(matches):
        positions, end = played(setup, seed + number)
        for left, numbers, scores in positions:
            inputs = list(zip(*[beyond(list(column)) for column in zip(*numbers, strict=True)], strict=True))
            targets = beyond([float(last - now) for last, now in zip(end, scores, strict=True)])
            for seat, target in enumerate(targets):
                (held if number % HELD_OUT == 0 else fitted)[left].add(list(inputs[seat]), target)
    found = {}
    for left, sums in fitted.items():
        weights = solved(sums)
        found[left] = weights, 1 - held[left].error(weights) / held[left].squares
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
