"""The matches of a block, and its score.

A block plays one seed in each of its seatings: those of its first half, then the same seatings with the two versions
exchanged. So the value of the seats and the order of the players are the same for both versions, and two versions that
play identically have the same digests in both halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from referee.match.result import Outcome, Result
from referee.match.seatings import Seating, rotations

NEW, OLD = 0, 1
"""The indices of the two versions among the players of a block; the other players come after them."""


def seatings_at_one_table(seats: int) -> list[Seating]:
    """Return the seatings of a block in which both versions sit at each table."""
    first = tuple(range(seats))
    half = [first] if seats == 2 else rotations(first)  # with two seats, the other rotation is the exchange
    return [*half, *map(_exchanged, half)]


def seatings_in_a_field(seats: int) -> list[Seating]:
    """Return the seatings of a block in which each version sits alone among the others."""
    half = rotations((NEW, *range(2, seats + 1)))
    return [*half, *map(_exchanged, half)]


def _exchanged(seating: Seating) -> Seating:
    return tuple({NEW: OLD, OLD: NEW}.get(place, place) for place in seating)


@dataclass(frozen=True, slots=True)
class BlockScore:
    """The score of a block: for each version, the mean share of rivals that it has beaten, from 0 to 1."""

    new: float
    old: float
    key: tuple[str, ...]
    """The digests of the block's matches: equal for blocks with the same play."""
    is_alike: bool
    """True if both versions have played identically."""

    @property
    def difference(self) -> float:
        """The new version's score minus the old one's, from -1 to 1."""
        return self.new - self.old


def score(results: Sequence[Result], seatings: Sequence[Seating]) -> BlockScore:
    """Return the score of a block from the results of its matches."""
    played = list(zip(results, seatings, strict=True))
    new, old = (
        # In a field, each seating contains one of the two versions.
        fmean(beaten(result, seating.index(place)) for result, seating in played if place in seating)
        for place in (NEW, OLD)
    )
    key = tuple(result.digest for result in results)
    half = len(key) // 2
    # The second half repeats the seatings with the versions exchanged, so the digests are the same if they play alike.
    return BlockScore(new, old, key, key[:half] == key[half:])


def mean_score(scores: Sequence[BlockScore]) -> BlockScore:
    """Return the score of a block of several games; each game has the same weight."""
    return BlockScore(
        fmean(one.new for one in scores),
        fmean(one.old for one in scores),
        tuple(digest for one in scores for digest in one.key),
        all(one.is_alike for one in scores),
    )


def beaten(result: Result, seat: int) -> float:
    """Return the share of its rivals that a seat has beaten; a tie counts half, and a seat that is out beats nobody."""
    mine = result.seats[seat]
    if mine.outcome is not Outcome.PLAYED:
        return 0.0
    rivals = [other.rank for other in result.seats if other is not mine]
    return fmean((rank > mine.rank) + 0.5 * (rank == mine.rank) for rank in rivals)
