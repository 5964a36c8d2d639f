"""The knowledge of a seat (RULES.md, section 2), which is everything."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from referee.game import CountedBy, Seat
from referee.games.yunnan.names import Building, Colour, Phase, Province, Site, Space, Structure

ProvinceCounts = Annotated[tuple[int, ...], CountedBy(Province)]
StructureCounts = Annotated[tuple[int, ...], CountedBy(Structure)]


class Bidder(NamedTuple):
    """A Merchant in a progress building."""

    building: Building
    value: int
    colour: Colour


class ColourView(NamedTuple):
    """The holdings of a colour."""

    owner: Seat
    money: int
    passes: int
    horse: Province
    influence: int
    general: int
    reserve: int
    merchants: ProvinceCounts
    struct_general: StructureCounts
    struct_reserve: StructureCounts
    posts: ProvinceCounts
    bridges: tuple[Site, ...]
    gifts_taken: int
    income: int
    committed: int


class SeatView(NamedTuple):
    """The holdings of a seat."""

    vp: int
    score: int
    rank: int
    converted: int
    debts: int


class ProvinceView(NamedTuple):
    """The gifts and the Teahouse in a province."""

    gifts: int
    teahouse: Colour | None


class YunnanObservation(NamedTuple):
    """An observation. Its fields are those of the `Observation` message in yunnan.proto, which describes them."""

    viewer: Seat | None
    turn: int
    turn_limit: int
    phase: Phase
    acting_colour: Colour | None
    auction_order: tuple[Colour, ...]
    travel_order: tuple[Colour, ...]
    passed: tuple[Colour, ...]
    banked: tuple[Colour, ...]
    bids: tuple[Bidder, ...]
    bank_left: Colour | None
    bank_right: Colour | None
    colours: Annotated[tuple[ColourView, ...], CountedBy(Colour)]
    seats: Annotated[tuple[SeatView, ...], CountedBy(None)]
    provinces: Annotated[tuple[ProvinceView, ...], CountedBy(Province)]
    unmoved: ProvinceCounts
    passes_left: int
    pending_displace: Province | None
    last_total: int
    last_bank_pay: Annotated[tuple[int, ...], CountedBy(Space)]
    last_inspector: Province | None
    last_banned: Colour | None
