"""The pieces of Valparaíso, as SVG elements (`referee/kit/svg.py`), and what its actions are called in few words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from referee.game import Seat
from referee.games.valparaiso.board import ACTION_CARDS, MAX_AT_ONCE, Amount, CardType, Side, TileType, level_of
from referee.games.valparaiso.names import Card, Colour, Effect, Good, Location, Phase
from referee.games.valparaiso.observation import SeatView
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LAMP,
    LINE,
    PARCHMENT,
    STEEL,
    box,
    element,
    figure,
    group,
    path,
    short,
    text,
    width_of,
)

GROUND, ROAD, RIVER, BARK = "#232a24", "#8c7142", "#3f83a6", "#5d5646"

_GOODS = {Good.SILVER: "#b3bec7", Good.COPPER: "#dd8745", Good.WHEAT: "#f6eecb"}
_LEVELS = {"A": BRASS, "B1": STEEL, "B2": "#c48ae0"}
# After Okabe and Ito, to be told apart by the colour-blind; each piece has its seat's number all the same.
_FILLS = {
    Colour.RED: "#e8663f",
    Colour.BLUE: "#68bdf4",
    Colour.YELLOW: "#f3e266",
    Colour.GREEN: "#22a67a",
    Colour.BLACK: "#090b0e",
}

EFFECTS: dict[Effect, tuple[str, str]] = {
    Effect.TRANSFER: ("transfer", "Load, unload"),
    Effect.SELL10: ("sell", "Sell a good for 10p"),
    Effect.HIRE: ("hire", "Hire for S, C, W"),
    Effect.MOVE: ("move", "Move merchants"),
    Effect.BUILD: ("build", "Build a house"),
    Effect.TRADE: ("trade", "Trade"),
    Effect.SAIL: ("sail", "Sail"),
    Effect.OVERSEAS: ("overseas", "Trade overseas"),
    Effect.MOVE_PLUS: ("move +", "Move, 2 steps free"),
    Effect.RIVER: ("river", "Travel by river"),
    Effect.TRADE_PAY5: ("5p: trade", "Pay 5p, trade"),
    Effect.TWO_DIFF: ("2 different", "Take 2 different goods"),
    Effect.GOOD5_VP: ("5p, good → VP", "5p, 1 good → 1 VP"),
    Effect.SELL15: ("sell for 15p", "Sell a good for 15p"),
    Effect.GAIN10: ("10p", "Take 10p"),
    Effect.TWO_GOODS_VP: ("2 goods → VP", "Any 2 goods → 1 VP"),
    Effect.BUILD_GOOD: ("build: good", "Build for 1 good"),
    Effect.ONE_EACH: ("S, C, W", "Take S, C, W"),
    Effect.BUY3: ("buy 3", "Buy 1–3 goods, 2p each"),
    Effect.VP1: ("1 VP", "Gain 1 VP"),
    Effect.HIRE5: ("5p: hire", "Hire for 5p"),
    Effect.GAIN15: ("15p", "Take 15p"),
    Effect.PAY10_VP: ("10p → VP", "1–3 times 10p → 1 VP"),
    Effect.ONE_EACH_VP: ("SCW → 2 VP", "S, C, W → 2 VP"),
    Effect.TWO_ANY: ("any 2 goods", "Take any 2 goods"),
    Effect.FREE_BUILD_HIRE: ("free build", "Build or hire for free"),
    Effect.TAKE_SILVER: ("S", "Take 1 silver"),
    Effect.TAKE_COPPER: ("C", "Take 1 copper"),
    Effect.TAKE_WHEAT: ("W", "Take 1 wheat"),
    Effect.GAIN5: ("5p", "Take 5p"),
}
"""What people call each action, where there is little room and where there is more; p is for pesos."""


DOING = {
    Phase.SETUP_GOODS: "Set-up: choosing three goods",
    Phase.SETUP_PLACE: "Set-up: placing a merchant in an empty village",
    Phase.PLAN: "Planning in secret",
    Phase.BONUS: "Taking a good for having finished first",
    Phase.USE: "Choosing the card to use",
    Phase.TRANSFER: "Loading and unloading the ship",
    Phase.SELL_FOR: "Choosing the good to sell",
    Phase.MOVE: "Choosing a merchant to move",
    Phase.STEP: "Moving a merchant on, or stopping",
    Phase.RIVER: "Relocating merchants along the rivers",
    Phase.BUILD: "Choosing where to build",
    Phase.BUILD_GOOD: "Choosing where to build, and the good for it",
    Phase.BUILD_OR_HIRE: "Choosing where to build, or hiring",
    Phase.TRADE: "Choosing a market to trade in, or to skip",
    Phase.EXCHANGE: "Taking goods at a market tile",
    Phase.SAIL: "Choosing where to sail",
    Phase.ACQUIRE: "Choosing an achievement card",
    Phase.TAKE: "Choosing two goods",
    Phase.GIVE: "Choosing a good to give",
    Phase.GIVE_TWO: "Choosing two goods to give",
    Phase.PAY: "Choosing how often to pay",
    Phase.BUY: "Buying goods",
    Phase.SCRAP: "End of the round: scrapping a card, or none",
    Phase.RETURN: "End of the round: calling merchants back",
    Phase.OVER: "The match is over",
}
"""What a seat does, or all, whose decision is open."""


class Owner(NamedTuple):
    """A seat, and the colour of its pieces."""

    seat: Seat
    colour: Colour

    @property
    def fill(self) -> str:
        """The colour of its pieces."""
        return _FILLS[self.colour]

    @property
    def ink(self) -> str:
        """In which its number is to be read on them."""
        return INK if self.colour is Colour.BLACK else DARK

    @property
    def rim(self) -> str:
        """The outline of what it is busy with: its colour, or a light one where that is too dark."""
        return INK if self.colour is Colour.BLACK else self.fill

    @property
    def edge(self) -> str:
        """The outline of its pieces, to set them off from the ground."""
        return INK if self.colour is Colour.BLACK else DARK

    @property
    def name(self) -> str:
        """What people call it."""
        return f"seat {self.seat}, {self.colour.name.lower()}"


def seats_in_words(seats: Sequence[Seat]) -> str:
    """Seats, at the beginning of a sentence."""
    named = [str(seat) for seat in seats]
    return f"Seat {''.join(named)}" if len(named) < 2 else f"Seats {', '.join(named[:-1])} and {named[-1]}"


def ordinal(place: int) -> str:
    """A place among the seats."""
    return f"{place}{({1: 'st', 2: 'nd', 3: 'rd'}).get(place, 'th')}"


# --- pieces ---------------------------------------------------------------------------------------


def circle(x: float, y: float, radius: float, fill: str, stroke: str = "none", thick: float = 1) -> str:
    """A disc."""
    return element("circle", cx=x, cy=y, r=radius, fill=fill, stroke=stroke, stroke_width=thick)


def ship(x: float, y: float, owner: Owner, scale: float = 1, opacity: float = 1) -> str:
    """The ship of a seat, 34 wide and 26 high, with the seat's number."""
    parts = (
        path("M-2-2v-13l-11 13zM1-2v-15l13 15z", PARCHMENT, DARK, 1, paint_order="stroke"),
        path("M-17-1h34l-5 12h-24z", owner.fill, owner.edge, 1.2),
        figure(0, 9.2, owner.seat, 11.5, owner.ink),
    )
    return group(x, y, "".join(parts), scale, opacity)


