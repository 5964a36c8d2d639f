"""Measure the error rates of `dogana compare`, and the blocks that it needs, in simulations; write docs/verdicts.md.

`make verdicts`, or `python -m bench.verdicts --tests 1000 --only ties` to replace some rows. The seeds determine every figure.

A cell is a kind of match. A performance is the sum of the bot's strength, the luck that the seed gives its seat, and noise; the
performances decide the places. A pool of blocks is simulated for two equal bots, and for two bots of different strength. The
margin is the mean difference of the second pool, so both hypotheses hold exactly for tests that draw their blocks from these pools.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import numpy as np

from bench.many_tests import (
    MAX_BLOCKS,
    Kind,
    Pool,
    Statistic,
    of_the_command,
    one_effect,
    one_normal_effect,
    simulated,
)
from referee.match.seatings import Seating
from referee.verdict.block import NEW, OLD, seatings_at_one_table, seatings_in_a_field
from referee.verdict.likelihood import Margin
from referee.verdict.sequential import MIN_BLOCKS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "verdicts.md"
POOL = 3_000
"""The number of blocks in a pool."""
NOISE = 4.17
"""The noise of a performance, in units of strength, which is TrueSkill's beta."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of match, and of test."""

    name: str
    seats: int = 2
    gap: float = 1.5
    """The strength of the new version minus that of the old one, if the new one is better."""
    luck: float = 3.0
    """The standard deviation of a seat's luck with a seed."""
    in_field: bool = False
    step: float = 0.0
    """The width of a step within which performances tie; 0 means that there are no steps."""
    is_skewed: bool = False
    """True if noise has a long upper tail, like the return on a stake that seldom pays off."""
    faults: tuple[float, float] = (0.0, 0.0)
    """The probabilities that the new and the old version are put out in a match; equal versions both have that of the old one."""
    values: tuple[tuple[float, float, float], ...] = ()
    """Differences to use instead of matches, with their probabilities if the versions are equal, and if the new one is better."""
    repeats: float = 0.0
    """The probability that a block has the same difference as the previous block."""
    drift: float = 0.0
    """The amount by which the difference in strength is higher for one run of blocks, lower for the next, and so on."""
    in_deviations: bool = False
    """True if the margin is in standard deviations of a block."""
    larger: float = 1.0
    """The difference with which beta is measured, in margins."""


CELLS = [
    Cell("2 seats"),
    Cell("2 seats, smaller margin", gap=0.7),
    Cell("2 seats, both lose 5 % of their seats", faults=(0.05, 0.05)),
    Cell("2 seats, only faults differ: 10 % or none", gap=0.0, faults=(0.0, 0.1)),
    Cell("2 seats, no common luck", luck=0.0),
    Cell("2 seats, many ties", step=10.0),
    Cell("2 seats, skewed noise", is_skewed=True),
    Cell("versions differ in 20 % of the seeds", values=((-1, 0.1, 0.05), (0, 0.8, 0.8), (1, 0.1, 0.15))),
    Cell("versions differ in 6 % of the seeds", values=((-1, 0.03, 0.01), (0, 0.94, 0.93), (1, 0.03, 0.06))),
    Cell(
        "versions differ in 10 % of the seeds, little or much",
        values=((-1, 0.02, 0.01), (-0.1, 0.03, 0.03), (0, 0.9, 0.87), (0.1, 0.03, 0.03), (1, 0.02, 0.06)),
    ),
    Cell("a few large wins", values=((-0.25, 0.8, 0.7), (1.0, 0.2, 0.3))),
    Cell("a few large losses", values=((-1.0, 0.2, 0.1), (0.25, 0.8, 0.9))),
    Cell("2 seats, margin in deviations", in_deviations=True),
    Cell("3 seats", 3),
    Cell("4 seats", 4),
    Cell("5 seats", 5),
    Cell("3 seats in a field", 3, in_field=True),
    Cell("5 seats in a field", 5, in_field=True),
    Cell("3 seats, luck three times as large", 3, luck=9.0),
    Cell("5 seats, many ties", 5, step=10.0),
    Cell("3 seats, skewed noise", 3, is_skewed=True),
    Cell("5 seats, margin in deviations", 5, in_deviations=True),
    Cell("2 seats, strength drifts by half of the difference", drift=0.75),
    Cell("2 seats, strength drifts by twice the difference", drift=3.0),
    Cell("a block repeats the last: 10 %", repeats=0.1),
    Cell("a block repeats the last: 30 %", repeats=0.3),
]
"""The cells of the page."""


