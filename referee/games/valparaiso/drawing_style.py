"""The pieces of Valparaíso, as SVG elements (`referee/kit/svg.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from referee.game import Seat
from referee.games.valparaiso.board import MAX_AT_ONCE, Amount, TileType
from referee.games.valparaiso.names import Colour, Good
from referee.games.valparaiso.observation import SeatView, ValparaisoObservation
from referee.games.valparaiso.spots import spot_of
from referee.kit.scene import brackets, halo, signed
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
    SMALLEST,
    box,
    circle,
    element,
    figure,
    group,
    path,
    piece,
    pieces,
    short,
    spot,
    text,
    width_of,
)

GROUND, ROAD, RIVER = "#232a24", "#8c7142", "#3f83a6"

_GOODS = {Good.SILVER: "#b3bec7", Good.COPPER: "#dd8745", Good.WHEAT: "#f6eecb"}
# Colours after Okabe and Ito, so that colour-blind people can tell them apart; each piece also has its seat's number.
_FILLS = {
    Colour.RED: "#e8663f",
    Colour.BLUE: "#68bdf4",
    Colour.YELLOW: "#f3e266",
    Colour.GREEN: "#22a67a",
    Colour.BLACK: "#090b0e",
}


class Owner(NamedTuple):
    """A seat, and the colour of its pieces."""

    seat: Seat
    colour: Colour

    @property
    def fill(self) -> str:
        """The colour of the seat's pieces."""
        return _FILLS[self.colour]

    @property
    def ink(self) -> str:
        """The colour of the seat's number on its pieces."""
        return INK if self.colour is Colour.BLACK else DARK

    @property
    def rim(self) -> str:
        """The outline of places where the seat is active: its colour, or a light one if that is too dark."""
        return INK if self.colour is Colour.BLACK else self.fill

    @property
    def edge(self) -> str:
        """The outline of the seat's pieces, for contrast with the background."""
        return INK if self.colour is Colour.BLACK else DARK

    @property
    def mark(self) -> str:
        """The suffix of the seat's piece names in a picture, such as `0-red`."""
        return f"{self.seat}-{self.colour.name.lower()}"

    @property
    def name(self) -> str:
        """The seat's name for people, such as `seat 0, red`."""
        return f"seat {self.seat}, {self.colour.name.lower()}"


def owner_of(seen: ValparaisoObservation, seat: Seat) -> Owner:
    """Return a seat with its colour."""
    return Owner(seat, seen.seats[seat].colour)


# --- pieces ---------------------------------------------------------------------------------------


_HOUSE = "M-12 0l12-10 12 10h-3v10h-18v-10z"


def pieces_of(owners: Sequence[Owner]) -> str:
    """Define these seats' pieces and the neutral ones, which the functions below place."""
    drawn = {}
    for owner in owners:
        fill, edge = owner.fill, owner.edge
        drawn[f"vp-ship-{owner.mark}"] = (
            path("M-2-2v-13l-11 13zM1-2v-15l13 15z", PARCHMENT, DARK, paint_order="stroke")
            + path("M-17-1h34l-5 13h-24z", fill, edge, 1.2)
            + figure(0, 10.5, owner.seat, SMALLEST, owner.ink)
        )
        drawn[f"vp-merchant-{owner.mark}"] = path(
            "M-10 12q0-13 6-14a6.5 6.5 0 1 1 8 0q6 1 6 14z", fill, edge, 1.2
        ) + figure(0, 10.8, owner.seat, SMALLEST, owner.ink)
        drawn[f"vp-house-{owner.mark}"] = path(_HOUSE, fill, edge, 1.2) + figure(0, 9, owner.seat, SMALLEST, owner.ink)
    for good, fill in _GOODS.items():
        drawn[f"vp-{good.name.lower()}"] = box(-8.5, -8.5, 17, 17, fill, DARK, 1, 3) + figure(
            0, 4.9, good.name[0], SMALLEST, DARK
        )
    drawn["vp-coin"] = circle(0, 0, 11, BRASS, "#6b4f18", 1.2)
    drawn["vp-space"] = path(_HOUSE, "none", DIM, 1.2, stroke_dasharray="3 2.5")
    drawn["vp-next"] = path(_HOUSE, "none", LAMP, 2)
    drawn["vp-to"] = path("M-5 0h7M0-3.5l4.5 3.5l-4.5 3.5", stroke=DARK, thick=1.8)
    drawn["vp-lit-to"] = path("M-5 0h7M0-3.5l4.5 3.5l-4.5 3.5", stroke=INK, thick=1.8)
    drawn["vp-waves"] = path("M-8-2q4-4 8 0t8 0M-8 3q4-4 8 0t8 0", stroke="#7cc4e4", thick=1.8)
    drawn["vp-lighthouse"] = (
        path("M-3-9l-8-4v8zM3-9l8-4v8z", LAMP, opacity=0.7)
        + path("M-6 14l2-18h8l2 18z", INK)
        + path("M-5.4 8l.6-5h9.6l.6 5zM-5.5-12l5.5-4 5.5 4z", ALARM)
        + path("M-4-5v-7h8v7z", LAMP)
    )
    return pieces(drawn)


