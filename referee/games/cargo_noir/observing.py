"""Make observations (`observation.py`) from tables, and tables from observations (RULES.md, section 2)."""

from __future__ import annotations

from typing import Final

from referee.game import Seat
from referee.games.cargo_noir import scoring
from referee.games.cargo_noir.names import Kind, Port
from referee.games.cargo_noir.observation import CargoNoirObservation, PortView, SeatView
from referee.games.cargo_noir.table import Table

_PORTS: Final = tuple(Port)
_KINDS: Final = tuple(Kind)


def observe(table: Table, viewer: Seat | None) -> CargoNoirObservation:
    """Return the observation of a seat, or of a spectator if `viewer` is None."""
    return CargoNoirObservation(
        viewer,
        table.turn,
        table.last_turn,
        table.first_seat,
        table.seat,
        table.phase,
        tuple(table.bag),
        tuple(table.discard),
        tuple(table.market),
        table.bank,
        tuple(table.supply),
        tuple(
            [
                PortView(_PORTS[port], tuple(table.port_goods[port]), tuple(table.stacks[port]))
                for port in table.open_ports
            ]
        ),
        tuple([_seat_view(table, seat, rank) for seat, rank in enumerate(scoring.ranks(table))]),
        table.todo_casino,
        table.todo_market,
        _ports(table, table.todo_ports),
        _ports(table, table.banned_ports),
        table.syndicate_used,
        table.credit,
        tuple([_KINDS[kind] for kind in table.diff_kinds]),
        table.pending_stake,
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
    """Fill an empty table from an observation; this is the inverse of `observe`."""
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
    # An unlimited bank may have made coins (C7.2).
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
