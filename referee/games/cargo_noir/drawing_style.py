"""What the drawing is made of: the palette, SVG elements as text, and the pieces of the game.

No element has an id, a style sheet or a gradient: several pictures can stand in one page, shown or hidden,
without one borrowing from another. Everything that is printed goes through `text`, which escapes it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from referee.games.cargo_noir.names import Kind

NIGHT, DEEP, SEA, LAND, LIT = "#0a0f15", "#0f212c", "#142a36", "#16202a", "#1e2c38"
INK, FADED, DIM, LINE, DARK = "#efe7d3", "#a3b1b5", "#6d7e86", "#33444f", "#0d1319"
BRASS, ALARM, PARCHMENT, STEEL, LAMP = "#d3a953", "#f08a6c", "#d6cbb0", "#8fb3c4", "#ffe9a8"

SEAT_COLOURS = ("#68bdf4", "#eba31a", "#d4609f", "#f4f1e8", "#16966e")
"""After Okabe and Ito, to be told apart by the colour-blind; each ship has its number all the same."""

SANS = "'Avenir Next','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif"
"""The fonts of all text but names and headings; for the whole document."""
_SERIF = "Georgia,'Times New Roman','DejaVu Serif',serif"

# Colour and pictogram of each kind of goods; a pictogram fits a box from -10 to 10.
_GOODS = {
    Kind.ALCOHOL: ("#7fb56b", "M-2-10h4v6q4 2 4 6v7q0 1-1 1h-10q-1 0-1-1v-7q0-4 4-6zM-6 3v4h12v-4z"),
    Kind.WEAPONS: ("#93a3bd", "M-10-6h19v5h-8q0 4-4 4h-1l-2 6h-6l3-9q-1-2-1-6zM-2-1v2q2 0 2-2z"),
    Kind.ART: ("#c79ad6", "M-10-8h20v17h-20zM-7-5v11h14v-11zM-6 5l4-6 3 4 2-2 3 4z"),
    Kind.CARS: (
        "#e2604d",
        "M-10 3v-4l4-1 3-5h7l3 5 3 1v4h-2a2.8 2.8 0 1 1-5 0h-6a2.8 2.8 0 1 1-5 0zM-3-2h7l-1-3h-4z",
    ),
    Kind.CIGARS: ("#b98255", "M-10 7l9-9 4 4-9 9zM0-3l5-5 4 4-5 5zM7-10q-3-1-1 1q2 1 4 0z"),
    Kind.IVORY: ("#efe6cf", "M-9-9q1 10 7 12t12-1q-3 7-10 7t-10-6t-1-12z"),
    Kind.JEWELS: ("#55c6da", "M-6-8h12l4 6h-20zM-10 0h5l4 8zM-3 0h6l-3 9zM10 0h-5l-4 8z"),
    Kind.GOLD: ("#ecbc3b", "M-3-8h6l2 7h-10zM-8 1h6l2 7h-10zM2 1h6l2 7h-10z"),
    Kind.URANIUM: (
        "#b9e04c",
        "M-4.8-8.3A9.6 9.6 0 0 1 4.8-8.3L1.7-2.9A3.4 3.4 0 0 0-1.7-2.9z"
        "M9.6 0A9.6 9.6 0 0 1 4.8 8.3L1.7 2.9A3.4 3.4 0 0 0 3.4 0z"
        "M-4.8 8.3A9.6 9.6 0 0 1-9.6 0L-3.4 0A3.4 3.4 0 0 0-1.7 2.9zM-2 0a2 2 0 0 0 4 0a2 2 0 0 0-4 0z",
    ),
    Kind.WILD: (DARK, "M0-9.5l2.6 6 6.4.5-4.9 4.2 1.5 6.3-5.6-3.4-5.6 3.4 1.5-6.3-4.9-4.2 6.4-.5z"),
}


# --- elements -------------------------------------------------------------------------------------


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """An SVG element: `stroke_width=2` is written `stroke-width="2"`; `content` is markup."""
    written = "".join(
        f' {key.replace("_", "-")}="{escape(value) if isinstance(value, str) else f"{round(value, 2):g}"}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(
    x: float,
    y: float,
    content: object,
    size: float = 12,
    fill: str = INK,
    anchor: str = "start",
    *,
    bold: bool = False,
    serif: bool = False,
    fit: float = 0,
) -> str:
    """A line of text with its baseline at y; smaller if it would be wider than `fit` (0: any width)."""
    words = str(content)
    if fit:
        size = min(size, fit / max(_width(words) * (1.13 if bold else 1), 1))
    style = {"text_anchor": anchor} if anchor != "start" else {}
    if bold:
        style["font_weight"] = "bold"
    if serif:
        style["font_family"] = _SERIF
    return element("text", escape(words), x=x, y=y, font_size=size, fill=fill, **style)


def _width(words: str) -> float:
    """About how wide words are, for size 1. Fonts differ: this goes by the widest of those named above."""
    return sum(1.05 if unicodedata.east_asian_width(c) in "WF" else _WIDTHS.get(c, 0.64) for c in words)


_WIDTHS = {c: width for width, run in ((0.36, " .,:·'-!()|fijltI"), (0.53, "rsczJ/"), (0.92, "mwMW")) for c in run}


def figure(x: float, y: float, content: object, size: float = 12, fill: str = INK, fit: float = 0) -> str:
    """A bold number or word with its middle at x."""
    return text(x, y, content, size, fill, "middle", bold=True, fit=fit)


def name_text(x: float, y: float, name: str, size: float, width: float) -> str:
    """A name that a stranger wrote: shortened, and cut off at `width` whatever letters it is made of."""
    words = printable(name)
    while len(words) > 2 and _width(words) * size * 0.75 > width:  # somewhat smaller letters are good enough
        words = words[:-2].rstrip() + "…"
    line = text(0, size * 1.1, words, size, bold=True, serif=True, fit=width)
    return element("svg", line, x=x, y=y - size * 1.1, width=width, height=size * 1.5, overflow="hidden")


def printable(name: str) -> str:
    """A name without what could break document or line: control, direction and unpaired characters."""
    cleaned = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    return (cleaned if len(cleaned) <= 22 else cleaned[:21].rstrip() + "…") or "—"


def short(count: int) -> str:
    """A number of at most five characters, for where there is little room."""
    return str(count) if count < 10_000 else f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str = LAND,
    stroke: str = LINE,
    thick: float = 1,
    radius: float = 8,
) -> str:
    """A rectangle with round corners."""
    size = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
    return element("rect", **size, fill=fill, stroke=stroke, stroke_width=thick)


def path(d: str, fill: str = "none", stroke: str = "none", thick: float = 1, **more: str | float) -> str:
    """Lines and areas, in the notation of SVG."""
    return element("path", d=d, fill=fill, stroke=stroke, stroke_width=thick, **more)


def group(x: float, y: float, content: str, scale: float = 1, opacity: float = 1) -> str:
    """Pieces that are drawn around (0, 0), put elsewhere."""
    faint = {"opacity": opacity} if opacity < 1 else {}
    size = f" scale({round(scale, 3):g})" if scale != 1 else ""
    return element("g", content, transform=f"translate({round(x, 2):g} {round(y, 2):g}){size}", **faint)


# --- pieces ---------------------------------------------------------------------------------------


def ship(x: float, y: float, seat: int, scale: float = 1, *, waiting: bool = False, opacity: float = 1) -> str:
    """A ship of a seat, 36 wide and 24 high, with the seat's number; with a lamp if it is to be resolved."""
    outline = "M-18-2h36q-2 9-7 12.5h-23q-5-3.5-6-12.5zM-11-3v-5h11v5zM4-3v-9h5v9z"
    parts = [
        path(outline, SEAT_COLOURS[seat], DARK, 1.5, paint_order="stroke"),
        figure(0, 8.5, seat, 12.5, DARK),
    ]
    if waiting:
        parts += [element("circle", cx=15, cy=-9, r=r, fill=LAMP, opacity=dim) for r, dim in ((8, 0.3), (4, 1))]
    return group(x, y, "".join(parts), scale, opacity)