def ship(x: float, y: float, owner: Owner, scale: float = 1) -> str:
    """Draw the ship of a seat, 34 wide and 27 high, with the seat's number."""
    return piece(f"vp-ship-{owner.mark}", x, y, scale)


def merchant(x: float, y: float, owner: Owner, *, waiting: bool = False) -> str:
    """Draw a seat's merchant, 20 wide and 26 high, with the seat's number, and a lit frame if it may still move."""
    light = box(x - 12.5, y - 16, 25, 31, "none", LAMP, 1.8, 7, stroke_dasharray="4 2.5") if waiting else ""
    return light + piece(f"vp-merchant-{owner.mark}", x, y)


def house(x: float, y: float, owner: Owner | None, *, bid: bool = False) -> str:
    """Draw a house, 24 wide and 20 high, with its owner's number.

    Without an owner, draw an empty space, which is lit if `bid` is True.
    """
    return piece(f"vp-house-{owner.mark}" if owner else "vp-next" if bid else "vp-space", x, y)


def lighthouse(x: float, y: float) -> str:
    """Draw the lighthouse, 22 wide and 28 high. It marks the start player and the beginning of the building row."""
    return piece("vp-lighthouse", x, y)


def arrow(x: float, y: float, east: float, south: float) -> str:
    """Return the outline of an arrowhead around (x, y), 20 wide, that points in the direction (east, south)."""
    length = max((east * east + south * south) ** 0.5, 1)
    east, south = 8 * east / length, 8 * south / length
    return (
        f"M{x + east:.1f} {y + south:.1f}L{x - east - south:.1f} {y - south + east:.1f}"
        f"L{x - east + south:.1f} {y - south - east:.1f}z"
    )


def waves(x: float, y: float) -> str:
    """Draw the mark of a location on a river, 16 wide."""
    return piece("vp-waves", x, y)


def cube(x: float, y: float, good: Good) -> str:
    """Draw a good's cube, 17 wide, with the good's letter."""
    return piece(f"vp-{good.name.lower()}", x, y)


def coin(x: float, y: float, count: int | None = None) -> str:
    """Draw a coin, 22 wide, with the number of pesos, or with `p` if `count` is None."""
    words = "p" if count is None else short(count)
    return piece("vp-coin", x, y) + figure(x, y + 4.9, words, SMALLEST, DARK, fit=20)


def points(x: float, y: float, count: int) -> str:
    """Draw a sign with victory points, 37 wide and 18 high, around (x, y)."""
    return box(x - 18.5, y - 9, 37, 18, DARK, BRASS, 1.2, 3) + figure(
        x, y + 4.9, f"{short(count)} VP", SMALLEST, BRASS, fit=35
    )


# --- amounts and tiles ----------------------------------------------------------------------------


