"""Rules of who plays next, beside that of the ladder (`ladder/model/schedule.py`); `bench/scheduling.py` compares them.

A rule yields the bots of one block after the other, and is told nothing but what a ladder knows.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import exp

from ladder.model.rating import SIGMA, Rating
from ladder.model.schedule import Candidate, Queue

SEATS = (2, 3, 4, 5)


@dataclass
class Bot:
    """A bot, and what a ladder knows of it."""

    number: int
    strength: float
    """The truth, in the unit of mu; no rule looks at it."""
    fails: bool = False
    """Whether it is out in every match."""
    predecessor: Bot | None = None
    rating: Rating = field(default_factory=Rating)
    arrived: int = 0
    """The number of the block that was the last before it came."""
    last_block: int = 0
    """The last block in which it played; before that, when it arrived."""
    blocks: int = 0
    matches: int = 0
    faults_in_a_row: int = 0
    longest_wait: int = 0
    """In blocks."""


class Field:
    """The bots on a ladder, and what has happened between them.

    Attributes:
        playing: by number, those that can be scheduled.
        met: for each bot, in how many blocks it has met each other.
        block: how many blocks there were.
        chance: the rule's own.
        changed: the numbers of bots that have come, gone or played since a rule has cleared it.
    """

    def __init__(self, bots: Sequence[Bot], chance: random.Random) -> None:
        """Begin with some bots."""
        self.playing = {bot.number: bot for bot in bots}
        self.met: dict[int, Counter[int]] = defaultdict(Counter)
        self.block = 0
        self.chance = chance
        self.changed = set(self.playing)
        self._by_mu = sorted((bot.rating.mu, bot.number) for bot in bots)

    @property
    def seats(self) -> int:
        """The number of seats of the next block: all are played equally often."""
        return SEATS[self.block % len(SEATS)]

    def enter(self, bot: Bot) -> None:
        """Let a bot play from now on."""
        self.playing[bot.number] = bot
        self.changed.add(bot.number)
        insort(self._by_mu, (bot.rating.mu, bot.number))

    def leave(self, bot: Bot) -> None:
        """Let a bot play no more."""
        del self.playing[bot.number]
        self.changed.add(bot.number)
        del self._by_mu[bisect_left(self._by_mu, (bot.rating.mu, bot.number))]

    def meetings(self, some: Collection[int], others: Collection[int]) -> dict[int, int]:
        """Return for each of some bots how often it has met any of others."""
        return {one: sum(self.met[one][other] for other in others) for one in some}

    def nearest(self, bot: Bot, count: int) -> list[int]:
        """Return the numbers of so many bots that are nearest in mu, half of them above and half below."""
        place = bisect_left(self._by_mu, (bot.rating.mu, bot.number))
        start = max(0, min(place - count // 2, len(self._by_mu) - count - 1))
        return [number for _, number in self._by_mu[start : start + count + 1] if number != bot.number]


Rule = Callable[[Field], Iterator[list[int]]]


def ours(field: Field) -> Iterator[list[int]]:
    """Draw by the rule of the ladder."""
    queue = Queue([], {})
    due: dict[int, int] = {}
    while True:
        for number in field.changed:
            queue.remove(number)
            if number in field.playing:
                bot = field.playing[number]
                queue.put(
                    Candidate(
                        version=number,
                        author=f"author{number}",
                        rating=bot.rating,
                        blocks=bot.blocks,
                        last_block=bot.last_block,
                        due=due.get(number),
                        faults_in_a_row=bot.faults_in_a_row,
                        predecessor=None if bot.predecessor is None else bot.predecessor.number,
                    )
                )
        field.changed.clear()
        block = queue.draw(SEATS, (), field.chance, field.meetings)
        assert block is not None
        queue.note(block, field.block + 1)
        due.update(block.due)
        yield list(block.versions)


def least_certain_first(field: Field) -> Iterator[list[int]]:
    """Draw by the rule that the ladder had before: highest sigma, each third block the longest wait; opponents by quality squared."""
    ours = 2 * (SIGMA / 2) ** 2
    while True:
        bots = list(field.playing.values())
        if (field.block + 1) % 3 == 0:
            first = min(bots, key=lambda bot: (bot.last_block, -bot.rating.sigma, bot.number))
        else:
            first = max(bots, key=lambda bot: (bot.rating.sigma, -bot.last_block, -bot.number))
        others = [bot for bot in bots if bot is not first]
        even = []
        for bot in others:
            spread = ours + first.rating.sigma**2 + bot.rating.sigma**2
            even.append(ours / spread * exp(-((bot.rating.mu - first.rating.mu) ** 2) / spread) + 0.001)
        table, met = [first.number], Counter(field.met[first.number])
        while len(table) < field.seats:
            weights = [
                weight / (1 + met[bot.number]) if bot.number in met else weight
                for weight, bot in zip(even, others, strict=True)
            ]
            [place] = field.chance.choices(range(len(others)), weights)
            table.append(others[place].number)
            met.update(field.met[table[-1]])
            del others[place], even[place]
        yield table


def halite(field: Field) -> Iterator[list[int]]:
    """Halite III: first by matches or waiting; opponents among the k nearest, where k is drawn with a long tail."""
    while True:
        bots, chance = field.playing.values(), field.chance
        drawn = chance.random()
        few = [bot for bot in bots if bot.matches < 400]
        if drawn < 0.25 and few:
            first = min(few, key=lambda bot: (bot.last_block, chance.random()))
        elif drawn < 0.9:
            first = min(bots, key=lambda bot: (bot.matches, chance.random()))
        else:
            first = min(bots, key=lambda bot: (bot.last_block, chance.random()))
        reach = max(field.seats - 1, int(5 / (0.01 + chance.random()) ** 0.65))
        near = field.nearest(first, min(reach, len(bots) - 1))
        yield [first.number, *chance.sample(near, field.seats - 1)]


def k_nearest(field: Field) -> Iterator[list[int]]:
    """First who has had the fewest matches; opponents at random among the ten nearest."""
    while True:
        first = min(field.playing.values(), key=lambda bot: (bot.matches, field.chance.random()))
        yield [first.number, *field.chance.sample(field.nearest(first, 10), field.seats - 1)]


def at_random(field: Field) -> Iterator[list[int]]:
    """Anybody meets anybody."""
    while True:
        yield field.chance.sample(list(field.playing), field.seats)


def round_robin(field: Field) -> Iterator[list[int]]:
    """Everybody meets everybody in turn: neighbours in the order of arrival, then those two places apart, and so on."""
    while True:
        for distance in range(1, len(field.playing)):
            for place in range(len(field.playing)):
                numbers = list(field.playing)
                table = {numbers[(place + seat * distance) % len(numbers)] for seat in range(field.seats)}
                if len(table) == field.seats:
                    yield list(table)


RULES: dict[str, Rule] = {
    "ours": ours,
    "least certain first": least_certain_first,
    "Halite III": halite,
    "k nearest": k_nearest,
    "random": at_random,
    "round robin": round_robin,
}
