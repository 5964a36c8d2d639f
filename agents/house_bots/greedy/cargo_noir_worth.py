"""The worth of goods, coins and cards in Cargo Noir, in victory points: the estimates of the greedy policy.

The worth of goods is the value of their best sets, now or after some growth.
"""

from __future__ import annotations

from typing import Final

from house_bots.greedy.cargo_noir_sets import Hand, Sets, pile, piles_of
from referee.game import Seat
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card
from referee.games.cargo_noir.table import Table

# Estimates, tuned in matches against earlier versions. A point is a victory point; a unit is the unit of a set's value
# (C4.3); "turns" are a seat's remaining turns after this one.

SOLD: Final = 1.7
"""Points for each unit of a set's value that will soon be handed in.

This is more than a card yields, because early cards improve later turns.
"""
STORED: Final = 1.08
"""Points for each unit of the value to which stored sets may grow."""
GROWING_TURNS: Final = 2.5
"""The largest number of turns over which a set is expected to grow."""
MAIN_GROWTH: Final = 0.57
"""The assumed number of tokens that the largest pile of one kind gains in a turn."""
OTHER_GROWTH: Final = 0.29
"""The assumed number of tokens that any pile except the largest gains in a turn."""
DIFFERENT_GROWTH: Final = 2.35
"""The assumed number of tokens that a set of different kinds gains in a turn."""
SHIP_POINTS: Final = 3.9
"""The points that an additional ship gains in a turn."""
WAREHOUSE_POINTS: Final = 1.0
"""The points that an additional Warehouse gains in a turn."""
NEEDED_COINS: Final = 8
"""The number of coins that a seat should have for its stakes."""
NEEDED_COIN: Final = 4.8
"""Points for each coin up to NEEDED_COINS."""
SPARE_COIN: Final = 1.1
"""Points for each coin beyond NEEDED_COINS."""
LAST_COIN: Final = 0.65
"""Points for a coin that can only cover a shortage in the final turn (C4.8)."""
MAX_CREDIT: Final = 500
"""The maximum credit for which purchases are compared. Like `MAX_COPIES`, it keeps decisions fast."""
MAX_COPIES: Final = 6
"""The maximum number of copies of one card bought in one turn."""


class Worth:
    """The valuation of goods for a given number of remaining turns in which to hand them in, with a cache."""

    def __init__(self, board: CargoNoirBoard, sets: Sets, turns: int, storage: int, may_buy_ship: bool) -> None:
        """Begin with an empty cache.

        Args:
            board: the numbers printed on the components of the game.
            sets: the values of sets.
            turns: the number of turns after the next phase 2.
            storage: the number of goods that the seat may keep.
            may_buy_ship: whether the seat may still buy a ship.
        """
        self._sets = sets
        self._same = board.same
        self._different = board.different
        self._turns = turns
        self._time = min(float(turns), GROWING_TURNS)
        self._storage = storage
        self._ship_cost = board.cost[Card.CARGO_SHIP] if may_buy_ship else -1
        self._ship_gain = max(0.0, board.vp[Card.CARGO_SHIP] + SHIP_POINTS * turns - board.cost[Card.CARGO_SHIP])
        self._known: dict[Hand, float] = {}
        self._stored: dict[Hand, float] = {}

    def of(self, hand: Hand) -> float:
        """Return the points for goods just before phase 2.

        Either all goods are sold, or all are kept, or only the largest pile is sold, whichever is best.
        """
        known = self._known.get(hand)
        if known is not None:
            return known
        points = self._sold(hand)
        if self._turns:
            piles, wilds = piles_of(hand), hand % 10
            main = pile(piles[-1]) if piles else 0
            largest = self._sold(main + wilds) + self.of_store(hand - main - wilds)
            points = max(points, largest, self.of_store(hand))
        if len(self._known) >= _MAX_REMEMBERED:
            self._known.clear()
        self._known[hand] = points
        return points

    def of_store(self, hand: Hand) -> float:
        """Return the points for keeping as many goods as the storage holds (C4.9)."""
        known = self._stored.get(hand)
        if known is None:
            piles, wilds = stored(hand, self._storage)
            known = self._store(piles, wilds)
            if len(self._stored) >= _MAX_REMEMBERED:
                self._stored.clear()
            self._stored[hand] = known
        return known

    def _sold(self, hand: Hand) -> float:
        value = self._sets.value_of_all(hand)
        ship = 0.0
        if 0 <= self._ship_cost <= value:
            ship = self._ship_gain
        return SOLD * value + ship

    def _store(self, piles: list[int], wilds: int) -> float:
        """Return the points for stored goods, given as piles (the largest first) and a number of wilds."""
        used = min(wilds, len(self._different) - 1 - len(piles))
        different = self._grown(len(piles) + used, DIFFERENT_GROWTH * self._time, self._different)
        others = [count - 1 for count in piles if count > 1]
        return STORED * max(self._in_same_sets(piles, wilds), different + self._in_same_sets(others, wilds - used))

    def _in_same_sets(self, piles: list[int], wilds: int) -> float:
        main = piles[0] if piles else 0
        worth = self._grown(main + wilds, MAIN_GROWTH * self._time, self._same)
        others = 0.0
        for place in range(1, len(piles)):
            others += self._grown(piles[place], OTHER_GROWTH * self._time, self._same)
        return worth + others

    def _grown(self, count: int, growth: float, row: tuple[int, ...]) -> float:
        """Return the value that `count` tokens add to a set that grows by `growth` other tokens."""
        return _between(count + growth, row) - _between(growth, row)


