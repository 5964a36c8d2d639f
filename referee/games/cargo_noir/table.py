"""What lies on the table, and whose turn it is (RULES.md, section 2). Plain data: `rules.py` changes it."""

from __future__ import annotations

from typing import Self, cast

from referee.game import Seat, Setup, State
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card, Kind, PendingStake, Phase, Port


class Table(State):
    """The data of a match. Goods are counted by kind, cards by card, in the order of `names.py`."""

    __slots__ = (
        "bag",
        "bank",
        "banned_ports",
        "black_market",
        "board",
        "cards",
        "casino",
        "coins_total",
        "credit",
        "diff_kinds",
        "discard",
        "first_seat",
        "goods",
        "last_turn",
        "market",
        "open_ports",
        "pending_stake",
        "phase",
        "port_goods",
        "safe",
        "seat",
        "ships_home",
        "stacks",
        "supply",
        "syndicate_used",
        "todo_casino",
        "todo_market",
        "todo_ports",
        "turn",
    )

    def __init__(self, setup: Setup) -> None:
        """An empty table; `rules.set_up` lays it out."""
        seats = setup.seats
        self.setup = setup
        self.board = cast("CargoNoirBoard", setup.board)
        self.open_ports = self.board.open_ports(seats)
        self.first_seat: Seat = 0
        """The seat that begins every turn."""
        option = setup.options["last_turn"]
        self.last_turn = option if isinstance(option, int) else self.board.last_turn[seats]
        self.turn = 1
        self.seat: Seat = 0
        """The seat whose turn it is."""
        self.phase = Phase.P3
        self.bag = [0] * len(Kind)
        self.discard = [0] * len(Kind)
        self.market = [0] * len(Kind)
        self.port_goods = [[0] * len(Kind) for _ in Port]
        self.stacks = [[0] * seats for _ in Port]
        """Height of each seat's stack in each port; 0 where it has no ship."""
        self.casino = [0] * seats
        """Ships of each seat at the Casino."""
        self.black_market = [0] * seats
        """Ships of each seat at the Black Market."""
        self.safe = [0] * seats
        """Coins of each seat, without its stacks."""
        self.goods = [[0] * len(Kind) for _ in range(seats)]
        self.cards = [[0] * len(Card) for _ in range(seats)]
        self.supply = list(self.board.copies)
        self.bank = 0
        self.coins_total = self.board.coins_total
        """Coins in the game; grows only where `bank_limited` is off (C7.2)."""
        self.todo_casino = 0
        """Ships at the Casino that are still to be resolved in this phase 1."""
        self.todo_market = 0
        self.todo_ports: frozenset[int] = frozenset()
        self.banned_ports: frozenset[int] = frozenset()
        """Ports that the seat withdrew from in this turn (C3.5)."""
        self.syndicate_used = 0
        """How often Syndicate cards have paid in this turn (C3.8)."""
        self.credit = 0
        """Value handed in and not yet spent in this phase 2 (C4.4)."""
        self.diff_kinds: tuple[int, ...] = ()
        """Kinds chosen so far for a set of different kinds."""
        self.pending_stake: PendingStake | None = None
        self.ships_home = 0
        """Ships at home of the seat whose turn it is."""

    # what can be derived

    def fleet(self, seat: Seat) -> int:
        """How many ships a seat has, at home and on the board."""
        return self.board.start_ships + self.cards[seat][Card.CARGO_SHIP]

    def on_board(self, seat: Seat) -> int:
        """How many ships of a seat are on the board."""
        away = self.casino[seat] + self.black_market[seat]
        for port in self.open_ports:
            if self.stacks[port][seat]:
                away += 1
        return away

    def storage(self, seat: Seat) -> int:
        """How many goods a seat may keep after phase 2."""
        return self.board.storage + self.board.warehouse_storage * self.cards[seat][Card.WAREHOUSE]

    def is_final_turn(self) -> bool:
        """Whether this is everybody's last turn (C1.4)."""
        return self.turn == self.last_turn

    def clone(self) -> Self:
        """See `referee.game.State`."""
        new = type(self).__new__(type(self))
        new.setup = self.setup
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
