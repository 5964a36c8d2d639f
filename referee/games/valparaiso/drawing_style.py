"""The pieces of Valparaíso, as SVG elements (`referee/kit/svg.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.game import Seat
from referee.games.valparaiso.board import MAX_AT_ONCE, Amount, TileType
from referee.games.valparaiso.names import Colour, Good
from referee.games.valparaiso.observation import SeatView, ValparaisoObservation
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
    box,
    element,
    figure,
    group,
    path,
    short,
    text,
    width_of,
)

GROUND, ROAD, RIVER = "#232a24", "#8c7142", "#3f83a6"

_GOODS = {Good.SILVER: "#b3bec7", Good.COPPER: "#dd8745", Good.WHEAT: "#f6eecb"}
# After Okabe and Ito, to be told apart by the colour-blind; each piece has its seat's number all the same.
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


def owner_of(seen: ValparaisoObservation, seat: Seat) -> Owner:
    """Return a seat with its colour."""
    return Owner(seat, seen.seats[seat].colour)


# --- pieces ---------------------------------------------------------------------------------------


def circle(x: float, y: float, radius: float, fill: str, stroke: str = "none", thick: float = 1) -> str:
    """Draw a disc."""
    return element("circle", cx=x, cy=y, r=radius, fill=fill, stroke=stroke, stroke_width=thick)


def ship(x: float, y: float, owner: Owner, scale: float = 1, opacity: float = 1) -> str:
    """Draw the ship of a seat, 34 wide and 26 high, with the seat's number."""
    parts = (
        path("M-2-2v-13l-11 13zM1-2v-15l13 15z", PARCHMENT, DARK, 1, paint_order="stroke"),
        path("M-17-1h34l-5 12h-24z", owner.fill, owner.edge, 1.2),
        figure(0, 9.2, owner.seat, 11.5, owner.ink),
    )
    return group(x, y, "".join(parts), scale, opacity)


def merchant(x: float, y: float, owner: Owner, scale: float = 1, *, waiting: bool = False) -> str:
    """Draw a merchant of a seat, 20 wide and 26 high, with the seat's number; in a light if it may still be moved."""
    parts = [
        path("M-10 12q0-13 6-14a6.5 6.5 0 1 1 8 0q6 1 6 14z", owner.fill, owner.edge, 1.2),
        figure(0, 10, owner.seat, 11.5, owner.ink),
    ]
    if waiting:
        parts.insert(0, box(-12.5, -16, 25, 31, "none", LAMP, 1.8, 7, stroke_dasharray="4 2.5"))
    return group(x, y, "".join(parts), scale)


def house(x: float, y: float, owner: Owner | None, scale: float = 1, *, bid: bool = False) -> str:
    """Draw the house of a seat, 24 wide and 20 high, with its number; a space for one if there is no seat, lit if it is next."""
    outline = "M-12 0l12-10 12 10h-3v10h-18v-10z"
    if owner is None:
        dashes = {} if bid else {"stroke_dasharray": "3 2.5"}
        return group(x, y, path(outline, "none", LAMP if bid else DIM, 2 if bid else 1.2, **dashes), scale)
    parts = path(outline, owner.fill, owner.edge, 1.2) + figure(0, 8, owner.seat, 11.5, owner.ink)
    return group(x, y, parts, scale)


def lighthouse(x: float, y: float, scale: float = 1) -> str:
    """Draw the lighthouse, 22 wide and 28 high: the start player's mark, and where the building row begins."""
    parts = (
        path("M-3-9l-8-4v8zM3-9l8-4v8z", LAMP, opacity=0.7),
        path("M-6 14l2-18h8l2 18z", INK),
        path("M-5.4 8l.6-5h9.6l.6 5z", ALARM),
        path("M-4-5v-7h8v7z", LAMP),
        path("M-5.5-12l5.5-4 5.5 4z", ALARM),
    )
    return group(x, y, "".join(parts), scale)


def arrow(x: float, y: float, east: float, south: float) -> str:
    """Return the outline of an arrow's head around (x, y), 20 wide, in the direction (east, south)."""
    length = max((east * east + south * south) ** 0.5, 1)
    east, south = 8 * east / length, 8 * south / length
    return (
        f"M{x + east:.1f} {y + south:.1f}L{x - east - south:.1f} {y - south + east:.1f}"
        f"L{x - east + south:.1f} {y - south - east:.1f}z"
    )


def waves(x: float, y: float, scale: float = 1) -> str:
    """Draw the mark of a location at a river, 16 wide."""
    return group(x, y, path("M-8-2q4-4 8 0t8 0M-8 3q4-4 8 0t8 0", stroke="#7cc4e4", thick=1.8), scale)


def cube(x: float, y: float, good: Good, size: float = 16) -> str:
    """Draw a cube of a good with its letter."""
    half = size / 2
    return box(x - half, y - half, size, size, _GOODS[good], DARK, 1, size / 6) + figure(
        x, y + size * 0.27, good.name[0], size * 0.74, DARK
    )


def coin(x: float, y: float, count: int | None = None, radius: float = 9) -> str:
    """Draw pesos: a coin with their number."""
    parts = circle(x, y, radius, BRASS, "#6b4f18", 1.2)
    words = "p" if count is None else short(count)
    return parts + figure(x, y + radius * 0.42, words, radius * 1.22, DARK, fit=radius * 1.75)