def merchant(x: float, y: float, owner: Owner, scale: float = 1, *, waiting: bool = False) -> str:
    """A merchant of a seat, 20 wide and 26 high, with the seat's number; in a light if it may still be moved."""
    parts = [
        path("M-10 12q0-13 6-14a6.5 6.5 0 1 1 8 0q6 1 6 14z", owner.fill, owner.edge, 1.2),
        figure(0, 10, owner.seat, 11.5, owner.ink),
    ]
    if waiting:
        parts.insert(0, box(-12.5, -16, 25, 31, "none", LAMP, 1.8, 7, stroke_dasharray="4 2.5"))
    return group(x, y, "".join(parts), scale)


def house(x: float, y: float, owner: Owner | None, scale: float = 1, *, bid: bool = False) -> str:
    """The house of a seat, 24 wide and 20 high, with its number; a space for one if there is no seat, lit if it is next."""
    outline = "M-12 0l12-10 12 10h-3v10h-18v-10z"
    if owner is None:
        dashes = {} if bid else {"stroke_dasharray": "3 2.5"}
        return group(x, y, path(outline, "none", LAMP if bid else DIM, 2 if bid else 1.2, **dashes), scale)
    parts = path(outline, owner.fill, owner.edge, 1.2) + figure(0, 8, owner.seat, 11.5, owner.ink)
    return group(x, y, parts, scale)