def coins(x: float, y: float, height: int) -> str:
    """A pile that stands on y, of as many coins as there are up to seven."""
    return "".join(
        element("ellipse", cx=x, cy=y - 4 - 3 * level, rx=12, ry=4, fill=BRASS, stroke="#5d4413", stroke_width=1)
        for level in range(min(height, 7))
    )


def crown(x: float, y: float) -> str:
    """The mark of a winner, 22 wide."""
    return group(x, y, path("M-11-7l6 5 5-8 5 8 6-5-2 13h-18z", BRASS))


def token(x: float, y: float, kind: Kind, size: float = 24, opacity: float = 1) -> str:
    """A token of goods, with its kind's colour and pictogram."""
    fill, pictogram = _GOODS[kind]
    rim, thick = (BRASS, 2) if kind is Kind.WILD else (DARK, 1)
    parts = box(-12, -12, 24, 24, fill, rim, thick, 5) + path(
        pictogram, rim, fill_rule="evenodd", transform="scale(0.9)"
    )
    return group(x, y, parts, size / 24, opacity)


def cargo(goods: Sequence[int], spaces: int, x: float, y: float, step: float, most: int) -> str:
    """The goods on some spaces: token by token, or counted if there are more than `most` spaces."""
    if max(spaces, sum(goods)) > most:
        return counted(goods, [kind for kind in Kind if goods[kind]], x, y - 7, 5, step * most / 5, 21.5)
    tokens = [kind for kind in Kind for _ in range(goods[kind])]
    size = step * 0.88
    parts = [token(x + size / 2 + step * place, y, kind, size) for place, kind in enumerate(tokens)]
    for place in range(len(tokens), spaces):
        parts.append(box(x + step * place + 3, y - size / 2 + 3, size - 6, size - 6, "none", DIM, 1, 4))
    return "".join(parts)


def counted(
    goods: Sequence[int], kinds: Sequence[Kind], x: float, y: float, columns: int, step: float, line: float
) -> str:
    """A table of kinds and how many there are; a kind of which there is none is a shadow."""
    parts = []
    for place, kind in enumerate(kinds):
        left, middle = x + step * (place % columns), y + line * (place // columns)
        parts.append(token(left + 10, middle, kind, 20, 1 if goods[kind] else 0.16))
        if goods[kind]:
            parts.append(text(left + 22.5, middle + 4.5, short(goods[kind]), 13, bold=True, fit=step - 26))
    return "".join(parts)
