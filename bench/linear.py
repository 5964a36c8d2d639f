"""Fit linear estimates of positions for searches, by ridge regression over positions from noisy matches."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from referee.game import Chance, RolloutPolicy, State
from referee.playout import play_row

FOLDER = Path(__file__).parents[1] / "agents" / "house_bots" / "search"
AT_RANDOM = 0.1
"""The share of rows that are replaced by a single random action, so that positions vary."""


def beginnings(state: State, policy: RolloutPolicy, dice: random.Random, chance: Chance) -> Iterator[None]:
    """Play a match with a noisy policy, in place; yield at the beginning of each stage except the first."""
    stage = state.stage()
    while not state.is_over():
        if state.stage() > stage:
            stage = state.stage()
            yield
        seat = state.seats_to_act()[0]
        row = policy.row(state, seat, chance)
        if dice.random() < AT_RANDOM:
            row = [dice.choice(state.legal_actions(seat))]
        play_row(state, seat, row, chance)


def beyond_rivals(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return each seat's numbers minus the means of its rivals' numbers."""
    totals = [sum(column) for column in zip(*rows, strict=True)]
    rivals = len(rows) - 1
    return [[own - (total - own) / rivals for own, total in zip(row, totals, strict=True)] for row in rows]


class Sums:
    """Sums, over many positions and seats, of the products of the features with each other and with the target."""

    def __init__(self, size: int) -> None:
        """Begin without positions; `size` is the number of features."""
        self.products = np.zeros((size, size))
        self.sides = np.zeros(size)
        self.squares = 0.0
        self.count = 0

    def add(self, inputs: Sequence[float], target: float) -> None:
        """Add the features and the target of one seat in one position."""
        row = np.asarray(inputs)
        self.products += np.outer(row, row)
        self.sides += target * row
        self.squares += target * target
        self.count += 1

    def weights(self, penalties: Sequence[float]) -> list[float]:
        """Return the weights that minimise the sum of the squared errors plus the squared weights times their penalties."""
        found: list[float] = np.linalg.solve(self.products + np.diag(penalties), self.sides).tolist()
        return found

    def explained(self, weights: Sequence[float]) -> float:
        """Return the share of the targets' sum of squares that these weights explain."""
        # This is the sum of (target - prediction) squared, multiplied out, so that the sums suffice and no position is stored.
        error = self.squares - 2 * np.dot(weights, self.sides) + np.dot(weights, self.products @ weights)
        return float(1 - error / self.squares)


Fit = tuple[list[float], float]
"""The weights of a row, and the share that they explain in held-out matches."""


def write_values(game: str, features: Sequence[str], made_by: str, fits: Mapping[int, Mapping[str, Fit]]) -> None:
    """Write the file with the values of a search, which `house_bots/search/values.py` reads.

    Args:
        game: the name of the game.
        features: the names of the features.
        made_by: the command that made the fits.
        fits: the fits, by number of seats and name of the row.
    """
    lines = [
        f"# Made by `{made_by}`; R2 is of held-out matches.",
        f"game = {json.dumps(game)}",
        f"features = {json.dumps(features)}",
    ]
    for seats, rows in fits.items():
        lines += ["", f"[seats{seats}]"]
        lines += [f"{row} = {json.dumps(weights)} # R2 {share:.2f}" for row, (weights, share) in rows.items()]
    (FOLDER / f"{game}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
