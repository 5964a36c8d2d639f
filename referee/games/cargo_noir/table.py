"""The table and the current seat (RULES.md, section 2). It is plain data, which `rules.py` changes."""

from __future__ import annotations

from typing import Final, Self, cast

from typing_extensions import override

from referee.game import Seat, Setup, State
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card, Kind, PendingStake, Phase, Port

# Constants, because looking up an enum or its member is slow on the hot path.
_KINDS: Final = len(Kind)
_PORTS: Final = len(Port)
_CARDS: Final = len(Card)
_SHIP: Final = int(Card.CARGO_SHIP)
_WAREHOUSE: Final = int(Card.WAREHOUSE)


class Table(State):
    """All data of a match; `empty` and `clone` create it.

    Goods are counted by kind, and cards by type, in the order of `names.py`.
    """

    board: CargoNoirBoard
    """The numbers printed on the components of the game."""
    open_ports: tuple[int, ...]
    """The ports that are open with this number of players, in ascending order."""
    first_seat: Seat
    """The seat that begins every turn."""
    last_turn: int
    """The number of the final turn."""
    turn: int
    """The number of this turn, from 1."""
    seat: Seat
    """The seat whose turn it is."""
    phase: Phase
    """The current activity of that seat."""
    bag: list[int]
    """The goods in the bag, by kind; their order is decided only when they are drawn."""
    discard: list[int]
    """The goods on the discard pile, by kind."""
    market: list[int]
    """The goods on display at the Black Market, by kind."""
    port_goods: list[list[int]]
    """The goods in each port, by kind."""
    stacks: list[list[int]]
    """For each port, the height of each seat's stack in coins; 0 for a seat without a ship there."""
    casino: list[int]
    """The number of each seat's ships at the Casino."""
    black_market: list[int]
    """The number of each seat's ships at the Black Market."""
    safe: list[int]
    """The number of coins that each seat has, without those in its stacks."""
    goods: list[list[int]]
    """The goods of each seat, by kind."""
    cards: list[list[int]]
    """The number of copies that each seat has of each victory card."""
    supply: list[int]
    """The number of copies of each victory card that can still be bought."""
    bank: int
    """The number of coins in the bank."""
    coins_total: int
    """The number of coins in the game; it grows only if `bank_limited` is off (C7.2)."""
    todo_casino: int
    """The number of ships at the Casino that are still to be resolved in this phase 1."""
    todo_market: int
    """The number of ships at the Black Market that are still to be resolved in this phase 1."""
    todo_ports: frozenset[int]
    """The ports with a ship that is still to be resolved in this phase 1."""
    banned_ports: frozenset[int]
    """The ports from which the current seat has withdrawn in this turn (C3.5)."""
    syndicate_used: int
    """The number of payments by Syndicate cards in this turn (C3.8)."""
    credit: int
    """The value of goods handed in during this phase 2 that has not been spent yet (C4.4)."""
    diff_kinds: tuple[int, ...]
    """The kinds chosen so far for a set of different kinds, in ascending order."""
    pending_stake: PendingStake | None
    """The stack whose height is being chosen; None outside the phase STAKE."""
    ships_home: int
    """The number of the current seat's ships at home."""

    __slots__ = tuple(__annotations__)

    @classmethod
    def empty(cls, setup: Setup) -> Self:
        """Return an empty table, on which `rules.set_up` lays out the pieces."""
        seats, option = setup.seats, setup.options["last_turn"]
        new = cls(setup)
        new.board = board = cast("CargoNoirBoard", setup.board)
        new.open_ports = board.open_ports(seats)
        new.first_seat = 0
        new.last_turn = option if isinstance(option, int) else board.last_turn[seats]
        new.turn = 1
        new.seat = 0
        new.phase = Phase.P3
        new.bag = [0] * _KINDS
        new.discard = [0] * _KINDS
        new.market = [0] * _KINDS
        new.port_goods = [[0] * _KINDS for _ in range(_PORTS)]
        new.stacks = [[0] * seats for _ in range(_PORTS)]
        new.casino = [0] * seats
        new.black_market = [0] * seats
        new.safe = [0] * seats
        new.goods = [[0] * _KINDS for _ in range(seats)]
        new.cards = [[0] * _CARDS for _ in range(seats)]
        new.supply = list(board.copies)
        new.bank = 0
        new.coins_total = board.coins_total
        new.todo_casino = 0
        new.todo_market = 0
        new.todo_ports = frozenset()
        new.banned_ports = frozenset()
        new.syndicate_used = 0
        new.credit = 0
        new.diff_kinds = ()
        new.pending_stake = None
        new.ships_home = 0
        return new

    @override
    def clone(self) -> Self:
        # Numbers change in place, so their lists are copied; sets and tuples are shared.
        new = type(self)(self.setup)
        new.board = self.board
        new.open_ports = self.open_ports
        new.first_seat = self.first_seat
        new.last_turn = self.last_turn
        new.turn = self.turn
        new.seat = self.seat
        new.phase = self.phase
        new.bag = self.bag[:]
        new.discard = self.discard[:]
        new.market = self.market[:]
        new.port_goods = [row[:] for row in self.port_goods]
        new.stacks = [row[:] for row in self.stacks]
        new.casino = self.casino[:]
        new.black_market = self.black_market[:]
        new.safe = self.safe[:]
        new.goods = [row[:] for row in self.goods]
        new.cards = [row[:] for row in self.cards]
        new.supply = self.supply[:]
        new.bank = self.bank
        new.coins_total = self.coins_total
        new.todo_casino = self.todo_casino
        new.todo_market = self.todo_market
        new.todo_ports = self.todo_ports
        new.banned_ports = self.banned_ports
        new.syndicate_used = self.syndicate_used
        new.credit = self.credit
        new.diff_kinds = self.diff_kinds
        new.pending_stake = self.pending_stake
        new.ships_home = self.ships_home
        return new

    def fleet(self, seat: Seat) -> int:
        """Return the number of ships that a seat has, at home and on the board."""
        return self.board.start_ships + self.cards[seat][_SHIP]

    def on_board(self, seat: Seat) -> int:
        """Return the number of ships that a seat has on the board."""
        away = self.casino[seat] + self.black_market[seat]
        for port in self.open_ports:
            if self.stacks[port][seat]:
                away += 1
        return away

    def storage(self, seat: Seat) -> int:
        """Return the number of goods that a seat may keep after phase 2 (C4.9)."""
        return self.board.storage + self.board.warehouse_storage * self.cards[seat][_WAREHOUSE]

    def is_final_turn(self) -> bool:
        """Return whether this is the final turn, the last one of every seat (C1.4)."""
        return self.turn == self.last_turn
