"""Building blocks for the drawings of all games: the palette, and SVG elements as text.

Pages of matches contain many pictures, so the markup of a picture is short. SVG defaults are not written. Text is bold,
small and of the colour `INK` by default, as set in `document`. A piece that appears in several places is defined once,
in `pieces`. Only pieces have ids. An id determines the look of its piece, so several pictures can share a page: equal
ids mean equal drawings. There are no style sheets, gradients, or links out of the picture. All text goes through
`text`, which escapes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

NIGHT, DEEP, SEA, LAND, LIT = "#0a0f15", "#0f212c", "#142a36", "#16202a", "#1e2c38"
INK, FADED, DIM, LINE, DARK = "#efe7d3", "#a3b1b5", "#6d7e86", "#33444f", "#0d1319"
BRASS, ALARM, PARCHMENT, STEEL, LAMP = "#d3a953", "#f08a6c", "#d6cbb0", "#8fb3c4", "#ffe9a8"

SEAT_COLOURS = ("#68bdf4", "#eba31a", "#d4609f", "#f4f1e8", "#16966e")
"""The colours of seats, after Okabe and Ito, so that colour-blind people can tell them apart; pieces also have numbers."""

SMALLEST = 13.5
"""The size of the smallest letters in a picture 1200 units wide: 9 px when it is displayed 800 px wide."""

SANS = "'Avenir Next','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif"
"""The fonts of all text except names and headings, set for the whole document."""
_SERIF = "Georgia,serif"


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """Return an SVG element: `stroke_width=2` is written `stroke-width="2"`; `content` is markup."""
    written = "".join([_attribute(key, value) for key, value in attributes.items()])
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


@lru_cache(maxsize=1 << 14)  # most attributes recur in picture after picture
def _attribute(key: str, value: str | float) -> str:
    if value in _DEFAULTS.get(key, ()):
        return ""
    written = escape(value, quote=False).replace('"', "&quot;") if isinstance(value, str) else number(value)
    return f' {key.replace("_", "-")}="{written}"'


_DEFAULTS = {"stroke": ("none",), "stroke_width": (1,), "rx": (0,), "x": (0,), "y": (0,), "cx": (0,), "cy": (0,)}
"""The default values of SVG attributes, which are left out."""


def number(value: float) -> str:
    """Format a number with visible precision: to a tenth of a unit, or to a hundredth if it is below 1."""
    return f"{round(value, 1 if abs(value) >= 1 else 2) + 0:g}"  # + 0: never -0, which equals 0


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
    """Return a line of text with its baseline at y, made smaller if it would be wider than `fit` (0: any width)."""
    words = str(content)
    if fit:
        size = min(size, fit / max(width_of(words) * (1.13 if bold else 1), 0.1))
    style = {"fill": fill} if fill != INK else {}
    if anchor != "start":
        style["text_anchor"] = anchor
    if not bold:
        style["font_weight"] = "400"
    if serif:
        style["font_family"] = _SERIF
    scaled = {"font_size": size} if size != SMALLEST else {}
    return element("text", escape(words, quote=False), x=x, y=y, **scaled, **style)


@lru_cache(maxsize=1 << 12)
def width_of(words: str) -> float:
    """Estimate the width of words at size 1. Fonts differ; this assumes the widest of those used here."""
    return sum(1.05 if unicodedata.east_asian_width(c) in "WF" else _WIDTHS.get(c, 0.64) for c in words)


_WIDTHS = {c: width for width, run in ((0.36, " .,:·'-!()|fijltI"), (0.53, "rsczJ/"), (0.92, "mwMW")) for c in run}


def figure(x: float, y: float, content: object, size: float = 12, fill: str = INK, fit: float = 0) -> str:
    """Return a bold number or word centred at x."""
    return text(x, y, content, size, fill, "middle", bold=True, fit=fit)


def name_text(x: float, y: float, name: str, size: float, width: float, fill: str = INK) -> str:
    """Return an untrusted name, shortened and clipped to `width`, whatever letters it contains."""
    line = text(0, size * 1.1, cut(name, size, width), size, fill, bold=True, serif=True)
    return element("svg", line, x=x, y=y - size * 1.1, width=width, height=size * 1.5)


def cut(name: str, size: float, width: float, *, bold: bool = True) -> str:
    """Cut an untrusted name to fit `width`, so that its letters need not shrink."""
    words = printable(name)
    while len(words) > 2 and width_of(words) * size * (1.13 if bold else 1) > width:
        words = words[:-2].rstrip() + "…"
    return words


def wrapped(words: str, size: float, width: float) -> list[str]:
    """Break words at spaces into lines of at most `width`; only a single long word may be wider."""
    lines: list[str] = []
    for word in words.split():
        if lines and width_of(f"{lines[-1]} {word}") * size <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def printable(name: str) -> str:
    """Return a name, shortened to 22 characters, without control characters, direction marks or unpaired surrogates.

    These could break the document or the line.
    """
    cleaned = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    return (cleaned if len(cleaned) <= 22 else cleaned[:21].rstrip() + "…") or "—"


def short(count: int) -> str:
    """Return a number in at most five characters, for small spaces."""
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
    """Return a rectangle with rounded corners."""
    size = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
    line = outline(stroke, thick)
    return element("rect", **size, fill=fill, **line, **more)


def outline(stroke: str, thick: float) -> dict[str, str | float]:
    """Return the attributes of an outline; empty if there is none."""
    return {"stroke": stroke, "stroke_width": thick} if stroke != "none" else {}


def circle(x: float, y: float, radius: float, fill: str, stroke: str = "none", thick: float = 1) -> str:
    """Return a disc."""
    return element("circle", cx=x, cy=y, r=radius, fill=fill, **outline(stroke, thick))


def path(d: str, fill: str = "none", stroke: str = "none", thick: float = 1, **more: str | float) -> str:
    """Return lines and areas, given in SVG's path notation."""
    line = outline(stroke, thick)
    return element("path", d=d, fill=fill, **line, **more)


