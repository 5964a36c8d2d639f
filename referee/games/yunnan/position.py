"""Positions: a table as JSON with the names of RULES.md, section 2, and what can be wrong with one (section 9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from referee.game import JsonObject
from referee.games.yunnan import scoring, turns
from referee.games.yunnan.names import OUTER, Building, Colour, Phase, Province, Site, Space, Structure
from referee.games.yunnan.table import NOBODY, Table
from referee.kit.document import Document

_COLOURS = {colour.name.lower(): colour for colour in Colour}
_COLOUR_NAMES = tuple(_COLOURS)
_PROVINCES = {province.name.lower(): province for province in Province}
_PROVINCE_NAMES = tuple(_PROVINCES)
_BUILDING_NAMES = tuple(building.name.lower() for building in Building)
_SPACE_NAMES = tuple(space.name.lower() for space in Space)
_STRUCTURE_NAMES = tuple(structure.name.lower() for structure in Structure)
_SITES = {site.name.lower(): site for site in Site}
_PHASES = {phase.name: phase for phase in Phase}
_MOST = 100_000  # bounds every number of a position


def to_json(table: Table) -> JsonObject:
    """The position, as `read` reads it; what can be left out when written by hand is in it all the same."""
    colours = range(table.colours)
    data: JsonObject = {
        "turn": table.turn,
        "phase": table.phase.name,
        "acting_colour": _COLOUR_NAMES[table.acting_colour],
        "auction_order": [_COLOUR_NAMES[colour] for colour in table.auction_order],
        "travel_order": [_COLOUR_NAMES[colour] for colour in table.travel_order],
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
        "passes": list(table.passes),
        "horse": [_PROVINCE_NAMES[province] for province in table.horse],
        "influence": list(table.influence),
        "general": list(table.general),
        "reserve": list(table.reserve),
        "m": [_counted(_PROVINCE_NAMES, table.merchants[colour]) for colour in colours],
        "struct_general": [_counted(_STRUCTURE_NAMES, table.struct_general[colour]) for colour in colours],
        "struct_reserve": [_counted(_STRUCTURE_NAMES, table.struct_reserve[colour]) for colour in colours],
        "posts": [_counted(_PROVINCE_NAMES, table.posts[colour]) for colour in colours],
        "bridges": [[name for name, site in _SITES.items() if table.bridges[colour] >> site & 1] for colour in colours],
        "teahouse": {
            _PROVINCE_NAMES[province]: _COLOUR_NAMES[colour]
            for province, colour in enumerate(table.teahouse)
            if colour != NOBODY
        },
        "gifts": _counted(_PROVINCE_NAMES, table.gifts),
        "gifts_taken": list(table.gifts_taken),
        "unmoved": _counted(_PROVINCE_NAMES, table.unmoved),
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


def _counted(names: Sequence[str], counts: Sequence[int]) -> dict[str, int]:
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _colours_in(bits: int) -> list[str]:
    return [name for name, colour in _COLOURS.items() if bits >> colour & 1]


def read(table: Table, document: Document) -> None:
    """Fills an empty table from a position.

    What the rest implies may be left out: the travel order before 2e, the supplies, a travel turn that has just begun, incomes to be
    converted. So may what is as at the start of a match (levels, gifts), and whatever is empty.
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
            document.raw("acting_colour", None)
    else:
        table.acting_colour = int(document.choice("acting_colour", known))
    table.passed = _bits(document.choices("passed", known, ()))
    table.banked = _bits(document.choices("banked", known, ()))
    _read_bids(table, document, known)
    if document.has("bank"):
        bank = document.table("bank")
        table.bank = [_chosen(bank, name, known) for name in _SPACE_NAMES]

    table.money = document.integers("money", 0, _MOST, colours)
    table.vp = document.integers("vp", -_MOST, _MOST, table.setup.seats, [0] * table.setup.seats)
    first, last = board.first_passes, board.max_passes
    table.passes = document.integers("passes", first, last, colours, [first] * colours)
    table.horse = [Province.YUN] * colours
    if document.has("horse"):
        words = document.texts("horse")
        outer = {name: province for name, province in _PROVINCES.items() if province in OUTER}
        if len(words) != colours or not all(word in outer for word in words):
            document.note("horse", f"must name {colours} provinces of {', '.join(outer)}, one for each colour")
        else:
            table.horse = [outer[word] for word in words]
    table.influence = document.integers("influence", 0, board.max_influence, colours, none)

    table.merchants = _counts(document, "m", _PROVINCE_NAMES, colours, [[0] * len(Province)] * colours)
    placed = [_placed(table, colour) for colour in range(colours)]
    start = board.total_merchants - board.start_merchants
    left = [max(0, board.total_merchants - count) for count in placed]
    if document.has("reserve") and not document.has("general"):
        table.reserve = document.integers("reserve", 0, board.total_merchants, colours)
        table.general = [max(0, count - taken) for count, taken in zip(left, table.reserve, strict=True)]
    else:
        supply = [min(start, count) for count in left]
        table.general = document.integers("general", 0, board.total_merchants, colours, supply)
        rest = [max(0, count - taken) for count, taken in zip(left, table.general, strict=True)]
        table.reserve = document.integers("reserve", 0, board.total_merchants, colours, rest)

    no_structures = [[0] * len(Structure)] * colours
    table.struct_reserve = _counts(document, "struct_reserve", _STRUCTURE_NAMES, colours, no_structures)
    table.posts = _counts(document, "posts", _PROVINCE_NAMES, colours, [[0] * len(Province)] * colours)
    _read_bridges(table, document)
    if document.has("teahouse"):
        teahouse = document.table("teahouse")
        table.teahouse = [_chosen(teahouse, name, known) for name in _PROVINCE_NAMES]
    not_taken = [
        [max(0, board.structures_each - count) for count in _taken(table, colour)] for colour in range(colours)
    ]
    table.struct_general = _counts(document, "struct_general", _STRUCTURE_NAMES, colours, not_taken)

    table.gifts = document.counts("gifts", _PROVINCE_NAMES, _MOST, board.gifts)
    table.gifts_taken = document.integers("gifts_taken", 0, _MOST, colours, none)
    travelling = table.phase in (Phase.TRAVEL, Phase.DISPLACE)
    acting = table.acting_colour
    own = table.merchants[acting] if travelling else [0] * len(Province)
    table.unmoved = document.counts("unmoved", _PROVINCE_NAMES, _MOST, own)
    table.passes_left = document.integer("passes_left", 0, last, table.passes[acting] if travelling else 0)
    table.pending_displace = _chosen(document, "pending_displace", _PROVINCES)
    table.income = document.integers("income", 0, _MOST, colours, _incomes(table))
    table.last_total = document.integer("last_total", 0, _MOST, 0)
    left_pay, right_pay = document.integers("last_bank_pay", 0, _MOST, 2, [0, 0])
    table.last_bank_pay = (left_pay, right_pay)
    table.last_inspector = _chosen(document, "last_inspector", _PROVINCES)
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


