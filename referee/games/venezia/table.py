"""The table, the plans, and the current seat (RULES.md, section 2). It is plain data, which `rules.py` changes."""

from __future__ import annotations

from typing import Final, NamedTuple, Self, cast

from typing_extensions import override

from referee.game import Seat, Setup, State
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.grid import Grid, grid_of
from referee.games.venezia.names import CARDS, DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step

NONE = -1
"""The number that stands for no seat, no place or no square."""
# Constants, because taking the length of an enum is slow on the hot path.
_PLACES: Final = len(Place)
_SQUARES: Final = len(Square)


class Plan(NamedTuple):
    """The plan of a seat for this round (Z2)."""

    step: Step = Step.FIRST
    first: FirstCard | None = None
    action: ActionCard | None = None
    """The action card: `ActionCard.NONE` if the seat chose none, and `None` before the choice."""
    chosen: tuple[Place, ...] = ()
    """The district cards in the order in which they were chosen."""
    counts: tuple[int, ...] = ()
    """The number of pigeons on the first card and then on each chosen card, as far as the seat has decided."""
    slots: tuple[Place, ...] = ()
    """The district cards by slot, once all have committed (Z2.9)."""


NO_PLAN = Plan()


class Table(State):
    """All data of a match; `empty` and `clone` create it. Lists are by seat unless stated otherwise."""

    board: VeneziaBoard
    """The numbers printed on the components of the game."""
    grid: Grid
    """The Piazza, with or without its Campanile."""
    last_round: int
    """The round after which the match ends in any case (Z12.1)."""
    round: int
    """The number of this round, from 1."""
    first_seat: Seat
    """The first player of this round."""
    phase: Phase
    """The open decision."""
    seat: Seat
    """The seat to act; it means nothing while all seats plan, or when the match is over."""
    score: list[int]
    """The points of each seat."""
    earned: list[tuple[int, ...]]
    """The points of each seat since the match or the position began, by district."""
    home: list[int]
    """The place of each seat's home, or NONE."""
    supply: list[int]
    """The number of each seat's pigeons in the general supply."""
    reserve: list[int]
    """The number of each seat's pigeons in its reserve, including those of unrevealed plans (Z2.8)."""
    nest: list[int]
    """The number of each seat's pigeons in its nest."""
    cemetery: list[int]
    """The number of each seat's pigeons in the cemetery."""
    loc: list[list[int]]
    """The number of pigeons, by place and seat."""
    grey: list[int]
    """The number of grey pigeons, by place."""
    grey_side: int
    """The number of grey pigeons at the side of the map."""
    piazza: list[int]
    """The owner of the pigeon on each square, or NONE."""
    tourists: tuple[int, ...]
    """The squares of the tourists, in ascending order."""
    hunters: tuple[int, ...]
    """The squares of the hunters, in ascending order."""
    danger: int
    """The squares of the danger zone, as bits; they follow from the hunters (Z4.4)."""
    raptor: int
    """The place of the bird of prey, or NONE."""
    grey_owner: int
    """The seat for which the greys count in this round, or NONE (Z8.8)."""
    discard: list[list[int]]
    """The round in which each action card was executed, by seat and card; 0 while it is in the hand."""
    plans: list[Plan]
    """The plan of each seat."""
    first_count: list[int]
    """The number of pigeons on each seat's first card, once all have committed."""
    piles: list[list[int]]
    """The number of pigeons on the district cards, by seat and slot, once all have committed."""
    slot: int
    """The current slot of a Feint, counted from 0 (Z3.2)."""
    unmoved: frozenset[int]
    """The squares of those pigeons of the moving seat that have not moved yet."""
    chain: tuple[int, ...]
    """The squares of the open chain of jumps, beginning with its start."""
    waiting: tuple[Seat, ...]
    """The seats that still have to execute a card, in order; the first is executing its card."""
    card_place: int
    """The place where the card that is being executed takes effect, or NONE (Z8.2, Z8.3)."""
    card_count: int
    """The number of pigeons poisoned so far, of greys touched so far, or of replacing pigeons (Z8.3)."""
    grey_untouched: list[int]
    """The number of greys on the map that this execution has not touched, by place (Z8.8)."""
    majority: list[int]
    """The seat with the majority in each district in the last scoring, or NONE."""

    __slots__ = tuple(__annotations__)

    @classmethod
    def empty(cls, setup: Setup) -> Self:
        """Return an empty table, on which `rules.set_up` lays out the pieces."""
        new = cls(setup)
        seats = setup.seats
        options = setup.options
        new.board = cast("VeneziaBoard", setup.board)
        new.grid = grid_of(new.board.campanile if options["campanile"] else None)
        new.last_round = cast("int", options["max_rounds"]) if options["end_rule"] == "open" else new.board.rounds
        new.round = 1
        new.first_seat = 0
        new.phase = Phase.HOME
        new.seat = 0
        new.score = [0] * seats
        new.earned = [(0,) * len(DISTRICTS)] * seats
        new.home = [NONE] * seats
        new.supply = [0] * seats
        new.reserve = [0] * seats
        new.nest = [0] * seats
        new.cemetery = [0] * seats
        new.loc = [[0] * seats for _ in range(_PLACES)]
        new.grey = [0] * _PLACES
        new.grey_side = 0
        new.piazza = [NONE] * _SQUARES
        new.tourists = ()
        new.hunters = ()
        new.danger = 0
        new.raptor = NONE
        new.grey_owner = NONE
        new.discard = [[0] * len(CARDS) for _ in range(seats)]
        new.plans = [NO_PLAN] * seats
        new.first_count = [0] * seats
        new.piles = [[] for _ in range(seats)]
        new.slot = 0
        new.unmoved = frozenset()
        new.chain = ()
        new.waiting = ()
        new.card_place = NONE
        new.card_count = 0
        new.grey_untouched = [0] * _PLACES
        new.majority = [NONE] * len(DISTRICTS)
        return new

    @override
    def clone(self) -> Self:
        # Numbers change in place, so their lists are copied; plans and tallies are tuples, and shared.
        new = type(self)(self.setup)
        new.board = self.board
        new.grid = self.grid
        new.last_round = self.last_round
        new.round = self.round
        new.first_seat = self.first_seat
        new.phase = self.phase
        new.seat = self.seat
        new.score = self.score[:]
        new.earned = self.earned[:]
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

    def turn_order(self) -> list[Seat]:
        """Return the seats in clockwise order, beginning with the first player."""
        seats = self.setup.seats
        return [(self.first_seat + step) % seats for step in range(seats)]

    def on_piazza(self, seat: Seat) -> int:
        """Return the number of a seat's pigeons on the Piazza."""
        return self.piazza.count(seat)

    def hand(self, seat: Seat) -> list[ActionCard]:
        """Return the action cards that a seat has not executed, including a card that lies face down."""
        return [card for card, when in zip(CARDS, self.discard[seat], strict=True) if not when]

    def left_to_lay(self, seat: Seat) -> int:
        """Return the number of pigeons in a seat's reserve that its plan has not yet laid on cards."""
        return self.reserve[seat] - sum(self.plans[seat].counts)