def lighthouse(x: float, y: float, scale: float = 1) -> str:
    """The lighthouse, 22 wide and 28 high: the start player's mark, and where the building row begins."""
    parts = (
        path("M-3-9l-8-4v8zM3-9l8-4v8z", LAMP, opacity=0.7),
        path("M-6 14l2-18h8l2 18z", INK),
        path("M-5.4 8l.6-5h9.6l.6 5z", ALARM),
        path("M-4-5v-7h8v7z", LAMP),
        path("M-5.5-12l5.5-4 5.5 4z", ALARM),
    )
    return group(x, y, "".join(parts), scale)


def arrow(x: float, y: float, east: float, south: float) -> str:
    """The outline of an arrow's head around (x, y), 20 wide, that points so far to the east and to the south."""
    length = max((east * east + south * south) ** 0.5, 1)
    east, south = 8 * east / length, 8 * south / length
    return (
        f"M{x + east:.1f} {y + south:.1f}L{x - east - south:.1f} {y - south + east:.1f}"
        f"L{x - east + south:.1f} {y - south - east:.1f}z"
    )


def waves(x: float, y: float, scale: float = 1) -> str:
    """The mark of a location at a river, 16 wide."""
    return group(x, y, path("M-8-2q4-4 8 0t8 0M-8 3q4-4 8 0t8 0", stroke="#7cc4e4", thick=1.8), scale)


def cube(x: float, y: float, good: Good, size: float = 16) -> str:
    """A cube of a good with its letter."""
    half = size / 2
    return box(x - half, y - half, size, size, _GOODS[good], DARK, 1, size / 6) + figure(
        x, y + size * 0.27, good.name[0], size * 0.74, DARK
    )


def coin(x: float, y: float, count: int | None = None, radius: float = 9) -> str:
    """Pesos: a coin with their number."""
    parts = circle(x, y, radius, BRASS, "#6b4f18", 1.2)
    words = "p" if count is None else short(count)
    return parts + figure(x, y + radius * 0.42, words, radius * 1.22, DARK, fit=radius * 1.75)


def points(x: float, y: float, count: int, size: float = 11) -> str:
    """Victory points around (x, y): a sign 3.3 times as wide as its size."""
    width, height = size * 3.3, size * 1.5
    return box(x - width / 2, y - height / 2, width, height, DARK, BRASS, 1.2, 3) + figure(
        x, y + size * 0.36, f"{short(count)} VP", size, BRASS, fit=width - 5
    )


# --- amounts and tiles ----------------------------------------------------------------------------

Symbol = tuple[float, str]
"""How wide something is, and its drawing around (0, 0)."""


def _word(words: str, size: float = 11, fill: str = INK) -> Symbol:
    return width_of(words) * size * 1.13 + 1, figure(0, size * 0.36, words, size, fill)


def symbols_of(amount: Amount, ink: str = INK) -> list[Symbol]:
    """Pesos, goods and victory points one after another."""
    found: list[Symbol] = [(19, coin(0, 0, amount.money))] if amount.money else []
    for good, count in zip(Good, amount.goods, strict=True):
        found += [_word(str(count), 11, ink)] * (count > 1) + [(16.5, cube(0, 0, good, 15))] * (count > 0)
    return found + ([(33, points(0, 0, amount.vp, 9.5))] if amount.vp else [])


