"""The knowledge of a seat (RULES.md, section 2): everything but the pile and the others' unrevealed plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from referee.game import CountedBy, Observation, Seat
from referee.games.valparaiso import scoring
from referee.games.valparaiso.names import Card, Colour, Effect, Good, Location, Phase, Sector, Source, Store, Tile
from referee.games.valparaiso.table import NO_PLAN, NONE, Plan, Table

_CARDS = tuple(Card)

SeatCounts = Annotated[tuple[int, ...], CountedBy(None)]
GoodCounts = Annotated[tuple[int, ...], CountedBy(Good)]
LocationCounts = Annotated[tuple[int, ...], CountedBy(Location)]


class SeatView(NamedTuple):
    """The holdings of a seat; before the reveal, its pesos and goods at the start of the phase (V2.7)."""

    colour: Colour
    money: int
    warehouse: GoodCounts
    hold: GoodCounts
    vp: int
    merchants: LocationCounts
    merchants_reserve: int
    houses_left: int
    ship: Sector
    achievements: tuple[Card, ...]
    committed: bool
    plan: tuple[Card, ...]
    mayor: Card | None
    final_vp: int
    rest_money: int
    rank: int
    earned: Annotated[tuple[int, ...], CountedBy(Source)]


class MarketView(NamedTuple):
    """The tiles of a market, from the bottom."""

    tiles: tuple[Tile, ...]


class SlotView(NamedTuple):
    """The card on a space for achievement cards."""

    card: Card | None


class HouseView(NamedTuple):
    """A house in a village."""

    location: Location
    space: int
    seat: Seat


class PlanView(NamedTuple):
    """The viewer's own plan, and its holdings after the sales and the payment in it."""

    cards: tuple[Card, ...]
    mayor: Card | None
    money: int
    warehouse: GoodCounts
    hold: GoodCounts


@dataclass(frozen=True, slots=True)
class ValparaisoObservation(Observation):
    """An observation. The fields are those of the message `Observation` in valparaiso.proto, which describes each."""

    viewer: Seat | None
    round: int
    last_round: int
    phase: Phase
    seat: Seat | None
    start_seat: Seat
    seats: Annotated[tuple[SeatView, ...], CountedBy(None)]
    markets: tuple[MarketView, ...]
    reserve: tuple[Tile, ...]
    slots: tuple[SlotView, ...]
    deck: int
    scrapped: tuple[Card, ...]
    sea_money: tuple[int, ...]
    row: tuple[Seat, ...]
    houses: tuple[HouseView, ...]
    first_finisher: Seat | None
    plan: PlanView | None
    effect: Effect | None
    unmoved: LocationCounts
    path: tuple[Location, ...]
    steps: int
    villages: tuple[Location, ...]
    village: Location | None
    left: int
    begun: bool
    hold_was_full: bool


def is_secret(phase: Phase) -> bool:
    """Return whether plans are being made or wait for the reveal."""
    return phase is Phase.PLAN or phase is Phase.BONUS


def observe(table: Table, viewer: Seat | None) -> ValparaisoObservation:
    """Return the observation of a seat, or of a spectator (`None`)."""
    phase = table.phase
    return ValparaisoObservation(
        viewer=viewer,
        round=table.round,
        last_round=table.last_round,
        phase=phase,
        seat=None if phase is Phase.PLAN or phase is Phase.OVER else table.seat,
        start_seat=table.start_seat,
        seats=tuple([_seat_view(table, seat, rank) for seat, rank in enumerate(scoring.ranks(table))]),
        markets=tuple([MarketView(tiles) for tiles in table.markets]),
        reserve=table.reserve,
        slots=tuple([SlotView(None if card == NONE else _CARDS[card]) for card in table.slots]),
        deck=len(table.deck),
        scrapped=table.scrapped,
        sea_money=tuple(table.sea_money),
        row=table.row,
        houses=tuple([HouseView(*site, table.houses[site]) for site in sorted(table.houses)]),
        first_finisher=None if table.first_finisher == NONE else table.first_finisher,
        plan=None if viewer is None or not is_secret(phase) else _plan_view(table, viewer),
        effect=table.effect,
        unmoved=table.unmoved,
        path=table.path,
        steps=table.steps,
        villages=table.villages,
        village=None if table.village == NONE else Location(table.village),
        left=table.left,
        begun=table.begun,
        hold_was_full=table.hold_was_full,
    )


def _seat_view(table: Table, seat: Seat, rank: int) -> SeatView:
    plan = NO_PLAN if is_secret(table.phase) else table.plans[seat]
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
        *scoring.final(table, seat),
        rank,
        table.earned[seat],
    )


def _plan_view(table: Table, seat: Seat) -> PlanView:
    plan = table.plans[seat]
    warehouse, hold = (tuple([table.left_in_plan(seat, store, good) for good in Good]) for store in Store)
    return PlanView(plan.cards, plan.mayor, table.money_in_plan(seat), warehouse, hold)


def restore(table: Table, seen: ValparaisoObservation) -> None:
    """Fill an empty table from an observation; secrets stay empty (see `sample.py`)."""
    table.round = seen.round
    table.phase = seen.phase
    table.start_seat = seen.start_seat
    table.seat = seen.start_seat if seen.seat is None else seen.seat
    table.colours = tuple(has.colour for has in seen.seats)
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
        table.plans[seat] = Plan(has.plan, has.mayor)
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
    stores = zip(table.stores(seat), (view.warehouse, view.hold), strict=True)
    sold = [tuple(before - after for before, after in zip(goods, left, strict=True)) for goods, left in stores]
    return Plan(view.cards, view.mayor, (sold[0], sold[1]))
