"""Measure the share of luck in results: play the blocks that docs/luck.csv lacks, and write docs/luck.md.

`make luck`, or `python -m bench.luck --games yunnan --seats 2 --blocks 200`. A cell whose blocks are all stored is not
played again. The page and its intervals depend only on the files of results.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from statistics import fmean, variance
from typing import NamedTuple

from bench.draws import without_luck
from bench.luck_blocks import (
    REPEATS,
    RESULTS,
    VALUES,
    Block,
    Cell,
    ends,
    play,
    repeats,
    stored,
    written,
)
from bench.matches import ROOT
from bench.sections import fill
from bench.strength import OPENINGS
from bench.variance import Estimate, bootstrap, shares_and_gain, shares_of, table_of
from referee.registry import find, games, rules_are_compiled
from referee.terminal import listed

PAGE = ROOT / "docs" / "luck.md"
VERDICTS = "| game | seats | blocks played | z | blocks needed | matches needed |", "|---|---|---|---|---|---|"
SHARES = "| seats | blocks | of | seat | seed | bot | rest | a block gains |", "|---|---|---|---|---|---|---|---|"
DRAWS = (
    "| game | seats | blocks | single: rivals beaten | single: score | block: rivals beaten | block: score | mean luck |",
    "|---|---|---|---|---|---|---|---|",
)
OPENED = "| game | seats | random decisions first | different |", "|---|---|---|---|"
"""The column heads of the tables."""
LEAST = 10
"""The minimum number of blocks in a sequential test."""
NEEDED = 5.3
"""The mean number of blocks that a sequential test needs, times the square of the z-score (alpha = beta = 0.05)."""


class Outcomes(NamedTuple):
    """The outcomes of the matches of a cell, by block, rotation and bot."""

    first: list[list[list[float]]]
    """1 for the first place, divided by the number of bots that share it; 0 for any other place."""
    score: list[list[list[float]]]
    beaten: list[list[list[float]]]
    """The share of the rivals beaten; a shared place counts half."""


def outcomes(blocks: Sequence[Block]) -> Outcomes:
    """Return the outcomes of blocks."""
    return Outcomes(
        [[_first(match) for match in block.places] for block in blocks],
        [[[float(points) for points in match] for match in block.scores] for block in blocks],
        [[_beaten(match) for match in block.places] for block in blocks],
    )


def _first(places: Sequence[int]) -> list[float]:
    return [(place == 1) / places.count(1) for place in places]


def _beaten(places: Sequence[int]) -> list[float]:
    rivals = len(places) - 1
    # The sum counts the bot itself as half a rival, so this half is subtracted again.
    return [
        sum((other > place) + (other == place) / 2 for other in places) / rivals - 1 / (2 * rivals) for place in places
    ]


def differences(matches: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    """Return, for each block, the mean outcome of the first bot minus that of the second bot."""
    return [fmean(match[0] - match[1] for match in block) for block in matches]


# --- a verdict -------------------------------------------------------------------------------------------------


def z_of(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of the first column, in standard deviations of that column."""
    numbers = [row[0] for row in rows]
    spread = math.sqrt(variance(numbers))
    return [fmean(numbers) / spread if spread > 0 else math.inf]


def blocks_needed(z: float) -> float:
    """Return the mean number of blocks that a sequential test needs for a z-score; infinity if the test never ends."""
    return max(LEAST, math.ceil(NEEDED / z**2)) if z > 0 else math.inf


def verdict(blocks: Sequence[Block]) -> tuple[Estimate, Estimate]:
    """Return the z-score of a block, and the number of blocks needed to tell the first two bots apart."""
    [z] = bootstrap([[number] for number in differences(outcomes(blocks).beaten)], z_of)
    # The larger z is, the fewer blocks are needed, so the ends of the interval change places.
    return z, Estimate(blocks_needed(z.value), blocks_needed(z.high), blocks_needed(z.low))


def _verdicts(cells: dict[Cell, list[Block]]) -> tuple[str, list[str]]:
    """Return a sentence about the cheapest and the dearest verdict, and a row for each cell."""
    found = {cell: verdict(blocks) for cell, blocks in cells.items()}
    prices = sorted((needed.value * cell.seats, cell) for cell, (_, needed) in found.items())
    (low, cheap), (high, dear) = prices[0], prices[-1]
    lead = (
        f"**A verdict takes {_whole(low)} matches in {_named(cheap)}, and {_whole(high)} in {_named(dear)}:"
        f" {_whole(high / low)} times as many.**"
    )
    rows = [
        f"| {find(cell.game).title} | {cell.seats} | {len(cells[cell])} | {z.value:.2f} ({z.low:.2f} to {z.high:.2f})"
        f" | **{_whole(needed.value)}** ({_whole(needed.low)} to {_whole(needed.high)}) | {_whole(needed.value * cell.seats)} |"
        for cell, (z, needed) in found.items()
    ]
    return lead, rows


