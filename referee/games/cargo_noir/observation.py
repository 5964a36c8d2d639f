"""The knowledge of a seat: everything but the order of the bag (RULES.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from referee.game import CountedBy, Observation, Seat
from referee.games.cargo_noir import scoring
from referee.games.cargo_noir.names import Card, Kind, PendingStake, Phase, Port
from referee.games.cargo_noir.table import Table

_PORTS = tuple(Port)
_KINDS = tuple(Kind)

KindCounts = Annotated[tuple[int, ...], CountedBy(Kind)]
CardCounts = Annotated[tuple[int, ...], CountedBy(Card)]


class PortView(NamedTuple):
    """An open port."""

    port: Port
    goods: KindCounts
    """The goods on its spaces, by kind."""
    stacks: Annotated[tuple[int, ...], CountedBy(None)]
    """The height of each seat's stack; 0 for a seat without a ship here."""


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


@dataclass(frozen=True, slots=True)
class CargoNoirObservation(Observation):
    """An observation. The fields are those of the message `Observation` in cargo_noir.proto, which describes each."""

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


def observe(table: Table, viewer: Seat | None) -> CargoNoirObservation:
    """Return the observation of a seat, or of a spectator (`None`)."""
    return CargoNoirObservation(
        viewer=viewer,
        turn=table.turn,
        last_turn=table.last_turn,
        first_seat=table.first_seat,
        seat=table.seat,
        phase=table.phase,
        bag=tuple(table.bag),
        discard=tuple(table.discard),
        market=tuple(table.market),
        bank=table.bank,
        supply=tuple(table.supply),
        ports=tuple(
            [
                PortView(_PORTS[port], tuple(table.port_goods[port]), tuple(table.stacks[port]))
                for port in table.open_ports
            ]
        ),
        seats=tuple([_seat_view(table, seat, rank) for seat, rank in enumerate(scoring.ranks(table))]),
        todo_casino=table.todo_casino,
        todo_market=table.todo_market,
        todo_ports=_ports(table, table.todo_ports),
        banned_ports=_ports(table, table.banned_ports),
        syndicate_used=table.syndicate_used,
        credit=table.credit,
        diff_kinds=tuple([_KINDS[kind] for kind in table.diff_kinds]),
        pending_stake=table.pending_stake,
    )


def _seat_view(table: Table, seat: Seat, rank: int) -> SeatView:
    return SeatView(
        table.safe[seat],
        tuple(table.goods[seat]),
        tuple(table.cards[seat]),
        table.casino[seat],
        table.black_market[seat],
        table.fleet(seat) - table.on_board(seat),
        table.storage(seat),
        scoring.score(table, seat),
        rank,
    )


def _ports(table: Table, chosen: frozenset[int]) -> tuple[Port, ...]:
    return tuple([_PORTS[port] for port in table.open_ports if port in chosen]) if chosen else ()


def restore(table: Table, seen: CargoNoirObservation) -> None:
    """Fill an empty table from an observation; the inverse of `observe`."""
    table.turn = seen.turn
    table.last_turn = seen.last_turn
    table.first_seat = seen.first_seat
    table.seat = seen.seat
    table.phase = seen.phase
    table.bag = list(seen.bag)
    table.discard = list(seen.discard)
    table.market = list(seen.market)
    table.bank = seen.bank
    table.supply = list(seen.supply)
    for view in seen.ports:
        table.port_goods[view.port] = list(view.goods)
        table.stacks[view.port] = list(view.stacks)
    for seat, has in enumerate(seen.seats):
        table.safe[seat] = has.safe
        table.goods[seat] = list(has.goods)
        table.cards[seat] = list(has.cards)
        table.casino[seat] = has.casino
        table.black_market[seat] = has.black_market
    table.coins_total = seen.bank + sum(table.safe) + sum(map(sum, table.stacks))
    table.todo_casino = seen.todo_casino
    table.todo_market = seen.todo_market
    table.todo_ports = frozenset(seen.todo_ports)
    table.banned_ports = frozenset(seen.banned_ports)
    table.syndicate_used = seen.syndicate_used
    table.credit = seen.credit
    table.diff_kinds = tuple(seen.diff_kinds)
    table.pending_stake = seen.pending_stake
    table.ships_home = seen.seats[seen.seat].ships_home
