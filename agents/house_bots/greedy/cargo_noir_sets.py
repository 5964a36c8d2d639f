"""Sets of goods in Cargo Noir: hands as numbers, the sets in them, and their values (C4.2, C4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.games.cargo_noir.names import Kind

MAX_DIFFERENT_SETS = 2
"""The maximum number of sets of different kinds in one sale."""
MAX_SALES = 100
"""The approximate maximum number of sales to compare, which keeps decisions fast on any board."""

Goods = tuple[int, ...]
"""The number of tokens of each kind, as in observations."""
# There are nine kinds, and a wild for each of at most five seats, so no digit overflows.
Hand = int
"""The sizes of a holding's piles, without their kinds.

Decimal digit n counts the piles of n tokens; digit 0 counts the wilds.
"""

_WILD = 9
_TENS = [0, 10]


def pile(count: int) -> Hand:
    """Return the hand with a single pile of `count` tokens of a real kind."""
    while len(_TENS) <= count:
        _TENS.append(_TENS[-1] * 10)
    return _TENS[count]


def hand_of(goods: Sequence[int]) -> Hand:
    """Return a holding as a hand."""
    hand = goods[_WILD]
    for kind in range(9):
        hand += pile(goods[kind])
    return hand


def hand_with(goods: list[int], more: list[int]) -> Hand:
    """Return the sum of two holdings as a hand."""
    hand = goods[_WILD] + more[_WILD]
    for kind in range(9):
        hand += pile(goods[kind] + more[kind])
    return hand


def piles_of(hand: Hand) -> list[int]:
    """Return the piles of a hand, the smallest first."""
    piles: list[int] = []
    count = 1
    hand //= 10
    while hand:
        for _ in range(hand % 10):
            piles.append(count)
        hand //= 10
        count += 1
    return piles


def ascending(goods: Sequence[int]) -> list[int]:
    """Return the real kinds in a holding, smallest pile first."""
    kinds: list[int] = []
    for kind in range(9):
        count = goods[kind]
        if count:
            place = len(kinds)
            while place and goods[kinds[place - 1]] > count:
                place -= 1
            kinds.insert(place, kind)
    return kinds


class Lot(NamedTuple):
    """A set to hand in."""

    kinds: tuple[int, ...]
    each: int
    """The number of tokens of each kind in the set."""
    wilds: int
    value: int


class Sale:
    """Sets to hand in, and the goods that remain."""

    def __init__(self, rest: Goods, value: int, lots: tuple[Lot, ...]) -> None:
        self.rest = rest
        self.hand = hand_of(rest)
        self.value = value
        self.lots = lots


class Sets:
    """The values of sets on one board, with a cache."""

    def __init__(self, same: tuple[int, ...], different: tuple[int, ...]) -> None:
        self.same = same
        self.different = different
        self._best: dict[int, int] = {}
        self._sales: dict[Hand, list[Sale]] = {}

    def value_of_all(self, hand: Hand) -> int:
        """Return the total value of the best sets into which a whole hand can be split."""
        return self._best_sets(hand, MAX_DIFFERENT_SETS) >> 8

    def split(self, goods: Sequence[int]) -> list[Lot]:
        """Return the best sets into which all goods of a holding can be split."""
        lots: list[Lot] = []
        depth = MAX_DIFFERENT_SETS
        left = tuple(goods)
        while any(left):
            kinds = ascending(left)
            found = self._best_sets(hand_of(left), depth)
            size, used = (found >> 4) & 15, found & 15
            depth = depth - 1 if size else 0
            if size:
                lots.append(self.different_set(kinds[:size], used))
            else:
                lots.append(self._same_set(left, kinds[-1] if kinds else _WILD, True))  # the largest pile
            left = without(left, lots[-1])
        return lots

    def sales(self, hand: Hand) -> list[Sale]:
        """List possible sales of a hand, with its kinds numbered from the smallest pile upwards.

        A set is a whole pile, or one token from each of the smallest piles; it has no wilds, or as many as possible.
        """
        known = self._sales.get(hand)
        if known is None:
            piles = piles_of(hand)
            goods = (*piles, *[0] * (9 - len(piles)), hand % 10)
            known = [Sale(rest, value, lots) for rest, (value, lots) in self._sales_of(goods).items()]
            if len(self._sales) >= _MAX_REMEMBERED_SALES:
                self._sales.clear()
            self._sales[hand] = known
        return known

    def different_set(self, kinds: Sequence[int], wilds: int) -> Lot:
        """Return the set that consists of one token of each of these kinds, plus wilds."""
        return Lot(tuple(sorted(kinds)), 1, wilds, self.different[len(kinds) + wilds])

    def _same_set(self, goods: Goods, kind: int, with_wilds: bool) -> Lot:
        """Return the largest set of one kind, either with as many wilds as possible or without any."""
        most = len(self.same) - 1
        count = min(goods[kind], most)
        wilds = min(goods[_WILD], most - count) if with_wilds and kind != _WILD else 0
        return Lot((kind,), count, wilds, self.same[count + wilds])

    def _best_sets(self, hand: Hand, depth: int) -> int:
        """Find the best sets for handing in all goods, with at most `depth` sets of different kinds.

        Tokens are worth more in larger sets of one kind. Therefore, a set of different kinds is taken from the smallest piles,
        and all wilds go into one set.

        Returns:
            256 times the value, plus 16 times the number of piles, plus the number of wilds in the first set of different
            kinds (0 if there is no such set).
        """
        key = hand * (MAX_DIFFERENT_SETS + 1) + depth
        known = self._best.get(key, -1)
        if known >= 0:
            return known
        piles, wilds = piles_of(hand), hand % 10
        best = self._value_of_same_sets(piles, wilds) << 8
        if depth:
            left = hand
            for size, count in enumerate(piles, 1):
                left += pile(count - 1) - pile(count)
                if size >= 2:
                    for used in ascending_wilds(min(wilds, len(self.different) - 1 - size)):
                        value = self.different[size + used] + (self._best_sets(left - used, depth - 1) >> 8)
                        best = max(best, (value << 8) + (size << 4) + used)
        if len(self._best) >= _MAX_REMEMBERED_HANDS:
            self._best.clear()
        self._best[key] = best
        return best

    def _value_of_same_sets(self, piles: list[int], wilds: int) -> int:
        most, value = len(self.same) - 1, 0
        extra = wilds
        for count in reversed(piles or [0]):
            full, rest = divmod(count + extra, most)
            value += full * self.same[most] + self.same[rest]
            extra = 0
        return value

    def _sales_of(self, goods: Goods) -> dict[Goods, tuple[int, tuple[Lot, ...]]]:
        """Map the goods that remain after each possible sale to the value and the sets of that sale."""
        found: dict[Goods, tuple[int, tuple[Lot, ...]]] = {goods: (0, ())}
        queue = [goods]
        for before in queue:  # it grows during the loop
            value, sold = found[before]
            for lot in self._lots(before):
                rest = without(before, lot)
                if rest not in found:
                    queue.append(rest)
                    found[rest] = (value + lot.value, (*sold, lot))
                elif value + lot.value > found[rest][0]:
                    found[rest] = (value + lot.value, (*sold, lot))
            if len(found) > MAX_SALES:  # approximate, because the sets of one hand may exceed it
                break
        return found

    def _lots(self, goods: Goods) -> list[Lot]:
        """Return the sets that a sale may contain."""
        kinds, wilds = ascending(goods), goods[_WILD]
        unlike: dict[int, int] = {}  # piles of the same size are alike
        for kind in kinds:
            unlike[goods[kind]] = kind
        if not kinds and wilds:
            unlike[wilds] = _WILD
        lots: list[Lot] = []
        for kind in unlike.values():
            lots.append(self._same_set(goods, kind, False))
            if wilds:
                lots.append(self._same_set(goods, kind, True))
        for size in range(2, len(kinds) + 1):
            for used in ascending_wilds(min(wilds, len(self.same) - 1 - size)):
                lots.append(self.different_set(kinds[:size], used))
        return lots


def ascending_wilds(most: int) -> tuple[int, ...]:
    """Return the numbers of wilds to try in a set: none, and as many as possible."""
    return (0, most) if most > 0 else (0,)


def without(goods: Goods, lot: Lot) -> Goods:
    """Return the rest of a holding after a set is handed in."""
    left = list(goods)
    for kind in lot.kinds:
        left[kind] -= lot.each
    left[_WILD] -= lot.wilds
    return tuple(left)


_MAX_REMEMBERED_HANDS = 1 << 17
_MAX_REMEMBERED_SALES = 1 << 11
assert _WILD == Kind.WILD  # noqa: S101 plain numbers compile to faster code
