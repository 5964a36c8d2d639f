"""`python -m bench.scheduling`: which rule of who plays next finds the true order in the fewest matches, and who waits how long.

Bots of known strength play under several rules. In a match each performs at its strength and a noise, and the places follow.
Ratings are the ladder's own (`ladder/model/rating.py`). The results are docs/scheduling.md and its picture.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from statistics import correlation, linear_regression, mean
from time import process_time

from bench.rivals import RULES, SEATS, Bot, Field, Rule
from ladder.facts.standings import SUSPENDED_AFTER
from ladder.model.rating import MU, inherit, update

STRENGTH = 6.0
"""The standard deviation of the true strengths, in the unit of mu."""
NOISE = MU / 6
"""That of a performance: TrueSkill's beta."""
AIM = 0.95
"""The rank correlation that is to be reached."""
PAGE = Path(__file__).parent.parent / "docs" / "scheduling.md"
REPORTING = 20_261
"""The first seed of the page. The constants of the rule were chosen with seeds from 1,000 to 5,000, from 40,001 on, and with
another simulation that has generators of its own."""
POINTS = 40
"""At how many moments the correlation is measured."""


@dataclass(frozen=True)
class Setting:
    """What is played."""

    name: str
    bots: int
    repeats: int
    """How often, with a seed of its own each time."""
    matches_each: int = 60
    """How many matches a bot has, on average."""
    moving: bool = False
    """Whether bots arrive, are replaced by new versions, and fail."""


SETTINGS: Sequence[Setting] = (
    Setting("200 bots", 200, 24),
    Setting("200 bots that come and go", 200, 24, moving=True),
    Setting("2,000 bots", 2000, 2, matches_each=30),
)


@dataclass(frozen=True)
class Course:
    """How a rule did in a setting."""

    correlations: list[tuple[float, float]]
    """Matches for each bot so far, and the rank correlation (Spearman) between mu and the truth."""
    coverage: float
    """The share of bots whose strength was within two sigma in the end, after an affine fit."""
    spread: float
    """Matches of the bot with the most for one of the bot with the fewest, of those that were there all the time."""
    longest_wait: float
    """The most blocks that a bot waited, for each bot on the ladder."""
    newcomers: float
    """By what share of all places newcomers stood wrong after their first ten matches, on average; 0 if there were none."""
    seconds: float
    """CPU that the rule took for a block."""

    def matches_to(self, aim: float) -> float | None:
        """Return after how many matches for each bot a correlation was reached and kept; None if it was not."""
        for (x0, y0), (x1, y1) in zip(self.correlations[-2::-1], self.correlations[:0:-1], strict=True):
            if y1 < aim:
                return None
            if y0 < aim:
                return x0 + (x1 - x0) * (aim - y0) / (y1 - y0)
        return None


