"""The table, the plans, and the current seat (RULES.md, section 2). It is plain data, which `rules.py` changes."""

from __future__ import annotations

from typing import Final, NamedTuple, Self, cast

from typing_extensions import override

from referee.game import Seat, Setup, State
from referee.games.valparaiso.board import Side, ValparaisoBoard
from referee.games.valparaiso.names import (
    Card,
    Colour,
    Effect,
    Good,
    Location,
    Phase,
    Sector,
    Slot,
    Source,
    Store,
    Tile,
)

NONE = -1
"""The number that stands for no seat, no card or no location."""
# Constants, because taking the length of an enum is slow on the hot path.
_LOCATIONS: Final = len(Location)
_SLOTS: Final = len(Slot)
_NOTHING = (0, 0, 0)
_NO_POINTS = (0,) * len(Source)


class Plan(NamedTuple):
    """The cards that a seat plans, or still has to use, in this round (V2)."""

    cards: tuple[Card, ...] = ()
    """The cards in the slots, beginning with slot #1."""
    mayor: Card | None = None
    """The card in the mayor's slot."""
    sold: tuple[tuple[int, ...], tuple[int, ...]] = (_NOTHING, _NOTHING)
    """The number of goods sold during planning, by store and kind; the others do not see it (V2.7)."""

    def is_empty(self) -> bool:
        """Return whether the plan has no card left to use."""
        return not self.cards and self.mayor is None


NO_PLAN = Plan()


