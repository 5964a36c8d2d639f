"""The schedule: the draw of the next block from the facts about all versions.

The code is pure: all randomness comes from the caller's generator.

Time is counted in *rounds*. In a round, each author is due for two matches. Each version has a time `due`, which each of its
blocks increases by `_step`, and the version with the lowest round plays next. So shares are exact, and not left to chance.

1. Of the possible numbers of seats, the block has the one with the fewest blocks so far.
2. The first player is due in the lowest round of all. Ties go to the least certain version (highest sigma), then to the one that
   has waited longest, then to a submitted one, then to the lowest hash, so that no id is ever an advantage.
3. An author has one share, for any number of bots. House bots are anchors: each has a quarter of an author's share.
4. A version is new in its first `NEW_BLOCKS` blocks, whatever its sigma is. It has a double share, and every second block at each
   number of seats begins with the least certain new version, if there is one. Authors with fewer new versions come first.
5. The others are drawn from all versions that are not far ahead of their share. The chance falls steeply with the unevenness of the
   match (TrueSkill's quality), and with the number of earlier meetings. (Only `_DRAWN` versions are considered, all with the same
   chance, so that a long queue takes no longer.)
6. Two bots of one author never meet, unless the organiser allows it. House bots do not count as bots of one author. There is one
   exception: in its first block at a table of three or more, a new version is accompanied by its predecessor, so that both play
   the same opponents with the same seed. A predecessor has no other matches, and takes no other version's turn.
7. A version that was out in its last matches sits out rounds: one after two matches, three after three, seven after four. The first
   match that it plays to the end lifts this penalty. (After five it is suspended; see `standings.py`.)
8. A version with an unfinished match is not chosen if others are due in this round or the next.
9. A block has one seed, played in every rotation of the seats, so that chance and seat order cancel out.
10. A house bot that thinks, such as `search`, has no due time and is never first. At each number of seats, it sits in the
   organiser's share of the blocks, rounded down and spread evenly, in place of one opponent; these are never newcomers'
   blocks.

**Nobody starves.** Let r be the lowest round when a version was last scheduled. It is then due in round R <= r + W, where
W = 3 + (step - 1) // ROUND: 5 for the only bot of an author at a table of five. Consider the blocks that rule 4 does not give to a
new version. The first player of each comes before the waiting version in the order of rule 2, or is due in its round or below; so
no other version is first while it is due later than R. Each time a version is first, it moves by at least its step at the smallest
table, and it was not due before r; so it is first at most (W + 1) * ceil(ROUND / step) times. Of L blocks at c numbers of seats,
rule 4 takes at most (L + c) / 2. A new candidate is due two rounds after the lowest, and the lowest round never falls: nobody joins
a round that can be played already. So the waiting version plays within

    K = 2 * (W + 1) * (the sum of ceil(ROUND / step) over the other versions) + c

blocks, for any number of new candidates: only versions that were already there come before it, and those that joined in time
to be due by R. With n authors of one bot each, and tables of two to five, K = 12 * (n - 1) + 4. `Queue.most_blocks` is this number.
A version that was out in its matches also waits for the rounds that it sits out. A version whose author has used up a budget
waits until the next day, when it joins again.
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
"""The share of a new version, as a multiple of the share of an older one."""
ROUND = 4
"""The length of a round, in half matches of an author's only bot; a round is two matches."""
_MATCH = 2
"""The step per match of an author's only bot, in half matches; the step of a new version is half as long."""
_HOUSE_MATCH = 8
"""The step per match of a house bot, in half matches: it has a quarter of an author's share."""
_JOIN = 2
"""The number of rounds after the lowest at which a joining version is due."""
_AHEAD = 3
"""A version that is this many rounds ahead of the lowest is drawn only if the table cannot be filled otherwise."""
_DRAWN = 32
"""The number of versions drawn first, from which the opponents are then chosen."""
_EVENNESS = 4
"""The power to which TrueSkill's quality is raised in the choice of opponents."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that can be scheduled, with all facts that the rules use.

    A run reads a version again only after its own matches. So a field must be a fact that only the version's own
    matches and other commands change, and whose cost does not grow with the history. A strength is not such a fact,
    because every match moves it.
    """

    version: int
    author: str
    rating: Rating
    blocks: int = 0
    """The number of blocks in which the version was scheduled."""
    last_block: int = 0
    """The id of the version's last block; 0 if there was none."""
    due: int | None = None
    """The time when the version is due, in half matches (a round has `ROUND`); None if it was never in the queue."""
    faults_in_a_row: int = 0
    """The number of the version's latest consecutive matches in which it was out."""
    predecessor: int | None = None
    """The version that accompanies this one once while this one is new; None if no such version can play."""
    thinks: bool = False
    """True for a house bot that thinks (rule 10)."""

    @property
    def is_new(self) -> bool:
        """True in the first `NEW_BLOCKS` blocks of the version; always False for house bots."""
        return self.blocks < NEW_BLOCKS and self.author != HOUSE

    @property
    def sits_out(self) -> int:
        """The number of rounds that the version sits out because it was out in its last matches."""
        return 0 if self.faults_in_a_row < 2 else int(2 ** (self.faults_in_a_row - 1)) - 1


