"""Compare the best entrant's share of wins in each format, for equal numbers of matches: `make formats` writes docs/tournaments.md.

Entrants of random strength play tournaments. The code of `dogana tournament` plans, pairs and ranks; only the results of matches
are simulated: a performance is the sum of strength, the luck that the seed gives a seat, and noise. The seeds determine
every figure.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import NamedTuple

from bench.matches import ROOT
from bench.sections import fill
from referee.match.result import Outcome, Result, SeatResult
from referee.tournament.course import course
from referee.tournament.fixtures import Fixture
from referee.tournament.plan import Format, TournamentPlan, read_plan
from referee.tournament.standings import final_table

PAGE = ROOT / "docs" / "tournaments.md"
STRENGTH, LUCK, NOISE = 4.0, 3.0, 4.17
"""The standard deviations of the entrants' strengths, of a seat's luck with a seed, and of the noise in a performance.
The noise equals TrueSkill's beta, and all three have the same unit."""
RATING_ERROR = 1.5
"""The standard error of the ratings by which a knockout is seeded."""
ENTRANTS, SEATS = (8, 16), (2, 3, 4, 5)


class Way(NamedTuple):
    """A format, and whether the file lists the entrants in the order of their ratings."""

    name: str
    format: Format
    is_seeded: bool = False


WAYS = (
    Way("round robin", Format.ROUND_ROBIN),
    Way("Swiss", Format.SWISS),
    Way("knockout, lots", Format.KNOCKOUT),
    Way("knockout, seeded by a ladder", Format.KNOCKOUT, is_seeded=True),
)


class Cell(NamedTuple):
    """The number of entrants, and the number of seats in each match."""

    entrants: int
    seats: int


def plan(cell: Cell, way: Way, blocks: int, seed: int) -> TournamentPlan:
    """Return the plan of a tournament."""
    lines = [
        f'format = "{way.format.value}"',
        *(f"{key} = {value}" for key, value in (("seats", cell.seats), ("blocks", blocks), ("seed", seed))),
        'balance = "near"' if way.format is Format.ROUND_ROBIN else "",
        'clock = "60+0.5/10"\n[[games]]\ngame = "cargo_noir"',
        *(f'[[entrants]]\nname = "e{number}"\nseat = "./e{number}"' for number in range(cell.entrants)),
    ]
    return read_plan("\n".join(lines), "tournament.toml")


def winners(cell: Cell, way: Way, blocks: int, seed: int) -> tuple[float, int]:
    """Play a tournament.

    Returns:
        The best entrant's share of the first place, and the number of matches.
    """
    draw = random.Random(f"formats {cell} {seed}")
    strengths = [draw.gauss(0, STRENGTH) for _ in range(cell.entrants)]
    if way.is_seeded:
        # A knockout seeds its entrants in the order of the file.
        strengths.sort(key=lambda strength: -strength - draw.gauss(0, RATING_ERROR))
    terms = plan(cell, way, blocks, seed)
    results: dict[str, Result] = {}
    while (found := (played := course(terms, results)).next_round(results)) is not None:
        results.update({one.name: result(one, strengths, draw) for one in found.fixtures})
    first = [row.entrant for row in final_table(terms, played, results).rows if row.place == 1]
    best = max(range(cell.entrants), key=strengths.__getitem__)
    return (best in first) / len(first), len(results)


def result(fixture: Fixture, strengths: Sequence[float], draw: random.Random) -> Result:
    """Draw the result of a match."""
    # All matches in a block have the same seed, so a seat has the same luck in all of them.
    luck = random.Random(fixture.seed)
    scores = [strengths[entrant] + luck.gauss(0, LUCK) + draw.gauss(0, NOISE) for entrant in fixture.seats]
    return Result(
        tuple(
            SeatResult(seat, "", 1 + sum(other > score for other in scores), 0, Outcome.PLAYED, 1, 0.0, 0.0, 0.0, "")
            for seat, score in enumerate(scores)
        ),
        len(scores),
        "",
        None,
    )


def shares(cell: Cell, budget: int, tournaments: int) -> list[tuple[float, float]]:
    """Return, for each of `WAYS`, the share of tournaments that the best entrant wins, and the mean number of matches.

    For each way, the number of blocks is the one that brings the number of matches closest to the budget.
    """
    found = []
    for way in WAYS:
        # A tournament with one block shows how many matches a block takes.
        _, once = winners(cell, way, 1, 0)
        blocks = max(1, round(budget / once))
        ended = [winners(cell, way, blocks, seed) for seed in range(tournaments)]
        found.append((sum(share for share, _ in ended) / tournaments, sum(count for _, count in ended) / tournaments))
    return found


def budget_of(cell: Cell) -> int:
    """Return the number of matches in a round robin with two blocks at each table."""
    return 2 * winners(cell, WAYS[0], 1, 0)[1]


def half_interval(share: float, count: int) -> float:
    """Return half the width of a share's 95 % interval by Agresti and Coull (1998), which is not 0 for a share of 1."""
    # Two wins and two losses are added, because z squared is nearly 4.
    near = (share * count + 2) / (count + 4)
    return 1.96 * math.sqrt(near * (1 - near) / (count + 4))


def row(cell: Cell, tournaments: int) -> str:
    """Return a line of the table."""
    columns = [
        f"{share:.0%} ± {half_interval(share, tournaments):.0%} ({matches:.0f})"
        for share, matches in shares(cell, budget_of(cell), tournaments)
    ]
    return f"| {cell.entrants} | {cell.seats} | {' | '.join(columns)} |"


def table(tournaments: int, workers: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{tournaments} tournaments for each figure:\n"
    yield f"| entrants | seats | {' | '.join(way.name for way in WAYS)} |"
    yield "|---" * (2 + len(WAYS)) + "|"
    with ProcessPoolExecutor(workers) as processes:
        cells = [Cell(*one) for one in product(ENTRANTS, SEATS)]
        yield from processes.map(partial(row, tournaments=tournaments), cells)


def main() -> None:
    """Play the tournaments, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.formats", description=__doc__)
    parser.add_argument("--tournaments", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-page", action="store_true", help="print the table only")
    chosen = parser.parse_args()
    text = "\n".join(table(chosen.tournaments, chosen.workers))
    print(text)
    if not chosen.no_page:
        fill(PAGE, "make formats", {"": text})


if __name__ == "__main__":
    main()
