"""Who plays next. Pure: standings in, a block out; all chance comes from the caller's generator.

1. The number of seats is the one with the fewest blocks so far, of those that can be filled.
2. The first player is the version that is least certain (highest sigma); every third block it is the one that has waited longest
   instead, so that nobody starves.
3. The others are drawn, one after the other, with a probability that grows with how even the match would be (TrueSkill's
   quality, squared) and falls with how often they have met.
4. Two bots of one author never meet, unless the organiser says so. House bots do not count as one author's.
5. A block is one seed, played in every rotation of the seats, so that chance and seat order cancel.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ladder.match import HOUSE
from ladder.rating import Rating, quality


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that can be scheduled."""

    version: int
    author: str
    rating: Rating
    last_block: int
    """The id of the last block in which it was scheduled; 0 if it never was."""


def next_block(
    candidates: Sequence[Candidate],
    seat_counts: Sequence[int],
    blocks_by_seats: Mapping[int, int],
    meetings: Mapping[frozenset[int], int],
    block: int,
    chance: random.Random,
    *,
    same_author: bool = False,
) -> list[int] | None:
    """Draw the versions of the next block.

    Args:
        candidates: who can be scheduled.
        seat_counts: how many seats the game can have.
        blocks_by_seats: how many blocks there were for each number of seats.
        meetings: how often two versions have met in a block.
        block: the number of the block, from 1.
        chance: decides among opponents.
        same_author: whether two bots of one author may meet.

    Returns:
        The versions in the order of the first rotation; None if not even the smallest table can be filled.
    """
    most = len(candidates) if same_author else _most_seats(candidates)
    possible = [seats for seats in seat_counts if seats <= most]
    if not possible:
        return None
    seats = min(possible, key=lambda seats: (blocks_by_seats.get(seats, 0), seats))
    if block % 3 == 0:
        first = min(
            candidates,
            key=lambda candidate: (candidate.last_block, -candidate.rating.sigma, candidate.version),
        )
    else:
        first = max(
            candidates,
            key=lambda candidate: (candidate.rating.sigma, -candidate.last_block, -candidate.version),
        )
    table = [first]
    while len(table) < seats:
        others = [candidate for candidate in candidates if _may_join(candidate, table, same_author=same_author)]
        weights = [_interest(candidate, table, meetings) for candidate in others]
        table.append(chance.choices(others, weights)[0])
    chance.shuffle(table)
    return [candidate.version for candidate in table]


def rotations(versions: Sequence[int]) -> list[list[int]]:
    """Return the version in each seat, for each match of a block: every version sits in every seat once."""
    return [[versions[(seat + turn) % len(versions)] for seat in range(len(versions))] for turn in range(len(versions))]


def _most_seats(candidates: Sequence[Candidate]) -> int:
    """Return how many can sit at one table if no author may have two bots there; the house may."""
    authors = {candidate.author for candidate in candidates if candidate.author != HOUSE}
    return len(authors) + sum(candidate.author == HOUSE for candidate in candidates)


def _may_join(candidate: Candidate, table: Sequence[Candidate], *, same_author: bool) -> bool:
    if any(candidate.version == other.version for other in table):
        return False
    if same_author or candidate.author == HOUSE:
        return True
    return all(candidate.author != other.author for other in table)


def _interest(candidate: Candidate, table: Sequence[Candidate], meetings: Mapping[frozenset[int], int]) -> float:
    even = quality(candidate.rating, table[0].rating)
    met = sum(meetings.get(frozenset((candidate.version, other.version)), 0) for other in table)
    return float((even**2 + 0.001) / (1 + met))