def _counts(
    document: Document, key: str, names: Sequence[str], colours: int, default: Sequence[Sequence[int]]
) -> list[list[int]]:
    if not document.has(key):
        return [list(row) for row in default]
    tables = document.tables(key)
    if len(tables) != colours:
        document.note(key, f"must have {colours} entries, one for each colour, not {len(tables)}")
    tables = (tables + [Document({}, key, []) for _ in range(colours)])[:colours]
    return [[entry.integer(name, 0, _MOST, 0) for name in names] for entry in tables]


def _incomes(table: Table) -> list[int]:
    """What each colour has still to convert."""
    waiting = table.travel_order if table.phase is Phase.CONVERT else []
    if table.acting_colour in waiting:
        waiting = waiting[waiting.index(table.acting_colour) :]
    return [scoring.income(table, colour) if colour in waiting else 0 for colour in range(table.colours)]


def _placed(table: Table, colour: int) -> int:
    """Merchants on the board."""
    in_buildings = sum(row.count(colour) for row in table.bids)
    return sum(table.merchants[colour]) + in_buildings + table.bank.count(colour)


def _taken(table: Table, colour: int) -> list[int]:
    """Structures in the reserve and on the map."""
    posts, bridges, teahouses = table.struct_reserve[colour]
    return [
        posts + sum(table.posts[colour]),
        bridges + table.bridges[colour].bit_count(),
        teahouses + table.teahouses(colour),
    ]


