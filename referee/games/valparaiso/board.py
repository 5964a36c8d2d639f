"""The numbers printed on the components, read from `board.toml` and checked (RULES.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from referee.game import Board
from referee.games.valparaiso.names import Card, Colour, Effect, Good, Location, Sector, Slot, Tile
from referee.kit.document import Document, by_name, names_of

Goods = tuple[int, int, int]
"""The number of goods of each kind."""

MAX_AT_ONCE = 10
MAX_HOLD = 12
MAX_ROW = 40
MAX_PIECES = 10
"""This constant and those above it limit the numbers of a board, so that no file can make lists huge."""
_MOST = 1000
_GOODS, _LOCATIONS, _EFFECTS = by_name(Good), by_name(Location), by_name(Effect)
ACTION_CARDS = tuple(card for card in Card if card.name.startswith("K"))
"""The action cards, which every seat has."""
ACHIEVEMENTS = tuple(card for card in Card if card not in ACTION_CARDS)
"""All possible achievement cards."""
FEWEST_VILLAGES = 5  # five seats, each in an empty village (S8)
_FIRST_MARKET: Final = int(Location.M1)
_LAST_MARKET: Final = int(Location.M4)
LEVELS = ("A", "B1", "B2")
_ACHIEVEMENTS_OF = {level: tuple(card for card in ACHIEVEMENTS if card.name[:-1] == level) for level in LEVELS}
OUTER = tuple(Sector)[1:]
"""The outer sectors, which have slots and pesos."""
SLOTS_OF_A_SECTOR = len(Slot) // len(OUTER)


class Amount(NamedTuple):
    """An amount that is paid or gained."""

    money: int = 0
    """The number of pesos."""
    goods: Goods = (0, 0, 0)
    """The number of goods in the warehouse, by kind."""
    vp: int = 0
    """The number of victory points; these are never paid."""


class TileType(NamedTuple):
    """The effect of a market tile for each use."""

    pay: Amount
    gain: Amount
    choose: str
    """`same` or `different` if the seat chooses two goods, otherwise empty."""
    most: int
    """The maximum number of uses at once; `MAX_AT_ONCE` if there is no limit."""


class RowSpace(NamedTuple):
    """A space of the building row in Valparaíso."""

    revenue: Amount
    built: int
    """The victory points for building on this space."""


class EffectType(NamedTuple):
    """The costs and gains of an action for each use."""

    pay: Amount = Amount()
    gain: Amount = Amount()
    most: int = 1
    """The maximum number of uses at once."""


class CardType(NamedTuple):
    """The printed contents of a card."""

    main: Effect
    alternatives: tuple[Effect | None, ...]
    """For each colour, the alternative action of an owner with that colour."""
    vp: int
    """The card's victory points; 0 for action cards."""
    seats: int
    """The smallest number of seats with which the card is in play."""


@dataclass(frozen=True, slots=True)
class Side(Board):
    """One side of the board."""

    names: tuple[str, ...]
    """The name of each location; empty for locations that this side lacks."""
    places: tuple[tuple[int, int], ...]
    """The position (x, y) of each location in a drawing."""
    spaces: tuple[tuple[int, ...], ...]
    """For each location, the victory points of its building spaces; empty for Valparaíso."""
    roads: tuple[tuple[Location, Location], ...]
    rivers: tuple[tuple[Location, ...], ...]
    """The locations on each river, beginning at its mouth or at one of its ends."""
    row: tuple[RowSpace, ...]
    """The building row of Valparaíso."""
    column: str
    """The letters of a market's tile spaces, from the bottom."""
    reserve: str
    """The letters of the reserve's tile spaces, from the bottom."""
    locations: tuple[Location, ...]
    """The locations on this side."""
    villages: tuple[Location, ...]
    """All locations except Valparaíso."""
    markets: tuple[Location, ...]
    """The villages with a market."""
    neighbours: tuple[tuple[Location, ...], ...]
    """For each location, the locations that a road joins to it."""
    river_locations: tuple[Location, ...]
    """The locations on a river."""


