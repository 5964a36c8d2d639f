"""The value that goods would have if they were handed in now (RULES.md, C4.2 and C4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import KINDS, Kind

_MOST_TOKENS = 24  # with more tokens, as in some hand-made positions, only sets of equal goods are considered


def worth(board: CargoNoirBoard, goods: Sequence[int]) -> int:
    """Return the highest value that goods can have when they are handed in as sets.

    A set of different goods costs the piles of equal goods the least value if it uses the smallest piles, and a wild
    adds the most to the largest pile. This holds for the printed values, in which each token of a set of equal goods
    adds more than the one before; with a corrected board, a higher value may be possible.
    """
    counts = tuple(sorted(count for count in goods[: len(KINDS)] if count))
    largest = len(counts) if sum(goods) <= _MOST_TOKENS else 0
    return _worth(board.same, board.different, counts, goods[Kind.WILD], largest)


@lru_cache(maxsize=4096)
def _worth(same: tuple[int, ...], different: tuple[int, ...], counts: tuple[int, ...], wilds: int, largest: int) -> int:
    """Return the highest value of goods if no set of different goods has more than `largest` kinds."""
    best = _of_equal_goods(same, counts, wilds)
    for kinds in range(2, min(len(counts), largest) + 1):
        left = tuple(sorted(count - (place < kinds) for place, count in enumerate(counts) if count > (place < kinds)))
        for used in range(min(wilds, len(different) - 1 - kinds) + 1):
            best = max(best, different[kinds + used] + _worth(same, different, left, wilds - used, kinds))
    return best


def _of_equal_goods(same: tuple[int, ...], counts: tuple[int, ...], wilds: int) -> int:
    """Return the value of goods in sets of one kind, with the wilds added to the largest sets."""
    most, total = len(same) - 1, 0
    for count in reversed(counts):
        full, rest = divmod(count, most)
        added = min(wilds, most - rest) if rest else 0
        wilds -= added
        total += full * same[most] + same[rest + added]
    return total + wilds // most * same[most] + same[wilds % most]
