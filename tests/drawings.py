"""What tests ask of any picture of a match: its texts, where they are and how large, wherever they stand in it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from referee.kit.svg import width_of

SVG = "{http://www.w3.org/2000/svg}"
LEGIBLE = 9.0
"""The height in pixels that letters have at least where a picture is shown 800 pixels wide."""
_ANCHORS = {"end": 1.0, "middle": 0.5}


class Box(NamedTuple):
    """Where a text is, by the widest fonts; in units of the picture."""

    words: str
    left: float
    right: float
    top: float
    baseline: float
    size: float


class _Around(NamedTuple):
    """What an element inherits."""

    x: float
    y: float
    scale: float
    size: float
    bold: bool
    anchor: str


def parsed(svg: str) -> ET.Element:
    """The root of a picture."""
    root = ET.fromstring(svg)  # noqa: S314 our own drawing
    assert root.tag == f"{SVG}svg"
    return root


def texts(svg: str) -> str:
    """All words in a picture, and its description."""
    said = (element for element in parsed(svg).iter() if element.tag in (f"{SVG}text", f"{SVG}desc"))
    return " ".join("".join(element.itertext()) for element in said)


def lines(svg: str) -> list[str]:
    """The lines of text in a picture, one by one, without those of its pieces."""
    return [box.words for box in _boxes_within(parsed(svg), _ROOT, {})]


@lru_cache(maxsize=1000)
def text_boxes(svg: str) -> tuple[Box, ...]:
    """The texts of a picture, those on its pieces included; names, which are cut off, end where they are cut."""
    root = parsed(svg)
    pieces = {inner.get("id", ""): inner for inner in root.iter(f"{SVG}g") if inner.get("id")}
    return tuple(_boxes_within(root, _ROOT, pieces))


_ROOT = _Around(0, 0, 1, 16, False, "start")


def _boxes_within(element: ET.Element, around: _Around, pieces: dict[str, ET.Element]) -> Iterator[Box]:
    around = _inherited(element, around)
    for inner in element:
        now = _inherited(inner, _placed(inner, around))
        if inner.tag == f"{SVG}text":
            high = now.size * now.scale
            wide = width_of(inner.text or "") * high * (1.13 if now.bold else 1)
            left = now.x + now.scale * float(inner.get("x", 0)) - wide * _ANCHORS.get(now.anchor, 0)
            base = now.y + now.scale * float(inner.get("y", 0))
            yield Box(inner.text or "", left, left + wide, base - 0.73 * high, base, high)
        elif inner.tag in (f"{SVG}svg", f"{SVG}use"):
            x, y = (now.scale * float(inner.get(name, 0)) for name in ("x", "y"))
            moved = now._replace(x=now.x + x, y=now.y + y)
            if inner.tag == f"{SVG}svg":
                right = moved.x + now.scale * float(inner.get("width", 0))
                yield from (box._replace(right=min(box.right, right)) for box in _boxes_within(inner, moved, pieces))
            elif pieces:
                yield from _boxes_within(pieces[inner.get("href", "").removeprefix("#")], moved, pieces)
        elif inner.tag != f"{SVG}defs":
            yield from _boxes_within(inner, now, pieces)


def _inherited(element: ET.Element, around: _Around) -> _Around:
    return around._replace(
        size=float(element.get("font-size", around.size)),
        bold=element.get("font-weight", "bold" if around.bold else "400") == "bold",
        anchor=element.get("text-anchor", around.anchor),
    )


def _placed(element: ET.Element, around: _Around) -> _Around:
    for part in element.get("transform", "").split(")")[:-1]:
        name, _, written = part.partition("(")
        numbers = [float(number) for number in written.split()]
        if name == "translate":
            x, y = numbers
            around = around._replace(x=around.x + around.scale * x, y=around.y + around.scale * y)
        else:
            assert name == "scale", element.get("transform")
            around = around._replace(scale=around.scale * numbers[0])
    return around


def view_box(svg: str) -> list[float]:
    """What a picture shows: left, top, width and height, in its units."""
    found = re.search(r'viewBox="([^"]*)"', svg)
    assert found is not None
    return [float(number) for number in found[1].split()]


def illegible(svg: str) -> list[tuple[str, float]]:
    """The texts that are too small where a picture is shown 800 pixels wide, with their heights in pixels."""
    pixels = 800 / view_box(svg)[2]
    return [(box.words, round(box.size * pixels, 2)) for box in text_boxes(svg) if box.size * pixels < LEGIBLE - 0.001]


def assert_readable(svg: str) -> None:
    """All text is within the picture, and none upon other text."""
    _, head, width, height = view_box(svg)
    found = sorted(text_boxes(svg), key=lambda box: box.top)
    for at, box in enumerate(found):
        assert box.left >= 0, box
        assert box.right <= width, box
        assert box.top >= head, box
        assert box.baseline <= head + height, box
        for other in found[at + 1 :]:
            if other.top >= box.baseline:
                break
            assert box.right <= other.left + 0.5 or other.right <= box.left + 0.5, (box, other)