class Table(State):
    """All data of a match; `empty` and `clone` create it.

    Lists by seat, good, location, sector or slot are in the order of `names.py`.
    """

    board: ValparaisoBoard
    """The numbers printed on the components of the game."""
    side: Side
    """The side of the board that is in use."""
    last_round: int
    """The round after which the match ends in any case."""
    round: int
    """The number of this round, from 1."""
    phase: Phase
    """The open decision."""
    start_seat: Seat
    """The seat with the lighthouse, which begins the round."""
    seat: Seat
    """The seat to act; it means nothing while all seats plan, or when the match is over."""
    colours: tuple[Colour, ...]
    """The colour of each seat."""
    money: list[int]
    """The number of pesos that each seat has, without the changes that unrevealed plans make (V2.7)."""
    warehouse: list[list[int]]
    """The goods in each warehouse, by kind, without the changes that unrevealed plans make."""
    hold: list[list[int]]
    """The goods in each cargo hold, by kind, without the changes that unrevealed plans make."""
    vp: list[int]
    """The victory points of each seat on the track."""
    earned: list[tuple[int, ...]]
    """Each seat's points on the track since the match or the position began, by source."""
    merchants: list[list[int]]
    """The number of each seat's merchants on the board, by location."""
    merchants_reserve: list[int]
    """The number of merchants on each seat's repository board."""
    houses_left: list[int]
    """The number of each seat's houses that are not yet built."""
    ship: list[Sector]
    """The sector of each seat's ship."""
    owned: list[tuple[Card, ...]]
    """The achievement cards of each seat, in the order of section 1.8 of RULES.md."""
    plans: list[Plan]
    """The plan of each seat, or the part of it that still has to be used."""
    committed: list[bool]
    """For each seat, True if it has finished its unrevealed plan."""
    first_finisher: int
    """The first seat to declare its plan finished; `NONE` if there is none (V2.8)."""
    markets: list[tuple[Tile, ...]]
    """The tiles of each market, from the bottom to the top."""
    reserve: tuple[Tile, ...]
    """The tiles of the reserve, from the bottom to the top."""
    slots: list[int]
    """The achievement card in each slot, or `NONE`."""
    deck: tuple[Card, ...]
    """The pile of achievement cards, in the order in which they will be drawn."""
    scrapped: tuple[Card, ...]
    """The achievement cards that are out of the game."""
    sea_money: list[int]
    """The number of pesos in each outer sector."""
    row: tuple[Seat, ...]
    """The owners of the houses in Valparaíso, in the order in which these were built."""
    houses: dict[tuple[Location, int], Seat]
    """The owners of the houses in villages, by village and building space."""
    effect: Effect | None
    """The action in progress, or None."""
    unmoved: tuple[int, ...]
    """The number of merchants that the action in progress may still move, by location; empty if it moves none."""
    path: tuple[Location, ...]
    """The locations that the moving merchant has visited."""
    steps: int
    """The number of the moving merchant's counted steps."""
    villages: tuple[Location, ...]
    """The villages that the trade in progress still has to resolve."""
    village: int
    """The village whose tile is in use, or `NONE`."""
    left: int
    """The number of uses left for the tile in use, or of goods left to buy."""
    begun: bool
    """True if the action, or the use of the tile, has already had an effect."""
    hold_was_full: bool
    """True if the hold of the current seat was full at the start of its turn; only with `refill_rule=strict` (V4.1)."""

    __slots__ = tuple(__annotations__)

    @classmethod
    def empty(cls, setup: Setup) -> Self:
        """Return an empty table, on which `set_up.set_up` lays out the pieces."""
        seats = setup.seats
        new = cls(setup)
        new.board = board = cast("ValparaisoBoard", setup.board)
        new.side = board.side(seats)
        new.last_round = cast("int", setup.options["max_rounds"])
        new.round = 1
        new.phase = Phase.SETUP_GOODS
        new.start_seat = 0
        new.seat = 0
        new.colours = ()
        new.money = [0] * seats
        new.warehouse = [[0, 0, 0] for _ in range(seats)]
        new.hold = [[0, 0, 0] for _ in range(seats)]
        new.vp = [0] * seats
        new.earned = [_NO_POINTS] * seats
        new.merchants = [[0] * _LOCATIONS for _ in range(seats)]
        new.merchants_reserve = [0] * seats
        new.houses_left = [0] * seats
        new.ship = [Sector.H] * seats
        new.owned = [()] * seats
        new.plans = [NO_PLAN] * seats
        new.committed = [False] * seats
        new.first_finisher = NONE
        new.markets = []
        new.reserve = ()
        new.slots = [NONE] * _SLOTS
        new.deck = ()
        new.scrapped = ()
        new.sea_money = [0, 0, 0]
        new.row = ()
        new.houses = {}
        new.effect = None
        new.unmoved = ()
        new.path = ()
        new.steps = 0
        new.villages = ()
        new.village = NONE
        new.left = 0
        new.begun = False
        new.hold_was_full = False
        return new

    # derived values

    def turn_order(self) -> list[Seat]:
        """Return the seats in clockwise order, beginning with the start player."""
        seats = self.setup.seats
        return [(self.start_seat + step) % seats for step in range(seats)]

    def built(self, seat: Seat) -> int:
        """Return the number of houses that a seat has built."""
        return self.row.count(seat) + list(self.houses.values()).count(seat)

    def refill_is_strict(self) -> bool:
        """Return whether a hold that was full when the turn began earns nothing (V4.1)."""
        return self.setup.options["refill_rule"] == "strict"

    def hold_is_full(self, seat: Seat) -> bool:
        """Return whether the hold of a seat is full."""
        return sum(self.hold[seat]) >= self.board.hold

    def stores(self, seat: Seat) -> tuple[list[int], list[int]]:
        """Return the goods of a seat, by store."""
        return self.warehouse[seat], self.hold[seat]

    def cards_of(self, seat: Seat) -> list[Card]:
        """Return all cards that a seat may plan: the action cards and its achievements (V2.5)."""
        return [*_ACTION_CARDS, *self.owned[seat]]

    def houses_of(self, seat: Seat, location: Location) -> int:
        """Return the number of houses that a seat has in a village."""
        count = 0
        if self.houses:
            for space in range(len(self.side.spaces[location])):
                if self.houses.get((location, space), NONE) == seat:
                    count += 1
        return count

    def houses_of_others(self, seat: Seat, location: Location) -> list[Seat]:
        """Return the owners of the other seats' houses in a village, with one entry for each house."""
        found: list[Seat] = []
        if self.houses:
            for space in range(len(self.side.spaces[location])):
                owner = self.houses.get((location, space), NONE)
                if owner not in (NONE, seat):
                    found.append(owner)
        return found

    def tiles(self, village: Location) -> tuple[Tile, ...]:
        """Return the tiles of a market, from the bottom to the top."""
        return self.markets[village - Location.M1]

    def money_in_plan(self, seat: Seat) -> int:
        """Return the number of pesos that a seat has after the sales and the payment in its plan."""
        plan = self.plans[seat]
        sold = sum(map(sum, plan.sold))
        paid = 0 if plan.mayor is None else self.board.mayor_price
        return self.money[seat] + sold * self.board.good_price - paid

    def left_in_plan(self, seat: Seat, store: Store, good: Good) -> int:
        """Return the number of a seat's goods of one kind in a store, after the sales in its plan."""
        return self.stores(seat)[store][good] - self.plans[seat].sold[store][good]

    @override
    def clone(self) -> Self:
        # Goods and merchants change in place, so each list is copied; plans, tallies and columns are tuples, and shared.
        new = type(self)(self.setup)
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
        new.earned = self.earned[:]
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
"""The phases in which seats use cards (V3)."""
_ACTION_CARDS = tuple(Card)[:8]
