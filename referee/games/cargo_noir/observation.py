"""The knowledge of a seat: everything except the order of the goods in the bag (RULES.md, section 2)."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from referee.game import CountedBy, Seat
from referee.games.cargo_noir.names import Card, Kind, PendingStake, Phase, Port

KindCounts = Annotated[tuple[int, ...], CountedBy(Kind)]
CardCounts = Annotated[tuple[int, ...], CountedBy(Card)]


class PortView(NamedTuple):
    """An open port, with its goods and its stacks."""

    port: Port
    goods: KindCounts
    """The goods on the port's spaces, by kind."""
    stacks: Annotated[tuple[int, ...], CountedBy(None)]
    """The height of each seat's stack in coins; 0 for a seat without a ship in the port."""


class SeatView(NamedTuple):
    """The holdings of a seat."""

    safe: int
    goods: KindCounts
    cards: CardCounts
    casino: int
    black_market: int
    ships_home: int
    storage: int
    score: int
    rank: int


class CargoNoirObservation(NamedTuple):
    """An observation. Its fields are those of the `Observation` message in cargo_noir.proto, which describes them."""

    viewer: Seat | None
    turn: int
    last_turn: int
    first_seat: Seat
    seat: Seat
    phase: Phase
    bag: KindCounts
    discard: KindCounts
    market: KindCounts
    bank: int
    supply: CardCounts
    ports: tuple[PortView, ...]
    seats: Annotated[tuple[SeatView, ...], CountedBy(None)]
    todo_casino: int
    todo_market: int
    todo_ports: tuple[Port, ...]
    banned_ports: tuple[Port, ...]
    syndicate_used: int
    credit: int
    diff_kinds: tuple[Kind, ...]
    pending_stake: PendingStake | None
