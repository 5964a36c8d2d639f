"""Positions: tables as JSON, with the names used in RULES.md, section 2.1. `invariants.py` checks positions."""

from __future__ import annotations

from referee.game import JsonObject
from referee.games.valparaiso.board import ACHIEVEMENTS, LEVELS
from referee.games.valparaiso.names import (
    Card,
    Colour,
    Effect,
    Good,
    Location,
    Phase,
    Sector,
    Slot,
    Source,
    Store,
    Tile,
)
from referee.games.valparaiso.table import NONE, USE_PHASES, Plan, Table
from referee.kit.document import Document, by_name, counted, names_of

_MOST = 100_000  # the largest number in a position


_GOODS, _STORES, _COLOURS, _SECTORS = by_name(Good), by_name(Store), by_name(Colour), by_name(Sector)
_LOCATIONS, _SLOTS, _TILES, _CARDS = by_name(Location), by_name(Slot), by_name(Tile), by_name(Card)
_ACHIEVEMENTS = by_name(ACHIEVEMENTS)
_EFFECTS = by_name(Effect)
_SOURCES = by_name(Source)
_OUTER = tuple(_SECTORS)[1:]
_PHASES = {phase.name: phase for phase in Phase}
_SALES = tuple(f"sold_{store}" for store in _STORES)


# --- writing ------------------------------------------------------------------------------------------------


def to_json(table: Table) -> JsonObject:
    """Return the whole position in the format that `read` accepts, including parts that a position may leave out."""
    data: JsonObject = {
        "round": table.round,
        "start_seat": table.start_seat,
        "phase": table.phase.name,
        "colours": names_of(table.colours),
        "money": list(table.money),
        "warehouse": [counted(_GOODS, goods) for goods in table.warehouse],
        "hold": [counted(_GOODS, goods) for goods in table.hold],
        "vp": list(table.vp),
        "earned": [counted(_SOURCES, earned) for earned in table.earned],
        "merchants": [counted(_LOCATIONS, row) for row in table.merchants],
        "merchants_reserve": list(table.merchants_reserve),
        "houses_left": list(table.houses_left),
        "ship": names_of(table.ship),
        "achievements": [names_of(owned) for owned in table.owned],
        "plan": [_plan_to_json(plan) for plan in table.plans],
        "committed": [int(done) for done in table.committed],
        "markets": [names_of(tiles) for tiles in table.markets],
        "reserve": names_of(table.reserve),
        "slots": {
            name: Card(card).name.lower() for name, card in zip(_SLOTS, table.slots, strict=True) if card != NONE
        },
        "deck": names_of(table.deck),
        "scrapped": names_of(table.scrapped),
        "sea_money": counted(_OUTER, table.sea_money),
        "row": list(table.row),
        "houses": [
            {"location": location.name.lower(), "space": space, "seat": seat}
            for (location, space), seat in sorted(table.houses.items())
        ],
        "path": names_of(table.path),
        "steps": table.steps,
        "villages": names_of(table.villages),
        "left": table.left,
        "begun": table.begun,
    }
    if table.phase not in (Phase.PLAN, Phase.OVER):
        data["seat"] = table.seat
    if table.first_finisher != NONE:
        data["first_finisher"] = table.first_finisher
    if table.effect is not None:
        data["effect"] = table.effect.name.lower()
    if table.unmoved:
        data["unmoved"] = counted(_LOCATIONS, table.unmoved)
    if table.hold_was_full:
        data["hold_was_full"] = True
    if table.village != NONE:
        data["village"] = Location(table.village).name.lower()
    return data


def _plan_to_json(plan: Plan) -> JsonObject:
    data: JsonObject = {"cards": names_of(plan.cards)}
    if plan.mayor is not None:
        data["mayor"] = plan.mayor.name.lower()
    for key, sold in zip(_SALES, plan.sold, strict=True):
        if any(sold):
            data[key] = counted(_GOODS, sold)
    return data


# --- reading ------------------------------------------------------------------------------------------------