@dataclass(frozen=True, slots=True)
class Block:
    """A drawn block."""

    versions: tuple[int, ...]
    """The versions in the order of the first rotation."""
    round: int
    """The lowest round in which any version was due."""
    due: Mapping[int, int]
    """The next due times of the versions in the block, and the first due times of versions that have joined."""


Met = Callable[[Collection[int], Collection[int]], Mapping[int, int]]
"""A function of two groups of versions; it returns how many blocks each version in the first had with the second.

Zeros may be left out. It is called for only a few versions, because on a ladder where all have met, the numbers of all
pairs would fill the memory.
"""
_Place = tuple[int, float, int, bytes, int]
"""The place of a version in the order of rule 2.

It consists of round, -sigma, last block, house and hash, and version."""
_Newcomer = tuple[int, float, bytes, int]
"""The place of an author's newcomer in the order of rule 4.

It consists of the author's number of new versions, -sigma, hash, and version."""


class Queue:
    """The versions that can be scheduled under one condition, in the order of their due times.

    It lasts as long as a run: a change costs two searches in a sorted list, and a block costs two for each of its seats.
    (An insertion shifts the rest of a list. With 10,000 versions, that takes a few microseconds.)
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        blocks_by_seats: Mapping[int, int],
        lowest: int = 0,
        *,
        same_author: bool = False,
        search_share: int = 0,
    ) -> None:
        """Make a queue of versions.

        Args:
            candidates: the versions that can be scheduled.
            blocks_by_seats: the number of blocks so far, by number of seats.
            lowest: the round of the last block; 0 if there was none.
            same_author: True if two bots of one author may meet.
            search_share: the percentage of the blocks in which a house bot that thinks sits.
        """
        self._candidates: dict[int, Candidate] = {}
        self._places: dict[int, _Place] = {}
        self._order: list[_Place] = []
        self._bots: dict[str, set[int]] = {}
        self._newcomers: list[_Newcomer] = []
        """The least certain new version of each author that has one, in the order of rule 4."""
        self._newcomer_of: dict[str, _Newcomer] = {}
        self._changed_authors: set[str] = set()
        self._joined: dict[int, int] = {}
        self._blocks_by_seats = Counter(blocks_by_seats)
        self._lowest = lowest
        self._same_author = same_author
        self._search_share = search_share
        self._thinking: set[int] = set()
        for candidate in candidates:
            self.put(candidate)

    def __len__(self) -> int:
        """Return the number of versions in the queue, except house bots that think."""
        return len(self._candidates)

    def __contains__(self, version: int) -> bool:
        """Return True if a version can be scheduled."""
        return version in self._candidates

    def __getitem__(self, version: int) -> Candidate:
        """Return the candidate of a version."""
        return self._candidates[version]

    def __iter__(self) -> Iterator[Candidate]:
        """Yield the versions in the order in which they would now become first players."""
        return (self._candidates[place[-1]] for place in self._order)

    def put(self, candidate: Candidate) -> None:
        """Add or replace a version. A version that joins, or comes back, is due two rounds after the lowest."""
        self.remove(candidate.version)
        if candidate.thinks:
            self._thinking.add(candidate.version)
            return
        # Joining in the lowest round would let an author who submits often enough starve all others.
        if candidate.due is None or self._round_of(candidate) < self._lowest:
            due = (self._lowest + _JOIN) * ROUND
            # The time is stored with the next block, so that a queue that is read again agrees with this one.
            self._joined[candidate.version] = due
            candidate = replace(candidate, due=due)
        version = candidate.version
        self._candidates[version] = candidate
        self._bots.setdefault(candidate.author, set()).add(version)
        self._changed_authors.add(candidate.author)
        self._places[version] = self._place(candidate)
        insort(self._order, self._places[version])

    def remove(self, version: int) -> None:
        """Remove a version, if it is in the queue."""
        self._thinking.discard(version)
        candidate = self._candidates.pop(version, None)
        if candidate is not None:
            self._joined.pop(version, None)
            self._bots[candidate.author].remove(version)
            if not self._bots[candidate.author]:
                del self._bots[candidate.author]
            self._changed_authors.add(candidate.author)
            del self._order[bisect_left(self._order, self._places.pop(version))]

    def leave_out(self, version: int) -> None:
        """Remove a version, which then no longer accompanies any other version."""
        self.remove(version)
        for candidate in [one for one in self._candidates.values() if one.predecessor == version]:
            self.put(replace(candidate, predecessor=None))

    def draw(
        self, seat_counts: Sequence[int], playing: Collection[int], chance: random.Random, met: Met
    ) -> Block | None:
        """Draw the next block, without changing the queue.

        Args:
            seat_counts: the possible numbers of seats.
            playing: the versions in unfinished matches.
            chance: the source of chance for the choice of opponents.
            met: returns the numbers of earlier meetings.

        Returns:
            The block; None if not even the smallest table can be filled.
        """
        possible = [seats for seats in seat_counts if seats <= self._most_seats()]
        if not possible:
            return None
        seats = min(possible, key=lambda seats: (self._blocks_by_seats[seats], seats))
        lowest = self._order[0][0]
        is_thinkers, is_newcomers = self._whose_turn(seats)
        newcomer = self._first_new(playing) if is_newcomers else None
        first = self._candidates[self._first(lowest, playing) if newcomer is None else newcomer]
        table: list[int] = []
        self._sit(first, table, seats, met)
        if is_thinkers:
            # Sorted, so that the choice depends only on the seed of the schedule.
            table.append(chance.choice(sorted(self._thinking)))
        count, latest = _DRAWN, lowest + _AHEAD - 1
        found = self._some(count, latest, playing, chance)
        while len(table) < seats:
            others = [other for other in found if self._may_join(other, table)]
            if others:
                often = met([other.version for other in others], table)
                weights = [_interest(other, first, often.get(other.version, 0)) for other in others]
                self._sit(chance.choices(others, weights)[0], table, seats, met)
            else:  # consider more versions, then those that are ahead, and finally those that are playing
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
        """Update the queue with a scheduled block; `number` is its id."""
        self._lowest = block.round
        self._blocks_by_seats[len(block.versions)] += 1
        for version in block.versions:
            if version in self:
                old = self._candidates[version]
                self.put(replace(old, blocks=old.blocks + 1, last_block=number, due=block.due[version]))
        self._joined.clear()

    def rounds_until(self, version: int) -> int:
        """Return the number of rounds after the lowest at which a version is due."""
        return self._places[version][0] - self._order[0][0]

    def bots_of(self, author: str) -> int:
        """Return the number of an author's bots in the queue."""
        return len(self._bots[author])

    def most_blocks(self, version: int, seat_counts: Sequence[int]) -> int:
        """Return the maximum number of blocks until a version plays again (K above), if it sits out no rounds."""
        rounds = _AHEAD + (self._step(self._candidates[version], max(seat_counts)) - 1) // ROUND
        return 2 * (rounds + 1) * self._matches_of_others(version, min(seat_counts)) + len(seat_counts)

    def most_blocks_now(self, version: int, seat_counts: Sequence[int]) -> int:
        """Return the maximum number of blocks from now until a version plays, if nobody joins."""
        rounds = self.rounds_until(version)
        return 2 * (rounds + 1) * self._matches_of_others(version, min(seat_counts)) + len(seat_counts) + 1

    def _matches_of_others(self, version: int, seats: int) -> int:
        """Return the maximum number of times that other versions can be first in a round."""
        return sum(-(-ROUND // self._step(other, seats)) for other in self if other.version != version)

    # steps

    def _step(self, candidate: Candidate, seats: int) -> int:
        """Return the step of a version for a block with this number of seats.

        The block has as many matches as seats.
        """
        if candidate.author == HOUSE:
            return _HOUSE_MATCH * seats
        return len(self._bots[candidate.author]) * seats * _MATCH // (NEW_SHARE if candidate.is_new else 1)

    def _moved(self, candidate: Candidate, seats: int, lowest: int) -> int:
        """Return the due time of a version after a block.

        Only a version that is far ahead (a newcomer, or a version that was needed to fill a table) moves by less than
        its step, so that it does not wait too long.
        """
        due, step = candidate.due or 0, self._step(candidate, seats)
        return max(due, min(max(due, lowest * ROUND) + step, (lowest + _AHEAD) * ROUND + step - 1))

    def _round_of(self, candidate: Candidate) -> int:
        return (candidate.due or 0) // ROUND + candidate.sits_out

    def _place(self, candidate: Candidate) -> _Place:
        due = self._round_of(candidate)
        tie = (b"1" if candidate.author == HOUSE else b"0") + _hash(candidate.version, due)
        return due, -candidate.rating.sigma, candidate.last_block, tie, candidate.version

    # seats

    def _most_seats(self) -> int:
        """Return the maximum number of versions at a table. Unless `same_author` is set, only the house has several."""
        if self._same_author:
            return len(self)
        return len(self._bots) + max(0, len(self._bots.get(HOUSE, ())) - 1)

    def _first(self, lowest: int, playing: Collection[int]) -> int:
        """Return the first player: one that is due in the lowest round or, if all of those are playing, in the next."""
        for place in self._order:
            if place[0] > lowest + 1:
                break
            if place[-1] not in playing:
                return place[-1]
        return self._order[0][-1]

    def _whose_turn(self, seats: int) -> tuple[bool, bool]:
        """Return whether the next block of this size has a house bot that thinks, and whether a newcomer begins it."""
        blocks = self._blocks_by_seats[seats]
        share = self._search_share if self._thinking and seats > 1 else 0
        of_thinkers = blocks * share // 100
        is_thinkers = (blocks + 1) * share // 100 > of_thinkers
        return is_thinkers, not is_thinkers and (blocks - of_thinkers) % 2 == 1

    def _first_new(self, playing: Collection[int]) -> int | None:
        """Return the first player of a block for newcomers; None if no new version is free."""
        # Only changed authors are updated, because a pass over all versions would take longer on a larger ladder.
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
        """Seat a version.

        If the version is new, seat its predecessor, too, unless they have met, the table has fewer than three seats, or
        no seat is left.
        """
        table.append(candidate.version)
        old = candidate.predecessor
        has_room = 3 <= seats > len(table)
        if old is not None and candidate.is_new and has_room and not met([old], [candidate.version]).get(old):
            table.append(old)

    def _some(self, count: int, latest: int, playing: Collection[int], chance: random.Random) -> list[Candidate]:
        """Return versions that may be opponents, drawn at random.

        Args:
            count: the number of versions to draw.
            latest: the last round in which they may be due.
            playing: the versions in unfinished matches, which are left out of the result.
            chance: the source of chance.
        """
        # A tuple with only a round sorts before all places in that round.
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
    # Never 0, because `choices` rejects weights that are all 0, as they could be if all versions are far apart.
    return float((quality(candidate.rating, first.rating) ** _EVENNESS + 0.001) / (1 + met))


def _of_one_author(one: Candidate, other: Candidate) -> bool:
    return one.author == other.author != HOUSE


def _hash(version: int, number: int) -> bytes:
    """Return a hash that breaks ties, and that nobody can choose."""
    return blake2b(b"%d %d" % (version, number), digest_size=8).digest()
