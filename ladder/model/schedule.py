"""Who plays next. Pure: what is known of the versions in, a block out; all chance comes from the caller's generator.

Time is counted in *rounds*. In a round each author is due for two matches. `due` says, for each version, how much it has had:
each match moves it by `_step`, and whoever is due in the lowest round plays next. So a share is owed and paid, and never drawn.

1. The number of seats is the one with the fewest blocks so far, of those that can be filled.
2. The first player is due in the lowest round of all. Among those it is the least certain (highest sigma), then the one that has
   waited longest, then one that somebody has submitted, then one by a hash, so that no id is ever an advantage.
3. An author has one share, however many bots share it. House bots are anchors: each has a quarter of an author's share.
4. A version is new in its first `NEW_BLOCKS` blocks, whatever its sigma is. It has twice its part, and every second block at each
   number of seats begins with the least certain new version, if there is one. Authors with fewer new versions come first.
5. The others are drawn from everybody who is not far ahead of their due. The chance falls steeply with how uneven the match would
   be (TrueSkill's quality), and with how often they have met. (`_DRAWN` versions are looked at, all with the same chance, so that
   this takes no longer among many.)
6. Two bots of one author never meet, unless the organiser says so. House bots do not count as one author's. There is one
   exception: in its first block at a table of three or more, a new version is accompanied by its predecessor, so that both play
   the same opponents with the same seed. A predecessor plays for nothing else, and takes nobody's turn.
7. A version that was out in its last matches sits out rounds: one after two matches, three after three, seven after four. The first
   match that it plays to the end lifts that. (After five it is suspended; see `standings.py`.)
8. A version in a match that is still to be played is left alone if others are due in this round or the next.
9. A block is one seed, played in every rotation of the seats, so that chance and seat order cancel.

**Nobody starves.** Let r be the lowest round when a version was last scheduled. It is then due in round R <= r + W, where
W = 3 + (step - 1) // ROUND: 5 for the only bot of an author at a table of five. Take the blocks that rule 4 does not give to a new
version. The first player of each comes before the waiting version in the order of rule 2, or is due in its round or below; so no
other version is first while it is due later than R. Each time a version is first it is moved by at least its step at the smallest
table, and it was not due before r; so it is first at most (W + 1) * ceil(ROUND / step) times. Of L blocks at c numbers of seats,
rule 4 takes at most (L + c) / 2. Whoever joins is due two rounds after the lowest, and the lowest round never falls: a round that
can be played already is joined by nobody. So the waiting version plays within

    K = 2 * (W + 1) * (the sum of ceil(ROUND / step) over the other versions) + c

blocks, however many join meanwhile: those that come before it are the ones that were there, and those that joined in time to be due
by R. With n authors of one bot each, and tables of two to five, K = 12 * (n - 1) + 4. `Queue.most_blocks` is this number.
A version that is out of its matches waits longer by the rounds that it sits out, and one whose author has used up a budget until
the next day, when it joins again.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from ladder.model.match import HOUSE
from ladder.model.rating import Rating, quality

NEW_BLOCKS = 3
"""The number of blocks for which a version is new."""
NEW_SHARE = 2
"""How many parts a new version has for one of others."""
ROUND = 4
"""The length of a round, in half matches of the only bot of an author: two matches."""
_MATCH = 2
"""What a match moves the only bot of an author, in the same unit; a new version half as far."""
_HOUSE_MATCH = 8
"""What a match moves a house bot: it has a quarter of an author's share."""
_JOIN = 2
"""How many rounds after the lowest a version is due that joins."""
_AHEAD = 3
"""Who is so many rounds ahead of the lowest is not drawn, if a table can be filled without."""
_DRAWN = 32
"""From how many versions, which are drawn first, opponents are chosen."""
_EVENNESS = 4
"""The power of TrueSkill's quality by which opponents are chosen."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that can be scheduled."""

    version: int
    author: str
    rating: Rating
    blocks: int = 0
    """In how many blocks it was scheduled."""
    last_block: int = 0
    """The id of the last of them; 0 if there was none."""
    due: int | None = None
    """When it is due, in half matches since the ladder began (a round has `ROUND`); None if it never was in the queue."""
    faults_in_a_row: int = 0
    """In how many of its last matches it was out, without one that it played to the end."""
    predecessor: int | None = None
    """The version that accompanies it once while it is new; None if there is none that can play."""

    @property
    def is_new(self) -> bool:
        """Whether it is in its first blocks, and no house bot."""
        return self.blocks < NEW_BLOCKS and self.author != HOUSE

    @property
    def sits_out(self) -> int:
        """How many rounds it sits out because it was out in its last matches."""
        return 0 if self.faults_in_a_row < 2 else int(2 ** (self.faults_in_a_row - 1)) - 1


