"""Simulate scheduling rules, to measure how many matches they need to find the true order, and how evenly they assign matches.

Bots of known strength play under several rules, which know only the facts that a ladder knows. In a match, a bot's performance is
its strength plus noise, and the performances decide the places. Ratings are the ladder's own (`ladder/model/rating.py`).
The same seeds give the same figures.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from statistics import correlation, linear_regression, mean

from bench.report import Report
from ladder.model.rating import MU, Rating, update
from ladder.model.schedule import Candidate, Queue
from referee.sandbox.system import processors

SEATS = (2, 3, 4, 5)
BOTS, MATCHES_EACH, REPEATS = 200, 60, 24
STRENGTH = 6.0
"""The standard deviation of the true strengths, in the unit of mu."""
NOISE = MU / 6
"""The standard deviation of a performance, which is TrueSkill's beta."""
AIM = 0.95
"""The rank correlation to reach."""
SEED = 20_261
"""The first seed. The constants of the rule were chosen with other seeds."""
POINTS = 40
"""The number of moments at which the correlation is measured."""


@dataclass
class Bot:
    """A bot, with the facts that the ladder knows about it."""

    number: int
    strength: float
    """The true strength, in the unit of mu; no rule looks at it."""
    rating: Rating = field(default_factory=Rating)
    last_block: int = 0
    blocks: int = 0
    matches: int = 0
    longest_wait: int = 0
    """The longest wait so far, in blocks."""


