"""Positions: tables as JSON, with the names used in RULES.md, section 2. `problems.py` checks positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from referee.game import JsonObject
from referee.games.yunnan import scoring
from referee.games.yunnan.names import OUTER, Building, Colour, Phase, Province, Site, Space, Structure
from referee.games.yunnan.table import NOBODY, Table
from referee.kit.document import Document, by_name, counted, names_of

_COLOURS, _PROVINCES, _OUTER, _SITES = by_name(Colour), by_name(Province), by_name(OUTER), by_name(Site)
_COLOUR_NAMES, _PROVINCE_NAMES, _BUILDING_NAMES = names_of(Colour), names_of(Province), names_of(Building)
_SPACE_NAMES, _STRUCTURE_NAMES = names_of(Space), names_of(Structure)
_PHASES = {phase.name: phase for phase in Phase}
_MOST = 100_000  # the largest number in a position


def to_json(table: Table) -> JsonObject:
    """Return the whole position in the format that `read` accepts, including entries that a person may leave out."""
    colours = range(table.colours)
    data: JsonObject = {
        "turn": table.turn,
        "phase": table.phase.name,
        "acting_colour": _COLOUR_NAMES[table.acting_colour],
        "auction_order": names_of(map(Colour, table.auction_order)),
        "travel_order": names_of(map(Colour, table.travel_order)),
        "passed": _colours_in(table.passed),
        "banked": _colours_in(table.banked),
        "bids": {
            _BUILDING_NAMES[building]: {
                str(value): _COLOUR_NAMES[colour]
                for value, colour in zip(table.board.bid_spaces, row, strict=True)
                if colour != NOBODY
            }
            for building, row in enumerate(table.bids)
            if any(colour != NOBODY for colour in row)
        },
        "bank": {
            _SPACE_NAMES[space]: _COLOUR_NAMES[colour] for space, colour in enumerate(table.bank) if colour != NOBODY
        },
        "money": list(table.money),
        "vp": list(table.vp),
        "converted": list(table.converted),
        "debts": list(table.debts),
        "passes": list(table.passes),
        "horse": names_of(map(Province, table.horse)),
        "influence": list(table.influence),
        "general": list(table.general),
        "reserve": list(table.reserve),
        "m": [counted(_PROVINCE_NAMES, table.merchants[colour]) for colour in colours],
        "struct_general": [counted(_STRUCTURE_NAMES, table.struct_general[colour]) for colour in colours],
        "struct_reserve": [counted(_STRUCTURE_NAMES, table.struct_reserve[colour]) for colour in colours],
        "posts": [counted(_PROVINCE_NAMES, table.posts[colour]) for colour in colours],
        "bridges": [[name for name, site in _SITES.items() if table.bridges[colour] >> site & 1] for colour in colours],
        "teahouse": {
            _PROVINCE_NAMES[province]: _COLOUR_NAMES[colour]
            for province, colour in enumerate(table.teahouse)
            if colour != NOBODY
        },
        "gifts": counted(_PROVINCE_NAMES, table.gifts),
        "gifts_taken": list(table.gifts_taken),
        "unmoved": counted(_PROVINCE_NAMES, table.unmoved),
        "passes_left": table.passes_left,
        "income": list(table.income),
        "last_total": table.last_total,
        "last_bank_pay": list(table.last_bank_pay),
    }
    if table.phase is Phase.OVER:
        del data["acting_colour"]
    if table.pending_displace != NOBODY:
        data["pending_displace"] = _PROVINCE_NAMES[table.pending_displace]
    if table.last_inspector != NOBODY:
        data["last_inspector"] = _PROVINCE_NAMES[table.last_inspector]
    if table.last_banned != NOBODY:
        data["last_banned"] = _COLOUR_NAMES[table.last_banned]
    return data


def _colours_in(bits: int) -> list[str]:
    return [name for name, colour in _COLOURS.items() if bits >> colour & 1]


def read(table: Table, document: Document) -> None:
    """Fill an empty table from a position.

    A position may leave out everything that the rest implies: the travel order before phase 2e, the supplies, the state
    of a travel turn that has just begun, and the incomes to be converted. It may also leave out levels and gifts that
    are as at the start of a match, and empty entries.
    """
    board, colours = table.board, table.colours
    known = {name: colour for name, colour in _COLOURS.items() if colour < colours}
    none = [0] * colours
    table.turn = document.integer("turn", 1, table.turn_limit)
    table.phase = document.choice("phase", _PHASES)
    late = table.phase in (Phase.CONVERT, Phase.OVER)
    table.auction_order = _order(document, "auction_order", known)
    if late or document.has("travel_order"):
        table.travel_order = _order(document, "travel_order", known)
    else:
        table.travel_order = table.auction_order[::-1]
    if table.phase is Phase.OVER:
        table.acting_colour = table.travel_order[-1]
        if document.has("acting_colour"):
            document.note("acting_colour", "is for nobody when the match is over; leave it out")
    else:
        table.acting_colour = int(document.choice("acting_colour", known))
    table.passed = _bits(document.choices("passed", known, ()))
    table.banked = _bits(document.choices("banked", known, ()))
    _read_bids(table, document, known)
    if document.has("bank"):
        bank = document.table("bank")
        table.bank = [_chosen(bank, name, known) for name in _SPACE_NAMES]

    table.money = document.integers("money", 0, _MOST, colours)
    nothing = [0] * table.setup.seats
    table.vp = document.integers("vp", -_MOST, _MOST, table.setup.seats, nothing)
    table.converted = document.integers("converted", 0, _MOST, table.setup.seats, nothing)
    table.debts = document.integers("debts", 0, _MOST, table.setup.seats, nothing)
    first, last = board.first_passes, board.max_passes
    table.passes = document.integers("passes", first, last, colours, [first] * colours)
    table.horse = [Province.YUN] * colours
    if document.has("horse"):
        words = document.texts("horse")
        if len(words) != colours or not all(word in _OUTER for word in words):
            document.note("horse", f"must name {colours} provinces of {', '.join(_OUTER)}, one for each colour")
        else:
            table.horse = [_OUTER[word] for word in words]
    table.influence = document.integers("influence", 0, board.max_influence, colours, none)

    table.merchants = _counts(document, "m", _PROVINCES, table.merchants)
    start = board.total_merchants - board.start_merchants
    left = [max(0, board.total_merchants - placed(table, colour)) for colour in range(colours)]
    # Each of `general` and `reserve` follows from the other. Without either, the supply is as at the start of a match.
    if document.has("reserve") and not document.has("general"):
        table.reserve = document.integers("reserve", 0, board.total_merchants, colours)
        table.general = [max(0, count - own) for count, own in zip(left, table.reserve, strict=True)]
    else:
        supply = [min(start, count) for count in left]
        table.general = document.integers("general", 0, start, colours, supply)
        rest = [max(0, count - unused) for count, unused in zip(left, table.general, strict=True)]
        table.reserve = document.integers("reserve", 0, board.total_merchants, colours, rest)

    table.struct_reserve = _counts(document, "struct_reserve", _STRUCTURE_NAMES, table.struct_reserve)
    table.posts = _counts(document, "posts", _PROVINCES, table.posts)
    _read_bridges(table, document)
    if document.has("teahouse"):
        teahouse = document.table("teahouse")
        table.teahouse = [_chosen(teahouse, name, known) for name in _PROVINCE_NAMES]
    not_taken = [[max(0, board.structures_each - count) for count in taken(table, colour)] for colour in range(colours)]
    table.struct_general = _counts(document, "struct_general", _STRUCTURE_NAMES, not_taken)

    table.gifts = document.counts("gifts", _PROVINCE_NAMES, _MOST, board.gifts)
    table.gifts_taken = document.integers("gifts_taken", 0, _MOST, colours, none)
    travelling = table.phase in (Phase.TRAVEL, Phase.DISPLACE)
    acting = table.acting_colour
    own = table.merchants[acting] if travelling else [0] * len(Province)
    table.unmoved = document.counts("unmoved", _PROVINCE_NAMES, _MOST, own)
    table.passes_left = document.integer("passes_left", 0, last, table.passes[acting] if travelling else 0)
    table.pending_displace = _chosen(document, "pending_displace", _PROVINCES)
    table.income = document.integers("income", 0, _MOST, colours, incomes(table))
    table.last_total = document.integer("last_total", 0, _MOST, 0)
    left_pay, right_pay = document.integers("last_bank_pay", 0, _MOST, 2, [0, 0])
    table.last_bank_pay = (left_pay, right_pay)
    table.last_inspector = _chosen(document, "last_inspector", _OUTER)
    table.last_banned = _chosen(document, "last_banned", known)


def _order(document: Document, key: str, known: Mapping[str, Colour]) -> list[int]:
    order = [int(colour) for colour in document.choices(key, known)]
    if len(order) != len(known):
        if document.has(key):
            document.note(key, f"must name each of {', '.join(known)} once")
        return [int(colour) for colour in known.values()]
    return order


def _bits(members: Iterable[int]) -> int:
    return sum(1 << member for member in members)


def _chosen(document: Document, key: str, choices: Mapping[str, Colour] | Mapping[str, Province]) -> int:
    return document.choice(key, {name: int(member) for name, member in choices.items()}, NOBODY)


def _read_bids(table: Table, document: Document, known: Mapping[str, Colour]) -> None:
    if not document.has("bids"):
        return
    bids = document.table("bids")
    for building, name in enumerate(_BUILDING_NAMES):
        if bids.has(name):
            row = bids.table(name)
            table.bids[building] = [_chosen(row, str(value), known) for value in table.board.bid_spaces]


def _read_bridges(table: Table, document: Document) -> None:
    if not document.has("bridges"):
        return
    lists = document.raw("bridges", None)
    if not isinstance(lists, list) or len(lists) != table.colours:
        document.note("bridges", f"must be a list of {table.colours} lists, one for each colour")
        return
    wrapped = Document({str(colour): sites for colour, sites in enumerate(lists)}, "bridges", document.problems)
    table.bridges = [_bits(wrapped.choices(str(colour), _SITES)) for colour in range(table.colours)]


def _counts(document: Document, key: str, names: Iterable[str], default: Sequence[Sequence[int]]) -> list[list[int]]:
    return document.counts_of_each(key, names, _MOST, len(default), "colour", default)


def incomes(table: Table) -> list[int]:
    """Return the number of Yuan that each colour still has to convert (Y8.1)."""
    waiting = table.travel_order if table.phase is Phase.CONVERT else []
    if table.acting_colour in waiting:
        waiting = waiting[waiting.index(table.acting_colour) :]
    return [scoring.income(table, colour) if colour in waiting else 0 for colour in range(table.colours)]


def placed(table: Table, colour: int) -> int:
    """Return the number of a colour's Merchants in provinces, buildings and the bank."""
    in_buildings = sum(row.count(colour) for row in table.bids)
    return sum(table.merchants[colour]) + in_buildings + table.bank.count(colour)


def taken(table: Table, colour: int) -> list[int]:
    """Return the number of a colour's structures of each kind, in its reserve and on the map together."""
    posts, bridges, teahouses = table.struct_reserve[colour]
    return [
        posts + sum(table.posts[colour]),
        bridges + table.bridges[colour].bit_count(),
        teahouses + table.teahouses(colour),
    ]
