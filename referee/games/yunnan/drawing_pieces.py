"""The pieces of Yunnan, as SVG elements (`referee/kit/svg.py`): each kind has a shape, and each piece its colour's letter.

All are drawn around (0, 0); a piece that was drawn before is taken from memory.
"""

from __future__ import annotations

from functools import lru_cache

from referee.games.yunnan.names import Colour
from referee.kit.scene import arrow, halo
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
    DIM,
    FADED,
    INK,
    LAMP,
    NIGHT,
    PARCHMENT,
    box,
    element,
    figure,
    group,
    path,
    text,
)

SMALLEST = 13.6
"""The size of the smallest letters, which are 9 px high where the picture is 800 px wide."""

FILLS = {
    Colour.RED: "#ee6f5c",
    Colour.BLUE: "#68bdf4",
    Colour.GREEN: "#35b07f",
    Colour.YELLOW: "#f0c23c",
    Colour.VIOLET: "#c48ae0",
}
"""The colour of each colour's pieces."""
LETTERS = {colour: colour.name[0] for colour in Colour}
"""What stands on each piece, so that hues need not be told apart."""
COLOUR_NAMES = {colour: colour.name.lower() for colour in Colour}
"""What people call each colour."""

_pieces = lru_cache(maxsize=2000)


def _letter(colour: Colour, y: float, size: float = 14, x: float = 0) -> str:
    return figure(x, y, LETTERS[colour], size, DARK)


def _fill(colour: Colour | None) -> str:
    return PARCHMENT if colour is None else FILLS[colour]


@_pieces
def merchant(colour: Colour | None, count: int = 1, *, waiting: bool = False) -> str:
    """Draw Merchants of a colour, 32 wide and 34 high, the number beside the hat; in a frame if they may still journey.

    Without a colour it is the sign of all Merchants.
    """
    robe = "M-12 16q-1-14 7-19h10q8 5 7 19z"
    hat = "M-14-3q9-5 14-14q5 9 14 14q-14 5-28 0z"
    parts = [
        path(robe, _fill(colour), DARK, 1.2),
        path(hat, PARCHMENT, DARK, 1.2),
        "" if colour is None else _letter(colour, 13),
        box(7, -19, 10 * len(str(count)) + 1, 14, NIGHT, "none", 0, 4) if count > 1 else "",
        text(8, -7, count, 14, INK, bold=True) if count > 1 else "",
    ]
    if waiting:
        parts.insert(0, box(-16, -19, 35, 38, "none", LAMP, 2, 6, stroke_dasharray="5 3"))
    return "".join(parts)


@_pieces
def post(colour: Colour | None, count: int = 1) -> str:
    """Draw Posts of a colour, 30 wide and 28 high: a stall under an awning, the number beside it."""
    awning = "M-15-5l3-9h24l3 9q-3.7 6-7.5 0q-3.7 6-7.5 0q-3.7 6-7.5 0q-3.8 6-7.5 0z"
    parts = [
        path("M-12-6h24v20h-24z", _fill(colour), DARK, 1.2),
        path(awning, PARCHMENT, DARK, 1.2),
        path("M-5-14l-2.5 9M5-14l2.5 9", stroke=DARK, thick=1.2),
        "" if colour is None else _letter(colour, 12),
        figure(20, 12, count, 15, INK) if count > 1 else "",
    ]
    return "".join(parts)


_PAGODA = "M-9-9q7-2 9-9q2 7 9 9l-2 2h-2v3h1q2 4 11 6l-3 3h-2v13h-24v-13h-2l-3-3q9-2 11-6h1v-3h-2z"
_ARCH = "M-20 13v-9q6-17 20-17t20 17v9h-7q-3-9-13-9t-13 9z"
_STALLION = "M-17 0q1-7 8-7h11l5-6l-1-5l4 2q6 3 8 10l-5 3l-4-2l-2 4v16h-5v-6h-11v6h-5v-10q-2 2-2 8q-4-6-1-13z"
_OCTAGON = "M-5-12h10l7 7v10l-7 7h-10l-7-7v-10z"


@_pieces
def teahouse(colour: Colour | None) -> str:
    """Draw a Teahouse of a colour, 34 wide and 36 high: a pagoda; without a colour, the sign of all."""
    drawn = path(_PAGODA, _fill(colour), DARK, 1.2) + path("M-12 5h24M-5-7h10M-6-4h12", stroke=DARK)
    return drawn + ("" if colour is None else _letter(colour, 16.5))


@_pieces
def bridge(colour: Colour | None) -> str:
    """Draw a Bridge of a colour, 40 wide and 26 high: an arch; without a colour, the sign of all."""
    return path(_ARCH, _fill(colour), DARK, 1.2) + ("" if colour is None else _letter(colour, 1.5))


