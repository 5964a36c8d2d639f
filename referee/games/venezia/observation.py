"""The knowledge of a seat (RULES.md, section 2): everything but the others' plans of this round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from referee.game import CountedBy, Observation, Seat
from referee.games.venezia import scoring
from referee.games.venezia.names import DISTRICTS, ActionCard, FirstCard, Phase, Place, Square, Step
from referee.games.venezia.table import NONE, Plan, Table

_PLACES = tuple(Place)
_SQUARES = tuple(Square)
_AFTER_MOVES = frozenset(phase for phase in Phase if phase >= Phase.FAMILY)  # action cards are face up
_AFTER_CARDS = frozenset((Phase.RECOVER, Phase.MICHELE, Phase.OVER))  # district cards are face up

SeatCounts = Annotated[tuple[int, ...], CountedBy(None)]
PlaceCounts = Annotated[tuple[int, ...], CountedBy(Place)]


class SeatView(NamedTuple):
    """The holdings of a seat, and the public part of its plan."""

    score: int
    home: Place | None
    supply: int
    reserve: int
    nest: int
    cemetery: int
    hand: tuple[ActionCard, ...]
    discard: tuple[int, ...]
    committed: bool
    first: FirstCard | None
    first_count: int
    card_planned: bool
    action: ActionCard | None
    piles: tuple[int, ...]
    pile_places: tuple[Place, ...]
    rank: int
    earned: PlaceCounts


class PlanView(NamedTuple):
    """The viewer's own plan."""

    step: Step
    first: FirstCard | None
    action: ActionCard | None
    chosen: tuple[Place, ...]
    counts: tuple[int, ...]
    slots: tuple[Place, ...]


class PlaceView(NamedTuple):
    """The pigeons in a place."""

    pigeons: SeatCounts
    grey: int


class PigeonView(NamedTuple):
    """A pigeon on the Piazza."""

    square: Square
    seat: Seat


class Majority(NamedTuple):
    """A majority in a district."""

    place: Place
    seat: Seat


@dataclass(frozen=True, slots=True)
class VeneziaObservation(Observation):
    """An observation. The fields are those of the message `Observation` in venezia.proto, which describes each."""

    viewer: Seat | None
    round: int
    last_round: int
    first_seat: Seat
    phase: Phase
    seat: Seat | None
    seats: Annotated[tuple[SeatView, ...], CountedBy(None)]
    places: Annotated[tuple[PlaceView, ...], CountedBy(Place)]
    grey_side: int
    piazza: tuple[PigeonView, ...]
    tourists: tuple[Square, ...]
    hunters: tuple[Square, ...]
    raptor: Place | None
    grey_owner: Seat | None
    majorities: tuple[Majority, ...]
    plan: PlanView | None
    slot: int
    unmoved: tuple[Square, ...]
    chain: tuple[Square, ...]
    waiting: tuple[Seat, ...]
    card_place: Place | None
    card_count: int
    grey_untouched: PlaceCounts


def observe(table: Table, viewer: Seat | None) -> VeneziaObservation:
    """Return the observation of a seat, or of a spectator (`None`)."""
    phase = table.phase
    plan = None if viewer is None or phase is Phase.HOME else table.plans[viewer]
    return VeneziaObservation(
        viewer=viewer,
        round=table.round,
        last_round=table.last_round,
        first_seat=table.first_seat,
        phase=phase,
        seat=None if phase in (Phase.PLAN, Phase.OVER) else table.seat,
        seats=tuple([_seat_view(table, seat, rank) for seat, rank in enumerate(scoring.ranks(table))]),
        places=tuple([PlaceView(tuple(row), grey) for row, grey in zip(table.loc, table.grey, strict=True)]),
        grey_side=table.grey_side,
        piazza=tuple([PigeonView(_SQUARES[at], seat) for at, seat in enumerate(table.piazza) if seat != NONE]),
        tourists=tuple([_SQUARES[square] for square in table.tourists]),
        hunters=tuple([_SQUARES[square] for square in table.hunters]),
        raptor=_place(table.raptor),
        grey_owner=_seat(table.grey_owner),
        majorities=tuple([Majority(_PLACES[place], seat) for place, seat in enumerate(table.majority) if seat != NONE]),
        plan=None if plan is None else PlanView(*plan),
        slot=table.slot + 1 if phase is Phase.FEINT else 0,
        unmoved=tuple([_SQUARES[square] for square in sorted(table.unmoved)]),
        chain=tuple([_SQUARES[square] for square in table.chain]),
        waiting=table.waiting,
        card_place=_place(table.card_place),
        card_count=table.card_count,
        grey_untouched=tuple(table.grey_untouched) if phase is Phase.GREY else (),
    )