class Symbol(NamedTuple):
    """A symbol in a row of symbols."""

    width: float
    drawn: Callable[[float, float], str]
    """The function that draws the symbol around a point."""


def _word(words: str, fill: str = INK) -> Symbol:
    # Bold letters are 1.13 times as wide, as in `svg.text`.
    return Symbol(width_of(words) * SMALLEST * 1.13 + 1, lambda x, y: figure(x, y + 4.9, words, SMALLEST, fill))


def symbols_of(amount: Amount, ink: str = INK) -> list[Symbol]:
    """Return the symbols of an amount: pesos, then goods, then victory points."""
    found = [Symbol(22, partial(coin, count=amount.money))] if amount.money else []
    for good, count in zip(Good, amount.goods, strict=True):
        found += [_word(str(count), ink)] * (count > 1) + [Symbol(18, partial(cube, good=good))] * (count > 0)
    return found + ([Symbol(37.5, partial(points, count=amount.vp))] if amount.vp else [])


def in_a_row(symbols: Sequence[Symbol], x: float, y: float, room: float) -> str:
    """Draw symbols in a row around (x, y), scaled down if they need more than `room`."""
    total = sum(symbol.width for symbol in symbols)
    if total > room:
        return group(x, y, in_a_row(symbols, 0, 0, total), room / total)
    left, parts = x - total / 2, []
    for symbol in symbols:
        parts.append(symbol.drawn(left + symbol.width / 2, y))
        left += symbol.width
    return "".join(parts)


_MAX_TILES = 5  # as many as a column of the printed board has
_CHOICES = {"same": "2 same", "different": "2 diff."}


def tile(x: float, y: float, width: float, kind: TileType, *, used: bool = False, lit: bool = False) -> str:
    """Draw a market tile, 21 high, with its upper left corner at (x, y); it is light if it can be used."""
    ink = DARK if used else INK
    paid = symbols_of(kind.pay, ink)
    gained = symbols_of(kind.gain, ink) or ([_word(_CHOICES[kind.choose], ink)] if kind.choose else [_word("–")])
    to = Symbol(9, partial(piece, "vp-to" if used else "vp-lit-to"))
    symbols = [*paid, to, *gained] if paid else [_word("+", ink), *gained]
    if kind.most < MAX_AT_ONCE:
        symbols.append(_word(f"×{kind.most}", ink))
    fill, rim, thick = (PARCHMENT, LAMP if lit else BRASS, 3 if lit else 1.5) if used else (DEEP, LINE, 1)
    return box(x, y, width, 21, fill, rim, thick, 4) + in_a_row(symbols, x + width / 2, y + 10.5, width - 4)


def column(width: float, tiles: Sequence[TileType], *, lit: bool) -> str:
    """Draw the tiles of a market, 111 high, with the one in use at the bottom; tiles that do not fit are counted."""
    drawn = tiles if len(tiles) <= _MAX_TILES else tiles[: _MAX_TILES - 1]
    parts = [tile(0, 90 - 22.5 * at, width, kind, used=at == 0, lit=lit) for at, kind in enumerate(drawn)]
    if len(drawn) < len(tiles):
        parts.append(figure(width / 2, 15, f"{len(tiles) - len(drawn)} more", SMALLEST, FADED, fit=width - 8))
    return "".join(parts)


def counted_goods(x: float, y: float, goods: Sequence[int], step: float = 40, spot_kind: str = "") -> str:
    """Draw each kind of good with its number; a kind that is missing is faint.

    The names of the goods' spots begin with `spot_kind`; if it is empty, the goods are not spots.
    """
    parts = []
    for good, count in zip(Good, goods, strict=True):
        left = x + step * good
        drawn = cube(left + 9, y, good) + text(left + 19.5, y + 5.3, short(count), 14.5, bold=True, fit=step - 20)
        drawn = drawn if count else element("g", drawn, opacity=0.4)
        parts.append(spot(spot_of(spot_kind, good), drawn) if spot_kind else drawn)
    return "".join(parts)


