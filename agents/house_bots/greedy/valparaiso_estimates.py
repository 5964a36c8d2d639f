"""Estimates of the worth of things in Valparaíso, in victory points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.games.valparaiso.board import ValparaisoBoard
from referee.games.valparaiso.names import Effect

EFFECTS: Final = {
    Effect.MOVE_PLUS: 0.6, Effect.RIVER: 0.4, Effect.TRADE_PAY5: 0.8, Effect.TWO_DIFF: 0.8, Effect.GOOD5_VP: 0.4,
    Effect.SELL15: 0.7, Effect.GAIN10: 0.8, Effect.TWO_GOODS_VP: 0.4, Effect.BUILD_GOOD: 0.9, Effect.ONE_EACH: 1.1,
    Effect.BUY3: 0.8, Effect.VP1: 1.0, Effect.HIRE5: 0.7, Effect.GAIN15: 1.1, Effect.PAY10_VP: 1.5,
    Effect.ONE_EACH_VP: 1.0, Effect.TWO_ANY: 0.9, Effect.FREE_BUILD_HIRE: 1.0, Effect.TRADE: 1.2, Effect.SAIL: 0.5,
    Effect.TRANSFER: 0.6, Effect.OVERSEAS: 0.8,
}  # fmt: skip
"""The worth of each action on an achievement card."""
GOODS: Final = (0.0, 0.28, 0.55, 0.8, 0.98, 1.12, 1.22, 1.28)
"""The worth of goods of one kind in the warehouse, by quantity, in addition to their worth at the end."""
NAMES: Final = (
    "pace", "full", "peso", "pesos", "goods", "held", "one_good", "one_peso", "card", "soon", "next", "last",
    "merchant", "station", "customs", "residence", "slot", "home", "site", "stand", "used", "uses", "contest", "win",
    "track", "printed",
)  # fmt: skip
"""The names of the numbers that were measured in matches, in the order of their factors."""
_MEASURED: Final = {
    "pace": 1.3, "full": 1.1, "peso": 1.1, "goods": 0.7, "one_good": 0.97, "one_peso": 0.85, "card": 1.25, "soon": 1.3,
    "next": 0.85, "merchant": 0.9, "station": 1.3, "residence": 0.75, "slot": 1.1, "track": 1.15, "printed": 1.1,
}  # fmt: skip
"""Factors for the numbers; a number that is not named has the factor 1.

They were adjusted by hand in the directions that `python -m bench.values_valparaiso` found in 2,755 matches at two
seats.
"""
FACTORS: Final = {2: _MEASURED, 3: _MEASURED}
"""The factors by number of seats; for a number of seats that is not listed, all factors are 1."""


class Estimates:
    """The estimates, and the values of tiles that follow from them."""

    def __init__(self, factors: Sequence[float] = ()) -> None:
        """Multiply the tuned numbers by their factors.

        Args:
            factors: a factor for each number, in the order of `NAMES`; empty to leave the numbers unchanged.
        """
        by = factors or [1.0] * len(NAMES)
        self.pace = 2.6 * by[0]  # points on the track that a seat is assumed to gain in a round
        self.full = 3.0 * by[1]  # number of remaining rounds from which convertible things have their full worth
        self.peso = 0.035 * by[2]  # worth of a peso in addition to its worth at the end ...
        self.pesos = round(30 * by[3])  # ... for at most this number of pesos
        self.goods = [points * by[4] for points in GOODS]
        self.held = 0.2 * by[5]  # worth of a good in the hold, in addition to its worth at the end
        self.one_good = 0.4 * by[6]  # worth of a good gained or paid later
        self.one_peso = 0.08 * by[7]  # worth of a peso gained or paid later
        self.card = 0.4 * by[8]  # general worth of using a card
        self.soon = 0.9 * by[9]  # share of a gain later in this round
        self.next = 0.6 * by[10]  # share of a gain in the next round
        self.last = 0.3 * by[11]  # minimum share of the worth of money and goods while cards can be used
        self.merchant = 0.3 * by[12]  # worth of a merchant in a round
        self.station = 0.3 * by[13]  # worth of a house in a market in a round
        self.customs = 0.1 * by[14]  # worth of a house elsewhere in a village in a round
        self.residence = 0.15 * by[15]  # worth of a residence in a round, in addition to its revenue
        self.slot = 0.4 * by[16]  # worth of a further slot in a round
        self.home = 0.25 * by[17]  # worth of having the ship in the harbour
        self.site = 0.7 * by[18]  # worth of a building space, per point
        self.stand = (
            0.3 * by[19]
        )  # worth of a merchant in a market at the start of a round, in addition to its tile's effect
        self.used = 0.6 * by[20]  # share of an achievement card's worth in each round
        self.uses = 4.0 * by[21]  # the maximum number of these rounds
        self.contest = 0.06 * by[22]  # cost of later trade, for each card before it and each rival merchant there
        self.win = 8.0 * by[23]  # worth of ending the match in the lead
        self.track = 1.0 * by[24]  # worth of a point on the track
        self.printed = 1.0 * by[25]  # worth of a point on an achievement card
        self._numbers: list[Numbers] = []

    def numbers(self, board: ValparaisoBoard) -> Numbers:
        """Return the numbers for a board; those for the last board are cached."""
        if not self._numbers or self._numbers[0].board is not board:
            self._numbers = [Numbers(board, self)]
        return self._numbers[0]


class Numbers:
    """The numbers printed on the tiles, as lists by tile."""

    def __init__(self, board: ValparaisoBoard, estimates: Estimates) -> None:
        self.board = board
        self.money = [tile.pay.money for tile in board.tiles]
        self.goods = [tile.pay.goods for tile in board.tiles]
        self.most = [tile.most for tile in board.tiles]
        self.points = [
            tile.gain.vp
            + estimates.one_good * (2 if tile.choose else sum(tile.gain.goods) - sum(tile.pay.goods))
            + estimates.one_peso * (tile.gain.money - tile.pay.money)
            for tile in board.tiles
        ]
        """The worth of one use of a tile."""


def factors(seats: int) -> list[float]:
    """Return the factors that `greedy` uses with a given number of seats, in the order of `NAMES`."""
    known = FACTORS.get(seats, {})
    return [known.get(name, 1.0) for name in NAMES]


_GREEDYS: dict[int, Estimates] = {}


def measured(seats: int) -> Estimates:
    """Return the estimates that `greedy` uses with a given number of seats."""
    if seats not in _GREEDYS:
        _GREEDYS[seats] = Estimates(factors(seats))
    return _GREEDYS[seats]