EMPTY_TEAHOUSE = path(_PAGODA, "none", FADED, 1.2, stroke_dasharray="3 3")
"""A space for a Teahouse."""
EMPTY_BRIDGE = path(_ARCH, "none", PARCHMENT, 1.3, stroke_dasharray="4 3")
"""A space for a Bridge."""


@_pieces
def horse(colour: Colour | None) -> str:
    """Draw the Horse of a colour, 36 wide and 32 high."""
    return path(_STALLION, _fill(colour), DARK, 1.2) + ("" if colour is None else _letter(colour, 7, 14, -3))


@_pieces
def gift() -> str:
    """Draw a gift, 24 wide and 24 high."""
    ribbon = "M0-9v20M-11 0h22M0-9q-9-1-6-6q4-1 6 6q2-7 6-6q3 5-6 6"
    return box(-11, -9, 22, 20, BRASS, DARK, 1, 2) + path(ribbon, stroke=DARK, thick=2)


@_pieces
def inspector() -> str:
    """Draw the inspector, 40 wide and 36 high: an official in a winged hat, of no colour."""
    parts = (
        path("M-13 18q-1-13 7-17h12q8 4 7 17z", DARK, ALARM, 1.6),
        path("M0 1v17", stroke=ALARM, thick=1.4),
        element("circle", cx=0, cy=-4, r=6, fill=PARCHMENT, stroke=DARK),
        path("M-7-8q0-10 7-10t7 10z", DARK, ALARM, 1.6),
        path("M-8-13h-12v4h12zM8-13h12v4h-12z", DARK, ALARM, 1.4),
    )
    return "".join(parts)


@_pieces
def marker(colour: Colour) -> str:
    """Draw an order or level marker of a colour, 24 wide: an octagon."""
    return path(_OCTAGON, FILLS[colour], DARK, 1.2) + _letter(colour, 5)


@_pieces
def gate() -> str:
    """Draw the gate of a border that the road crosses, 30 wide and 26 high."""
    return path("M-11 13v-19M11 13v-19", stroke=DARK, thick=6) + path(
        "M-11 13v-19M11 13v-19M-15-7q8-1 15-6q7 5 15 6M-11-1h22", stroke=PARCHMENT, thick=2.6, stroke_linejoin="round"
    )


@_pieces
def lock() -> str:
    """Draw the sign of a province that a Horse has not reached, 18 wide and 22 high."""
    return path("M-5-1v-4q0-6 5-6t5 6v4", stroke=PARCHMENT, thick=2.4) + box(-8, -2, 16, 13, PARCHMENT, DARK, 1, 2)


@_pieces
def broken() -> str:
    """Draw the sign of a route that is broken off, 30 wide and 14 high: two ends of a chain."""
    links = "M-5-5h-4q-5 0-5 5t5 5h4M5-5h4q5 0 5 5t-5 5h-4"
    parts = (
        path(links, stroke=DARK, thick=6),
        path(links, stroke=ALARM, thick=3),
        path("M-2-6l4 12", stroke=ALARM, thick=2),
    )
    return "".join(parts)


@_pieces
def space(value: int, *, small: bool) -> str:
    """Draw a space for a Merchant, 34 wide and 54 high, round if it can be outbid, with what it costs."""
    if small:
        outline = box(-17, -27, 34, 54, "none", FADED, 1.2, 17, stroke_dasharray="4 3")
    else:
        outline = box(-17, -27, 34, 54, NIGHT, DIM, 1.2, 3)
    return outline + figure(0, -11, value, 14, BRASS, fit=28)


def legend() -> str:
    """Draw every kind of piece and mark and what it is, 244 wide and 168 high."""
    pieces = (
        (merchant(None), "Merchant", 0.72),
        (merchant(None, waiting=True), "may journey", 0.68),
        (post(None), "Post", 0.8),
        (teahouse(None), "Teahouse", 0.7),
        (bridge(None), "Bridge", 0.72),
        (horse(None), "Horse", 0.74),
        (gate(), "border", 0.72),
        (lock(), "no Horse yet", 0.9),
        (gift(), "gift", 0.8),
        (inspector(), "inspector", 0.66),
        (halo(0, 0, 9), "changed", 1),
        (arrow(-15, 0, 15, 0), "journey", 1),
    )
    parts = []
    for at, (piece, words, scale) in enumerate(pieces):
        x, y = 19 + 116 * (at % 2), 16 + 27.4 * (at // 2)
        parts.append(group(x, y, piece, scale) + text(x + 20, y + 5, words, SMALLEST, FADED))
    return "".join(parts)