def problems(table: Table) -> list[str]:
    """Every broken invariant (section 9), with its number."""
    found: list[str] = []
    for colour in range(table.colours):
        found += _colour_problems(table, colour)
    board = table.board
    gifts = sum(table.gifts) + sum(table.gifts_taken)
    if gifts != sum(board.gifts):
        found.append(f"I3: there are {gifts} gifts on the map and with the colours, not {sum(board.gifts)}")
    found += [
        f"I3: {province.name.lower()} has {table.gifts[province]} gifts; it started with {board.gifts[province]}"
        for province in Province
        if table.gifts[province] > board.gifts[province]
    ]
    for province in Province:
        owner = table.teahouse[province]
        if owner != NOBODY and (not board.teahouse_space[province] or table.horse[owner] < province):
            found.append(f"I4: a teahouse of {_COLOUR_NAMES[owner]} in {province.name.lower()} is not possible")
    if not table.setup.options["expert"]:
        found += [f"I6: the score of seat {seat} is below 0" for seat, vp in enumerate(table.vp) if vp < 0]
    found += _building_problems(table)
    found += _order_problems(table)
    found += _PHASE_PROBLEMS[table.phase](table)
    return found


def _colour_problems(table: Table, colour: int) -> list[str]:
    found: list[str] = []
    board, name, horse = table.board, _COLOUR_NAMES[colour], table.horse[colour]
    merchants = table.general[colour] + table.reserve[colour] + _placed(table, colour)
    if merchants != board.total_merchants:
        found.append(f"I1: {name} has {merchants} Merchants, not {board.total_merchants}")
    for word, left, taken in zip(_STRUCTURE_NAMES, table.struct_general[colour], _taken(table, colour), strict=True):
        if left + taken != board.structures_each:
            found.append(f"I2: {name} has {left + taken} structures of the kind {word}, not {board.structures_each}")
    for province in Province:
        if province > horse and (table.merchants[colour][province] or table.posts[colour][province]):
            found.append(f"I4: {name} is in {province.name.lower()}, which its Horse has not reached")
    for site in Site:
        if table.bridges[colour] >> site & 1 and table.routes.site_needs[site] > horse:
            found.append(
                f"I4: {name} has a bridge at {site.name.lower()}, of which its Horse has not reached both ends"
            )
    if not table.setup.options["expert"] and (bid := table.committed()[colour]) > table.money[colour]:
        found.append(f"I6: {name} has bid {bid} Yuan, but has {table.money[colour]}")
    return found


def _building_problems(table: Table) -> list[str]:
    found: list[str] = []
    small = table.board.small_spaces
    for building, row in zip(_BUILDING_NAMES, table.bids, strict=True):
        taken = [space for space, colour in enumerate(row) if colour != NOBODY]
        if any(space < small and space != taken[-1] for space in taken):
            found.append(f"I7: a small space in {building} does not hold its highest bid")
        bidders = [row[space] for space in taken]
        if len(set(bidders)) < len(bidders):
            found.append(f"I7: a colour has two Merchants in {building}")
        found += [
            f"I7: {_COLOUR_NAMES[colour]} has used the bank, and has a bid in {building}"
            for colour in bidders
            if table.banked >> colour & 1
        ]
    return found


