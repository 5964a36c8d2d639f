"""Comparisons of real bots that differ by a known amount: `python -m bench.known_difference`; the figures are in docs/compare.md.

The bots are `greedy` with a share of random actions: 3 % against 12 %, and 12 % against 12 %. The difference of the first
pair, measured in many blocks, is the margin of all comparisons, so the share of wrong verdicts on each pair should be 0.05.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from statistics import fmean, pstdev

from bench.matches import Question
from referee.game import Action, Setup
from referee.kit.chance import LiveChance
from referee.match.result import Outcome, Result, SeatResult
from referee.match.seatings import Seating
from referee.playout import play_row
from referee.registry import find, house_bots, shipped_board
from referee.verdict.block import BlockScore, score, seatings_at_one_table
from referee.verdict.likelihood import Margin
from referee.verdict.sequential import Conclusion, SequentialTest, Terms

MORE, LESS = (0.12, 0.12), (0.03, 0.12)
"""The shares of random actions of the new and the old version: in a pair of equals, and with a better new version."""
MAX_BLOCKS = 2_000
_FIRST_SEED = 1_000_000
"""The first seed of the comparisons; those of the known difference begin at 0."""


def match(setup: Setup, game: str, seed: int, seating: Seating, noise: Sequence[float]) -> Result:
    """Play a match; each version acts at random with its own probability."""
    greedy = house_bots()["greedy"](find(game), setup, "", 0)
    # The dice belong to the version, not to the seat, so a version has the same dice in both matches of a block.
    draws = [random.Random(f"{seed} {place}") for place in seating]
    chance, rows = LiveChance(seed), []
    state = find(game).start(setup, chance)
    while not state.is_over():
        seat = state.seats_to_act()[0]
        actions = state.legal_actions(seat)
        if draws[seat].random() < noise[seating[seat]]:
            row: Sequence[Action] = [draws[seat].choice(actions)]
        else:
            chosen = greedy.choose(Question(state.observation(seat), actions))
            row = [actions[chosen]] if isinstance(chosen, int) else chosen
        rows.append(str(row))
        play_row(state, seat, row, chance)
    played = zip(state.ranks(), state.scores(), strict=True)
    seats = tuple(
        SeatResult(seat, "", rank, points, Outcome.PLAYED, 0, 0.0, 0.0, 0.0, "")
        for seat, (rank, points) in enumerate(played)
    )
    # The rows replace a digest, because matches with the same play have equal rows.
    return Result(seats, len(rows), " ".join(rows), seed)


def block(game: str, seed: int, noise: Sequence[float]) -> BlockScore:
    """Play a block of two seats."""
    setup = find(game).setup(2, {}, shipped_board(find(game)))
    seatings = seatings_at_one_table(2)
    return score([match(setup, game, seed, seating, noise) for seating in seatings], seatings)


def compared(game: str, number: int, noise: Sequence[float], margin: float) -> SequentialTest:
    """Play one comparison with its own seeds."""
    test = SequentialTest(Terms(Margin(margin), 0.05, 0.05, MAX_BLOCKS))
    for seed in count(_FIRST_SEED + number * MAX_BLOCKS):
        test.add(block(game, seed, noise))
        if test.conclusion is not None:
            return test
    raise AssertionError("seeds do not end")


def rows(tests: Sequence[SequentialTest], wrong: Conclusion) -> str:
    """Return a line with the share of wrong conclusions, its standard error, and the mean number of blocks."""
    share = sum(test.conclusion is wrong for test in tests) / len(tests)
    error = math.sqrt(share * (1 - share) / len(tests))
    blocks = fmean(test.blocks for test in tests)
    return f"{wrong.value}: {share:.3f} ± {error:.3f} of {len(tests)} comparisons, {blocks:.1f} blocks each"


def lines(game: str, pool: int, tests: int, workers: int) -> Iterator[str]:
    """Measure the difference, then the shares of wrong verdicts; yield a line for each."""
    with ProcessPoolExecutor(workers) as processes:
        found = list(processes.map(block, [game] * pool, range(pool), [LESS] * pool, chunksize=8))
        differences = [one.difference for one in found]
        margin, deviation = fmean(differences), pstdev(differences)
        yield f"{game}, 2 seats: difference {margin:.3f} ± {deviation / math.sqrt(pool):.3f}, sd of a block {deviation:.2f}"
        for noise, wrong in ((MORE, Conclusion.BETTER), (LESS, Conclusion.NOT_BETTER)):
            # The two pairs have different seeds, so their figures are independent.
            numbers = range(tests) if noise == MORE else range(tests, 2 * tests)
            ended = processes.map(compared, [game] * tests, numbers, [noise] * tests, [margin] * tests)
            yield f"{noise[0]:.0%} against {noise[1]:.0%} random actions: {rows(list(ended), wrong)}"


def main() -> None:
    """Play the comparisons, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.known_difference", description=__doc__)
    parser.add_argument("game", nargs="?", default="venezia")
    parser.add_argument("--blocks", type=int, default=2_000, help="blocks for the known difference")
    parser.add_argument("--tests", type=int, default=200, help="comparisons of each pair")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    for line in lines(chosen.game, chosen.blocks, chosen.tests, chosen.workers):
        print(line, flush=True)


if __name__ == "__main__":
    main()
