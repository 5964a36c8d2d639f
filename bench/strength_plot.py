"""The plot of docs/strength.md: shares of first places against time, as an SVG."""

from __future__ import annotations

import math
from typing import NamedTuple

WIDTH, HEIGHT = 200, 150  # of the area of a panel, in pixels
LEFT, TOP, RIGHT, BOTTOM = 44, 34, 16, 44  # the margins around it
LEGEND = 26
SHORTEST, LONGEST = 0.05, 10.0  # seconds at the edges
TICKS = (0.1, 1.0, 5.0)
COLOURS = {2: "#1b6ca8", 3: "#c25b12", 4: "#3a7d44", 5: "#8a3f8f"}
SHIFT = 3.0  # pixels between the points of neighbouring numbers of seats, so that their intervals do not overlap


class Point(NamedTuple):
    """A share of first places, and its interval."""

    seconds: float
    share: float
    low: float
    high: float


class Line(NamedTuple):
    """The points for a number of seats, in the order of their times."""

    seats: int
    points: list[Point]


class Panel(NamedTuple):
    """The lines of a game."""

    title: str
    lines: list[Line]


def plot(panels: list[Panel]) -> str:
    """Return the SVG, with two panels in a row."""
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / 2)
    width, height = columns * (LEFT + WIDTH + RIGHT), rows * (TOP + HEIGHT + BOTTOM) + LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        x, y = number % 2 * (LEFT + WIDTH + RIGHT) + LEFT, number // 2 * (TOP + HEIGHT + BOTTOM) + TOP
        parts += [f'<g transform="translate({x} {y})">', *drawn(panel), "</g>"]
    seats = sorted({line.seats for panel in panels for line in panel.lines})
    parts += [*legend(seats, height - LEGEND / 2), "</svg>"]
    return "\n".join(parts) + "\n"


def drawn(panel: Panel) -> list[str]:
    """Return the elements of a panel: its frame and scales, then its lines."""
    parts = [f'<text x="0" y="-12" font-size="13" font-weight="bold">{panel.title}</text>']
    for percent in (0, 25, 50, 75, 100):
        y = height_of(percent / 100)
        parts.append(f'<path d="M0 {y:.1f}H{WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>')
    for seconds in TICKS:
        x = place_of(seconds)
        parts.append(f'<path d="M{x:.1f} {HEIGHT}v4" stroke="#888"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT + 17}" text-anchor="middle">{seconds:g} s</text>')
    for line in panel.lines:
        parts += line_of(line)
    return parts


def line_of(line: Line) -> list[str]:
    """Return the elements of a line: the dashed fair share, the line, and its intervals."""
    colour, fair = COLOURS[line.seats], height_of(1 / line.seats)
    shift = (line.seats - 3.5) * SHIFT
    at = [(place_of(point.seconds) + shift, height_of(point.share)) for point in line.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
    parts = [
        f'<g stroke="{colour}" fill="none">',
        f'<path d="M0 {fair:.1f}H{WIDTH}" stroke-dasharray="2 4"/>',
        f'<path d="M{path}" stroke-width="1.5"/>',
    ]
    for (x, y), point in zip(at, line.points, strict=True):
        parts.append(f'<path d="M{x:.1f} {height_of(point.low):.1f}V{height_of(point.high):.1f}"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
    return [*parts, "</g>"]


def legend(seats: list[int], y: float) -> list[str]:
    """Return the legend of the colours, at the bottom."""
    parts = []
    for number, one in enumerate(seats):
        x = LEFT + number * 70
        parts.append(f'<circle cx="{x}" cy="{y - 4:.1f}" r="4" fill="{COLOURS[one]}"/>')
        parts.append(f'<text x="{x + 9}" y="{y:.1f}">{one} seats</text>')
    parts.append(f'<text x="{LEFT + len(seats) * 70}" y="{y:.1f}">dashed: the fair share</text>')
    return parts


def place_of(seconds: float) -> float:
    """Return the horizontal position of a time, on a logarithmic scale."""
    return WIDTH * math.log(seconds / SHORTEST) / math.log(LONGEST / SHORTEST)


def height_of(share: float) -> float:
    """Return the vertical position of a share."""
    return HEIGHT * (1 - share)
