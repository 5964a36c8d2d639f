"""The pieces of Yunnan, as SVG elements (`referee/kit/svg.py`): a shape for each kind, and a letter for each colour.

All are drawn around (0, 0); `pieces_of` defines them, and the functions and constants below it place them.
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
    SMALLEST,
    box,
    element,
    figure,
    group,
    path,
    piece,
    pieces,
    text,
)

FILLS = {
    Colour.RED: "#ee6f5c",
    Colour.BLUE: "#68bdf4",
    Colour.GREEN: "#35b07f",
    Colour.YELLOW: "#f0c23c",
    Colour.VIOLET: "#c48ae0",
}
"""The fill of each colour's pieces, as an SVG colour."""
LETTERS = {colour: colour.name[0] for colour in Colour}
"""The letter on each colour's pieces, so that nobody has to tell hues apart."""
COLOUR_NAMES = {colour: colour.name.lower() for colour in Colour}
"""The name of each colour."""

_PAGODA = "M-9-9q7-2 9-9q2 7 9 9l-2 2h-2v3h1q2 4 11 6l-3 3h-2v13h-24v-13h-2l-3-3q9-2 11-6h1v-3h-2z"
_ARCH = "M-20 13v-9q6-17 20-17t20 17v9h-7q-3-9-13-9t-13 9z"


@lru_cache(maxsize=8)
def pieces_of(colours: tuple[Colour, ...]) -> str:
    """Define the pieces of these colours, and the neutral ones."""
    drawn = {}
    for colour in (None, *colours):
        fill, name = (PARCHMENT, "any") if colour is None else (FILLS[colour], COLOUR_NAMES[colour])
        kinds = {
            "merchant": (path("M-12 16q-1-14 7-19h10q8 5 7 19z", fill, DARK, 1.2)
            + path("M-14-3q9-5 14-14q5 9 14 14q-14 5-28 0z", PARCHMENT, DARK, 1.2), 0, 13),
            "post": (path("M-12-6h24v20h-24z", fill, DARK, 1.2)
            + path(
                "M-15-5l3-9h24l3 9q-3.7 6-7.5 0q-3.7 6-7.5 0q-3.7 6-7.5 0q-3.8 6-7.5 0zM-5-14l-2.5 9M5-14l2.5 9",
                PARCHMENT,
                DARK,
                1.2,
            ), 0, 12),
            "teahouse": (path(_PAGODA, fill, DARK, 1.2) + path("M-12 5h24M-5-7h10M-6-4h12", stroke=DARK), 0, 16.5),
            "bridge": (path(_ARCH, fill, DARK, 1.2), 0, 1.5),
            "horse": (path(
                "M-17 0q1-7 8-7h11l5-6l-1-5l4 2q6 3 8 10l-5 3l-4-2l-2 4v16h-5v-6h-11v6h-5v-10q-2 2-2 8q-4-6-1-13z",
                fill,
                DARK,
                1.2,
            ), -3, 7),
            "marker": (path("M-5-12h10l7 7v10l-7 7h-10l-7-7v-10z", fill, DARK, 1.2), 0, 5),
        }  # fmt: skip
        for kind, (shape, x, y) in kinds.items():
            letter = "" if colour is None else figure(x, y, LETTERS[colour], 14, DARK)
            drawn[f"yu-{kind}-{name}"] = shape + letter
    ribbon = "M0-9v20M-11 0h22M0-9q-9-1-6-6q4-1 6 6q2-7 6-6q3 5-6 6"
    drawn["yu-gift"] = box(-11, -9, 22, 20, BRASS, DARK, 1, 2) + path(ribbon, stroke=DARK, thick=2)
    drawn["yu-inspector"] = (
        path("M-13 18q-1-13 7-17h12q8 4 7 17z", DARK, ALARM, 1.6)
        + path("M0 1v17", stroke=ALARM, thick=1.4)
        + element("circle", cy=-4, r=6, fill=PARCHMENT, stroke=DARK)
        + path("M-7-8q0-10 7-10t7 10z", DARK, ALARM, 1.6)
        + path("M-8-13h-12v4h12zM8-13h12v4h-12z", DARK, ALARM, 1.4)
    )
    drawn["yu-gate"] = path("M-11 13v-19M11 13v-19", stroke=DARK, thick=6) + path(
        "M-11 13v-19M11 13v-19M-15-7q8-1 15-6q7 5 15 6M-11-1h22", stroke=PARCHMENT, thick=2.6, stroke_linejoin="round"
    )
    drawn["yu-lock"] = path("M-5-1v-4q0-6 5-6t5 6v4", stroke=PARCHMENT, thick=2.4) + box(
        -8, -2, 16, 13, PARCHMENT, DARK, 1, 2
    )
    links = "M-5-5h-4q-5 0-5 5t5 5h4M5-5h4q5 0 5 5t-5 5h-4"
    drawn["yu-broken"] = (
        path(links, stroke=DARK, thick=6)
        + path(links, stroke=ALARM, thick=3)
        + path("M-2-6l4 12", stroke=ALARM, thick=2)
    )
    return pieces(drawn)


