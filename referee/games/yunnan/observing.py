"""Make observations (`observation.py`) from tables, and tables from observations (RULES.md, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.game import Seat
from referee.games.yunnan import scoring
from referee.games.yunnan.names import Building, Colour, Phase, Province, Site, Space
from referee.games.yunnan.observation import Bidder, ColourView, ProvinceView, SeatView, YunnanObservation
from referee.games.yunnan.table import NOBODY, Table

_BUILDINGS: Final = tuple(Building)
_COLOURS: Final = tuple(Colour)
_PROVINCES: Final = tuple(Province)
_LEFT: Final = int(Space.LEFT)
_RIGHT: Final = int(Space.RIGHT)
_SITES_IN: Final = tuple(tuple(site for site in Site if bits >> site & 1) for bits in range(1 << len(Site)))
_COLOURS_IN: Final = tuple(tuple(colour for colour in Colour if bits >> colour & 1) for bits in range(1 << len(Colour)))


def observe(table: Table, viewer: Seat | None) -> YunnanObservation:
    """Return the observation of a seat, or of a spectator if `viewer` is None."""
    spaces = table.board.bid_spaces
    scores = scoring.scores(table)
    travelling = table.phase in (Phase.TRAVEL, Phase.DISPLACE)
    return YunnanObservation(
        viewer,
        table.turn,
        table.turn_limit,
        table.phase,
        None if table.phase is Phase.OVER else _COLOURS[table.acting_colour],
        tuple([_COLOURS[colour] for colour in table.auction_order]),
        tuple([_COLOURS[colour] for colour in table.travel_order]),
        _COLOURS_IN[table.passed],
        _COLOURS_IN[table.banked],
        tuple(
            [
                Bidder(_BUILDINGS[building], spaces[space], _COLOURS[colour])
                for building, row in enumerate(table.bids)
                for space, colour in enumerate(row)
                if colour != NOBODY
            ]
        ),
        _colour(table.bank[_LEFT]),
        _colour(table.bank[_RIGHT]),
        tuple([_colour_view(table, colour, bid) for colour, bid in enumerate(table.committed())]),
        tuple(map(SeatView, table.vp, scores, scoring.ranks_of(table, scores), table.converted, table.debts)),
        tuple([ProvinceView(gifts, _colour(owner)) for gifts, owner in zip(table.gifts, table.teahouse, strict=True)]),
        tuple(table.unmoved) if travelling else (),
        table.passes_left,
        _province(table.pending_displace),
        table.last_total,
        table.last_bank_pay,
        _province(table.last_inspector),
        _colour(table.last_banned),
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
    """Fill an empty table from an observation; this is the inverse of `observe`."""
    table.turn = seen.turn
    table.phase = seen.phase
    table.auction_order = [int(colour) for colour in seen.auction_order]
    table.travel_order = [int(colour) for colour in seen.travel_order]
    # When the match is over, the last colour has just converted.
    table.acting_colour = table.travel_order[-1] if seen.acting_colour is None else int(seen.acting_colour)
    table.passed = _bits(seen.passed)
    table.banked = _bits(seen.banked)
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
        table.bridges[number] = _bits(has.bridges)
        table.gifts_taken[number] = has.gifts_taken
        table.income[number] = has.income
    table.gifts = [province.gifts for province in seen.provinces]
    table.teahouse = [_number(province.teahouse) for province in seen.provinces]
    table.unmoved = list(seen.unmoved) or [0] * len(_PROVINCES)
    table.passes_left = seen.passes_left
    table.pending_displace = _number(seen.pending_displace)
    table.last_total = seen.last_total
    table.last_bank_pay = (seen.last_bank_pay[0], seen.last_bank_pay[1])
    table.last_inspector = _number(seen.last_inspector)
    table.last_banned = _number(seen.last_banned)


def _number(member: Colour | Province | None) -> int:
    return NOBODY if member is None else int(member)


def _bits(members: Sequence[int]) -> int:
    found = 0
    for member in members:
        found |= 1 << member
    return found
