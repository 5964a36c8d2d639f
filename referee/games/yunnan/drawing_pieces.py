"""The pieces of Yunnan, as SVG elements (`referee/kit/svg.py`)."""

from __future__ import annotations

from referee.games.yunnan.names import Colour
from referee.kit.svg import BRASS, DARK, DIM, INK, LAMP, box, element, figure, group, path

_FILLS = {
    Colour.RED: "#e2604d",
    Colour.BLUE: "#68bdf4",
    Colour.GREEN: "#35b07f",
    Colour.YELLOW: "#f0c23c",
    Colour.VIOLET: "#c48ae0",
}
LETTERS = {colour: colour.name[0] for colour in Colour}
"""What stands on each piece, so that hues need not be told apart."""
COLOUR_NAMES = {colour: colour.name.lower() for colour in Colour}
"""What people call each colour."""


def chip(x: float, y: float, colour: Colour, count: int = 0, *, waiting: bool = False, opacity: float = 1) -> str:
    """Draw a Merchant or order marker around (x, y), 34 wide with a number; with a lamp if it may still journey."""
    label = f"{LETTERS[colour]}{count}" if count else LETTERS[colour]
    width = 34 if count else 26
    parts = [
        box(-width / 2, -11, width, 22, _FILLS[colour], LAMP if waiting else DARK, 2.5 if waiting else 1, 11),
        figure(0, 5, label, 13, DARK),
    ]
    return group(x, y, "".join(parts), opacity=opacity)


def post(x: float, y: float, colour: Colour, count: int) -> str:
    """Draw posts of a colour in a province, 30 wide."""
    label = f"{LETTERS[colour]}{count}" if count > 1 else LETTERS[colour]
    outline = "M-15-2l15-9 15 9v11h-30z"
    return group(x, y, path(outline, _FILLS[colour], DARK) + figure(0, 6, label, 11, DARK))


def bridge(x: float, y: float, colour: Colour) -> str:
    """Draw a bridge of a colour, 22 wide."""
    arch = "M-11 7v-8q11-9 22 0v8h-4q-7-8-14 0z"
    return group(x, y, path(arch, _FILLS[colour], DARK) + figure(0, -1, LETTERS[colour], 9, DARK))


def teahouse(x: float, y: float, colour: Colour | None) -> str:
    """Draw a teahouse, or its empty space, 32 wide."""
    outline = "M-16-3q9-1 16-8q7 7 16 8l-3 4v8h-26v-8z"
    if colour is None:
        return group(x, y, path(outline, "none", DIM, 1, stroke_dasharray="3 3"))
    return group(x, y, path(outline, _FILLS[colour], DARK) + figure(0, 7, LETTERS[colour], 11, DARK))


def gift(x: float, y: float) -> str:
    """Draw a gift, 18 wide."""
    return group(x, y, box(-9, -8, 18, 16, BRASS, DARK, 1, 2) + path("M0-8v16M-9-1h18", stroke=DARK, thick=2))


def horse(x: float, y: float, colour: Colour) -> str:
    """Draw the Horse of a colour, 18 wide."""
    head = "M-7 9q0-9 5-12l-1-5 4 2q6 2 6 8l-3 2-3-2q-1 2 1 7z"
    return group(x, y, path(head, _FILLS[colour], DARK) + figure(-1.5, 8, LETTERS[colour], 8, DARK), scale=1.25)


def empty_space(x: float, y: float, value: int, *, small: bool) -> str:
    """Draw a space for a Merchant, round if it can be outbid, with what it costs or pays."""
    if small:
        outline = element("circle", cx=0, cy=0, r=16, fill="none", stroke=DIM, stroke_dasharray="3 3")
    else:
        outline = box(-18, -16, 36, 32, "none", DIM, 1, 5)
    return group(x, y, outline + figure(0, 5, value, 13, INK))
