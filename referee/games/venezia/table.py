"""What lies on the table, what is planned, and whose turn it is (RULES.md, section 2). Plain data: `rules.py` changes it."""

from __future__ import annotations

from typing import NamedTuple, Self, cast

from typing_extensions import override

from referee.game import Seat, Setup, State
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.grid import grid_of
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step

NONE = -1
"""Stands for the absence of a seat, place or square."""


class Plan(NamedTuple):
    """What a seat has planned for this round (Z2)."""

    step: Step = Step.FIRST
    first: FirstCard | None = None
    action: ActionCard | None = None
    """NONE if no card was chosen; `None` if that is still to be decided."""
    chosen: tuple[Place, ...] = ()
    """The district cards in the order in which they were chosen."""
    counts: tuple[int, ...] = ()
    """Pigeons laid on the first card and then on these, as far as they are chosen."""
    slots: tuple[Place, ...] = ()
    """The district cards by slot, once all have committed (Z2.9)."""


NO_PLAN = Plan()


class Table(State):
    """The data of a match. Lists are by seat unless they say otherwise."""

    __slots__ = (
        "board",
        "card_count",
        "card_place",
        "cemetery",
        "chain",
        "danger",
        "discard",
        "first_count",
        "first_seat",
        "grey",
        "grey_owner",
        "grey_side",
        "grey_untouched",
        "grid",
        "home",
        "hunters",
        "last_round",
        "loc",
        "majority",
        "nest",
        "phase",
        "piazza",
        "piles",
        "plans",
        "raptor",
        "reserve",
        "round",
        "score",
        "seat",
        "slot",
        "supply",
        "tourists",
        "unmoved",
        "waiting",
    )

    def __init__(self, setup: Setup) -> None:
        """Make an empty table; `rules.set_up` lays it out."""
        seats = setup.seats
        options = setup.options
        self.setup = setup
        self.board = cast("VeneziaBoard", setup.board)
        self.grid = grid_of(self.board.campanile if options["campanile"] else None)
        self.last_round = cast("int", options["max_rounds"]) if options["end_rule"] == "open" else self.board.rounds
        self.round = 1
        self.first_seat: Seat = 0
        self.phase = Phase.HOME
        self.seat: Seat = 0
        """The seat whose decision is open; while all plan, and at the end, it means nothing."""
        self.score = [0] * seats
        self.home = [NONE] * seats
        self.supply = [0] * seats
        self.reserve = [0] * seats
        """Without what plans take from it until all have committed (Z2.8)."""
        self.nest = [0] * seats
        self.cemetery = [0] * seats
        self.loc = [[0] * seats for _ in Place]
        """Pigeons by place and seat."""
        self.grey = [0] * len(Place)
        """Grey pigeons by place."""
        self.grey_side = 0
        self.piazza = [NONE] * len(Square)
        """The seat whose pigeon stands there, by square."""
        self.tourists: tuple[int, ...] = ()
        self.hunters: tuple[int, ...] = ()
        self.danger = 0
        """The danger zone, which follows from the hunters."""
        self.raptor = NONE
        self.grey_owner = NONE
        self.discard = [[0] * len(CARDS) for _ in range(seats)]
        """The round in which each action card was executed, by seat and card; 0 while it is in the hand."""
        self.plans = [NO_PLAN] * seats
        self.first_count = [0] * seats
        """Pigeons on the first cards, once all have committed."""
        self.piles: list[list[int]] = [[] for _ in range(seats)]
        """Pigeons on the district cards by slot, once all have committed."""
        self.slot = 0
        """The slot in question, from 0 (Z3.2)."""
        self.unmoved: frozenset[int] = frozenset()
        """Squares of the moving seat's pigeons that have not moved."""
        self.chain: tuple[int, ...] = ()
        """Squares of the open chain of jumps, from its start."""
        self.waiting: tuple[Seat, ...] = ()
        """Seats that have still to execute a card, in their order; the first is at it."""
        self.card_place = NONE
        """The district in question (Z8.2, Z8.3)."""
        self.card_count = 0
        """Pigeons poisoned or greys touched so far; or pigeons that replace (Z8.3)."""
        self.grey_untouched = [0] * len(Place)
        """Greys on the map that this execution has not touched, by place (Z8.8)."""
        self.majority = [NONE] * len(DISTRICTS)
        """The majorities of the last scoring, by district."""

    # what can be derived

    def turn_order(self) -> list[Seat]:
        """List the seats from the first player on, clockwise."""
        seats = self.setup.seats
        return [(self.first_seat + step) % seats for step in range(seats)]

    def on_piazza(self, seat: Seat) -> int:
        """Return how many pigeons of a seat stand on the Piazza."""
        return self.piazza.count(seat)

    def hand(self, seat: Seat) -> list[ActionCard]:
        """List the action cards that a seat has not executed, including one that lies face down."""
        return [card for card, when in zip(CARDS, self.discard[seat], strict=True) if not when]

    def left_to_lay(self, seat: Seat) -> int:
        """Count the pigeons of the reserve that a plan has not laid on cards yet."""
        return self.reserve[seat] - sum(self.plans[seat].counts)

    @override
    def clone(self) -> Self:
        new = type(self).__new__(type(self))
        new.setup = self.setup
        new.board = self.board
        new.grid = self.grid
        new.last_round = self.last_round
        new.round = self.round
        new.first_seat = self.first_seat
        new.phase = self.phase
        new.seat = self.seat
        new.score = self.score[:]
        new.home = self.home[:]
        new.supply = self.supply[:]
        new.reserve = self.reserve[:]
        new.nest = self.nest[:]
        new.cemetery = self.cemetery[:]
        new.loc = [row[:] for row in self.loc]
        new.grey = self.grey[:]
        new.grey_side = self.grey_side
        new.piazza = self.piazza[:]
        new.tourists = self.tourists
        new.hunters = self.hunters
        new.danger = self.danger
        new.raptor = self.raptor
        new.grey_owner = self.grey_owner
        new.discard = [row[:] for row in self.discard]
        new.plans = self.plans[:]
        new.first_count = self.first_count[:]
        new.piles = [row[:] for row in self.piles]
        new.slot = self.slot
        new.unmoved = self.unmoved
        new.chain = self.chain
        new.waiting = self.waiting
        new.card_place = self.card_place
        new.card_count = self.card_count
        new.grey_untouched = self.grey_untouched[:]
        new.majority = self.majority[:]
        return new
