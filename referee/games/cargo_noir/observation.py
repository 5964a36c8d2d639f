"""What a seat may know (RULES.md, section 2): everything but the order of the bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

from referee.game import CountedBy, Observation, Seat
from referee.games.cargo_noir import scoring
from referee.games.cargo_noir.names import Card, Kind, Phase, Port, Purpose

if TYPE_CHECKING:
    from referee.games.cargo_noir.state import CargoNoirState

_PORTS = tuple(Port)
_KINDS = tuple(Kind)

KindCounts = Annotated[tuple[int, ...], CountedBy(Kind)]
CardCounts = Annotated[tuple[int, ...], CountedBy(Card)]


class PortView(NamedTuple):
    """An open port."""

    port: Port
    goods: KindCounts
    """Goods on its spaces, by kind."""
    stacks: Annotated[tuple[int, ...], CountedBy(None)]
    """Height of each seat's stack; 0 where a seat has no ship here."""


class SeatView(NamedTuple):
    """What a seat has."""

    safe: int
    goods: KindCounts
    cards: CardCounts
    casino: int
    black_market: int
    ships_home: int
    storage: int
    score: int


class PendingStake(NamedTuple):
    """A stack whose height is being chosen."""

    purpose: Purpose
    port: Port
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class CargoNoirObservation(Observation):
    """The fields are those of the message `Observation` in cargo_noir.proto, which describes each."""

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


def observe(state: CargoNoirState, viewer: Seat | None) -> CargoNoirObservation:
    """What a seat, or a spectator (`None`), may know."""
    return CargoNoirObservation(
        viewer=viewer,
        turn=state.turn,
        last_turn=state.last_turn,
        first_seat=state.first_seat,
        seat=state.seat,
        phase=state.phase,
        bag=tuple(state.bag),
        discard=tuple(state.discard),
        market=tuple(state.market),
        bank=state.bank,
        supply=tuple(state.supply),
        ports=tuple(
            [
                PortView(_PORTS[port], tuple(state.port_goods[port]), tuple(state.stacks[port]))
                for port in state.open_ports
            ]
        ),
        seats=tuple([_seat_view(state, seat) for seat in range(state.setup.seats)]),
        todo_casino=state.todo_casino,
        todo_market=state.todo_market,
        todo_ports=_ports(state, state.todo_ports),
        banned_ports=_ports(state, state.banned_ports),
        syndicate_used=state.syndicate_used,
        credit=state.credit,
        diff_kinds=tuple([_KINDS[kind] for kind in state.diff_kinds]),
        pending_stake=state.pending_stake,
    )


def _seat_view(state: CargoNoirState, seat: Seat) -> SeatView:
    return SeatView(
        state.safe[seat],
        tuple(state.goods[seat]),
        tuple(state.cards[seat]),
        state.casino[seat],
        state.black_market[seat],
        state.fleet(seat) - state.on_board(seat),
        state.storage(seat),
        scoring.score(state, seat),
    )


def _ports(state: CargoNoirState, chosen: frozenset[int]) -> tuple[Port, ...]:
    return tuple([_PORTS[port] for port in state.open_ports if port in chosen]) if chosen else ()


def restore(state: CargoNoirState, seen: CargoNoirObservation) -> None:
    """Fills an empty table with what was observed; the inverse of `observe`."""
    state.turn = seen.turn
    state.last_turn = seen.last_turn
    state.first_seat = seen.first_seat
    state.seat = seen.seat
    state.phase = seen.phase
    state.bag = list(seen.bag)
    state.discard = list(seen.discard)
    state.market = list(seen.market)
    state.bank = seen.bank
    state.supply = list(seen.supply)
    for view in seen.ports:
        state.port_goods[view.port] = list(view.goods)
        state.stacks[view.port] = list(view.stacks)
    for seat, has in enumerate(seen.seats):
        state.safe[seat] = has.safe
        state.goods[seat] = list(has.goods)
        state.cards[seat] = list(has.cards)
        state.casino[seat] = has.casino
        state.black_market[seat] = has.black_market
    state.coins_total = seen.bank + sum(state.safe) + sum(map(sum, state.stacks))
    state.todo_casino = seen.todo_casino
    state.todo_market = seen.todo_market
    state.todo_ports = frozenset(seen.todo_ports)
    state.banned_ports = frozenset(seen.banned_ports)
    state.syndicate_used = seen.syndicate_used
    state.credit = seen.credit
    state.diff_kinds = tuple(seen.diff_kinds)
    state.pending_stake = seen.pending_stake
    state.ships_home = seen.seats[seen.seat].ships_home
