"""Measure the effect of each estimate of `greedy` in Valparaíso: `python -m bench.values_valparaiso [SEATS] [MATCHES] [SEED]`.

The policy of rollouts plays matches in which each seat has random factors for the estimates of `greedy`, near those in
`valparaiso_estimates.py`. A regression explains the points of a seat by its factors and their squares, all minus the means of its
rivals' numbers. A person then moves the factors in the directions that help, and measures again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from house_bots.greedy.valparaiso_estimates import NAMES, factors
from house_bots.search.valparaiso_policy import ValparaisoPolicy

from bench.linear import Sums, beyond_rivals
from referee.game import Setup
from referee.kit.chance import FastChance
from referee.playout import play_row
from referee.registry import find, shipped_board

GAME = find("valparaiso")
WIDTH = 0.3
"""The maximum relative change of a drawn factor."""
FIRST = 8.0
"""The points that are added to the score for the first place."""


class Effect(NamedTuple):
    """The effect of a factor on the points of a seat: slope, curvature, and the slope's standard error."""

    slope: float
    bend: float
    error: float


def played(setup: Setup, seed: int, centre: Sequence[float]) -> tuple[list[list[float]], list[float]]:
    """Play a match; return each seat's drawn factors, from -1 to 1, and its points minus its rivals' mean points."""
    dice, chance = random.Random(seed), FastChance(seed)
    drawn = [[dice.uniform(-1, 1) for _ in NAMES] for _ in range(setup.seats)]
    policies = [
        ValparaisoPolicy([middle * (1 + WIDTH * one) for middle, one in zip(centre, own, strict=True)]) for own in drawn
    ]
    state = GAME.start(setup, chance)
    while not state.is_over():
        seat = state.seats_to_act()[0]
        play_row(state, seat, policies[seat].row(state, seat, chance), chance)
    ranks = state.ranks()
    points = [[score + FIRST * (rank == 1) / ranks.count(1)] for score, rank in zip(state.scores(), ranks, strict=True)]
    return drawn, [own for [own] in beyond_rivals(points)]


def effects(sums: Sums) -> list[Effect]:
    """Return the effect of each factor, by least squares."""
    found = sums.weights([0.0] * len(sums.sides))
    noise = max(0.0, sums.squares - np.dot(found, sums.sides)) / sums.count
    # The diagonal of the inverse contains the variance of each coefficient, in units of the noise.
    units = np.diag(np.linalg.inv(sums.products))
    half = len(found) // 2
    return [Effect(found[at], found[half + at], sqrt(noise * units[at])) for at in range(half)]


def measured(setup: Setup, matches: int, seed: int, centre: Sequence[float]) -> list[Effect]:
    """Return the effect of each factor, measured with factors near those in `centre`."""
    sums = Sums(2 * len(NAMES))
    for number in range(matches):
        drawn, points = played(setup, seed + number, centre)
        inputs = beyond_rivals([[*own, *(one * one for one in own)] for own in drawn])
        for seat in range(setup.seats if setup.seats > 2 else 1):  # with two seats, they mirror each other
            sums.add(inputs[seat], points[seat])
    return effects(sums)


def main(seats: int = 2, matches: int = 2500, seed: int = 1) -> None:
    """Print the effect of each factor, measured with factors near those that `greedy` uses."""
    found = measured(GAME.setup(seats, {}, shipped_board(GAME)), matches, seed, centre := factors(seats))
    print(
        f"points for a factor larger by {WIDTH:.0%}, and for the square of that, after {matches} matches of {seats} seats"
    )
    for name, factor, effect in zip(NAMES, centre, found, strict=True):
        print(f"{name:10} {factor:5.2f}  {effect.slope:+.2f} ± {1.96 * effect.error:.2f}  {effect.bend:+.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