_MAX_REMEMBERED: Final = 1 << 16


def _between(size: float, row: tuple[int, ...]) -> float:
    """Interpolate the worth of a set; each token beyond half of the largest set adds an average share of that set's worth."""
    half = (len(row) - 1) / 2
    inner = min(size, half)
    low = int(inner)
    beyond = max(0.0, size - half)
    return row[low] + (inner - low) * (row[low + 1] - row[low]) + beyond * row[-1] / (2 * half)


def stored(hand: Hand, storage: int) -> tuple[list[int], int]:
    """Return the piles, largest first, and the wilds that remain after phase 2 (C4.9): wilds are kept first, then large piles."""
    wilds = min(hand % 10, storage)
    room = storage - wilds
    piles: list[int] = []
    for count in reversed(piles_of(hand)):
        if room:
            piles.append(min(count, room))
            room -= piles[-1]
    return piles, wilds


def coins_worth(coins: int, turns: int) -> float:
    """Return the points for coins in the safe after phase 3."""
    if turns <= 1:
        return LAST_COIN * coins
    needed = min(coins, NEEDED_COINS)
    return NEEDED_COIN * needed + SPARE_COIN * (coins - needed)


class Shopping:
    """The best purchases for each credit with the same cards on offer. Change is lost (C4.5).

    Attributes:
        worths: the maximum points that each credit can buy.
    """

    def __init__(self, offers: list[tuple[int, int, float]], most: int) -> None:
        """Find the best purchases for each credit up to `most` from the card, cost and worth of every copy on offer."""
        self.worths = [0.0] * (most + 1)
        self._bundles = [0] * (most + 1)  # digit n in base 8 counts the copies of card n
        worths, bundles = self.worths, self._bundles
        for card, cost, worth in offers:
            copy = 1 << 3 * card
            # The loop runs from the largest credit down, so that each copy is bought only once.
            for credit in range(most, cost - 1, -1):
                better = worths[credit - cost] + worth
                if better > worths[credit]:
                    worths[credit] = better
                    bundles[credit] = bundles[credit - cost] + copy

    def cards(self, credit: int) -> list[int]:
        """Return the cards that a credit buys."""
        bundle, found, card = self._bundles[credit], [0][:0], 0
        while bundle:
            for _ in range(bundle & 7):
                found.append(card)
            bundle >>= 3
            card += 1
        return found


class Worths:
    """The worth of goods, coins and cards on one board, with a cache."""

    def __init__(self, board: CargoNoirBoard) -> None:
        self.board = board
        self.sets = Sets(board.same, board.different)
        self._goods: dict[tuple[int, int, bool], Worth] = {}
        self._shopping: dict[int, Shopping] = {}

    def goods(self, table: Table, seat: Seat, turns: int, bought: int = 0) -> Worth:
        """Return the valuation of a seat's goods just before a phase 2 with `turns` turns after it.

        It assumes that the seat has bought `bought` more ships by then.
        """
        ship: int = Card.CARGO_SHIP
        ships = min(table.supply[ship], self.board.cap[ship] - table.cards[seat][ship]) - bought
        key = (turns, table.storage(seat), ships > 0)
        known = self._goods.get(key)
        if known is None:
            known = self._goods[key] = Worth(self.board, self.sets, turns, key[1], key[2])
        return known

    def shopping(self, table: Table, most: int) -> Shopping:
        """Return the best purchases of the seat on turn, for each credit up to at least `most` (C4.6)."""
        turns, cards = table.last_turn - table.turn, table.cards[table.seat]
        key, copies = turns, [0][:0]
        for card in range(len(cards)):
            copies.append(min(table.supply[card], self.board.cap[card] - cards[card], MAX_COPIES))
            key = (key << 3) + copies[-1]
        known = self._shopping.get(key)
        if known is None or len(known.worths) <= most:
            if len(self._shopping) >= _MAX_REMEMBERED_SHOPPING:
                self._shopping.clear()
            known = self._shopping[key] = Shopping(self._offers(copies, turns), min(MAX_CREDIT, 2 * most + 16))
        return known

    def _offers(self, copies: list[int], turns: int) -> list[tuple[int, int, float]]:
        """Return the card, the cost and the worth of every copy for sale."""
        board = self.board
        found: list[tuple[int, int, float]] = []
        for card in range(len(copies)):
            worth = float(board.vp[card])
            if card == Card.CARGO_SHIP:
                worth += SHIP_POINTS * turns
            elif card == Card.WAREHOUSE:
                worth += WAREHOUSE_POINTS * turns
            for _ in range(copies[card]):
                found.append((card, board.cost[card], worth))
        return found


_MAX_REMEMBERED_SHOPPING: Final = 1 << 12
