"""Simulate how often rating ranges contain the truth: `make ratings`, or `python -m bench.ratings`, writes docs/ratings.md.

Bots of known strength play as `ladder/model/schedule.py` seats them. Then both ratings of the ladder give their estimates: the
online rating (`ladder/model/rating.py`), which changes with every match, and the fit (`ladder/model/fit.py`) to all matches.
The same seeds give the same page.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import inf, sqrt
from pathlib import Path
from statistics import fmean, linear_regression, mean, stdev
from typing import NamedTuple

from bench.matches import ROOT
from bench.scheduling import NOISE, SEATS, STRENGTH, Bot, Field, ours
from bench.sections import fill
from ladder.model.fit import CountedMatch, fit
from ladder.model.rating import MU, update
from ladder.model.schedule import rotations
from referee.sandbox.system import processors

PAGE = ROOT / "docs" / "ratings.md"
LADDERS = 200
SEED = 31_415
"""The first seed. The constants of the fit were chosen with other seeds."""
NEW = 10
"""The number of blocks below which the table calls a bot new."""


@dataclass(frozen=True)
class Setting:
    """The kind of bots and games on a ladder."""

    name: str
    sizes: Sequence[int] = SEATS
    """The possible numbers of seats."""
    alike: Sequence[float] = (0.0,)
    """The share of the noise's variance that stays the same for a bot throughout a block; bots take these shares in turn."""
    step: float = 0.0
    """Performances are rounded to multiples of this number, so that there are ties; 0 means no rounding."""
    come_and_go: bool = False
    """True if a third of the bots join at a random moment, and a third leave at a random moment."""
    strength: float = STRENGTH
    """The standard deviation of the true strengths."""
    bots: int = 60
    matches_each: int = 60
    """The mean number of matches per bot."""


SETTINGS = [
    Setting("two to five seats"),
    Setting("two seats", sizes=(2,)),
    Setting("three seats", sizes=(3,)),
    Setting("four seats", sizes=(4,)),
    Setting("five seats", sizes=(5,)),
    Setting("ties", step=4.0),
    Setting("half of the noise is the bot's for the block", alike=(0.5,)),
    Setting("nine tenths of the noise for every other bot, none for the rest", alike=(0.0, 0.9)),
    Setting("bots come and go", come_and_go=True),
    Setting("all of these: half of the noise, ties, bots come and go", alike=(0.5,), step=4.0, come_and_go=True),
    Setting("ten bots, thirty matches each", bots=10, matches_each=30),
    Setting("strengths far apart: many bots always beat most others", strength=15.0),
]


class Range(NamedTuple):
    """The true strength of a bot, and a rating's estimate of it."""

    strength: float
    estimate: float
    half: float
    """Half the width of the 95 % range."""
    blocks: int


class Course(NamedTuple):
    """The results of one ladder."""

    online: list[Range]
    fitted: list[Range]


def play(setting: Setting, seed: int) -> Course:
    """Simulate a ladder; return the final estimates of both ratings for the bots that have played."""
    # The generators are separate, with one for the rule, so that the draws of one do not affect those of the others.
    world, noise = random.Random(seed), random.Random(seed + 1)
    cast = [Bot(number, world.gauss(MU, setting.strength)) for number in range(setting.bots)]
    # In a block of k seats, each of k bots plays k matches, which makes k squared in total.
    blocks = round(setting.bots * setting.matches_each * len(setting.sizes) / sum(seats**2 for seats in setting.sizes))
    stays = [_stay(setting, bot.number, blocks, world) for bot in cast]
    field = Field(cast, random.Random(seed + 2), setting.sizes)
    drawing = ours(field)
    matches: list[CountedMatch] = []
    for field.block in range(1, blocks + 1):
        playing = {
            bot.number: bot for bot, (comes, goes) in zip(cast, stays, strict=True) if comes <= field.block < goes
        }
        field.changed |= playing.keys() ^ field.playing.keys()
        field.playing = playing
        table = [cast[number] for number in next(drawing)]
        matches += _block(table, field, setting, noise)
    return Course(_online(cast), _fitted(cast, matches))


def _stay(setting: Setting, number: int, blocks: int, world: random.Random) -> tuple[float, float]:
    """Return the first block of a bot, and the first block after the bot has left."""
    moment = world.randrange(1, blocks)
    if not setting.come_and_go or number % 3 == 0:
        return 0, inf
    return (moment, inf) if number % 3 == 1 else (0, moment)