# --- blocks ----------------------------------------------------------------------------------------------------


def block_difference(cell: Cell, gap: float, faults: Sequence[float], draw: random.Random) -> float:
    """Play a block; return the difference between the versions, computed as by `referee.verdict.block.score`."""
    # It is drawn once, because all matches in a block share the luck of its seed.
    luck = [draw.gauss(0, cell.luck) for _ in range(cell.seats)]
    scores: tuple[list[float], list[float]] = ([], [])
    for seating in _seatings(cell):
        performances = [
            _performance(cell, gap if place == NEW else 0.0, luck[seat], draw) for seat, place in enumerate(seating)
        ]
        lost = {place for place in (NEW, OLD) if faults[place] and draw.random() < faults[place]}
        for place in (NEW, OLD):
            if place in seating:
                scores[place].append(beaten(performances, seating, place, lost))
    # It is rounded, because sums in another order differ in the last bits, but equal differences must be a single value of the
    # pool.
    return round(fmean(scores[NEW]) - fmean(scores[OLD]), 12)


def _seatings(cell: Cell) -> list[Seating]:
    return seatings_in_a_field(cell.seats) if cell.in_field else seatings_at_one_table(cell.seats)


def _performance(cell: Cell, strength: float, luck: float, draw: random.Random) -> float:
    # Both kinds of noise have the mean 0 and the deviation 1.
    noise = NOISE * (draw.expovariate(1) - 1 if cell.is_skewed else draw.gauss(0, 1))
    performance = strength + luck + noise
    return performance // cell.step if cell.step else performance


def beaten(performances: Sequence[float], seating: Seating, place: int, lost: set[int]) -> float:
    """Return the share of its rivals that a version beats. A version that is out beats none; others beat those that are out."""
    if place in lost:
        return 0.0
    mine = performances[seating.index(place)]
    rivals = [(other, value) for other, value in zip(seating, performances, strict=True) if other != place]
    return fmean(1.0 if other in lost else (value < mine) + 0.5 * (value == mine) for other, value in rivals)


@lru_cache
def pools(cell: Cell, *, better: bool) -> list[Pool]:
    """Return the pools of a cell's blocks: one pool or, if strength drifts, one for its ups and one for its downs."""
    if cell.values:
        return [([value for value, *_ in cell.values], [weights[better] for _, *weights in cell.values])]
    # Equal versions are put out equally often: as often as the old one.
    gap, faults = (cell.gap, cell.faults) if better else (0.0, (cell.faults[OLD],) * 2)
    draw = random.Random(f"pool {cell.name} {better}")
    ups = Counter(block_difference(cell, gap + cell.drift, faults, draw) for _ in range(POOL))
    downs = Counter(block_difference(cell, gap - cell.drift, faults, draw) for _ in range(POOL if cell.drift else 0))
    if not better:  # the versions are equal, so both signs of a difference are equally probable
        ups, downs = ups + _exchanged(downs or ups), downs + _exchanged(ups) if cell.drift else downs
    return [(list(counts), list(counts.values())) for counts in (ups, downs) if counts]


def _exchanged(counts: Counter[float]) -> Counter[float]:
    return Counter({-value: count for value, count in counts.items()})