class Field:
    """The bots on a ladder, with the history of their matches.

    Attributes:
        playing: the bots that take part now, by number.
        sizes: the possible numbers of seats.
        met: for each bot, the number of blocks in which it has met each other bot.
        block: the number of blocks so far.
        chance: the random numbers of the rule.
        changed: the numbers of the bots that have changed since the rule last cleared this set.
    """

    def __init__(self, bots: Sequence[Bot], chance: random.Random, sizes: Sequence[int] = SEATS) -> None:
        """Begin with the given bots."""
        self.playing = {bot.number: bot for bot in bots}
        self.sizes = sizes
        self.met: dict[int, Counter[int]] = defaultdict(Counter)
        self.block = 0
        self.chance = chance
        self.changed = set(self.playing)
        self._by_mu = sorted((bot.rating.mu, bot.number) for bot in bots)

    @property
    def seats(self) -> int:
        """The number of seats in the next block; all sizes are used equally often."""
        return self.sizes[self.block % len(self.sizes)]

    def rate(self, bot: Bot, rating: Rating) -> None:
        """Give a bot a new rating."""
        # The list stays sorted, because the old entry is removed before the new one is inserted.
        del self._by_mu[bisect_left(self._by_mu, (bot.rating.mu, bot.number))]
        bot.rating = rating
        insort(self._by_mu, (bot.rating.mu, bot.number))

    def meetings(self, some: Collection[int], others: Collection[int]) -> dict[int, int]:
        """Return, for each bot in `some`, the number of its meetings with the bots in `others`."""
        return {one: sum(self.met[one][other] for other in others) for one in some}

    def nearest(self, bot: Bot, count: int) -> list[int]:
        """Return the numbers of the bots nearest to a bot in mu, half of them above it and half below."""
        place = bisect_left(self._by_mu, (bot.rating.mu, bot.number))
        # Near an end of the list, bots from the other side replace the missing ones.
        start = max(0, min(place - count // 2, len(self._by_mu) - count - 1))
        return [number for _, number in self._by_mu[start : start + count + 1] if number != bot.number]


Rule = Callable[[Field], Iterator[list[int]]]


def ours(field: Field) -> Iterator[list[int]]:
    """Yield the players of each block, drawn by the ladder's own rule."""
    queue = Queue([], {})
    due: dict[int, int] = {}
    while True:
        # The queue copies the facts, so bots that have changed are put in again.
        for number in field.changed:
            queue.remove(number)
            bot = field.playing.get(number)
            if bot is None:
                continue
            queue.put(
                Candidate(
                    version=number,
                    author=f"author{number}",
                    rating=bot.rating,
                    blocks=bot.blocks,
                    last_block=bot.last_block,
                    due=due.get(number),
                    faults_in_a_row=0,
                    predecessor=None,
                )
            )
        field.changed.clear()
        block = queue.draw(field.sizes, (), field.chance, field.meetings)
        assert block is not None
        queue.note(block, field.block + 1)
        due.update(block.due)
        yield list(block.versions)


def k_nearest(field: Field) -> Iterator[list[int]]:
    """Yield the players of each block: the bot with the fewest matches, and opponents drawn from the ten nearest."""
    while True:
        first = min(field.playing.values(), key=lambda bot: (bot.matches, field.chance.random()))
        yield [first.number, *field.chance.sample(field.nearest(first, 10), field.seats - 1)]


def at_random(field: Field) -> Iterator[list[int]]:
    """Yield the players of each block, all drawn at random."""
    while True:
        yield field.chance.sample(list(field.playing), field.seats)


RULES: dict[str, Rule] = {"ours": ours, "k nearest": k_nearest, "random": at_random}
RIVALS = [rule for rule in RULES if rule != "ours"]


@dataclass(frozen=True)
class Course:
    """The results of a simulation under one rule."""

    correlations: list[tuple[float, float]]
    """Matches per bot so far, and the rank correlation (Spearman) between mu and the truth."""
    coverage: float
    """The share of bots whose strength was within two sigma at the end, after an affine fit."""
    spread: float
    """The largest number of matches of a bot, divided by the smallest."""
    longest_wait: float
    """The longest wait of a bot, in blocks, divided by the number of bots."""

    def matches_to(self, aim: float) -> float:
        """Return the number of matches per bot until a correlation was reached for good; infinity if it never was."""
        # The search begins at the end, because the correlation must stay above the aim from there on.
        for (x0, y0), (x1, y1) in zip(self.correlations[-2::-1], self.correlations[:0:-1], strict=True):
            if y1 < aim:
                break
            if y0 < aim:
                return x0 + (x1 - x0) * (aim - y0) / (y1 - y0)
        return float("inf")


def play(rule: str, seed: int, bots: int = BOTS, matches_each: int = MATCHES_EACH) -> Course:
    """Simulate a ladder under a rule.

    Args:
        rule: the name of the rule.
        seed: the seed of everything that is drawn.
        bots: the number of bots.
        matches_each: the mean number of matches per bot.
    """
    world, noise = random.Random(seed), random.Random(seed + 1)
    # In a block of k seats, each of k bots plays k matches: k squared in all.
    blocks = round(bots * matches_each * len(SEATS) / sum(seats**2 for seats in SEATS))
    cast = [Bot(number, world.gauss(MU, STRENGTH)) for number in range(bots)]
    field = Field(cast, random.Random(seed + 2))
    drawing = RULES[rule](field)
    correlations, seats = [], 0
    for block in range(1, blocks + 1):
        table = [cast[number] for number in next(drawing)]
        field.block = block
        seats += len(table) ** 2
        _play_block(table, field, noise)
        if block % max(1, blocks // POINTS) == 0:
            correlations.append((seats / bots, _rank_correlation(cast)))
    matches = [bot.matches for bot in cast]
    # A wait that has not ended yet counts as well.
    longest_wait = max(max(bot.longest_wait, blocks - bot.last_block) for bot in cast) / bots
    return Course(correlations, _coverage(cast), max(matches) / max(1, min(matches)), longest_wait)


def _play_block(table: Sequence[Bot], field: Field, noise: random.Random) -> None:
    for bot, other in permutations(table, 2):
        field.met[bot.number][other.number] += 1
    for bot in table:
        field.changed.add(bot.number)
        bot.longest_wait = max(bot.longest_wait, field.block - bot.last_block)
        bot.last_block = field.block
        bot.blocks += 1
    for _ in table:
        performance = [noise.gauss(bot.strength, NOISE) for bot in table]
        order = sorted(performance, reverse=True)
        ranks = [1 + order.index(one) for one in performance]  # performances are real numbers, so no two are equal
        for bot, rating in zip(table, update([bot.rating for bot in table], ranks), strict=True):
            field.rate(bot, rating)
            bot.matches += 1


def _places(values: Sequence[float]) -> list[int]:
    order = sorted(range(len(values)), key=lambda index: values[index])
    places = [0] * len(values)
    for place, index in enumerate(order):
        places[index] = place
    return places


def _rank_correlation(bots: Sequence[Bot]) -> float:
    # Spearman's correlation is the correlation of the places.
    return correlation(_places([bot.rating.mu for bot in bots]), _places([bot.strength for bot in bots]))


def _coverage(bots: Sequence[Bot]) -> float:
    """Return the share of bots whose strength is within mu +- 2 sigma, once mu is fitted to the truth by a straight line."""
    slope, intercept = linear_regression([bot.rating.mu for bot in bots], [bot.strength for bot in bots])
    return mean(abs(bot.strength - intercept - slope * bot.rating.mu) <= 2 * slope * bot.rating.sigma for bot in bots)


def add_rows(report: Report) -> None:
    """Compare the ladder's scheduling rule with the others."""
    report.section(f"Who plays next, simulated: {BOTS} bots, {MATCHES_EACH} matches each")
    seeds = [SEED + 10 * number for number in range(report.rounds(REPEATS))]
    with ProcessPoolExecutor(processors()) as pool:
        found = {rule: list(pool.map(partial(play, rule), seeds)) for rule in RULES}
    needed = {rule: mean(run.matches_to(AIM) for run in runs) for rule, runs in found.items()}
    spread = {rule: mean(run.spread for run in runs) for rule, runs in found.items()}
    for rule in RIVALS:
        what, ours = f"matches each to a rank correlation of {AIM}", needed["ours"]
        report.ratio(what, f"{ours:.1f}", f"{rule} {needed[rule]:.1f}", ours / needed[rule])
    for rule in RIVALS:
        ours = spread["ours"]
        report.ratio("most for fewest matches", f"{ours:.2f}", f"{rule} {spread[rule]:.2f}", ours / spread[rule])
    wait = max(run.longest_wait for run in found["ours"])
    report.figure("the longest wait, in blocks for each bot", f"{wait:.2f}")
    within = mean(run.coverage for run in found["ours"])
    report.ratio("share within two sigma", f"{within:.2f}", "0.95", within / 0.95)