def _block(table: Sequence[Bot], field: Field, setting: Setting, noise: random.Random) -> Iterator[CountedMatch]:
    """Play the matches of a block, and rate the bots online after each."""
    for bot, other in permutations(table, 2):
        field.met[bot.number][other.number] += 1
    field.changed |= {bot.number for bot in table}
    alike = {bot.number: setting.alike[bot.number % len(setting.alike)] for bot in table}
    # Together, the part for the block and the part for the match have the variance of NOISE.
    form = {bot.number: noise.gauss(bot.strength, NOISE * sqrt(alike[bot.number])) for bot in table}
    for bot in table:
        bot.blocks += 1
        bot.last_block = field.block
    numbers = [bot.number for bot in table]
    for seats in rotations(numbers):
        performance = {number: noise.gauss(form[number], NOISE * sqrt(1 - alike[number])) for number in seats}
        scores = [performance[number] // setting.step if setting.step else performance[number] for number in seats]
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        players = [field.playing[number] for number in seats]
        for bot, rating in zip(players, update([bot.rating for bot in players], ranks), strict=True):
            field.rate(bot, rating)
            bot.matches += 1
        yield CountedMatch(field.block, tuple(seats), tuple(ranks))


def _online(cast: Sequence[Bot]) -> list[Range]:
    return [Range(bot.strength, bot.rating.mu, 1.96 * bot.rating.sigma, bot.blocks) for bot in cast if bot.matches]


def _fitted(cast: Sequence[Bot], matches: Sequence[CountedMatch]) -> list[Range]:
    found = fit(matches)
    return [
        Range(cast[number].strength, one.strength, (one.high - one.low) / 2, one.blocks)
        for number, one in found.items()
    ]


# the statistics


def _shift(ranges: Sequence[Range]) -> float:
    """Return the mean of the truth minus the estimate, weighted by each bot's number of blocks."""
    # Only differences between ratings have a meaning.
    return fmean((one.strength - one.estimate for one in ranges), [one.blocks for one in ranges])


def coverage(ranges: Sequence[Range], fewer_blocks: float = inf) -> tuple[int, int]:
    """Return the number of ranges that contain the truth, and the number of all ranges.

    Only bots with fewer than `fewer_blocks` blocks count. First, the averages of truth and estimates are made equal.
    """
    shift = _shift(ranges)
    within = [abs(one.strength - one.estimate - shift) <= one.half for one in ranges if one.blocks < fewer_blocks]
    return sum(within), len(within)


def slope(ranges: Sequence[Range]) -> float:
    """Return the true difference between two bots whose estimates differ by 1."""
    return linear_regression([one.estimate for one in ranges], [one.strength for one in ranges]).slope


def error(ranges: Sequence[Range]) -> float:
    """Return the root mean square error of the estimates, after equalising the averages of truth and estimates."""
    shift = _shift(ranges)
    return sqrt(mean((one.strength - one.estimate - shift) ** 2 for one in ranges))


# the page


class Figures(NamedTuple):
    """The results of all ladders of a setting."""

    coverage: str
    coverage_of_new: str
    slope: str
    error: str


def figures(ladders: Sequence[Sequence[Range]]) -> Figures:
    """Return the averages over ladders, as texts."""
    within = [inside / of for inside, of in map(coverage, ladders)]
    new = [coverage(ranges, NEW) for ranges in ladders]
    count = sum(of for _, of in new)
    return Figures(
        coverage=f"{mean(within):.1%} ± {1.96 * _doubt(within):.1%}",
        coverage_of_new=f"{sum(inside for inside, _ in new) / count:.1%}" if count >= len(ladders) else "-",
        slope=f"{mean(map(slope, ladders)):.2f} ± {1.96 * _doubt([slope(ranges) for ranges in ladders]):.2f}",
        error=f"{mean(map(error, ladders)):.2f}",
    )


def _doubt(values: Sequence[float]) -> float:
    """Return the standard error of an average."""
    return stdev(values) / sqrt(len(values))


def table(found: dict[str, list[Course]]) -> str:
    """Return the page's table, in Markdown."""
    lines = [
        f"{len(next(iter(found.values())))} ladders in each row:",
        "",
        "| bots and games | rating | ranges with the truth | of new bots | truth for 1 of the estimate | error |",
        "|---|---|---|---|---|---|",
    ]
    for name, courses in found.items():
        for rating, ladders in (
            ("online", [course.online for course in courses]),
            ("**fit**", [course.fitted for course in courses]),
        ):
            lines.append(f"| {name if rating == 'online' else ''} | {rating} | {' | '.join(figures(ladders))} |")
    return "\n".join(lines)


def main() -> None:
    """Simulate ladders under all settings, and write the table."""
    parser = argparse.ArgumentParser(
        description="Measure the ranges of ratings, and write the table of docs/ratings.md."
    )
    parser.add_argument("--ladders", type=int, default=LADDERS, help="ladders under each setting")
    parser.add_argument("--workers", type=int, default=processors(), help="ladders that play at the same time")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page with the table")
    chosen = parser.parse_args()
    seeds = [SEED + 10 * number for number in range(chosen.ladders)]
    found = {}
    with ProcessPoolExecutor(chosen.workers) as pool:
        for setting in SETTINGS:
            found[setting.name] = list(pool.map(partial(play, setting), seeds))
            print(setting.name, *figures([course.fitted for course in found[setting.name]]), sep="; ", flush=True)
    fill(chosen.page, "make ratings", {"": table(found)})


if __name__ == "__main__":
    main()