def points(x: float, y: float, count: int, size: float = 11) -> str:
    """Draw victory points around (x, y): a sign 3.3 times as wide as its size."""
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
    """Return symbols for pesos, goods and victory points, one after another."""
    found: list[Symbol] = [(19, coin(0, 0, amount.money))] if amount.money else []
    for good, count in zip(Good, amount.goods, strict=True):
        found += [_word(str(count), 11, ink)] * (count > 1) + [(16.5, cube(0, 0, good, 15))] * (count > 0)
    return found + ([(33, points(0, 0, amount.vp, 9.5))] if amount.vp else [])


def in_a_row(symbols: Sequence[Symbol], x: float, y: float, room: float) -> str:
    """Draw symbols around (x, y), smaller if they would take more room."""
    total = sum(width for width, _ in symbols)
    left, parts = -total / 2, []
    for width, drawn in symbols:
        parts.append(group(left + width / 2, 0, drawn))
        left += width
    return group(x, y, "".join(parts), min(1, room / max(total, 1)))


_SHOWN = 5
_CHOICES = {"same": "2 same", "different": "2 diff."}


def tile(x: float, y: float, width: float, kind: TileType, *, used: bool = False, lit: bool = False) -> str:
    """Draw a market tile, 21 high, with its left upper corner at (x, y): light if it can be used."""
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
    """Draw the tiles of a market, 111 high, the one in use at the bottom; those that do not fit are counted."""
    shown = tiles if len(tiles) <= _SHOWN else tiles[: _SHOWN - 1]
    parts = [tile(0, 90 - 22.5 * at, width, kind, used=at == 0, lit=lit) for at, kind in enumerate(shown)]
    if len(shown) < len(tiles):
        parts.append(figure(width / 2, 15, f"{len(tiles) - len(shown)} more", 12, FADED, fit=width - 8))
    return "".join(parts)


def counted_goods(x: float, y: float, goods: Sequence[int], step: float = 40) -> str:
    """Draw each kind of good and its number; a kind that is missing is a shadow."""
    parts = []
    for good, count in zip(Good, goods, strict=True):
        drawn = cube(9, 0, good, 17) + text(20.5, 5.5, short(count), 15, bold=True, fit=step - 22)
        parts.append(group(x + step * good, y, drawn, opacity=1 if count else 0.35))
    return "".join(parts)


def loaded_hold(x: float, y: float, goods: Sequence[int], spaces: int, width: float) -> str:
    """Draw a cargo hold with a number of spaces, and what is in it."""
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


def holdings(has: SeatView, had: SeatView, owner: Owner, spaces: int) -> str:
    """Draw pesos, what is on the repository board, and the goods, around y 0 with words below; `had` is what it was before."""
    parts = [
        coin(25, 0, radius=10),
        text(39, 6, short(has.money), 18, BRASS, bold=True, fit=38),
        merchant(91, 1, owner, 0.85),
        text(103, 6, has.merchants_reserve, 16, bold=True, fit=16),
        house(134, 1, owner, 0.85),
        text(147, 6, has.houses_left, 16, bold=True, fit=16),
        counted_goods(172, 0, has.warehouse, 39),
        loaded_hold(292, 0, has.hold, spaces, 112),
        text(82, 24, "to come", 14, FADED, fit=84),
        text(172, 24, "warehouse", 14, FADED),
        text(292, 24, f"hold {sum(has.hold)} of {spaces}", 14, FADED, fit=112),
    ]
    change = has.money - had.money
    said = (
        text(14, 24, f"{signed(change)}p", 15, LAMP, bold=True, fit=62) if change else text(14, 24, "pesos", 14, FADED)
    )
    parts.append(said)
    if (has.merchants_reserve, has.houses_left) != (had.merchants_reserve, had.houses_left):
        parts.append(brackets(78, -14, 84, 28))
    for good, (now, then) in enumerate(zip(has.warehouse, had.warehouse, strict=True)):
        if now != then:
            parts.append(brackets(170 + 39 * good, -13, 38, 26))
    if has.hold != had.hold:
        parts.append(brackets(289, -13, 118, 26))
    return "".join(parts)


def legend(owner: Owner) -> str:
    """Draw pieces and marks and what they mean, 490 wide, the first of them around (0, 0)."""
    frame = box(-17, -10.5, 34, 21, "none", BRASS, 1.5, 4)
    pieces = (
        (merchant(0, 0, owner), "merchant"),
        (merchant(0, 0, owner, 0.9, waiting=True), "may still move"),
        (house(0, 0, owner), "house"),
        (house(0, 0, None), "space for a house"),
        (house(0, 0, None, bid=True), "next in the row"),
        (frame, "tile that is in use"),
        (waves(0, 0), "at a river"),
        (circle(0, 0, 9, BRASS) + figure(0, 4, "5", 11, DARK), "pesos (p)"),
        (
            cube(-14, 0, Good.SILVER, 14) + cube(0, 0, Good.COPPER, 14) + cube(14, 0, Good.WHEAT, 14),
            "silver, copper, wheat",
        ),
        (figure(0, 5, "+1", 15, BRASS), "VP for building"),
        (halo(0, 0, 9), "has just come"),
        (brackets(-15, -10, 30, 20), "has just changed"),
    )
    parts = []
    for at, (piece, words) in enumerate(pieces):
        parts.append(group(163 * (at % 3), 38 * (at // 3), piece + text(25, 5.5, words, 14.5, FADED, fit=118)))
    return "".join(parts)