def read(table: Table, document: Document) -> None:
    """Fill an empty table from a position.

    Empty and zero entries may be left out. Merchants and houses that are not mentioned are then on the repository
    boards, and cards that are not mentioned are in the pile.
    """
    seats = table.setup.seats
    none = [0] * seats
    table.round = document.integer("round", 1, table.last_round)
    table.phase = document.choice("phase", _PHASES)
    table.start_seat = document.integer("start_seat", 0, seats - 1, 0)
    if table.phase in (Phase.PLAN, Phase.OVER):
        # The seat means nothing in these phases, but a table has one.
        table.seat = table.start_seat
        if document.has("seat"):
            document.note("seat", f"is for nobody in the phase {table.phase.name}; leave it out")
    else:
        table.seat = document.integer("seat", 0, seats - 1)
    table.colours = tuple(document.choices("colours", _COLOURS, tuple(Colour)[:seats]))
    if len(table.colours) != seats:
        document.note("colours", f"must have {seats} colours, one for each seat")
        table.colours = tuple(Colour)[:seats]
    table.money = document.integers("money", 0, _MOST, seats)
    table.vp = document.integers("vp", 0, _MOST, seats, none)
    table.earned = [
        tuple(earned) for earned in document.counts_of_each("earned", _SOURCES, _MOST, seats, default=table.earned)
    ]
    table.warehouse = document.counts_of_each("warehouse", _GOODS, _MOST, seats, default=table.warehouse)
    table.hold = document.counts_of_each("hold", _GOODS, _MOST, seats, default=table.hold)
    table.merchants = document.counts_of_each("merchants", _LOCATIONS, 10, seats)
    total = table.board.merchants_of(seats)
    reserve = [max(0, total - sum(row)) for row in table.merchants]
    table.merchants_reserve = document.integers("merchants_reserve", 0, _MOST, seats, reserve)
    table.row = tuple(document.integers("row", 0, seats - 1, None, ()))
    if document.has("houses"):
        for house in document.tables("houses"):
            site = house.choice("location", _LOCATIONS), house.integer("space", 0, 3)
            if site in table.houses:
                house.note("space", "has a house already")
            table.houses[site] = house.integer("seat", 0, seats - 1)
    left = [max(0, table.board.houses - table.built(seat)) for seat in range(seats)]
    table.houses_left = document.integers("houses_left", 0, table.board.houses, seats, left)
    ships = document.texts("ship") if document.has("ship") else ["h"] * seats
    if len(ships) != seats or any(ship not in _SECTORS for ship in ships):
        document.note("ship", f"must have {seats} sectors of {', '.join(_SECTORS)}, one for each seat")
    else:
        table.ship = [_SECTORS[ship] for ship in ships]
    _read_cards(table, document)
    table.markets = [tuple(_TILES[name] for name in column if name in _TILES) for column in _columns(table, document)]
    table.reserve = tuple(document.choices("reserve", _TILES))
    if document.has("sea_money"):
        table.sea_money = document.counts("sea_money", _OUTER, _MOST)
    table.first_finisher = document.integer("first_finisher", 0, seats - 1, NONE)
    table.effect = document.choice("effect", _EFFECTS, None)
    if document.has("unmoved"):
        table.unmoved = tuple(document.counts("unmoved", _LOCATIONS, 10))
    table.path = tuple(document.choices("path", _LOCATIONS, ()))
    table.steps = document.integer("steps", 0, 3, 0)
    # In the order of the markets, as in `trading.begin`.
    table.villages = tuple(sorted(document.choices("villages", _LOCATIONS, ())))
    table.village = int(document.choice("village", _LOCATIONS, NONE))
    table.left = document.integer("left", 0, _MOST, 0)
    table.begun = document.boolean("begun", False)
    full = table.refill_is_strict() and table.phase in USE_PHASES and table.hold_is_full(table.seat)
    table.hold_was_full = document.boolean("hold_was_full", full)


def _columns(table: Table, document: Document) -> list[list[str]]:
    columns = document.raw("markets", None)
    markets = len(table.side.markets)
    fits = isinstance(columns, list) and all(isinstance(column, list) for column in columns)
    if not isinstance(columns, list) or not fits or len(columns) != markets:
        document.note("markets", f"must have {markets} lists of tiles, from the bottom to the top")
        return [[] for _ in range(markets)]
    found = [[name for name in column if isinstance(name, str) and name in _TILES] for column in columns]
    if [len(column) for column in found] != [len(column) for column in columns]:
        document.note("markets", "must name tiles from ta1 to te5 only")
    return found


def _read_cards(table: Table, document: Document) -> None:
    """Read the places of the cards; cards that are not mentioned are in the pile."""
    seats, board = table.setup.seats, table.board
    if document.has("achievements"):
        rows = document.raw("achievements", None)
        if not isinstance(rows, list) or len(rows) != seats or not all(_are_achievements(row) for row in rows):
            document.note("achievements", f"must have {seats} lists of achievement cards, one for each seat")
        else:
            table.owned = [tuple(sorted(_ACHIEVEMENTS[name] for name in row)) for row in rows]
    if document.has("plan"):
        table.plans = [_read_plan(plan) for plan in document.tables_of_each("plan", seats)]
    table.committed = [bool(done) for done in document.integers("committed", 0, 1, seats, [0] * seats)]
    if document.has("slots"):
        slots = document.table("slots")
        table.slots = [int(slots.choice(name, _ACHIEVEMENTS, NONE)) for name in _SLOTS]
    table.scrapped = tuple(document.choices("scrapped", _ACHIEVEMENTS, ()))
    placed = {*table.slots, *table.scrapped, *(card for owned in table.owned for card in owned)}
    # The order within a level is then that of section 1.8, because nothing is drawn when a position is read.
    pile = [card for level in LEVELS for card in board.achievements(seats, level) if card not in placed]
    table.deck = tuple(document.choices("deck", _ACHIEVEMENTS, pile))


def _are_achievements(row: object) -> bool:
    return isinstance(row, list) and all(isinstance(name, str) and name in _ACHIEVEMENTS for name in row)


def _read_plan(document: Document) -> Plan:
    planned = tuple(document.choices("cards", _CARDS, ()))
    mayor = document.choice("mayor", _CARDS, None)
    sold = [tuple(document.counts(key, _GOODS, _MOST, [0] * len(_GOODS))) for key in _SALES]
    return Plan(planned, mayor, (sold[0], sold[1]))