def loaded_hold(x: float, y: float, goods: Sequence[int], spaces: int, width: float, spot_kind: str) -> str:
    """Draw a cargo hold with its spaces and goods.

    The names of the goods' spots begin with `spot_kind`; if it is empty, the goods are not spots.
    """
    if max(spaces, sum(goods)) > 8:  # only on a corrected board
        return counted_goods(x, y, goods, width / 3, spot_kind)
    step = min(19, width / spaces)
    lying = [good for good, count in zip(Good, goods, strict=True) for _ in range(count)]
    parts = [box(x + step * (place + 0.5) - 8, y - 8, 16, 16, DARK, DIM, 1, 3) for place in range(len(lying), spaces)]
    cubes = [(good, cube(x + step * (place + 0.5), y, good)) for place, good in enumerate(lying)]
    parts += [spot(spot_of(spot_kind, good), drawn) if spot_kind else drawn for good, drawn in cubes]
    return "".join(parts)


def holdings(has: SeatView, had: SeatView, owner: Owner, spaces: int, *, is_own: bool) -> str:
    """Draw a seat's pesos, its pieces on the repository board, and its goods, around y = 0, with words below them.

    `had` is the view of the seat before the last action. The whole row is 384 wide. The observer's own goods are spots.
    """
    change = has.money - had.money
    parts = [
        coin(24, 0),
        text(38, 6, short(has.money), 17, BRASS, bold=True, fit=35),
        merchant(86, 1, owner),
        text(98, 6, has.merchants_reserve, 16, bold=True, fit=12),
        house(124, 1, owner),
        text(137, 6, has.houses_left, 16, bold=True, fit=12),
        counted_goods(153, 0, has.warehouse, 39.5, "warehouse" * is_own),
        loaded_hold(272, 0, has.hold, spaces, 105, "hold" * is_own),
        text(76, 24, "to come", SMALLEST, FADED),
        text(153, 24, "warehouse", SMALLEST, FADED),
        text(272, 24, f"hold {sum(has.hold)} of {spaces}", SMALLEST, FADED, fit=106),
        text(13, 24, f"{signed(change)}p", 14.5, LAMP, bold=True, fit=60)
        if change
        else text(13, 24, "pesos", SMALLEST, FADED),
    ]
    if (has.merchants_reserve, has.houses_left) != (had.merchants_reserve, had.houses_left):
        parts.append(brackets(73, -15, 77, 30))
    for good, (now, then) in enumerate(zip(has.warehouse, had.warehouse, strict=True)):
        if now != then:
            parts.append(brackets(151 + 39.5 * good, -13, 38, 26))
    if has.hold != had.hold:
        parts.append(brackets(269, -13, 111, 26))
    return "".join(parts)


def legend(owner: Owner, width: float, height: float) -> str:
    """Draw the pieces and marks with their meanings, in a box whose upper left corner is at (0, 0)."""
    meanings = (
        (merchant(0, 0, owner), "merchant"),
        (merchant(0, 0, owner, waiting=True), "may still move"),
        (house(0, 0, owner), "house"),
        (house(0, 0, None), "space for a house"),
        (house(0, 0, None, bid=True), "next in the row"),
        (figure(0, 5, "+1", 15, BRASS), "VP for building"),
        (box(-17, -10.5, 34, 21, "none", BRASS, 1.5, 4), "tile that is in use"),
        (waves(0, 0), "at a river"),
        (coin(0, 0), "pesos (p)"),
        *((cube(0, 0, good), good.name.lower()) for good in Good),
        (halo(0, 0, 9), "has just come"),
        (brackets(-15, -10, 30, 20), "has just changed"),
    )
    columns = int(width // 185)
    rows, column, parts = -(-len(meanings) // columns), (width - 8) / columns, [box(0, 0, width, height)]
    for at, (drawn, words) in enumerate(meanings):
        x, y = 32 + column * (at // rows), height / rows * (at % rows + 0.5)
        parts.append(group(x, y, drawn) + text(x + 30, y + 5, words, SMALLEST, FADED, fit=column - 58))
    return "".join(parts)
