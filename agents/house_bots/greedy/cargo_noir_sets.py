"""Sets of goods in Cargo Noir: the sets in a holding, and their values (C4.2, C4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from referee.games.cargo_noir.names import Kind

MAX_DIFFERENT_SETS = 2
"""The maximum number of sets of different kinds in one sale."""

Goods = tuple[int, ...]
"""The number of tokens of each kind, as in observations."""
Piles = tuple[int, ...]
"""The number of tokens of each real kind in a holding, largest first, whichever kinds they are."""


class Prices(NamedTuple):
    """The printed numbers that determine the worth of goods."""

    same: tuple[int, ...]
    different: tuple[int, ...]
    ship_cost: int
    ship_points: int


class Lot(NamedTuple):
    """A set to hand in."""

    kinds: tuple[int, ...]
    each: int
    """The number of tokens of each of these kinds."""
    wilds: int
    value: int


def piles_of(goods: Sequence[int]) -> Piles:
    """Return the piles of a holding."""
    return tuple(sorted(filter(None, goods[:9]), reverse=True))


def together(goods: Goods, more: Goods) -> Goods:
    """Return two holdings combined."""
    return tuple(map(int.__add__, goods, more))


def swapped(goods: Goods, give: int, take: int) -> Goods:
    """Return a holding after one token is exchanged for one of another kind."""
    return tuple(count - (kind == give) + (kind == take) for kind, count in enumerate(goods))


@lru_cache(maxsize=1 << 16)
def best_sets(piles: Piles, wilds: int, prices: Prices, depth: int = MAX_DIFFERENT_SETS) -> tuple[int, int, int]:
    """Find the best sets for handing in all goods.

    Tokens are worth more in larger sets of one kind. So a set of different kinds takes from the smallest piles, and all
    wilds go into one set.

    Returns:
        The value, and the piles and wilds in the first set of different kinds (0 if there is no such set).
    """
    same, different = prices.same, prices.different
    value = 0
    for count in ((piles[0] if piles else 0) + wilds, *piles[1:]):
        full, rest = divmod(count, len(same) - 1)
        value += full * same[-1] + same[rest]
    best = (value, 0, 0)
    for size in range(2, len(piles) + 1) if depth else ():
        left = tuple(sorted((*piles[:-size], *(count - 1 for count in piles[-size:] if count > 1)), reverse=True))
        for used in {0, min(wilds, len(different) - 1 - size)}:
            value = different[size + used] + best_sets(left, wilds - used, prices, depth - 1)[0]
            best = max(best, (value, size, used))
    return best


def split_into_sets(goods: Goods, prices: Prices) -> list[Lot]:
    """Return the best sets for handing in everything."""
    lots: list[Lot] = []
    depth = MAX_DIFFERENT_SETS
    while any(goods):
        kinds = ascending(goods)
        _, size, used = best_sets(piles_of(goods), goods[Kind.WILD], prices, depth)
        depth = depth - 1 if size else 0
        lots.append(different_set(kinds[:size], used, prices) if size else same_set(goods, (kinds or [9])[-1], prices))
        goods = without(goods, lots[-1])
    return lots


def ascending(goods: Goods) -> list[int]:
    """Return the real kinds in a holding, smallest pile first."""
    return sorted(filter(goods.__getitem__, range(9)), key=goods.__getitem__)


def different_set(kinds: Sequence[int], wilds: int, prices: Prices) -> Lot:
    """Return the set of one token of each of these kinds, and wilds."""
    return Lot(tuple(sorted(kinds)), 1, wilds, prices.different[len(kinds) + wilds])


def same_set(goods: Goods, kind: int, prices: Prices, with_wilds: bool = True) -> Lot:
    """Return the largest set of one kind, with as many wilds as possible or without any."""
    most = len(prices.same) - 1
    count = min(goods[kind], most)
    wilds = min(goods[Kind.WILD], most - count) if with_wilds and kind != Kind.WILD else 0
    return Lot((kind,), count, wilds, prices.same[count + wilds])


def without(goods: Goods, lot: Lot) -> Goods:
    """Return the rest of a holding after a set is handed in."""
    left = list(goods)
    for kind in lot.kinds:
        left[kind] -= lot.each
    left[Kind.WILD] -= lot.wilds
    return tuple(left)