def together(parts: Sequence[Pool]) -> Pool:
    """Return the pool of all blocks, in which ups and downs are equally frequent."""
    return [value for values, _ in parts for value in values], [weight for _, weights in parts for weight in weights]


def mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the mean of a pool."""
    return math.fsum(map(math.prod, zip(values, weights, strict=True))) / math.fsum(weights)


# --- tests -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """The tests of a cell under one hypothesis."""

    margin: float
    deviation: float
    """The standard deviation of a block's difference."""
    better: float
    """The share of tests that ended with the verdict "better"."""
    not_better: float
    undecided: float
    blocks: float
    """The mean number of blocks of a test."""
    covers: float
    tests: int


def side(
    cell: Cell, is_better: bool, tests: int, statistic: Statistic = of_the_command, first: int = MIN_BLOCKS
) -> Side:
    """Simulate the tests of a cell under one hypothesis."""
    of_better, parts = together(pools(cell, better=True)), pools(cell, better=is_better)
    values, weights = together(parts)
    size = mean(*of_better) / cell.larger
    margin = Margin(size / _deviation(*of_better), True) if cell.in_deviations else Margin(size)
    kind = Kind(parts, cell.repeats, margin, mean(values, weights), statistic, first)
    found = simulated(kind, tests, seed=f"tests {cell.name} {is_better}")
    better, not_better, undecided = (float(np.mean(found.conclusions == one)) for one in (1, -1, 0))
    blocks, covers = float(np.mean(found.blocks)), float(np.mean(found.covers))
    return Side(size, _deviation(values, weights), better, not_better, undecided, blocks, covers, tests)


def _deviation(values: Sequence[float], weights: Sequence[float]) -> float:
    square = mean([value**2 for value in values], weights)
    return math.sqrt(square - mean(values, weights) ** 2)


# --- the page --------------------------------------------------------------------------------------------------

HEAD = """# How often a verdict is wrong

These are the results of simulated comparisons; `make verdicts` writes this page. [What a verdict means](compare.md) explains the test.
*alpha* is the share of comparisons between equal versions that end with "better".
*beta* is the share of comparisons that end with "not better" although the difference is the margin. Both should be 0.05.
The number after ± is one standard error. *Covers* is the share of 95 % intervals that contain the difference, in the comparisons in which it is the margin.
*Tests* is the number of simulated comparisons behind each figure.

"""
OTHERS = """
## Other likelihood ratios

Each cell gives alpha, beta, and the mean number of blocks when the new version is better. There is no alpha where the new version is better by more than the margin.
"""
MOST = 0.055
"""The largest acceptable alpha and beta if blocks do not depend on each other."""
OTHER_TESTS = 4_000
"""The number of tests for each figure of other likelihood ratios: enough to show which errors are large."""
COLUMNS = "| matches | margin (in deviations of a block) | alpha | beta | undecided | blocks: equal, better | matches: better | covers | tests |"
ALTERNATIVES: dict[str, tuple[Statistic, int]] = {
    "as it is": (of_the_command, MIN_BLOCKS),
    "from the second block": (of_the_command, 2),
    "one effect for each hypothesis": (one_effect, MIN_BLOCKS),
    "one effect, normal distributions": (one_normal_effect, MIN_BLOCKS),
    "the same from the second block": (one_normal_effect, 2),
}
"""Other likelihood ratios, each with the first block at which a test may end."""
TRIED = [
    Cell("2 seats"),
    Cell("2 seats, better by four margins", gap=4.0, larger=4),
    Cell("2 seats, better by ten margins", gap=6.0, larger=10),
    next(cell for cell in CELLS if "6 %" in cell.name),
    next(cell for cell in CELLS if "large wins" in cell.name),
]
"""The cells with which the alternatives are tried."""