def in_a_row(symbols: Sequence[Symbol], x: float, y: float, room: float) -> str:
    """Symbols around (x, y); smaller if they would take more room."""
    total = sum(width for width, _ in symbols)
    left, parts = -total / 2, []
    for width, drawn in symbols:
        parts.append(group(left + width / 2, 0, drawn))
        left += width
    return group(x, y, "".join(parts), min(1, room / max(total, 1)))


_SHOWN = 5
_CHOICES = {"same": "2 same", "different": "2 diff."}


def tile(x: float, y: float, width: float, kind: TileType, *, used: bool = False, lit: bool = False) -> str:
    """A market tile, 21 high, with its left upper corner at (x, y): light if it can be used."""
    ink = DARK if used else INK
    paid = symbols_of(kind.pay, ink)
    gained = symbols_of(kind.gain, ink) or ([_word(_CHOICES[kind.choose], 11, ink)] if kind.choose else [_word("–")])
    symbols = (
        [*paid, (12, path("M-5 0h7M0-3.5l4.5 3.5l-4.5 3.5", stroke=ink, thick=1.8)), *gained]
        if paid
        else [_word("+", 13, ink), *gained]
    )
    if kind.most < MAX_AT_ONCE:
        symbols.append(_word(f"×{kind.most}", 11, ink))
    fill, rim, thick = (PARCHMENT, LAMP if lit else BRASS, 3 if lit else 1.5) if used else (DEEP, LINE, 1)
    return box(x, y, width, 21, fill, rim, thick, 4) + in_a_row(symbols, x + width / 2, y + 10.5, width - 8)


def column(width: float, tiles: Sequence[TileType], *, lit: bool) -> str:
    """The tiles of a market, 111 high, the one in use at the bottom; those that do not fit are counted."""
    shown = tiles if len(tiles) <= _SHOWN else tiles[: _SHOWN - 1]
    parts = [tile(0, 90 - 22.5 * at, width, kind, used=at == 0, lit=lit) for at, kind in enumerate(shown)]
    if len(shown) < len(tiles):
        parts.append(figure(width / 2, 15, f"{len(tiles) - len(shown)} more", 12, FADED, fit=width - 8))
    return "".join(parts)


def in_words(kind: TileType) -> str:
    """What a tile does, for those who hear it."""
    gain = f"two goods, {kind.choose}" if kind.choose else _said(kind.gain)
    times = f", up to {kind.most} times" if kind.most < MAX_AT_ONCE else ""
    return (f"{_said(kind.pay)} for {gain}" if kind.pay != Amount() else f"take {gain}") + times


def _said(amount: Amount) -> str:
    said = [f"{amount.money} pesos"] * (amount.money > 0) + [goods_in_words(amount.goods)] * any(amount.goods)
    return " and ".join(said + [f"{amount.vp} VP"] * (amount.vp > 0)) or "nothing"


def goods_in_words(goods: Sequence[int]) -> str:
    """Goods by kind, those that there are."""
    said = [f"{short(count)} {good.name.lower()}" for good, count in zip(Good, goods, strict=True) if count]
    return ", ".join(said) or "none"


def goods_in_letters(goods: Sequence[int]) -> str:
    """Goods by kind, where there is little room."""
    return " ".join(f"{good.name[0]}{short(count)}" for good, count in zip(Good, goods, strict=True))


def counted_goods(x: float, y: float, goods: Sequence[int], step: float = 40) -> str:
    """Each kind of good and how many there are; a kind of which there is none is a shadow."""
    parts = []
    for good, count in zip(Good, goods, strict=True):
        drawn = cube(9, 0, good, 17) + text(20.5, 5.5, short(count), 15, bold=True, fit=step - 22)
        parts.append(group(x + step * good, y, drawn, opacity=1 if count else 0.35))
    return "".join(parts)