def _named(cell: Cell) -> str:
    return f"{find(cell.game).title} at {cell.seats} seats"


def _whole(number: float) -> str:
    return f"{number:.0f}" if math.isfinite(number) else "∞"


# --- shares ----------------------------------------------------------------------------------------------------


def _share_rows(cell: Cell, blocks: Sequence[Block]) -> Iterator[str]:
    found = outcomes(blocks)
    firsts, scores = [bootstrap(table_of(of), shares_and_gain) for of in (found.first, found.score)]
    for name, estimates in (("first place", firsts), ("score", scores)):
        *shares, gain = estimates
        columns = [f"{_percent(share.value)} ({_percent(share.low)} to {_percent(share.high)})" for share in shares]
        columns.append(f"{gain.value:.2f} ({gain.low:.2f} to {gain.high:.2f})")
        lead = f"{cell.seats} | {len(blocks)}" if name == "first place" else " | "
        yield f"| {lead} | {name} | {' | '.join(columns)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _sentence(cells: dict[Cell, list[Block]]) -> str:
    """Return a sentence about the shares of the variance of first places in a game."""
    found = {cell.seats: shares_of(outcomes(blocks).first) for cell, blocks in cells.items()}
    low, high = min(found), max(found)
    few, many = found[low], found[high]
    seed, seat = (max(getattr(shares, name) for shares in found.values()) for name in ("seed", "seat"))
    return (
        f"**At {low} seats, the bots' own noise makes up {_percent(few.rest)} % of the variance of first places, and the"
        f" difference between them {_percent(few.bot)} %; at {high} seats, {_percent(many.rest)} % and"
        f" {_percent(many.bot)} %. The seed makes up at most {_percent(seed)} %, the seat at most {_percent(seat)} %.**"
    )


# --- draws -----------------------------------------------------------------------------------------------------


def saved(results: Sequence[float], luck: Sequence[float]) -> Estimate:
    """Return the share of the variance in results that is due to luck; removing it saves the same share of blocks."""
    pairs = list(zip(results, without_luck(results, luck), strict=True))
    [found] = bootstrap(pairs, _reduction)
    return found


def _reduction(pairs: Sequence[Sequence[float]]) -> list[float]:
    before, after = (variance(numbers) for numbers in zip(*pairs, strict=True))
    return [1 - after / before if before > 0 else 0.0]


class Saved(NamedTuple):
    """The share of the variance that is luck in draws, with one match of each block and with whole blocks."""

    single: Estimate
    single_score: Estimate
    block: Estimate
    block_score: Estimate


def savings(blocks: Sequence[Block]) -> Saved:
    """Return the savings for the difference between the first two bots, in rivals beaten and in points."""
    found, luck = outcomes(blocks), [block.luck for block in blocks]
    kinds = (found.beaten, found.score)
    single = [saved(differences(_one_match_each(of)), differences(_one_match_each(luck))) for of in kinds]
    return Saved(*single, *(saved(differences(of), differences(luck)) for of in kinds))


def _draws(cells: dict[Cell, list[Block]]) -> tuple[str, list[str]]:
    """Return a sentence about the largest savings, and a row for each cell."""
    found = {cell: savings(blocks) for cell, blocks in cells.items()}
    single, block = (max(0.0, *(getattr(each, name).value for each in found.values())) for name in ("single", "block"))
    sure = [_named(cell) for cell, each in found.items() if each.block.low > 0]
    lead = (
        f"**If the luck in draws is subtracted, a verdict needs at most {_percent(single)} % fewer single matches, and at most"
        f" {_percent(block)} % fewer blocks. The whole interval for blocks is above 0 {f'in {listed(sure)}' if sure else 'nowhere'}.**"
    )
    rows = []
    for cell, each in found.items():
        luck = differences([block.luck for block in cells[cell]])
        error = 1.96 * math.sqrt(variance(luck) / len(luck))
        said = [f"{_percent(share.value)} ({_percent(share.low)} to {_percent(share.high)})" for share in each]
        columns = [find(cell.game).title, str(cell.seats), str(len(luck)), *said, f"{fmean(luck):+.2f} ± {error:.2f}"]
        rows.append(f"| {' | '.join(columns)} |")
    return lead, rows


