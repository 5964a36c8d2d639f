"""A search for better TrueSkill constants in each game: `make ratings` writes a table into docs/ratings.md.

Bots of eight strengths play at random tables of every size; they are `greedy` with a share of random actions. Ratings are
updated after each match, with many combinations of beta, tau and draw probability. Before each match, the ratings
predict for each pair of seats which of the two will be ahead; the loss is the mean of -log(predicted probability of
the result). The seeds determine every figure.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations, product
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

import trueskill

from bench.luck_blocks import POLICIES
from bench.matches import ROOT
from bench.sections import fill
from bench.strength import OPENINGS, opened
from ladder.model.rating import ENVIRONMENT, MU, SIGMA, Rating, update
from referee.game import Action
from referee.kit.chance import FastChance, LiveChance
from referee.playout import play_row
from referee.registry import find, games, shipped_board

PAGE = ROOT / "docs" / "ratings.md"
AT_RANDOM = (0.0, 0.03, 0.06, 0.12, 0.2, 0.35, 0.6, 1.0)
"""For each bot, the share of its decisions that are random."""
BETAS, TAUS, DRAWS = (0.25, 0.35, 0.5, 0.7, 1.0), (0.0, 0.01, 0.03), (0.005, 0.02, 0.08)
"""Beta and tau in units of the initial sigma, and the probability of a tie between equals."""


class Constants(NamedTuple):
    """TrueSkill's constants; ladders use `OURS`."""

    beta: float
    tau: float
    draw: float


OURS = Constants(ENVIRONMENT.beta / SIGMA, ENVIRONMENT.tau / SIGMA, ENVIRONMENT.draw_probability)
_ALL = tuple(dict.fromkeys([OURS, *(Constants(*one) for one in product(BETAS, TAUS, DRAWS))]))


class Match(NamedTuple):
    """A match: the bot in each seat, and its rank."""

    bots: tuple[int, ...]
    ranks: tuple[int, ...]


class Found(NamedTuple):
    """The results for a game."""

    game: str
    ties: float
    ours: float
    best: Constants
    least: float
    gain: float
    error: float


def play(game: str, seed: int) -> Match:
    """Play a match; the seed determines the bots and the number of seats."""
    draw = random.Random(f"constants {game} {seed}")
    found = find(game)
    seats = draw.choice(found.seat_counts)
    bots = draw.sample(range(len(AT_RANDOM)), seats)
    setup = found.setup(seats, {}, shipped_board(found))
    policy, chance = POLICIES[game](setup), LiveChance(seed)
    state = opened(found, setup, seed, chance, OPENINGS.get(game, 0))
    while not state.is_over():
        seat = state.seats_to_act()[0]
        if draw.random() < AT_RANDOM[bots[seat]]:
            row: Sequence[Action] = [draw.choice(state.legal_actions(seat))]
        else:
            # The policy has its own chance, so that only the rules draw from the chance of the match.
            row = policy.row(state, seat, FastChance(0))
        play_row(state, seat, row, chance)
    return Match(tuple(bots), tuple(state.ranks()))


def losses(matches: Sequence[Match], constants: Constants) -> list[float]:
    """Return the loss of each match: the mean over its pairs of seats, with predictions from the ratings before the match."""
    beta = constants.beta * SIGMA
    environment = trueskill.TrueSkill(
        mu=MU, sigma=SIGMA, beta=beta, tau=constants.tau * SIGMA, draw_probability=constants.draw
    )
    ratings = [Rating()] * len(AT_RANDOM)
    found = []
    for match in matches:
        before = [ratings[bot] for bot in match.bots]
        found.append(fmean(_pairs(before, match.ranks, beta)))
        for bot, rating in zip(match.bots, update(before, match.ranks, environment), strict=True):
            ratings[bot] = rating
    return found


def _pairs(ratings: Sequence[Rating], ranks: Sequence[int], beta: float) -> Iterator[float]:
    for (one, rank), (other, others) in combinations(zip(ratings, ranks, strict=True), 2):
        # The variance of the difference: each performance adds beta squared, and each uncertain rating sigma squared.
        ahead = NormalDist(0, math.sqrt(2 * beta**2 + one.sigma**2 + other.sigma**2)).cdf(one.mu - other.mu)
        ahead = min(max(ahead, 1e-6), 1 - 1e-6)  # so that the logarithm stays finite
        share = (rank < others) + (rank == others) / 2  # a tie counts as half of each result
        yield -share * math.log(ahead) - (1 - share) * math.log(1 - ahead)


def look(game: str, matches: int) -> Found:
    """Play the matches of a game, and rate them with all combinations of constants.

    The best constants are chosen on the odd matches and compared with ours on the even ones, so that the gain is not due to chance.
    """
    played = [play(game, seed) for seed in range(matches)]
    ours = losses(played, OURS)
    best = min(_ALL, key=lambda one: fmean(losses(played, one)[1::2]))
    theirs = losses(played, best)[::2]
    gains = [a - b for a, b in zip(ours[::2], theirs, strict=True)]
    pairs = [one == other for match in played for one, other in combinations(match.ranks, 2)]
    return Found(
        game, fmean(pairs), fmean(ours[::2]), best, fmean(theirs), fmean(gains), stdev(gains) / math.sqrt(len(gains))
    )


def row(found: Found) -> str:
    """Return the table's line for a game."""
    best = found.best
    return (
        f"| {find(found.game).title} | {found.ties:.1%} | {found.ours:.4f} | {best.beta:g}, {best.tau:g}, {best.draw:g}"
        f" | {found.least:.4f} | {found.gain:+.4f} ± {1.96 * found.error:.4f} |"
    )


def main() -> None:
    """Play the matches, rate them, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.constants", description=__doc__)
    parser.add_argument("--matches", type=int, default=1_000, help="matches of each game")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-page", action="store_true", help="print the table only")
    chosen = parser.parse_args()
    with ProcessPoolExecutor(chosen.workers) as processes:
        rows = [row(found) for found in processes.map(partial(look, matches=chosen.matches), games())]
    text = "\n".join(
        [
            f"{chosen.matches:,} matches of each game:\n",
            "| game | ties | loss, usual constants | best beta, tau, draw probability | loss, best constants | gain |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )
    print(text)
    if not chosen.no_page:
        fill(PAGE, "make ratings", {"constants": text})


if __name__ == "__main__":
    main()
