"""The knowledge of a seat (RULES.md, section 2): everything except the order of the pile and the others' unrevealed plans."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from referee.game import CountedBy, Seat
from referee.games.valparaiso.names import Card, Colour, Effect, Good, Location, Phase, Sector, Source, Tile

GoodCounts = Annotated[tuple[int, ...], CountedBy(Good)]
LocationCounts = Annotated[tuple[int, ...], CountedBy(Location)]


class SeatView(NamedTuple):
    """The holdings of a seat. Before the reveal, pesos and goods are those at the start of the phase (V2.7)."""

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
    """The card on a space for achievement cards, if there is one."""

    card: Card | None


class HouseView(NamedTuple):
    """A house in a village."""

    location: Location
    space: int
    seat: Seat


class PlanView(NamedTuple):
    """The viewer's own plan, and the viewer's holdings after the sales and the payment in it."""

    cards: tuple[Card, ...]
    mayor: Card | None
    money: int
    warehouse: GoodCounts
    hold: GoodCounts


class ValparaisoObservation(NamedTuple):
    """An observation. Its fields are those of the `Observation` message in valparaiso.proto, which describes them."""

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
