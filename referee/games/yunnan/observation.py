"""The knowledge of a seat (RULES.md, section 2): everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from referee.game import CountedBy, Observation, Seat
from referee.games.yunnan import scoring
from referee.games.yunnan.names import Building, Colour, Phase, Province, Site, Space, Structure
from referee.games.yunnan.table import NOBODY, Table

_BUILDINGS = tuple(Building)
_COLOURS = tuple(Colour)
_PROVINCES = tuple(Province)
_SITES_IN = tuple(tuple(site for site in Site if bits >> site & 1) for bits in range(1 << len(Site)))
_COLOURS_IN = tuple(tuple(colour for colour in Colour if bits >> colour & 1) for bits in range(1 << len(Colour)))

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
    """The contents of a province, apart from the colours' pieces there."""

    gifts: int
    teahouse: Colour | None


@dataclass(frozen=True, slots=True)
class YunnanObservation(Observation):
    """An observation. The fields are those of the message `Observation` in yunnan.proto, which describes each."""

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


def observe(table: Table, viewer: Seat | None) -> YunnanObservation:
    """Return the observation of a seat, or of a spectator (`None`)."""
    spaces = table.board.bid_spaces
    travelling = table.phase in (Phase.TRAVEL, Phase.DISPLACE)
    return YunnanObservation(
        viewer=viewer,
        turn=table.turn,
        turn_limit=table.turn_limit,
        phase=table.phase,
        acting_colour=None if table.phase is Phase.OVER else _COLOURS[table.acting_colour],
        auction_order=tuple([_COLOURS[colour] for colour in table.auction_order]),
        travel_order=tuple([_COLOURS[colour] for colour in table.travel_order]),
        passed=_COLOURS_IN[table.passed],
        banked=_COLOURS_IN[table.banked],
        bids=tuple(
            [
                Bidder(_BUILDINGS[building], spaces[space], _COLOURS[colour])
                for building, row in enumerate(table.bids)
                for space, colour in enumerate(row)
                if colour != NOBODY
            ]
        ),
        bank_left=_colour(table.bank[Space.LEFT]),
        bank_right=_colour(table.bank[Space.RIGHT]),
        colours=tuple([_colour_view(table, colour, bid) for colour, bid in enumerate(table.committed())]),
        seats=tuple(map(SeatView, table.vp, scoring.scores(table), scoring.ranks(table), table.converted, table.debts)),
        provinces=tuple(
            [ProvinceView(gifts, _colour(owner)) for gifts, owner in zip(table.gifts, table.teahouse, strict=True)]
        ),
        unmoved=tuple(table.unmoved) if travelling else (),
        passes_left=table.passes_left,
        pending_displace=_province(table.pending_displace),
        last_total=table.last_total,
        last_bank_pay=table.last_bank_pay,
        last_inspector=_province(table.last_inspector),
        last_banned=_colour(table.last_banned),
    )


def _colour(colour: int) -> Colour | None:
    return None if colour == NOBODY else _COLOURS[colour]


def _province(province: int) -> Province | None:
    return None if province == NOBODY else _PROVINCES[province]


def _colour_view(table: Table, colour: int, committed: int) -> ColourView:
    return ColourView(
        table.owner[colour],
        table.money[colour],
        table.passes[colour],
        _PROVINCES[table.horse[colour]],
        table.influence[colour],
        table.general[colour],
        table.reserve[colour],
        tuple(table.merchants[colour]),
        tuple(table.struct_general[colour]),
        tuple(table.struct_reserve[colour]),
        tuple(table.posts[colour]),
        _SITES_IN[table.bridges[colour]],
        table.gifts_taken[colour],
        table.income[colour],
        committed,
    )


def restore(table: Table, seen: YunnanObservation) -> None:
    """Fill an empty table from an observation; the inverse of `observe`."""
    table.turn = seen.turn
    table.phase = seen.phase
    table.auction_order = [int(colour) for colour in seen.auction_order]
    table.travel_order = [int(colour) for colour in seen.travel_order]
    table.acting_colour = table.travel_order[-1] if seen.acting_colour is None else int(seen.acting_colour)
    table.passed = sum(1 << colour for colour in seen.passed)
    table.banked = sum(1 << colour for colour in seen.banked)
    for building, value, colour in seen.bids:
        table.bids[building][table.board.bid_spaces.index(value)] = int(colour)
    table.bank = [_number(seen.bank_left), _number(seen.bank_right)]
    table.vp = [seat.vp for seat in seen.seats]
    table.converted = [seat.converted for seat in seen.seats]
    table.debts = [seat.debts for seat in seen.seats]
    for number, has in enumerate(seen.colours):
        table.money[number] = has.money
        table.passes[number] = has.passes
        table.horse[number] = int(has.horse)
        table.influence[number] = has.influence
        table.general[number] = has.general
        table.reserve[number] = has.reserve
        table.merchants[number] = list(has.merchants)
        table.struct_general[number] = list(has.struct_general)
        table.struct_reserve[number] = list(has.struct_reserve)
        table.posts[number] = list(has.posts)
        table.bridges[number] = sum(1 << site for site in has.bridges)
        table.gifts_taken[number] = has.gifts_taken
        table.income[number] = has.income
    table.gifts = [province.gifts for province in seen.provinces]
    table.teahouse = [_number(province.teahouse) for province in seen.provinces]
    table.unmoved = list(seen.unmoved) or [0] * len(Province)
    table.passes_left = seen.passes_left
    table.pending_displace = _number(seen.pending_displace)
    table.last_total = seen.last_total
    table.last_bank_pay = (seen.last_bank_pay[0], seen.last_bank_pay[1])
    table.last_inspector = _number(seen.last_inspector)
    table.last_banned = _number(seen.last_banned)


def _number(member: Colour | Province | None) -> int:
    return NOBODY if member is None else int(member)