@dataclass(frozen=True, slots=True)
class ValparaisoBoard(Board):
    """The numbers printed on the components of Valparaíso. Money is in pesos."""

    start_money: int
    hold: int
    """The number of goods that fit into the hold."""
    houses: int
    """The number of houses that each seat has."""
    merchants: tuple[int, ...]
    """The number of merchants that each seat has, for 2, 3, 4 and 5 seats."""
    open_slots: int
    """The number of slots that are always open."""
    slot_houses: int
    """The number of built houses that opens one more slot."""
    good_price: int
    mayor_price: int
    surcharges: tuple[int, ...]
    """The surcharge for using a card, by slot (V3.2)."""
    move_costs: tuple[int, ...]
    """The total cost of a move of one, two or three counted steps."""
    move_plus_costs: tuple[int, ...]
    """The total cost of a move of one, two or three counted steps with `Effect.MOVE_PLUS`."""
    house_price: int
    fee: int
    toll: int
    full_hold_vp: int
    last_house_vp: int
    pesos_per_vp: int
    end_vp: int
    overseas_goods: int
    compensation: int
    city_bonus: tuple[int, ...]
    sector_names: tuple[str, ...]
    sector_places: tuple[tuple[int, int], ...]
    """The position (x, y) of each sector in a drawing."""
    sector_goods: tuple[Good, ...]
    """The good that each outer sector asks for."""
    sector_money: tuple[int, ...]
    """The number of pesos in each outer sector at the start."""
    large: Side
    small: Side
    tiles: tuple[TileType, ...]
    """The effect of each tile."""
    effects: tuple[EffectType, ...]
    """The costs and gains of each action; an action without numbers costs and yields nothing."""
    cards: dict[Card, CardType]
    """The printed contents of each card in the game."""

    def side(self, seats: int) -> Side:
        """Return the side of the board for this number of seats (S1)."""
        return self.large if seats >= 4 else self.small

    def merchants_of(self, seats: int) -> int:
        """Return the number of merchants that each seat has in a match with this number of seats (S2)."""
        return self.merchants[seats - 2]

    def achievements(self, seats: int, level: str) -> list[Card]:
        """Return the achievement cards of a level that are in play with this number of seats (S4)."""
        return [card for card in _ACHIEVEMENTS_OF[level] if card in self.cards and self.cards[card].seats <= seats]


def is_market(location: Location) -> bool:
    """Return whether a location is a village with a market."""
    return _FIRST_MARKET <= location <= _LAST_MARKET


def level_of(card: Card) -> str:
    """Return the level of an achievement card."""
    return card.name[:-1]


def read_board(document: Document) -> ValparaisoBoard:
    """Read the tables of `board.toml`, and note in `document` all contradictions within them or with the rules."""
    names = ("seat", "prices", "points", "overseas", "city_bonus")
    seat, prices, points, overseas, bonus = map(document.board_table, names)
    entries = list(map(document.table("sectors").board_table, names_of(Sector)))
    sides = document.table("sides")
    return ValparaisoBoard(
        start_money=seat.integer("money", 0, _MOST),
        hold=seat.integer("hold", 1, MAX_HOLD),
        houses=seat.integer("houses", 1, MAX_PIECES),
        merchants=tuple(seat.integers("merchants", 2, MAX_PIECES, 4)),
        open_slots=seat.integer("slots", 1, 4),
        slot_houses=seat.integer("slot_houses", 0, MAX_PIECES),
        good_price=prices.integer("good", 0, _MOST),
        mayor_price=prices.integer("mayor", 0, _MOST),
        surcharges=tuple(prices.integers("surcharges", 0, _MOST, 5)),
        move_costs=_move_costs(prices, "moves"),
        move_plus_costs=_move_costs(prices, "moves_plus"),
        house_price=prices.integer("house", 0, _MOST),
        fee=prices.integer("fee", 0, _MOST),
        toll=prices.integer("toll", 0, _MOST),
        full_hold_vp=points.integer("full_hold", 0, _MOST),
        last_house_vp=points.integer("last_house", 0, _MOST),
        pesos_per_vp=points.integer("pesos", 1, _MOST),
        end_vp=points.integer("end", 1, _MOST),
        overseas_goods=overseas.integer("goods", 1, MAX_HOLD),
        compensation=overseas.integer("compensation", 0, _MOST),
        city_bonus=tuple(bonus.integers("pesos", 0, _MOST, 2)),
        sector_names=tuple(entry.text("name") for entry in entries),
        sector_places=tuple(entry.drawing_place() for entry in entries),
        sector_goods=tuple(entry.choice("good", _GOODS) for entry in entries[1:]),
        sector_money=tuple(entry.integer("money", 0, _MOST) for entry in entries[1:]),
        large=_side(sides.board_table("large")),
        small=_side(sides.board_table("small")),
        tiles=_tiles(document.board_table("tiles")),
        effects=_effects(document.board_table("effects")),
        cards=_action_cards(document.board_table("action_cards")) | _achievements(document.board_table("achievements")),
    )


