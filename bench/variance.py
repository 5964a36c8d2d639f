"""Estimate the shares of seat, seed, bot and rest in the outcomes of matches, by an analysis of variance of crossed blocks.

A block is one seed in all rotations: in rotation r, bot b has seat (b + r) mod n. Within a block, each bot therefore has each
seat once, so that seats and bots can be told apart (a Latin square). An outcome is a number for each bot in each match, minus the
mean of the match. It is modelled as

    seat (the same in all blocks) + bot (the same in all blocks) + seed (of a seat in a block) + rest (of a bot in a match),

and the variance of each of the four is estimated by the method of moments. The effect of a seed
that suits one bot more than another belongs to the rest; with two seats, nothing could tell it apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Block = Sequence[Sequence[float]]
"""The outcomes of a block: for each rotation, the outcomes of the bots, in the order of their numbers."""
RESAMPLES = 1000
"""The number of resamples of a bootstrap."""
TAIL = 0.025
"""The share of the resamples outside a 95 % interval, at each end."""


class Shares(NamedTuple):
    """Shares of the variance of an outcome. They sum to 1."""

    seat: float
    seed: float
    bot: float
    rest: float


class Estimate(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over blocks, from which the shares and the gain are computed."""

    blocks: int
    bots: int
    cells: Sequence[float]
    """The sums of the outcomes, by rotation and bot."""
    squares: float
    """The sum of the squares of all outcomes."""
    seat_squares: float
    """The sum, over seats and blocks, of the squared mean of a seat in a block, times the number of rotations."""
    bot_squares: float
    """The sum, over bots and blocks, of the squared mean of a bot in a block, times the number of rotations."""

    def shares(self) -> Shares:
        """Return the shares of the variance. An estimate below 0 counts as 0."""
        n, blocks = self.bots, self.blocks
        seats = [sum(self.cells[r * n + (seat - r) % n] for r in range(n)) / n / blocks for seat in range(n)]
        bots = [sum(self.cells[bot::n]) / n / blocks for bot in range(n)]
        of_seats = blocks * n * sum(mean * mean for mean in seats)
        of_bots = blocks * n * sum(mean * mean for mean in bots)
        by_seed = (self.seat_squares - of_seats) / ((blocks - 1) * (n - 1))
        rest = (self.squares - self.seat_squares - of_bots) / ((n - 1) * (blocks * (n - 1) - 1))
        parts = [
            of_seats / (n - 1) / (blocks * n) - by_seed / (blocks * n),
            (by_seed - rest) / n,
            of_bots / (n - 1) / (blocks * n) - rest / (blocks * n),
            rest,
        ]
        positive = [max(0.0, part) for part in parts]
        total = sum(positive)
        return Shares(*(part / total for part in positive)) if total > 0 else Shares(0.0, 0.0, 0.0, 1.0)

    def gain(self) -> float:
        """Return the variance of a bot's mean over matches with separate seeds, divided by that over a block's matches.

        In both cases, there are as many matches as seats, and the bot has each seat once.
        """
        n, blocks = self.bots, self.blocks
        apart = self.squares / blocks - sum((cell / blocks) ** 2 for cell in self.cells)
        means = [sum(self.cells[bot::n]) / n / blocks for bot in range(n)]
        together = self.bot_squares / n / blocks - sum(mean * mean for mean in means)
        return apart / n / n / together if together > 0 else 1.0


def table_of(blocks: Sequence[Block]) -> list[list[float]]:
    """Return a row of numbers for each block; the columns add up to `Sums`."""
    return [_row(block) for block in blocks]


def _row(block: Block) -> list[float]:
    n = len(block)
    beyond = [[outcome - sum(match) / n for outcome in match] for match in block]
    seats = [sum(beyond[r][(seat - r) % n] for r in range(n)) / n for seat in range(n)]
    bots = [sum(match[bot] for match in beyond) / n for bot in range(n)]
    cells = [outcome for match in beyond for outcome in match]
    return [
        *cells,
        sum(outcome * outcome for outcome in cells),
        n * sum(mean * mean for mean in seats),
        n * sum(mean * mean for mean in bots),
    ]


def shares_of(blocks: Sequence[Block]) -> Shares:
    """Return the shares of the variance of outcomes."""
    return sums_of(table_of(blocks)).shares()


def sums_of(rows: Sequence[Sequence[float]]) -> Sums:
    """Return the sums of the given rows of a table."""
    *cells, squares, seat_squares, bot_squares = [sum(column) for column in zip(*rows, strict=True)]
    # A block has as many rotations as bots.
    return Sums(len(rows), round(len(cells) ** 0.5), cells, squares, seat_squares, bot_squares)


def bootstrap(
    rows: Sequence[Sequence[float]], statistics: Callable[[Sequence[Sequence[float]]], Sequence[float]]
) -> list[Estimate]:
    """Return statistics of the rows of blocks, each with its interval over resamples of the blocks."""
    # The draws are seeded, so that the page can be reproduced.
    draw = random.Random(len(rows))
    found = [statistics(draw.choices(rows, k=len(rows))) for _ in range(RESAMPLES)]
    cut = round(TAIL * RESAMPLES)
    return [
        Estimate(value, sorted(resampled)[cut], sorted(resampled)[-1 - cut])
        for value, resampled in zip(statistics(rows), zip(*found, strict=True), strict=True)
    ]


def shares_and_gain(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the four shares, then the gain of a block."""
    sums = sums_of(rows)
    return [*sums.shares(), sums.gain()]