def loaded_hold(x: float, y: float, goods: Sequence[int], spaces: int, width: float) -> str:
    """A cargo hold of so many spaces, with what is in it."""
    if max(spaces, sum(goods)) > 8:  # a corrected board's
        return counted_goods(x, y, goods, width / 3)
    step = min(19, width / spaces)
    lying = [good for good, count in zip(Good, goods, strict=True) for _ in range(count)]
    parts = []
    for place in range(spaces):
        middle = x + step * (place + 0.5)
        parts.append(box(middle - 8, y - 8, 16, 16, DARK, DIM, 1, 3))
        parts += [cube(middle, y, lying[place])] if place < len(lying) else []
    return "".join(parts)


def holdings(has: SeatView, owner: Owner, spaces: int) -> str:
    """Pesos, what is on the repository board, and the goods; around y 0 with words below."""
    parts = (
        coin(25, 0, radius=10),
        text(39, 6, short(has.money), 17, BRASS, bold=True, fit=38),
        merchant(91, 1, owner, 0.85),
        text(103, 6, has.merchants_reserve, 15, bold=True, fit=16),
        house(134, 1, owner, 0.85),
        text(147, 6, has.houses_left, 15, bold=True, fit=16),
        counted_goods(172, 0, has.warehouse, 39),
        loaded_hold(292, 0, has.hold, spaces, 112),
        text(14, 22, "pesos", 10.5, FADED),
        text(82, 22, "still to come", 10.5, FADED),
        text(172, 22, "warehouse", 10.5, FADED),
        text(292, 22, f"hold {sum(has.hold)} of {spaces}", 10.5, FADED),
    )
    return "".join(parts)