def _order_problems(table: Table) -> list[str]:
    found: list[str] = []
    if table.phase not in (Phase.CONVERT, Phase.OVER) and table.travel_order != table.auction_order[::-1]:
        found.append("I13: until the incomes are noted, travel_order is the reverse of auction_order")
    if table.turn == 1 and table.setup.seats == 2:
        owners = [table.owner[colour] for colour in table.auction_order]
        if owners[0] == owners[1] or owners != owners[:2] * 2:
            found.append("auction_order must alternate between the seats in turn 1 (Y12.2)")
    if table.phase is not Phase.AUCTION:
        if table.passed or table.banked:
            found.append(f"passed and banked belong to the phase AUCTION, not to {table.phase.name}")
        if any(colour != NOBODY for colour in table.bank):
            found.append(f"Merchants in the bank belong to the phase AUCTION, not to {table.phase.name}")
        elif table.phase is not Phase.YARD and any(colour != NOBODY for row in table.bids for colour in row):
            found.append(f"bids belong to the phases AUCTION and YARD, not to {table.phase.name}")
    if table.phase not in (Phase.TRAVEL, Phase.DISPLACE) and (any(table.unmoved) or table.passes_left):
        found.append(f"unmoved and passes_left belong to the phases TRAVEL and DISPLACE, not to {table.phase.name}")
    if (table.phase is Phase.DISPLACE) != (table.pending_displace != NOBODY):
        found.append("pending_displace belongs to the phase DISPLACE, and to no other")
    if table.phase is not Phase.CONVERT and any(table.income):
        found.append(f"income that is still to be converted belongs to the phase CONVERT, not to {table.phase.name}")
    return found


def _auction_problems(table: Table) -> list[str]:
    found: list[str] = []
    if table.passed >> table.acting_colour & 1:
        found.append("acting_colour has passed (Y2.1)")
    if (
        table.banked != _bits(colour for colour in table.bank if colour != NOBODY)
        or table.bank[0] == table.bank[1] != NOBODY
    ):
        found.append("banked must name the colours that stand in the bank, each on one space (Y2.6)")
    return found


def _yard_problems(table: Table) -> list[str]:
    found: list[str] = []
    acting = table.acting_colour
    if not any(table.struct_general[acting]):
        found.append("phase YARD needs a structure in the general supply of acting_colour (Y4.5)")
    done = table.auction_order[: table.auction_order.index(acting) + 1]
    found += [
        f"{_COLOUR_NAMES[colour]} has bids, but has paid and taken its Merchants back already (Y4.6)"
        for colour in done
        if table.committed()[colour]
    ]
    return found


def _travel_problems(table: Table) -> list[str]:
    found: list[str] = []
    acting = table.acting_colour
    merchants = table.merchants[acting]
    found += [
        f"unmoved names more Merchants in {province.name.lower()} than {_COLOUR_NAMES[acting]} has there"
        for province in Province
        if table.unmoved[province] > merchants[province]
    ]
    spent = table.passes[acting] - table.passes_left
    moved = sum(merchants) - sum(table.unmoved)
    if spent < 0:
        found.append("passes_left exceeds the border passes of acting_colour (Y5.2)")
    elif moved > spent or (spent and not moved):
        found.append(f"I14: {moved} Merchants have journeyed, but {spent} border passes are spent")
    if table.phase is Phase.DISPLACE and table.pending_displace != NOBODY:
        province = table.pending_displace
        if province == Province.PUE or not turns.victims(table, province):
            found.append(
                "pending_displace needs an opponent's Merchant with less influence there, and not Pu'er (Y5.5)"
            )
        if merchants[province] <= table.unmoved[province]:
            found.append("pending_displace needs a Merchant of acting_colour that has journeyed there (Y5.5)")
    return found


def _convert_problems(table: Table) -> list[str]:
    found: list[str] = []
    for colour, income in enumerate(_incomes(table)):
        if table.income[colour] != income:
            found.append(
                f"the income of {_COLOUR_NAMES[colour]} to be converted is {income}, not {table.income[colour]}"
            )
    waiting = table.travel_order[table.travel_order.index(table.acting_colour) :]
    incomes = [table.income[colour] for colour in waiting]
    if incomes != sorted(incomes, reverse=True):
        found.append("travel_order must be by income, highest first (Y9.1)")
    return found


def _over_problems(table: Table) -> list[str]:
    if scoring.ends_after_turn(table):
        return []
    return ["the match is not over: no seat has the victory points, gifts are left, and turns too (Y11.1)"]


_PHASE_PROBLEMS = {
    Phase.AUCTION: _auction_problems,
    Phase.YARD: _yard_problems,
    Phase.TRAVEL: _travel_problems,
    Phase.DISPLACE: _travel_problems,
    Phase.CONVERT: _convert_problems,
    Phase.OVER: _over_problems,
}
