"""Make observations (`observation.py`) from tables, and tables from observations (RULES.md, section 2)."""

from __future__ import annotations

from typing import Final

from referee.game import Seat
from referee.games.valparaiso import scoring
from referee.games.valparaiso.names import GOODS, STORES, Card, Location, Phase
from referee.games.valparaiso.observation import (
    HouseView,
    MarketView,
    PlanView,
    SeatView,
    SlotView,
    ValparaisoObservation,
)
from referee.games.valparaiso.table import NO_PLAN, NONE, Plan, Table

_LOCATIONS: Final = tuple(Location)
_EMPTY_SLOT: Final = SlotView(None)
_SLOTS: Final = tuple(SlotView(card) for card in Card)


def is_secret(phase: Phase) -> bool:
    """Return whether plans are being made, or are waiting for the reveal."""
    return phase is Phase.PLAN or phase is Phase.BONUS


def observe(table: Table, viewer: Seat | None) -> ValparaisoObservation:
    """Return the observation of a seat, or of a spectator if `viewer` is None."""
    phase = table.phase
    return ValparaisoObservation(
        viewer,
        table.round,
        table.last_round,
        phase,
        None if phase is Phase.PLAN or phase is Phase.OVER else table.seat,  # the table's seat means nothing then
        table.start_seat,
        tuple([_seat_view(table, seat, rank) for seat, rank in enumerate(scoring.ranks(table))]),
        tuple([MarketView(tiles) for tiles in table.markets]),
        table.reserve,
        tuple([_EMPTY_SLOT if card == NONE else _SLOTS[card] for card in table.slots]),
        len(table.deck),
        table.scrapped,
        tuple(table.sea_money),
        table.row,
        # Sorted, because the dictionary keeps the order of building, which a position does not contain.
        tuple([HouseView(village, space, seat) for (village, space), seat in sorted(table.houses.items())]),
        None if table.first_finisher == NONE else table.first_finisher,
        None if viewer is None or not is_secret(phase) else _plan_view(table, viewer),
        table.effect,
        table.unmoved,
        table.path,
        table.steps,
        table.villages,
        None if table.village == NONE else _LOCATIONS[table.village],
        table.left,
        table.begun,
        table.hold_was_full,
    )


def _seat_view(table: Table, seat: Seat, rank: int) -> SeatView:
    # The viewer's own plan is in a separate field (`plan`), so plans are hidden here for the viewer's seat, too.
    plan = NO_PLAN if is_secret(table.phase) else table.plans[seat]
    points, rest = scoring.final(table, seat)
    return SeatView(
        table.colours[seat],
        table.money[seat],
        tuple(table.warehouse[seat]),
        tuple(table.hold[seat]),
        table.vp[seat],
        tuple(table.merchants[seat]),
        table.merchants_reserve[seat],
        table.houses_left[seat],
        table.ship[seat],
        table.owned[seat],
        table.committed[seat],
        plan.cards,
        plan.mayor,
        points,
        rest,
        rank,
        table.earned[seat],
    )


def _plan_view(table: Table, seat: Seat) -> PlanView:
    plan = table.plans[seat]
    warehouse, hold = [tuple([table.left_in_plan(seat, store, good) for good in GOODS]) for store in STORES]
    return PlanView(plan.cards, plan.mayor, table.money_in_plan(seat), warehouse, hold)


def restore(table: Table, seen: ValparaisoObservation) -> None:
    """Fill an empty table from an observation; secrets stay empty (see `sample.py`)."""
    table.round = seen.round
    table.phase = seen.phase
    table.start_seat = seen.start_seat
    table.seat = seen.start_seat if seen.seat is None else seen.seat
    table.colours = tuple([has.colour for has in seen.seats])
    for seat, has in enumerate(seen.seats):
        table.money[seat] = has.money
        table.warehouse[seat] = list(has.warehouse)
        table.hold[seat] = list(has.hold)
        table.vp[seat] = has.vp
        table.earned[seat] = has.earned
        table.merchants[seat] = list(has.merchants)
        table.merchants_reserve[seat] = has.merchants_reserve
        table.houses_left[seat] = has.houses_left
        table.ship[seat] = has.ship
        table.owned[seat] = has.achievements
        table.committed[seat] = has.committed
        table.plans[seat] = Plan(has.plan, has.mayor) if has.plan or has.mayor is not None else NO_PLAN
    table.markets = [market.tiles for market in seen.markets]
    table.reserve = seen.reserve
    table.slots = [NONE if slot.card is None else int(slot.card) for slot in seen.slots]
    table.scrapped = seen.scrapped
    table.sea_money = list(seen.sea_money)
    table.row = seen.row
    table.houses = {(house.location, house.space): house.seat for house in seen.houses}
    table.first_finisher = NONE if seen.first_finisher is None else seen.first_finisher
    table.effect = seen.effect
    table.unmoved = seen.unmoved
    table.path = seen.path
    table.steps = seen.steps
    table.villages = seen.villages
    table.village = NONE if seen.village is None else int(seen.village)
    table.left = seen.left
    table.begun = seen.begun
    table.hold_was_full = seen.hold_was_full
    if seen.viewer is not None and seen.plan is not None:
        table.plans[seen.viewer] = _plan(table, seen.viewer, seen.plan)


def _plan(table: Table, seat: Seat, view: PlanView) -> Plan:
    # An observation contains the goods that the plan leaves; the table contains those that it sells.
    stores = zip(table.stores(seat), (view.warehouse, view.hold), strict=True)
    sold = [tuple(before - after for before, after in zip(goods, left, strict=True)) for goods, left in stores]
    return Plan(view.cards, view.mayor, (sold[0], sold[1]))