def legend(owner: Owner) -> str:
    """Pieces and marks, and what they mean; 490 wide, the first of them around (0, 0)."""
    frame = box(-17, -10.5, 34, 21, "none", BRASS, 1.5, 4)
    pieces = (
        (merchant(0, 0, owner), "merchant of a seat"),
        (merchant(0, 0, owner, 0.9, waiting=True), "may still be moved"),
        (house(0, 0, owner), "house of a seat"),
        (house(0, 0, None), "space for a house"),
        (house(0, 0, None, bid=True), "next space in the row"),
        (frame, "tile that is in use"),
        (waves(0, 0), "location at a river"),
        (circle(0, 0, 9, BRASS) + figure(0, 4, "5", 11, DARK), "pesos, in words: p"),
        (
            cube(-14, 0, Good.SILVER, 14) + cube(0, 0, Good.COPPER, 14) + cube(14, 0, Good.WHEAT, 14),
            "silver, copper, wheat",
        ),
    )
    parts = []
    for at, (piece, words) in enumerate(pieces):
        parts.append(group(163 * (at % 3), 36 * (at // 3), piece + text(25, 4.5, words, 11.5, FADED, fit=108)))
    return "".join(parts)


# --- cards ----------------------------------------------------------------------------------------


def _lines(words: str, width: float, size: float, most: int = 2) -> list[str]:
    """Words in lines of a width, if they can be broken so, and never more than `most`."""
    found = textwrap.wrap(words, max(8, int(width / size / 0.6)))
    return found if len(found) <= most else [*found[: most - 1], " ".join(found[most - 1 :])]


def achievement(width: float, height: float, card: Card, kind: CardType) -> str:
    """An achievement card that lies at the sea: its name and points, and below what it does."""
    main, other = EFFECTS[kind.main][1], kind.alternatives[0]
    parts = [
        box(0, 0, width, height, PARCHMENT, DARK, 1, 5),
        box(0, 0, 5, height, _LEVELS[level_of(card)], "none", 0, 2),
        text(10, 16, card.name, 14, DARK, bold=True),
        points(width - 24, 12, kind.vp),
    ]
    for row, line in enumerate(_lines(main, width - 14, 11)):
        parts.append(text(10, 34 + 12.5 * row, line, 11.5, DARK, bold=True, fit=width - 14))
    if other is not None:
        parts.append(path(f"M10 52.5h{width - 16}", stroke="#a2977a"))
        for row, line in enumerate(_lines(EFFECTS[other][1], width - 14, 10.5)):
            parts.append(text(10, 65 + 12 * row, line, 11, "#4a4436", fit=width - 14))
    return "".join(parts)


def action_cards(
    planned: Sequence[Card], kinds: Mapping[Card, CardType], colour: Colour, width: float, height: float
) -> str:
    """The action cards that all seats have, each with the seat's alternative; those that lie in its plan are faint."""
    step, parts = (width + 5) / 4, []
    for at, card in enumerate(ACTION_CARDS):
        inside = [
            box(0, 0, step - 5, height, "none", LINE, 1, 4),
            text(5, height / 2 + 4.5, card.name, 12, bold=True),
            text(27, height / 2 + 4.5, EFFECTS[kinds[card].main][0], 11, fit=step - 55),
        ]
        other = kinds[card].alternatives[colour]
        if other in _PLAIN:
            inside.append(group(step - 16, height / 2, _PLAIN[other]))
        elif other is not None:
            inside.append(text(step - 8, height / 2 + 4, EFFECTS[other][0], 9, FADED, "end", fit=22))
        where = (step * (at % 4), (height + 4) * (at // 4))
        parts.append(group(*where, "".join(inside), opacity=0.35 if card in planned else 1))
    return "".join(parts)


def owned_cards(
    cards: Sequence[Card], kinds: Mapping[Card, CardType], colour: Colour, width: float, height: float
) -> str:
    """The achievement cards of a seat: as many words for each as there is room for."""
    count, rows = len(cards), max(2, int(height // 20))
    if not count:
        return text(0, 14, "no achievement cards", 11.5, DIM)
    columns = -(-count // rows)
    if columns > 3:  # then their names and points are all
        columns = max(8, -(-count // rows))
    step = (width + 5) / columns
    parts = []
    for at, card in enumerate(cards):
        kind, room, brief = kinds[card], step - 5, columns > 1
        effects = [
            EFFECTS[effect][not brief] for effect in (kind.main, kind.alternatives[colour]) if effect is not None
        ]
        inside = [
            box(0, 0, room, 18, DEEP, LINE, 1, 4),
            text(5, 13, card.name, 12, bold=True, fit=room * 0.53 - 5),
        ]
        if columns > 3:
            inside.append(text(room - 4, 13, short(kind.vp), 12, BRASS, "end", bold=True, fit=room * 0.47 - 5))
        else:
            inside.append(points(50, 9, kind.vp, 9.5))
            words = " / ".join(effects[: 2 if columns < 3 else 1])
            inside.append(text(72, 13, words, 11, FADED, fit=room - 76))
        parts.append(group(step * (at % columns), 20 * (at // columns), "".join(inside)))
    return "".join(parts)


class Slot(NamedTuple):
    """A slot of a plan, with what lies in it as far as it may be known."""

    label: str
    price: int
    """The surcharge in pesos."""
    card: Card | None = None
    kind: CardType | None = None
    colour: Colour = Colour.RED
    """Of the owner: it says what the alternative action is."""
    hidden: bool = False
    """Whether the others do not know it."""
    shut: bool = False
    """Whether no card can be put there."""


_PLAIN: dict[Effect | None, str] = {
    Effect.TAKE_SILVER: cube(0, 0, Good.SILVER, 13),
    Effect.TAKE_COPPER: cube(0, 0, Good.COPPER, 13),
    Effect.TAKE_WHEAT: cube(0, 0, Good.WHEAT, 13),
    Effect.GAIN5: coin(0, 0, 5, 7),
}
"""Alternative actions that have a symbol of their own."""


def plan_slot(width: float, height: float, slot: Slot) -> str:
    """A slot of a plan: its number and surcharge, and the card, light if it is turned up."""
    card, kind = slot.card, slot.kind
    price = f"+{short(slot.price)}p" if slot.price else ""
    if card is None or kind is None:
        words = "2 houses" if slot.shut else "–"
        return (
            box(0, 0, width, height, "none", LINE, 1, 5, stroke_dasharray="4 4")
            + text(5, 12, slot.label, 9.5, DIM)
            + text(width - 5, 12, price, 9.5, DIM, "end", fit=width / 2 - 6)
            + text(width / 2, height / 2 + 9, words, 10, DIM, "middle", fit=width - 8)
        )
    fill, ink, faint = (DEEP, INK, FADED) if slot.hidden else (PARCHMENT, DARK, BARK)
    extra = height - 48
    other = kind.alternatives[slot.colour]
    parts = [
        box(0, 0, width, height, fill, DIM if slot.hidden else DARK, 1, 5),
        text(5, 12, slot.label, 9.5, faint),
        text(width - 5, 12, price, 10, faint, "end", bold=True, fit=width / 2 - 6),
        text(5, 28 + extra / 5, card.name, 14, ink, bold=True),
        text(5, 42 + extra / 3, EFFECTS[kind.main][0], 11, ink, fit=width - 10),
    ]
    if other in _PLAIN:
        parts.append(group(width - 12, 23 + extra / 5, _PLAIN[other]))
    return "".join(parts)


# --- where locations are drawn --------------------------------------------------------------------

MAP_WIDTH, MAP_HEIGHT, _NORTH, _SOUTH = 980, 780, 320, 702
CITY, MARKET, CUSTOMS = (262.0, 152.0), (190.0, 144.0), (128.0, 106.0)


def size_of(location: Location) -> tuple[float, float]:
    """How wide and high a location is drawn."""
    return CITY if location is Location.V else MARKET if location <= Location.M4 else CUSTOMS


def share_within(size: tuple[float, float], east: float, south: float) -> float:
    """How much of a line from the middle of a box is still in the box."""
    return min(size[0] / 2 / max(abs(east), 1), size[1] / 2 / max(abs(south), 1), 0.5)


def places_of(side: Side) -> dict[Location, tuple[float, float]]:
    """For each location, its middle: as the board has it, or, where there is no room for that, on berths."""
    wests, norths = ([side.places[location][axis] for location in side.locations] for axis in (0, 1))
    across, down = max(max(wests) - min(wests), 1), max(max(norths) - min(norths), 1)
    found = {}
    for location in side.locations:
        (x, y), (width, height) = side.places[location], size_of(location)
        east = 100 + (x - min(wests)) * (MAP_WIDTH - 200) / across
        south = _NORTH + (y - min(norths)) * (_SOUTH - _NORTH) / down
        found[location] = (
            min(max(east, width / 2 + 7), MAP_WIDTH - width / 2 - 7),
            min(max(south, _NORTH - 76 + height / 2), MAP_HEIGHT - height / 2 - 5),
        )
    return found if _are_apart(found) else _in_berths(found)


def _are_apart(places: dict[Location, tuple[float, float]]) -> bool:
    boxes = [(*place, *size_of(location)) for location, place in places.items()]
    return not any(
        abs(one[0] - other[0]) * 2 < one[2] + other[2] + 12 and abs(one[1] - other[1]) * 2 < one[3] + other[3] + 12
        for at, one in enumerate(boxes)
        for other in boxes[:at]
    )


def _in_berths(wanted: dict[Location, tuple[float, float]]) -> dict[Location, tuple[float, float]]:
    """For boards where locations are too near each other, or all on one spot: Valparaíso in the middle, the others on a grid."""
    rows = (320, 484, 664)
    berths = [(100 + 195 * column, row) for row in rows for column in range(5) if row > rows[0] or column % 4 == 0]
    ways = sorted(
        ((x - left) ** 2 + (y - top) ** 2, location, (left, top))
        for location, (x, y) in wanted.items()
        for left, top in berths
    )
    found: dict[Location, tuple[float, float]] = {Location.V: (MAP_WIDTH / 2, 320)}
    for _, location, berth in ways:
        if location not in found and berth not in found.values():
            found[location] = berth
    return found