def _of(kind: str, colour: Colour | None) -> str:
    return piece(f"yu-{kind}-{'any' if colour is None else COLOUR_NAMES[colour]}", 0, 0)


def merchant(colour: Colour | None, count: int = 1, *, waiting: bool = False) -> str:
    """Draw Merchants of a colour, 32 wide and 34 high, with their number beside the hat, framed if they may journey.

    Without a colour, draw the symbol for Merchants of any colour.
    """
    drawn = box(-16, -19, 35, 38, "none", LAMP, 2, 6, stroke_dasharray="5 3") if waiting else ""
    drawn += _of("merchant", colour)
    if count > 1:
        drawn += box(7, -19, 10 * len(str(count)) + 1, 14, NIGHT, "none", 0, 4) + text(8, -7, count, 14, bold=True)
    return drawn


def post(colour: Colour | None, count: int = 1) -> str:
    """Draw Posts of a colour, 30 wide and 28 high: a stall under an awning, with the number beside it."""
    return _of("post", colour) + (figure(20, 12, count, 15, INK) if count > 1 else "")


def teahouse(colour: Colour | None) -> str:
    """Draw a Teahouse of a colour, 34 wide and 36 high: a pagoda; without a colour, the symbol for any Teahouse."""
    return _of("teahouse", colour)


def bridge(colour: Colour | None) -> str:
    """Draw a Bridge of a colour, 40 wide and 26 high: an arch; without a colour, the symbol for any Bridge."""
    return _of("bridge", colour)


EMPTY_TEAHOUSE = path(_PAGODA, "none", FADED, 1.2, stroke_dasharray="3 3")
"""A space for a Teahouse."""
EMPTY_BRIDGE = path(_ARCH, "none", PARCHMENT, 1.3, stroke_dasharray="4 3")
"""A space for a Bridge."""
GIFT = piece("yu-gift", 0, 0)
"""A gift, 24 wide and 24 high."""
INSPECTOR = piece("yu-inspector", 0, 0)
"""The inspector, 40 wide and 36 high: an official in a winged hat, in a neutral colour."""
GATE = piece("yu-gate", 0, 0)
"""The gate where the road crosses a border, 30 wide and 26 high."""
LOCK = piece("yu-lock", 0, 0)
"""The sign for a province that a Horse has not reached, 18 wide and 22 high."""
BROKEN = piece("yu-broken", 0, 0)
"""The sign for an interrupted route, 30 wide and 14 high: two ends of a chain."""


def horse(colour: Colour | None) -> str:
    """Draw the Horse of a colour, 36 wide and 32 high."""
    return _of("horse", colour)


def marker(colour: Colour) -> str:
    """Draw a colour's order or level marker, an octagon 24 wide."""
    return _of("marker", colour)


@lru_cache(maxsize=100)
def space(name: str, value: int, *, small: bool) -> str:
    """Draw a space for a Merchant, 34 wide and 54 high, with its price; it is round if a bid on it can be outbid."""
    if small:
        outline = box(-17, -27, 34, 54, "none", FADED, 1.2, 17, stroke_dasharray="4 3", data_spot=name)
    else:
        outline = box(-17, -27, 34, 54, NIGHT, DIM, 1.2, 3, data_spot=name)
    return outline + figure(0, -11, value, 14, BRASS, fit=28)


def legend() -> str:
    """Draw every kind of piece and mark with its meaning, 244 wide and 168 high."""
    meanings = (
        (merchant(None), "Merchant", 0.72),
        (merchant(None, waiting=True), "may journey", 0.68),
        (post(None), "Post", 0.8),
        (teahouse(None), "Teahouse", 0.7),
        (bridge(None), "Bridge", 0.72),
        (horse(None), "Horse", 0.74),
        (GATE, "border", 0.72),
        (LOCK, "no Horse yet", 0.9),
        (GIFT, "gift", 0.8),
        (INSPECTOR, "inspector", 0.66),
        (halo(0, 0, 9), "changed", 1),
        (arrow(-15, 0, 15, 0), "journey", 1),
    )
    parts = []
    for at, (drawn, words, scale) in enumerate(meanings):
        x, y = 19 + 116 * (at % 2), 16 + 27.4 * (at // 2)
        parts.append(group(x, y, drawn, scale) + text(x + 20, y + 5, words, SMALLEST, FADED))
    return "".join(parts)
