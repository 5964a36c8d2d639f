"""What drawings of all games are made of: the palette, and SVG elements as text.

No element has an id, a style sheet or a gradient: several pictures can stand in one page, shown or hidden,
without one borrowing from another. Everything that is printed goes through `text`, which escapes it.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from html import escape

NIGHT, DEEP, SEA, LAND, LIT = "#0a0f15", "#0f212c", "#142a36", "#16202a", "#1e2c38"
INK, FADED, DIM, LINE, DARK = "#efe7d3", "#a3b1b5", "#6d7e86", "#33444f", "#0d1319"
BRASS, ALARM, PARCHMENT, STEEL, LAMP = "#d3a953", "#f08a6c", "#d6cbb0", "#8fb3c4", "#ffe9a8"

SEAT_COLOURS = ("#68bdf4", "#eba31a", "#d4609f", "#f4f1e8", "#16966e")
"""After Okabe and Ito, to be told apart by the colour-blind; each ship has its number all the same."""

SANS = "'Avenir Next','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif"
"""The fonts of all text but names and headings; for the whole document."""
_SERIF = "Georgia,'Times New Roman','DejaVu Serif',serif"


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """Return an SVG element: `stroke_width=2` is written `stroke-width="2"`; `content` is markup."""
    written = "".join([_attribute(key, value) for key, value in attributes.items()])
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


@lru_cache(maxsize=1 << 14)  # most attributes are the same in picture after picture
def _attribute(key: str, value: str | float) -> str:
    written = escape(value) if isinstance(value, str) else f"{round(value, 2) + 0:g}"  # + 0: never -0, which equals 0
    return f' {key.replace("_", "-")}="{written}"'


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
    """Return a line of text with its baseline at y; smaller if it would be wider than `fit` (0: any width)."""
    words = str(content)
    if fit:
        size = min(size, fit / max(width_of(words) * (1.13 if bold else 1), 1))
    style = {"text_anchor": anchor} if anchor != "start" else {}
    if bold:
        style["font_weight"] = "bold"
    if serif:
        style["font_family"] = _SERIF
    return element("text", escape(words), x=x, y=y, font_size=size, fill=fill, **style)


@lru_cache(maxsize=1 << 12)
def width_of(words: str) -> float:
    """About how wide words are, for size 1. Fonts differ: this goes by the widest of those named above."""
    return sum(1.05 if unicodedata.east_asian_width(c) in "WF" else _WIDTHS.get(c, 0.64) for c in words)


_WIDTHS = {c: width for width, run in ((0.36, " .,:·'-!()|fijltI"), (0.53, "rsczJ/"), (0.92, "mwMW")) for c in run}


def figure(x: float, y: float, content: object, size: float = 12, fill: str = INK, fit: float = 0) -> str:
    """Return a bold number or word with its middle at x."""
    return text(x, y, content, size, fill, "middle", bold=True, fit=fit)


def name_text(x: float, y: float, name: str, size: float, width: float, fill: str = INK) -> str:
    """Return a name that a stranger wrote: shortened, and cut off at `width` whatever letters it is made of."""
    words = printable(name)
    while len(words) > 2 and width_of(words) * size * 0.75 > width:  # somewhat smaller letters are good enough
        words = words[:-2].rstrip() + "…"
    line = text(0, size * 1.1, words, size, fill, bold=True, serif=True, fit=width)
    return element("svg", line, x=x, y=y - size * 1.1, width=width, height=size * 1.5, overflow="hidden")


def cut(name: str, size: float, width: float) -> str:
    """A name that a stranger wrote, cut off where bold letters of this size would go beyond `width`, so that none is smaller."""
    words = printable(name)
    while len(words) > 2 and width_of(words) * size * 1.13 > width:
        words = words[:-2].rstrip() + "…"
    return words


def printable(name: str) -> str:
    """Return a name without what could break document or line: control, direction and unpaired characters."""
    cleaned = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    return (cleaned if len(cleaned) <= 22 else cleaned[:21].rstrip() + "…") or "—"


def short(count: int) -> str:
    """Return a number in at most five characters, for where there is little room."""
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
    **more: str | float,
) -> str:
    """Return a rectangle with round corners."""
    size = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
    return element("rect", **size, fill=fill, stroke=stroke, stroke_width=thick, **more)


def path(d: str, fill: str = "none", stroke: str = "none", thick: float = 1, **more: str | float) -> str:
    """Return lines and areas, in the notation of SVG."""
    return element("path", d=d, fill=fill, stroke=stroke, stroke_width=thick, **more)


def group(x: float, y: float, content: str, scale: float = 1, opacity: float = 1) -> str:
    """Return pieces that are drawn around (0, 0), put elsewhere."""
    faint = {"opacity": opacity} if opacity < 1 else {}
    size = f" scale({round(scale, 3):g})" if scale != 1 else ""
    return element("g", content, transform=f"translate({round(x, 2):g} {round(y, 2):g}){size}", **faint)


def crown(x: float, y: float) -> str:
    """Return the mark of a winner, 22 wide."""
    return group(x, y, path("M-11-7l6 5 5-8 5 8 6-5-2 13h-18z", BRASS))
