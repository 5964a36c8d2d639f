"""What lies on the table, what is planned, and whose turn it is (RULES.md, section 2). Plain data: `rules.py` changes it."""

from __future__ import annotations

from typing import NamedTuple, Self, cast

from referee.game import Seat, Setup, State
from referee.games.valparaiso.board import ValparaisoBoard
from referee.games.valparaiso.names import Card, Colour, Effect, Good, Location, Phase, Sector, Slot, Store, Tile

NONE = -1
"""Stands for a seat, a card or a location where there is none."""
_NOTHING = (0, 0, 0)


class Plan(NamedTuple):
    """What a seat plans, or has still to use, in this round (V2)."""

    cards: tuple[Card, ...] = ()
    """The cards in the slots, #1 first."""
    mayor: Card | None = None
    """The card in the mayor's slot."""
    sold: tuple[tuple[int, ...], tuple[int, ...]] = (_NOTHING, _NOTHING)
    """Goods sold while planning, by store and kind; nobody else knows of it (V2.7)."""

    def is_empty(self) -> bool:
        """Whether no card is left to use."""
        return not self.cards and self.mayor is None


NO_PLAN = Plan()


class Table(State):
    """Everything on the table. What is by seat, good, location, sector or slot is in the order of `names.py`."""

    __slots__ = (
        "begun",
        "board",
        "colours",
        "committed",
        "deck",
        "effect",
        "first_finisher",
        "hold",
        "hold_was_full",
        "houses",
        "houses_left",
        "last_round",
        "left",
        "markets",
        "merchants",
        "merchants_reserve",
        "money",
        "owned",
        "path",
        "phase",
        "plans",
        "reserve",
        "round",
        "row",
        "scrapped",
        "sea_money",
        "seat",
        "ship",
        "side",
        "slots",
        "start_seat",
        "steps",
        "unmoved",
        "village",
        "villages",
        "vp",
        "warehouse",
    )

    def __init__(self, setup: Setup) -> None:
        """A table on which nothing lies."""
        seats = setup.seats
        self.setup = setup
        self.board = cast("ValparaisoBoard", setup.board)
        self.side = self.board.side(seats)
        self.last_round = cast("int", setup.options["max_rounds"])
        self.round = 1
        self.phase = Phase.SETUP_GOODS
        self.start_seat: Seat = 0
        self.seat: Seat = 0
        """The seat whose decision is open; while all plan, and at the end, it means nothing."""
        self.colours: tuple[Colour, ...] = ()
        self.money = [0] * seats
        """Without what plans change in it until all are revealed (V2.7)."""
        self.warehouse = [[0, 0, 0] for _ in range(seats)]
        """The same holds for goods."""
        self.hold = [[0, 0, 0] for _ in range(seats)]
        self.vp = [0] * seats
        self.merchants = [[0] * len(Location) for _ in range(seats)]
        self.merchants_reserve = [0] * seats
        self.houses_left = [0] * seats
        self.ship = [Sector.H] * seats
        self.owned: list[tuple[Card, ...]] = [()] * seats
        """Achievement cards, in the order of section 1.8."""
        self.plans = [NO_PLAN] * seats
        self.committed = [False] * seats
        self.first_finisher = NONE
        self.markets: list[tuple[Tile, ...]] = []
        """Tiles of each market from the bottom to the top."""
        self.reserve: tuple[Tile, ...] = ()
        """From the bottom to the top."""
        self.slots = [NONE] * len(Slot)
        """The achievement card in each."""
        self.deck: tuple[Card, ...] = ()
        """The next to be drawn first."""
        self.scrapped: tuple[Card, ...] = ()
        self.sea_money = [0, 0, 0]
        self.row: tuple[Seat, ...] = ()
        """The owners of the houses in Valparaíso, in the order of building."""
        self.houses: dict[tuple[Location, int], Seat] = {}
        """The owners of the houses in villages, by village and building space."""
        self.effect: Effect | None = None
        """The action that is being carried out."""
        self.unmoved: tuple[int, ...] = ()
        """Merchants that it may still move, by location; empty if it moves none."""
        self.path: tuple[Location, ...] = ()
        """Where the merchant in motion has been."""
        self.steps = 0
        """Its counted steps."""
        self.villages: tuple[Location, ...] = ()
        """Villages still to be resolved."""
        self.village = NONE
        """The village whose tile is being used."""
        self.left = 0
        """Executions left there, or goods left to buy."""
        self.begun = False
        """Whether the action, or the use of the tile, has done something already."""
        self.hold_was_full = False
        """Whether the hold of the seat on turn was full when its turn began; only with `refill_rule=strict` (V4.1)."""

    # what can be derived

    def turn_order(self) -> list[Seat]:
        """The seats from the start player on, clockwise."""
        seats = self.setup.seats
        return [(self.start_seat + step) % seats for step in range(seats)]

    def built(self, seat: Seat) -> int:
        """Return how many houses a seat has built."""
        return self.row.count(seat) + list(self.houses.values()).count(seat)

    def refill_is_strict(self) -> bool:
        """Return whether a hold that was full when the turn began earns nothing (V4.1)."""
        return self.setup.options["refill_rule"] == "strict"

    def hold_is_full(self, seat: Seat) -> bool:
        """Return whether no more good fits into the hold of a seat."""
        return sum(self.hold[seat]) >= self.board.hold

    def stores(self, seat: Seat) -> tuple[list[int], list[int]]:
        """The goods of a seat, by store."""
        return self.warehouse[seat], self.hold[seat]

    def cards_of(self, seat: Seat) -> list[Card]:
        """All cards that a seat may plan: the action cards and its achievements (V2.5)."""
        return [*_ACTION_CARDS, *self.owned[seat]]

    def houses_of(self, seat: Seat, location: Location) -> int:
        """How many building spaces of a village have a house of the seat."""
        return self._owners(location).count(seat) if self.houses else 0

    def houses_of_others(self, seat: Seat, location: Location) -> list[Seat]:
        """The owners of the other houses of a village, one for each house."""
        return [owner for owner in self._owners(location) if owner not in (NONE, seat)] if self.houses else []

    def _owners(self, location: Location) -> list[Seat]:
        """Whose house is on each building space of a village."""
        return [self.houses.get((location, space), NONE) for space in range(len(self.side.spaces[location]))]

    def tiles(self, village: Location) -> tuple[Tile, ...]:
        """The tiles of a market, from the bottom to the top."""
        return self.markets[village - Location.M1]

    def money_in_plan(self, seat: Seat) -> int:
        """The pesos of a seat after the sales and the payment in its plan."""
        plan = self.plans[seat]
        sold = sum(map(sum, plan.sold))
        paid = 0 if plan.mayor is None else self.board.mayor_price
        return self.money[seat] + sold * self.board.good_price - paid

    def left_in_plan(self, seat: Seat, store: Store, good: Good) -> int:
        """What a seat has of a good after the sales in its plan."""
        return self.stores(seat)[store][good] - self.plans[seat].sold[store][good]

    def clone(self) -> Self:
        """See `referee.game.State`."""
        new = type(self).__new__(type(self))
        new.setup = self.setup
        new.board = self.board
        new.side = self.side
        new.last_round = self.last_round
        new.round = self.round
        new.phase = self.phase
        new.start_seat = self.start_seat
        new.seat = self.seat
        new.colours = self.colours
        new.money = self.money[:]
        new.warehouse = [goods[:] for goods in self.warehouse]
        new.hold = [goods[:] for goods in self.hold]
        new.vp = self.vp[:]
        new.merchants = [row[:] for row in self.merchants]
        new.merchants_reserve = self.merchants_reserve[:]
        new.houses_left = self.houses_left[:]
        new.ship = self.ship[:]
        new.owned = self.owned[:]
        new.plans = self.plans[:]
        new.committed = self.committed[:]
        new.first_finisher = self.first_finisher
        new.markets = self.markets[:]
        new.reserve = self.reserve
        new.slots = self.slots[:]
        new.deck = self.deck
        new.scrapped = self.scrapped
        new.sea_money = self.sea_money[:]
        new.row = self.row
        new.houses = self.houses.copy()
        new.effect = self.effect
        new.unmoved = self.unmoved
        new.path = self.path
        new.steps = self.steps
        new.villages = self.villages
        new.village = self.village
        new.left = self.left
        new.begun = self.begun
        new.hold_was_full = self.hold_was_full
        return new


USE_PHASES = tuple(phase for phase in Phase if Phase.USE <= phase <= Phase.BUY)
"""The phases in which cards are used (V3)."""
_ACTION_CARDS = tuple(Card)[:8]