def _one_match_each(blocks: Sequence[Sequence[Sequence[float]]]) -> list[list[Sequence[float]]]:
    """Return one match of each block, from the rotations in turn."""
    return [[block[number % len(block)]] for number, block in enumerate(blocks)]


# --- the page --------------------------------------------------------------------------------------------------


def parts() -> dict[str, str]:
    """Return the parts of docs/luck.md that follow from the results, by name."""
    cells = stored()
    shares = []
    for game in dict.fromkeys(cell.game for cell in cells):
        own = {cell: blocks for cell, blocks in cells.items() if cell.game == game}
        rows = [row for cell, blocks in own.items() for row in _share_rows(cell, blocks)]
        shares.append("\n".join([f"### {find(game).title}", "", _sentence(own), "", *SHARES, *rows]))
    verdict_lead, verdicts = _verdicts(cells)
    draws_lead, draws = _draws({cell: blocks for cell, blocks in cells.items() if cell.game in VALUES})
    different = [
        f"| {find(cell.game).title} | {cell.seats} | {openings} | {len(set(hashes))} of {len(hashes)} |"
        for (cell, openings), hashes in sorted(repeats().items())
    ]
    return {
        "the price of a verdict": verdict_lead,
        "verdicts": "\n".join([*VERDICTS, *verdicts]),
        "shares": "\n\n".join(shares),
        "what draws decide": draws_lead,
        "draws": "\n".join([*DRAWS, *draws]),
        "openings": "\n".join([*OPENED, *different]),
    }


# --- the command -----------------------------------------------------------------------------------------------


def main() -> None:
    """Play the missing blocks, then write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.luck", description=__doc__)
    parser.add_argument("--games", nargs="*", default=[*games()])
    parser.add_argument("--seats", nargs="*", type=int, default=[2, 3, 4, 5])
    parser.add_argument("--blocks", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if not rules_are_compiled():
        parser.error("the rules are not compiled here: make luck compiles them first")
    cells = [Cell(name, seats) for name in chosen.games for seats in chosen.seats if seats in find(name).seat_counts]
    stale = next((cell for cell in cells if is_stale(cell, stored().get(cell, []))), None)
    if stale:
        parser.error(
            f"{RESULTS.name} is older than the rules or the bots of {stale.game}: delete the lines of this game there and in {REPEATS.name}"
        )
    with ProcessPoolExecutor(chosen.workers) as pool:
        play_blocks(pool, cells, chosen.blocks)
        play_repeats(pool, cells)
    fill(PAGE, "make luck", parts())


def is_stale(cell: Cell, blocks: Sequence[Block]) -> bool:
    """Return True if the first block would differ today, because the rules or the policy have changed."""
    return bool(blocks) and play(cell, blocks[0].seed) != blocks[0]


def play_blocks(pool: Executor, cells: Sequence[Cell], count: int) -> None:
    """Play the blocks that are missing, and add them to the results."""
    have = {cell: {block.seed for block in blocks} for cell, blocks in stored().items()}
    wanted = [(cell, seed) for cell in cells for seed in range(1, count + 1) if seed not in have.get(cell, ())]
    with RESULTS.open("a") as lines:
        # An empty list cannot be transposed into columns.
        for (cell, _), block in zip(wanted, pool.map(play, *zip(*wanted, strict=True)) if wanted else (), strict=True):
            lines.write(written(cell, block))
            lines.flush()  # if the run is stopped, only the blocks being played are lost


def play_repeats(pool: Executor, cells: Sequence[Cell]) -> None:
    """Play the missing matches of a policy against itself, and add them to the results."""
    have = repeats()
    counts = [(cell, openings) for cell in cells for openings in sorted({0, OPENINGS.get(cell.game, 0)})]
    wanted = [each for each in counts if each not in have]
    with REPEATS.open("a") as lines:
        for (cell, openings), hashes in zip(
            wanted, pool.map(ends, *zip(*wanted, strict=True)) if wanted else (), strict=True
        ):
            lines.write(f"{cell.game},{cell.seats},{openings},{' '.join(hashes)}\n")
            lines.flush()


if __name__ == "__main__":
    main()