def _move_costs(prices: Document, key: str) -> tuple[int, ...]:
    costs = prices.integers(key, 0, _MOST, 3)
    # `moving` charges the differences between these totals, so none may be below 0.
    if costs != sorted(costs) or costs[0]:
        prices.note(key, "must ascend from 0: it is the total for one, two and three steps (V4.4)")
    return tuple(costs)


def _side(document: Document) -> Side:
    table = document.table("locations")
    entries = {location: table.table(name) for name, location in _LOCATIONS.items() if table.has(name)}
    names, places = [""] * len(Location), [(0, 0)] * len(Location)
    spaces: list[tuple[int, ...]] = [()] * len(Location)
    for location, entry in entries.items():
        # Below, an empty name means that this side lacks the location.
        names[location] = entry.text("name") or "?"
        places[location] = entry.drawing_place()
        if location is not Location.V:
            spaces[location] = tuple(entry.integers("spaces", 0, _MOST))
            if not 1 <= len(spaces[location]) <= 4:
                entry.note("spaces", "must have one to four building spaces")
    if Location.V not in entries or Location.M1 not in entries or len(entries) < 1 + FEWEST_VILLAGES:
        document.note(
            "locations", f"must have v, m1, and {FEWEST_VILLAGES} villages or more: each seat begins in a different one"
        )
    roads = tuple([(way[0], way[1]) for way in _ways(document, "roads", set(entries)) if len(way) == 2])
    rivers = tuple(_ways(document, "rivers", set(entries)))
    locations = tuple(location for location in Location if names[location])
    side = Side(
        names=tuple(names),
        places=tuple(places),
        spaces=tuple(spaces),
        roads=roads,
        rivers=rivers,
        row=tuple(_row_space(entry) for entry in document.tables("row")),
        column=document.text("column"),
        reserve=document.text("reserve"),
        locations=locations,
        villages=locations[1:],
        markets=tuple(village for village in locations[1:] if is_market(village)),
        neighbours=tuple(_ends(location, roads) for location in Location),
        river_locations=tuple(location for location in locations if any(location in river for river in rivers)),
    )
    lost = [location for location in entries if not side.neighbours[location]]
    if lost:
        document.note("roads", f"must reach {lost[0].name.lower()}")
    if not side.column:
        document.note("column", "must have a letter: a market has tiles")
    if len(side.row) > MAX_ROW:
        document.note("row", f"must not have more than {MAX_ROW} spaces")
    # Every tile must be dealt (I1).
    letters = side.column * len(side.markets) + side.reserve
    if any(letters.count(letter) != 5 for letter in "abcde") or len(letters) != len(Tile):
        document.note(
            "reserve", "and column must have five spaces for each letter from a to e, in all markets together"
        )
    return side


def _ends(location: Location, roads: Iterable[tuple[Location, Location]]) -> tuple[Location, ...]:
    """Return the locations that a road joins to a location, in ascending order."""
    return tuple(sorted({end for road in roads if location in road for end in road} - {location}))


def _ways(document: Document, key: str, known: set[Location]) -> list[tuple[Location, ...]]:
    found = []
    for text in document.texts(key):
        words = text.split("-")
        # Unknown words drop out here, so the lengths differ below.
        way = tuple(_LOCATIONS[word] for word in words if _LOCATIONS.get(word) in known)
        if len(way) < 2 or len(set(way)) != len(words) or (key == "roads" and len(way) != 2):
            document.note(key, f"has {text[:40]!r}, which must join different locations, such as v-z1")
        else:
            found.append(way)
    return found


def _row_space(document: Document) -> RowSpace:
    built = document.integer("built", 0, _MOST, 0)
    return RowSpace(_amount_in(document), built)


def _amount_in(document: Document) -> Amount:
    counts = [document.integer(name, 0, MAX_HOLD, 0) for name in _GOODS]
    return Amount(
        document.integer("money", 0, _MOST, 0), (counts[0], counts[1], counts[2]), document.integer("vp", 0, _MOST, 0)
    )


