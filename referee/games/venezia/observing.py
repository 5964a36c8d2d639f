"""Make observations (`observation.py`) from tables, and tables from observations (RULES.md, section 2)."""

from __future__ import annotations

from typing import Final

from referee.game import Seat
from referee.games.venezia import scoring
from referee.games.venezia.names import ActionCard, Phase, Place, Square, Step
from referee.games.venezia.observation import Majority, PigeonView, PlaceView, PlanView, SeatView, VeneziaObservation
from referee.games.venezia.table import NONE, Plan, Table

_PLACES: Final = tuple(Place)
_SQUARES: Final = tuple(Square)
_HOME: Final = Phase.HOME
_PLAN: Final = Phase.PLAN
_COMMITTED: Final = Step.COMMITTED
_NO_CARD: Final = ActionCard.NONE
_PIGEONS: Final = tuple(tuple(PigeonView(square, seat) for seat in range(4)) for square in Square)
_MAJORITIES: Final = tuple(tuple(Majority(place, seat) for seat in range(4)) for place in Place)
_AFTER_MOVES: Final = frozenset(phase for phase in Phase if phase >= Phase.FAMILY)  # action cards are face up
_AFTER_CARDS: Final = frozenset((Phase.RECOVER, Phase.MICHELE, Phase.OVER))  # district cards are face up


def observe(table: Table, viewer: Seat | None) -> VeneziaObservation:
    """Return the observation of a seat, or of a spectator if `viewer` is None."""
    phase = table.phase
    plan = None if viewer is None or phase is _HOME else table.plans[viewer]
    return VeneziaObservation(
        viewer,
        table.round,
        table.last_round,
        table.first_seat,
        phase,
        None if phase in (Phase.PLAN, Phase.OVER) else table.seat,
        tuple([_seat_view(table, seat, rank) for seat, rank in enumerate(scoring.ranks(table))]),
        tuple([PlaceView(tuple(row), grey) for row, grey in zip(table.loc, table.grey, strict=True)]),
        table.grey_side,
        tuple([_PIGEONS[at][seat] for at, seat in enumerate(table.piazza) if seat != NONE]),
        tuple([_SQUARES[square] for square in table.tourists]),
        tuple([_SQUARES[square] for square in table.hunters]),
        _place(table.raptor),
        _seat(table.grey_owner),
        tuple([_MAJORITIES[place][seat] for place, seat in enumerate(table.majority) if seat != NONE]),
        None if plan is None else PlanView(*plan),
        table.slot + 1 if phase is Phase.FEINT else 0,
        tuple([_SQUARES[square] for square in sorted(table.unmoved)]),
        tuple([_SQUARES[square] for square in table.chain]),
        table.waiting,
        _place(table.card_place),
        table.card_count,
        tuple(table.grey_untouched) if phase is Phase.GREY else (),
    )


def is_turned(table: Table, seat: Seat) -> bool:
    """Return whether a seat's first card is face up (Z3.1)."""
    if table.phase is _HOME or table.phase is _PLAN:
        return False
    if table.phase in (Phase.FEINT, Phase.PLACE):
        order = table.turn_order()
        return order.index(seat) <= order.index(table.seat)
    return True


def _seat_view(table: Table, seat: Seat, rank: int) -> SeatView:
    phase, plan = table.phase, table.plans[seat]
    is_planned = phase is not _HOME and phase is not _PLAN
    action = plan.action
    return SeatView(
        table.score[seat],
        _place(table.home[seat]),
        table.supply[seat],
        table.reserve[seat],
        table.nest[seat],
        table.cemetery[seat],
        # A card that lies face down is included, because the others know the hand, but not which card lies there.
        tuple(table.hand(seat)),
        tuple(table.discard[seat]),
        plan.step is _COMMITTED,
        plan.first if is_turned(table, seat) else None,
        table.first_count[seat],
        is_planned and action is not None and action is not _NO_CARD,
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
    table.tourists = tuple([int(square) for square in seen.tourists])
    table.hunters = tuple([int(square) for square in seen.hunters])
    table.danger = table.grid.danger(table.hunters)
    table.raptor = _number(seen.raptor)
    table.grey_owner = NONE if seen.grey_owner is None else seen.grey_owner
    for majority in seen.majorities:
        table.majority[majority.place] = majority.seat
    # Observations count slots from 1, with 0 for none.
    table.slot = max(0, seen.slot - 1)
    table.unmoved = frozenset([int(square) for square in seen.unmoved])
    table.chain = tuple([int(square) for square in seen.chain])
    table.waiting = seen.waiting
    table.card_place = _number(seen.card_place)
    table.card_count = seen.card_count
    table.grey_untouched = list(seen.grey_untouched) or [0] * len(_PLACES)
    if seen.viewer is not None and seen.plan is not None:
        table.plans[seen.viewer] = Plan(*seen.plan)


def _number(place: Place | None) -> int:
    return NONE if place is None else int(place)