@dataclass(frozen=True, slots=True)
class Block:
    """What was drawn."""

    versions: tuple[int, ...]
    """In the order of the first rotation."""
    round: int
    """The lowest round in which any version was due."""
    due: Mapping[int, int]
    """When the versions in it are due again, and those that have joined, for the first time."""


Met = Callable[[Collection[int], Collection[int]], Mapping[int, int]]
"""Tells for each of some versions in how many blocks it has met any of some others; those that never have may be left out.

It is asked for the few that are looked at. On a ladder where everybody has met, all pairs would fill the memory.
"""
_Place = tuple[int, float, int, bytes, int]
"""The place of a version in the order of rule 2: round, -sigma, last block, house and hash, version."""
_Newcomer = tuple[int, float, bytes, int]
"""The place of an author's newcomer in the order of rule 4: how many of the author's are new, -sigma, hash, version."""


class Queue:
    """The versions that can be scheduled under one condition, in the order in which they are due.

    It is kept while a run goes on: a change costs two searches in a sorted list, and so does a block for each of its seats.
    (Lists are shifted when something is put into them. At 10,000 versions that takes a few microseconds.)
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        blocks_by_seats: Mapping[int, int],
        lowest: int = 0,
        *,
        same_author: bool = False,
    ) -> None:
        """Put versions in order.

        Args:
            candidates: who can be scheduled.
            blocks_by_seats: how many blocks there were for each number of seats.
            lowest: the round of the last block; 0 if there was none.
            same_author: whether two bots of one author may meet.
        """
        self._candidates: dict[int, Candidate] = {}
        self._places: dict[int, _Place] = {}
        self._order: list[_Place] = []
        self._bots: dict[str, set[int]] = {}
        self._newcomers: list[_Newcomer] = []
        """For each author with new versions the least certain of them, in the order of rule 4."""
        self._newcomer_of: dict[str, _Newcomer] = {}
        self._changed_authors: set[str] = set()
        self._joined: dict[int, int] = {}
        self._blocks_by_seats = Counter(blocks_by_seats)
        self._lowest = lowest
        self._same_author = same_author
        for candidate in candidates:
            self.put(candidate)

    def __len__(self) -> int:
        """Return how many versions can be scheduled."""
        return len(self._candidates)

    def __contains__(self, version: int) -> bool:
        """Return whether a version can be scheduled."""
        return version in self._candidates

    def __getitem__(self, version: int) -> Candidate:
        """Return what is known of a version that can be scheduled."""
        return self._candidates[version]

    def __iter__(self) -> Iterator[Candidate]:
        """Yield the versions in the order in which they will be first players, as far as is known now."""
        return (self._candidates[place[-1]] for place in self._order)

    def put(self, candidate: Candidate) -> None:
        """Add a version, or what is known of it now. One that joins, or comes back, is due two rounds after the lowest."""
        self.remove(candidate.version)
        if candidate.due is None or self._round_of(candidate) < self._lowest:
            due = (self._lowest + _JOIN) * ROUND
            self._joined[candidate.version] = due
            candidate = replace(candidate, due=due)
        version = candidate.version
        self._candidates[version] = candidate
        self._bots.setdefault(candidate.author, set()).add(version)
        self._changed_authors.add(candidate.author)
        self._places[version] = self._place(candidate)
        insort(self._order, self._places[version])

    def remove(self, version: int) -> None:
        """Take a version out, if it is in."""
        candidate = self._candidates.pop(version, None)
        if candidate is not None:
            self._joined.pop(version, None)
            self._bots[candidate.author].remove(version)
            if not self._bots[candidate.author]:
                del self._bots[candidate.author]
            self._changed_authors.add(candidate.author)
            del self._order[bisect_left(self._order, self._places.pop(version))]

    def leave_out(self, version: int) -> None:
        """Take a version out, be it as the predecessor of another."""
        self.remove(version)
        for candidate in [one for one in self._candidates.values() if one.predecessor == version]:
            self.put(replace(candidate, predecessor=None))

    def draw(
        self, seat_counts: Sequence[int], playing: Collection[int], chance: random.Random, met: Met
    ) -> Block | None:
        """Draw the next block; nothing is changed by that.

        Args:
            seat_counts: how many seats the game can have.
            playing: the versions in matches that are still to be played.
            chance: decides among opponents.
            met: who has met whom.

        Returns:
            The block; None if not even the smallest table can be filled.
        """
        possible = [seats for seats in seat_counts if seats <= self._most_seats()]
        if not possible:
            return None
        seats = min(possible, key=lambda seats: (self._blocks_by_seats[seats], seats))
        lowest = self._order[0][0]
        newcomer = self._first_new(playing) if self._blocks_by_seats[seats] % 2 else None
        first = self._candidates[self._first(lowest, playing) if newcomer is None else newcomer]
        table: list[int] = []
        self._sit(first, table, seats, met)
        count, latest = _DRAWN, lowest + _AHEAD - 1
        found = self._some(count, latest, playing, chance)
        while len(table) < seats:
            others = [other for other in found if self._may_join(other, table)]
            if others:
                often = met([other.version for other in others], table)
                weights = [_interest(other, first, often.get(other.version, 0)) for other in others]
                self._sit(chance.choices(others, weights)[0], table, seats, met)
            else:  # look at more; then among those that are ahead, at last among those that are playing
                if count >= len(self):
                    playing = playing if latest < self._order[-1][0] else ()
                    latest = self._order[-1][0]
                count *= 4
                found = self._some(count, latest, playing, chance)
        chance.shuffle(table)
        seated = {
            version: self._moved(self._candidates[version], seats, lowest) for version in table if version in self
        }
        return Block(tuple(table), lowest, {**self._joined, **seated})

    def note(self, block: Block, number: int) -> None:
        """Note that a block was scheduled, with its id."""
        self._lowest = block.round
        self._blocks_by_seats[len(block.versions)] += 1
        for version in block.versions:
            if version in self:
                old = self._candidates[version]
                self.put(replace(old, blocks=old.blocks + 1, last_block=number, due=block.due[version]))
        self._joined.clear()

    def rounds_until(self, version: int) -> int:
        """Return how many rounds after the lowest a version is due."""
        return self._places[version][0] - self._order[0][0]

    def bots_of(self, author: str) -> int:
        """Return how many bots an author has in the queue."""
        return len(self._bots[author])

    def most_blocks(self, version: int, seat_counts: Sequence[int]) -> int:
        """Return K: within how many blocks a version is scheduled again, if nobody joins and it sits out no rounds."""
        rounds = _AHEAD + (self._step(self._candidates[version], max(seat_counts)) - 1) // ROUND
        return 2 * (rounds + 1) * self._turns_of_others(version, min(seat_counts)) + len(seat_counts)

    def most_blocks_now(self, version: int, seat_counts: Sequence[int]) -> int:
        """Return within how many blocks from now on a version is scheduled, if nobody joins."""
        rounds = self.rounds_until(version)
        return 2 * (rounds + 1) * self._turns_of_others(version, min(seat_counts)) + len(seat_counts) + 1

    def _turns_of_others(self, version: int, seats: int) -> int:
        """Return how often all others can be first in a round."""
        return sum(-(-ROUND // self._step(other, seats)) for other in self if other.version != version)

    # what is charged

    def _step(self, candidate: Candidate, seats: int) -> int:
        """Return how far a block of so many seats moves a version: it plays as many matches."""
        if candidate.author == HOUSE:
            return _HOUSE_MATCH * seats
        return len(self._bots[candidate.author]) * seats * _MATCH // (NEW_SHARE if candidate.is_new else 1)

    def _moved(self, candidate: Candidate, seats: int, lowest: int) -> int:
        """Return when a version is due after a block.

        Only one that is far ahead is moved by less than its step, or it would have to wait too long: a newcomer, or one without
        which a table could not be filled.
        """
        due, step = candidate.due or 0, self._step(candidate, seats)
        return max(due, min(max(due, lowest * ROUND) + step, (lowest + _AHEAD) * ROUND + step - 1))

    def _round_of(self, candidate: Candidate) -> int:
        return (candidate.due or 0) // ROUND + candidate.sits_out

    def _place(self, candidate: Candidate) -> _Place:
        due = self._round_of(candidate)
        tie = (b"1" if candidate.author == HOUSE else b"0") + _hash(candidate.version, due)
        return due, -candidate.rating.sigma, candidate.last_block, tie, candidate.version

    # who sits where

    def _most_seats(self) -> int:
        """Return how many can sit at one table if no author may have two bots there; the house may."""
        if self._same_author:
            return len(self)
        return len(self._bots) + max(0, len(self._bots.get(HOUSE, ())) - 1)

    def _first(self, lowest: int, playing: Collection[int]) -> int:
        """Return the first player: who is due in the lowest round or, if all of those are playing, in the next."""
        for place in self._order:
            if place[0] > lowest + 1:
                break
            if place[-1] not in playing:
                return place[-1]
        return self._order[0][-1]

    def _first_new(self, playing: Collection[int]) -> int | None:
        """Return the new version that is first in a block for newcomers; None if there is none that is not playing."""
        for author in self._changed_authors:
            if author in self._newcomer_of:
                del self._newcomers[bisect_left(self._newcomers, self._newcomer_of.pop(author))]
            new = [one for one in map(self._candidates.__getitem__, self._bots.get(author, ())) if one.is_new]
            if free := [one for one in new if not one.sits_out]:
                head = min(free, key=lambda one: (-one.rating.sigma, one.version))
                place = len(new), -head.rating.sigma, _hash(head.version, 0), head.version
                self._newcomer_of[author] = place
                insort(self._newcomers, place)
        self._changed_authors.clear()
        return next((version for *_, version in self._newcomers if version not in playing), None)

    def _sit(self, candidate: Candidate, table: list[int], seats: int, met: Met) -> None:
        """Seat a version, and its predecessor if it is new, has not met that yet, and there is a seat left beside an opponent."""
        table.append(candidate.version)
        old = candidate.predecessor
        has_room = 3 <= seats > len(table)
        if old is not None and candidate.is_new and has_room and not met([old], [candidate.version]).get(old):
            table.append(old)

    def _some(self, count: int, latest: int, playing: Collection[int], chance: random.Random) -> list[Candidate]:
        """Return versions that may be opponents, drawn at random.

        Args:
            count: how many are looked at.
            latest: the last round in which they may be due.
            playing: those that are left alone.
            chance: decides which.
        """
        due = bisect_left(self._order, (latest + 1,))
        versions = (self._order[place][-1] for place in chance.sample(range(due), min(count, due)))
        return [self._candidates[version] for version in versions if version not in playing]

    def _may_join(self, candidate: Candidate, table: Sequence[int]) -> bool:
        if candidate.version in table:
            return False
        if self._same_author:
            return True
        return not any(version in self and _of_one_author(candidate, self._candidates[version]) for version in table)


def rotations(versions: Sequence[int]) -> list[list[int]]:
    """Return the version in each seat, for each match of a block: every version sits in every seat once."""
    return [[versions[(seat + turn) % len(versions)] for seat in range(len(versions))] for turn in range(len(versions))]


def _interest(candidate: Candidate, first: Candidate, met: int) -> float:
    return float((quality(candidate.rating, first.rating) ** _EVENNESS + 0.001) / (1 + met))


def _of_one_author(one: Candidate, other: Candidate) -> bool:
    return one.author == other.author != HOUSE


def _hash(version: int, number: int) -> bytes:
    """Return what decides ties: a number that nobody can choose."""
    return blake2b(b"%d %d" % (version, number), digest_size=8).digest()