def group(x: float, y: float, content: str, scale: float = 1, opacity: float = 1) -> str:
    """Return content that is drawn around (0, 0), moved to another place."""
    faint = {"opacity": opacity} if opacity < 1 else {}
    if found := _ONE_PIECE.fullmatch(content):  # it needs no group around it
        return piece(found[1], x, y, scale, opacity)
    return element("g", content, **_placed(x, y, scale), **faint)


_ONE_PIECE = re.compile('<use href="#([^"]*)"/>')


def _placed(x: float, y: float, scale: float) -> dict[str, str]:
    moved = f"translate({number(x)} {number(y)})" if x or y else ""
    sized = f"scale({round(scale, 3):g})" if scale != 1 else ""
    return {"transform": moved + sized} if moved or sized else {}


def piece(name: str, x: float, y: float, scale: float = 1, opacity: float = 1) -> str:
    """Return one of the picture's `pieces`, which are drawn around (0, 0), moved to another place."""
    faint = {"opacity": opacity} if opacity < 1 else {}
    if scale == 1:
        return element("use", href=f"#{name}", x=x, y=y, **faint)
    return element("use", href=f"#{name}", **_placed(x, y, scale), **faint)


def pieces(drawn: Mapping[str, str]) -> str:
    """Return the definitions of pieces by name. A name must determine the look of its piece, so it includes the game."""
    return element("defs", "".join(element("g", content, id=name) for name, content in drawn.items()))


def document(width: float, top: float, height: float, title: str, described: str, parts: Sequence[str]) -> str:
    """Return a whole picture.

    Args:
        width: the width of the picture.
        top: the y of the upper edge of the picture.
        height: the height of the picture.
        title: the title of the picture, in plain text.
        described: a description of the picture, in plain text, for screen readers.
        parts: the elements, as markup; the first is at the bottom.
    """
    head = (element("title", escape(title, quote=False)), element("desc", escape(described, quote=False)))
    ground = element("rect", y=top, width=width, height=height, fill=NIGHT)
    return element(
        "svg",
        "\n" + "\n".join((*head, ground, *parts)) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 {number(top)} {number(width)} {number(height)}",
        role="img",
        direction="ltr",
        font_family=SANS,
        font_size=SMALLEST,
        font_weight="bold",
        fill=INK,
    )


def spot(name: str, drawn: str) -> str:
    """Wrap a drawing as a spot: a place that actions refer to (`Game.spots`)."""
    return element("g", drawn, data_spot=name)


def crown(x: float, y: float) -> str:
    """Return the mark of a winner, 22 wide."""
    return group(x, y, path("M-11-7l6 5 5-8 5 8 6-5-2 13h-18z", BRASS))