def _tiles(document: Document) -> tuple[TileType, ...]:
    return tuple(_tile(document.table(name)) for name in names_of(Tile))


def _tile(document: Document) -> TileType:
    pay = _amount_in(document.table("pay")) if document.has("pay") else Amount()
    gain = _amount_in(document.table("gain")) if document.has("gain") else Amount()
    choose = document.choice("choose", {"same": "same", "different": "different"}, "")
    if pay.vp:
        document.note("pay", "must not have victory points: they are never lost (V1.2)")
    if choose and (gain != Amount() or any(pay.goods)):
        document.note("choose", "goes with nothing else to gain, and with pesos to pay (V4.7c)")
    return TileType(pay, gain, choose, document.integer("most", 1, MAX_AT_ONCE, MAX_AT_ONCE))


_PAID_IN_PESOS = (Effect.TRADE_PAY5, Effect.GOOD5_VP, Effect.BUY3, Effect.HIRE5, Effect.PAY10_VP)
_PAID_IN_ANYTHING = (Effect.HIRE, Effect.ONE_EACH_VP)
_GAINING = (
    *(Effect.SELL10, Effect.SELL15, Effect.GOOD5_VP, Effect.TWO_GOODS_VP, Effect.PAY10_VP, Effect.ONE_EACH_VP),
    *(Effect.GAIN5, Effect.GAIN10, Effect.GAIN15, Effect.VP1, Effect.ONE_EACH),
    *(Effect.TAKE_SILVER, Effect.TAKE_COPPER, Effect.TAKE_WHEAT),
)
_REPEATED = (Effect.BUY3, Effect.PAY10_VP)


def _effects(document: Document) -> tuple[EffectType, ...]:
    numbered = {*_PAID_IN_PESOS, *_PAID_IN_ANYTHING, *_GAINING}
    return tuple(
        _effect(effect, document.table(effect.name.lower())) if effect in numbered else EffectType()
        for effect in Effect
    )


def _effect(effect: Effect, document: Document) -> EffectType:
    """Read the numbers of an action; any other entry is noted as unknown."""
    pay = gain = Amount()
    if effect in _PAID_IN_PESOS:
        pay = Amount(document.table("pay").integer("money", 0, _MOST))
    elif effect in _PAID_IN_ANYTHING:
        pay = _amount_in(document.table("pay"))
        if pay.vp:
            document.note("pay", "must not have victory points: they are never lost (V1.2)")
    if effect in _GAINING:
        gain = _amount_in(document.table("gain"))
    return EffectType(pay, gain, document.integer("most", 1, MAX_AT_ONCE) if effect in _REPEATED else 1)


def _action_cards(document: Document) -> dict[Card, CardType]:
    found = {}
    for name, card in by_name(ACTION_CARDS).items():
        entry = document.table(name)
        alternatives = tuple(entry.choice(colour, _EFFECTS) for colour in names_of(Colour))
        # So a card always has a legal use, even without pesos (V3.3).
        if any(effect not in PURE_GAINS for effect in alternatives):
            entry.note("", "must have gains as alternatives, such as take_silver: an action card always has an effect")
        found[card] = CardType(entry.choice("main", _EFFECTS), alternatives, 0, 2)
    return found


def _achievements(document: Document) -> dict[Card, CardType]:
    found = {}
    for name, card in by_name(ACHIEVEMENTS).items():
        if document.has(name):
            entry = document.table(name)
            alternative = entry.choice("alt", _EFFECTS, None)
            found[card] = CardType(
                entry.choice("main", _EFFECTS),
                # An achievement card has one alternative for all colours; only action cards have several (section 1.5).
                (alternative,) * len(Colour),
                entry.integer("vp", 0, _MOST),
                entry.integer("seats", 2, 5, 2),
            )
    if sum(card.seats == 2 for card in found.values()) < len(Slot):
        document.note("", f"must have at least {len(Slot)} cards for two seats, because all of these are laid out")
    return found


PURE_GAINS = frozenset(
    (
        Effect.TWO_DIFF,
        Effect.GAIN10,
        Effect.ONE_EACH,
        Effect.VP1,
        Effect.GAIN15,
        Effect.TWO_ANY,
        Effect.TAKE_SILVER,
        Effect.TAKE_COPPER,
        Effect.TAKE_WHEAT,
        Effect.GAIN5,
    )
)
"""The actions that are always possible and never cost anything (V3.3)."""