def play(setting: Setting, rule: Rule, seed: int) -> Course:
    """Play a setting under a rule."""
    world, noise = random.Random(seed), random.Random(seed + 1)
    blocks = round(setting.bots * setting.matches_each * len(SEATS) / sum(seats**2 for seats in SEATS))
    bots, arrivals = _cast(setting, blocks, world)
    coming = {bot.number for arriving in arrivals.values() for bot in arriving}
    field = Field([bot for bot in bots.values() if bot.number not in coming], random.Random(seed + 2))
    drawing = rule(field)
    correlations, wrong = [], []
    seconds, seats = 0.0, 0
    for block in range(1, blocks + 1):
        for bot in arrivals.get(block, ()):
            _arrive(bot, field)
        start = process_time()
        table = [bots[number] for number in next(drawing)]
        seconds += process_time() - start
        field.block = block
        seats += len(table) ** 2
        few = [bot for bot in table if bot.arrived and bot.matches < 10]
        _play_block(table, field, noise)
        wrong += [_misplaced(bot, field) for bot in few if bot.matches >= 10 and not bot.fails]
        if block % max(1, blocks // POINTS) == 0:
            correlations.append((seats / setting.bots, _rank_correlation(_sound(field))))
    last = _sound(field)
    always = [bot.matches for bot in last if not bot.arrived]
    return Course(
        correlations,
        _coverage(last),
        max(always) / max(1, min(always)),
        max(max(bot.longest_wait, blocks - bot.last_block) for bot in last) / len(field.playing),
        mean(wrong) if wrong else 0.0,
        seconds / blocks,
    )


def _cast(setting: Setting, blocks: int, world: random.Random) -> tuple[dict[int, Bot], dict[int, list[Bot]]]:
    """Return all bots by number, and those that arrive later, by block: a quarter of them, and new versions of a fifth."""
    bots = {number: Bot(number, world.gauss(MU, STRENGTH)) for number in range(setting.bots)}
    arrivals: dict[int, list[Bot]] = defaultdict(list)
    if setting.moving:
        staying = setting.bots * 3 // 4
        for number in range(staying, setting.bots):
            arrivals[world.randrange(blocks // 10, blocks * 2 // 3)].append(bots[number])
        for bot in bots.values():
            bot.fails = world.random() < 0.03
        for old in world.sample(
            [bot for bot in bots.values() if bot.number < staying and not bot.fails], setting.bots // 5
        ):
            new = Bot(len(bots), old.strength + world.gauss(1, 2), predecessor=old)
            bots[new.number] = new
            arrivals[world.randrange(blocks // 10, blocks * 2 // 3)].append(new)
    return bots, arrivals


def _arrive(bot: Bot, field: Field) -> None:
    """Let a bot in; a new version takes over from its predecessor."""
    bot.arrived = bot.last_block = field.block
    if bot.predecessor is not None:
        if bot.predecessor.number in field.playing:
            field.leave(bot.predecessor)
        bot.rating = inherit(bot.predecessor.rating)
    field.enter(bot)


def _play_block(table: Sequence[Bot], field: Field, noise: random.Random) -> None:
    """Play all rotations of a block, and rate them."""
    for bot, other in permutations(table, 2):
        field.met[bot.number][other.number] += 1
    playing = [bot for bot in table if bot.number in field.playing]
    for bot in playing:
        field.leave(bot)
        bot.longest_wait = max(bot.longest_wait, field.block - bot.last_block)
        bot.last_block = field.block
        bot.blocks += 1
    for _ in table:
        performance = {bot.number: (not bot.fails, noise.gauss(bot.strength, NOISE)) for bot in table}
        order = sorted(performance.values(), reverse=True)
        ranks = [1 + order.index(performance[bot.number]) for bot in table]
        for bot, rating in zip(table, update([bot.rating for bot in table], ranks), strict=True):
            bot.rating = rating
            bot.matches += 1
            bot.faults_in_a_row = (bot.faults_in_a_row + 1) * bot.fails
    for bot in playing:
        if bot.faults_in_a_row < SUSPENDED_AFTER:
            field.enter(bot)


def _places(values: Sequence[float]) -> list[int]:
    """Return the place of each value among all, from 0."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    places = [0] * len(values)
    for place, index in enumerate(order):
        places[index] = place
    return places


def _rank_correlation(bots: Sequence[Bot]) -> float:
    return correlation(_places([bot.rating.mu for bot in bots]), _places([bot.strength for bot in bots]))


def _sound(field: Field) -> list[Bot]:
    """Return the bots that do not fail: how strong the others would be, no match can tell."""
    return [bot for bot in field.playing.values() if not bot.fails]


def _misplaced(bot: Bot, field: Field) -> float:
    """Return how far a bot stands from its true place, as a share of all places."""
    others = _sound(field)
    above = sum(other.rating.mu > bot.rating.mu for other in others)
    return abs(above - sum(other.strength > bot.strength for other in others)) / len(others)


def _coverage(bots: Sequence[Bot]) -> float:
    """Return the share of bots whose strength is within mu +- 2 sigma, once mu is fitted to the truth by a straight line."""
    slope, intercept = linear_regression([bot.rating.mu for bot in bots], [bot.strength for bot in bots])
    return mean(abs(bot.strength - intercept - slope * bot.rating.mu) <= 2 * slope * bot.rating.sigma for bot in bots)


Found = dict[Setting, dict[str, list[Course]]]


def page(found: Found, seed: int) -> str:
    """Return the page, in Markdown."""
    lines = [
        "# Who plays next, in figures",
        "",
        f"Written by `make scheduling`, with seeds from {seed} on; do not edit.",
        "[Running a ladder](running_a_ladder.md#who-plays-next) says what the rule is, and",
        "[decision 24](decisions/0024-scheduling.md) why.",
        "",
        f"Bots of known strength (normal, standard deviation {STRENGTH:g} in the unit of mu) play at tables of 2 to 5, in blocks.",
        f"In each match a bot performs at its strength and a normal noise of {NOISE:.2f} (TrueSkill's beta); the places follow.",
        "Ratings are the ladder's own.",
        "Where bots come and go, a quarter of them arrives later, a fifth is replaced by a new version, and three in a hundred are",
        f"out in every match until they are suspended after {SUSPENDED_AFTER}; these are not among those that are to be placed.",
        "The constants of the rule were chosen with other seeds.",
        "",
        "![Rank correlation with the truth against matches for each bot](images/scheduling.svg)",
    ]
    for setting, courses in found.items():
        lines += [
            "",
            f"## {setting.name}",
            "",
            f"{setting.matches_each} matches for each bot; means over seeds: {setting.repeats}.",
            "",
            "| rule | matches to 0.90 | to 0.95 | correlation on average | in the end | within 2 sigma | most for fewest matches | longest wait | newcomers | ms a block |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *(_row(rule, runs) for rule, runs in courses.items()),
            "",
            _verdict(courses),
        ]
    return "\n".join([*lines, "", _LEGEND]) + "\n"


_LEGEND = """## What the columns mean

| | |
|---|---|
| matches to 0.90, to 0.95 | for each bot, until the rank correlation (Spearman) of mu and strength was there to stay; in brackets the least and the most of all seeds |
| within 2 sigma | the share of bots whose strength lay within mu +- 2 sigma in the end, after an affine fit; 0.95 would be right |
| most for fewest matches | of the bots that were there all the time |
| longest wait | the most blocks that a bot waited, for each bot on the ladder; with tables of two to five, the bound of the ladder's rule is about 12 |
| newcomers | how far from its true place a bot stood after its first ten matches, as a share of all places |
| ms a block | CPU of the rule alone, on the machine that wrote this page; rivals are written to be read, not to be fast |"""


def _row(rule: str, runs: Sequence[Course]) -> str:
    cells = [
        rule,
        _matches(runs, 0.90),
        _matches(runs, AIM),
        f"{mean(found for run in runs for _, found in run.correlations):.4f}",
        f"{mean(run.correlations[-1][1] for run in runs):.4f}",
        f"{mean(run.coverage for run in runs):.2f}",
        f"{mean(run.spread for run in runs):.2f}",
        f"{max(run.longest_wait for run in runs):.2f}",
        f"{mean(run.newcomers for run in runs):.3f}" if runs[0].newcomers else "-",
        f"{1000 * mean(run.seconds for run in runs):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _matches(runs: Sequence[Course], aim: float) -> str:
    reached = [found for run in runs if (found := run.matches_to(aim)) is not None]
    if len(reached) < len(runs):
        return f"not in {len(runs) - len(reached)} of {len(runs)}"
    around = f" ({min(reached):.1f} to {max(reached):.1f})" if len(reached) > 1 else ""
    return f"{mean(reached):.1f}{around}"


def _verdict(courses: dict[str, list[Course]]) -> str:
    """Return a line that says which rule needed the fewest matches, whichever it is."""
    needed = {rule: mean(run.matches_to(AIM) or float("inf") for run in runs) for rule, runs in courses.items()}
    order = sorted(needed, key=lambda rule: needed[rule])
    best = [f"{rule} ({needed[rule]:.1f})" for rule in order if needed[rule] < float("inf")]
    return f"In the order of the matches that it took to {AIM}: {', '.join(best) or 'no rule got there'}."


_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#e69f00")
_DASHES = ("", "7 3", "2 2", "9 3 2 3", "4 4", "1 3")
_LOWEST = 0.6


def picture(found: Found) -> str:
    """Return the curves of all rules, a panel for each setting, as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {340 * len(found) + 20} 330" font-family="sans-serif"'
        ' font-size="12" role="img"><title>Rank correlation with the truth against matches for each bot</title>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for panel, (setting, courses) in enumerate(found.items()):
        parts += [f'<g transform="translate({340 * panel + 45} 30)">', *_panel(setting, courses), "</g>"]
    for number, rule in enumerate(RULES):
        x = 45 + number * (340 * len(found) - 40) / len(RULES)
        parts.append(_line(number, f"{x:.0f},312 {x + 30:.0f},312") + f'<text x="{x + 36:.0f}" y="316">{rule}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(setting: Setting, courses: dict[str, list[Course]]) -> list[str]:
    """Return the axes and curves of a setting, 280 wide and 220 high."""

    def at(matches: float, found: float) -> str:
        return f"{280 * matches / setting.matches_each:.1f},{220 * (1 - found) / (1 - _LOWEST):.1f}"

    parts = [f'<text x="140" y="-12" text-anchor="middle" font-weight="bold">{setting.name}</text>']
    for found in (0.6, 0.7, 0.8, 0.9, AIM, 1.0):
        y = 220 * (1 - found) / (1 - _LOWEST)
        colour = "#888888" if found == AIM else "#dddddd"
        parts.append(
            f'<path d="M0 {y:.1f}H280" stroke="{colour}"/><text x="-6" y="{y + 4:.1f}" text-anchor="end">{found:g}</text>'
        )
    for matches in range(0, setting.matches_each + 1, setting.matches_each // 6):
        x = 280 * matches / setting.matches_each
        parts.append(
            f'<path d="M{x:.1f} 220v4" stroke="black"/><text x="{x:.1f}" y="238" text-anchor="middle">{matches}</text>'
        )
    parts.append('<text x="140" y="256" text-anchor="middle">matches for each bot</text>')
    for number, runs in enumerate(courses.values()):
        moments = zip(*(run.correlations for run in runs), strict=True)
        curve = [(mean(x for x, _ in moment), mean(y for _, y in moment)) for moment in moments]
        parts.append(_line(number, " ".join(at(x, y) for x, y in curve if y >= _LOWEST)))
    return parts


def _line(number: int, points: str) -> str:
    dash = f' stroke-dasharray="{_DASHES[number]}"' if _DASHES[number] else ""
    return f'<polyline points="{points}" fill="none" stroke="{_COLOURS[number]}" stroke-width="2"{dash}/>'


def main() -> None:
    """Play all settings under all rules, and write the page and its picture."""
    parser = argparse.ArgumentParser(description="Compare rules of who plays next; write docs/scheduling.md.")
    parser.add_argument("--bots", type=int, help="so many bots at most, and one seed, for a quick look")
    parser.add_argument("--seed", type=int, default=REPORTING, help="the first of the seeds")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the page goes; its picture: images/ beside it")
    chosen = parser.parse_args()
    settings = SETTINGS
    if chosen.bots is not None:
        settings = tuple(
            replace(one, name=f"{one.name}, cut to {chosen.bots}", bots=min(chosen.bots, one.bots), repeats=1)
            for one in SETTINGS
        )
    found: Found = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for setting in settings:
            found[setting] = {}
            seeds = [chosen.seed + 10 * number for number in range(setting.repeats)]
            for name, rule in RULES.items():
                found[setting][name] = list(pool.map(partial(play, setting, rule), seeds))
                print(f"{setting.name}: {_row(name, found[setting][name])}", flush=True)
    chosen.page.write_text(page(found, chosen.seed), encoding="utf-8")
    images = chosen.page.parent / "images"
    images.mkdir(exist_ok=True)
    (images / "scheduling.svg").write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main()