def row(cell: Cell, equal: Side, better: Side) -> str:
    """Return a row of the table."""
    size = len(_seatings(cell))
    return (
        f"| {cell.name} | {equal.margin:.3f} ({equal.margin / better.deviation:.2f}) | {_share(equal.better, equal.tests)}"
        f" | {_share(better.not_better, better.tests)} | {max(equal.undecided, better.undecided):.1%}"
        f" | {equal.blocks:.0f}, {better.blocks:.0f} | {better.blocks * size:.0f} | {better.covers:.1%} | {better.tests:,} |"
    )


def _share(share: float, tests: int) -> str:
    error = math.sqrt(share * (1 - share) / tests)
    mark = "**" if share > MOST else ""
    return f"{mark}{share:.3f}{mark} ± {error:.3f}"


def rule(columns: str) -> str:
    """Return the line below the column heads."""
    return "|" + "---|" * (columns.count("|") - 1)


def page(tests: int, workers: int) -> str:
    """Simulate everything, and print each row as soon as it is known; return the page."""
    fewer = min(tests, OTHER_TESTS)
    with ProcessPoolExecutor(workers) as processes:
        sides = [
            (cell, processes.submit(side, cell, False, tests), processes.submit(side, cell, True, tests))
            for cell in CELLS
        ]
        others = [
            (cell, [_submit(processes, cell, fewer, *other) for other in ALTERNATIVES.values()]) for cell in TRIED
        ]
        rows = [_printed(row(cell, equal.result(), better.result())) for cell, equal, better in sides]
        tried = [_printed(f"| {cell.name} | {' | '.join(map(_tried, futures))} |") for cell, futures in others]
    return text_of(rows, tried, fewer)


def text_of(rows: Sequence[str], tried: Sequence[str], fewer: int) -> str:
    """Return the page with the rows of both tables; the second one has `fewer` tests."""
    columns = f"| matches | {' | '.join(ALTERNATIVES)} |"
    return "\n".join(
        [
            f"{HEAD}Each comparison has at most {MAX_BLOCKS:,} blocks. Shares above {MOST} are bold.\n",
            *(COLUMNS, rule(COLUMNS), *rows),
            f"{OTHERS}Each figure comes from {fewer:,} tests.\n",
            *(columns, rule(columns), *tried),
            "",
        ]
    )


def with_rows(text: str, rows: Sequence[str]) -> str:
    """Return the page with the given rows of its first table replaced."""
    lines = text.splitlines()
    for new in rows:
        name = new.split(" | ")[0]
        place = next(number for number, line in enumerate(lines) if line.split(" | ")[0] == name)
        lines[place] = new
    return "\n".join([*lines, ""])


def _printed(line: str) -> str:
    print(line, flush=True)
    return line


def _submit(
    processes: ProcessPoolExecutor, cell: Cell, tests: int, statistic: Statistic, first: int
) -> list[Future[Side]]:
    """Start the simulation of an alternative; if its difference exceeds the margin, simulate only a better new version."""
    sides = (False, True) if cell.larger == 1 else (True,)
    return [processes.submit(side, cell, better, tests, statistic, first) for better in sides]


def _tried(futures: Sequence[Future[Side]]) -> str:
    *equal, better = (future.result() for future in futures)
    alpha = f"{equal[0].better:.3f}, " if equal else ""
    return f"{alpha}{better.not_better:.3f}; {better.blocks:.0f}"


def main() -> None:
    """Simulate the comparisons, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.verdicts", description=__doc__)
    parser.add_argument("--tests", type=int, default=20_000, help="simulated comparisons for each figure")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="replace the rows of cells whose name contains this")
    chosen = parser.parse_args()
    if chosen.only:
        cells = [cell for cell in CELLS if chosen.only in cell.name]
        rows = [_printed(row(cell, *(side(cell, better, chosen.tests) for better in (False, True)))) for cell in cells]
        PAGE.write_text(with_rows(PAGE.read_text(), rows))
    else:
        PAGE.write_text(page(chosen.tests, chosen.workers))


if __name__ == "__main__":
    main()