def is_turned(table: Table, seat: Seat) -> bool:
    """Return whether a seat's first card is face up (Z3.1)."""
    if table.phase in (Phase.HOME, Phase.PLAN):
        return False
    if table.phase in (Phase.FEINT, Phase.PLACE):
        order = table.turn_order()
        return order.index(seat) <= order.index(table.seat)
    return True


def _seat_view(table: Table, seat: Seat, rank: int) -> SeatView:
    phase, plan = table.phase, table.plans[seat]
    is_planned = phase not in (Phase.HOME, Phase.PLAN)
    action = plan.action
    return SeatView(
        table.score[seat],
        _place(table.home[seat]),
        table.supply[seat],
        table.reserve[seat],
        table.nest[seat],
        table.cemetery[seat],
        tuple(table.hand(seat)),
        tuple(table.discard[seat]),
        plan.step is Step.COMMITTED,
        plan.first if is_turned(table, seat) else None,
        table.first_count[seat],
        is_planned and action is not None and action is not ActionCard.NONE,
        action if phase in _AFTER_MOVES else None,
        tuple(table.piles[seat]),
        plan.slots if phase in _AFTER_CARDS else (),
        rank,
        table.earned[seat],
    )


def _place(place: int) -> Place | None:
    return None if place == NONE else _PLACES[place]


def _seat(seat: Seat) -> Seat | None:
    return None if seat == NONE else seat


def restore(table: Table, seen: VeneziaObservation) -> None:
    """Fill an empty table from an observation, with only the public part of the others' plans (see `sample.py`)."""
    table.round = seen.round
    table.first_seat = seen.first_seat
    table.phase = seen.phase
    table.seat = seen.first_seat if seen.seat is None else seen.seat
    for seat, has in enumerate(seen.seats):
        table.score[seat] = has.score
        table.earned[seat] = has.earned
        table.home[seat] = _number(has.home)
        table.supply[seat] = has.supply
        table.reserve[seat] = has.reserve
        table.nest[seat] = has.nest
        table.cemetery[seat] = has.cemetery
        table.discard[seat] = list(has.discard)
        table.first_count[seat] = has.first_count
        table.piles[seat] = list(has.piles)
    for place, view in enumerate(seen.places):
        table.loc[place] = list(view.pigeons)
        table.grey[place] = view.grey
    table.grey_side = seen.grey_side
    for square, seat in seen.piazza:
        table.piazza[square] = seat
    table.tourists = tuple(int(square) for square in seen.tourists)
    table.hunters = tuple(int(square) for square in seen.hunters)
    table.danger = table.grid.danger(table.hunters)
    table.raptor = _number(seen.raptor)
    table.grey_owner = NONE if seen.grey_owner is None else seen.grey_owner
    for majority in seen.majorities:
        table.majority[DISTRICTS.index(majority.place)] = majority.seat
    table.slot = max(0, seen.slot - 1)
    table.unmoved = frozenset(int(square) for square in seen.unmoved)
    table.chain = tuple(int(square) for square in seen.chain)
    table.waiting = seen.waiting
    table.card_place = _number(seen.card_place)
    table.card_count = seen.card_count
    table.grey_untouched = list(seen.grey_untouched) or [0] * len(Place)
    if seen.viewer is not None and seen.plan is not None:
        table.plans[seen.viewer] = Plan(*seen.plan)


def _number(place: Place | None) -> int:
    return NONE if place is None else int(place)
