"""The constant part of Yunnan's map: provinces, borders, gorges, and the Tea-Horse Road.

The board determines the places (`x` and `y`, in percent of the map). The rest is computed once per board: each province
gets the land that is nearest to it or to its end of a road or bridge, so that every way crosses a border just where its
gate or bridge stands. The vegetation differs from province to province.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import hypot, sin
from typing import NamedTuple

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.names import Province
from referee.kit.svg import BRASS, box, element, path

MAP_WIDTH, MAP_HEIGHT = 776, 640
GROUND_WIDTH, GROUND_HEIGHT = 212, 136
"""The size of each province's ground, on which its pieces stand."""
LEGEND = (10.0, 462.0, 244.0, 168.0)
"""The left edge, top edge, width and height of the legend, in a corner of the map."""
_SITE_WIDTH, _SITE_HEIGHT = 124, 76

Point = tuple[float, float]


class Way(NamedTuple):
    """A way between two provinces that crosses one border: a curve from one ground to the other."""

    start: Point
    bend: Point
    end: Point

    def at(self, share: float) -> Point:
        """Return a point on the way: its start for share 0, its end for share 1."""
        (x, y), (bend_x, bend_y), (to_x, to_y) = self
        a, b, c = (1 - share) ** 2, 2 * share * (1 - share), share**2
        return a * x + b * bend_x + c * to_x, a * y + b * bend_y + c * to_y

    def drawn(self) -> str:
        """Return the way in SVG's path notation."""
        (x, y), (bend_x, bend_y), (to_x, to_y) = self
        return f"M{x:.0f} {y:.0f}Q{bend_x:.0f} {bend_y:.0f} {to_x:.0f} {to_y:.0f}"


class Land(NamedTuple):
    """The layout of a board's map, and its picture."""

    centres: tuple[Point, ...]
    """The centre of each province's ground."""
    sites: tuple[Point, ...]
    """The centre of each site."""
    road: tuple[Way, ...]
    """The way from each province to the next one on the road."""
    over: tuple[Way, ...]
    """The way across each site."""
    drawn: str
    """The land as markup."""


def land_of(board: YunnanBoard) -> Land:
    """Return the land on the map of a board."""
    return _land(board.province_places, board.bridge_sites, board.site_places)


@lru_cache(maxsize=8)
def _land(
    places: tuple[tuple[int, int], ...],
    bridge_sites: tuple[tuple[Province, Province], ...],
    site_places: tuple[tuple[int, int], ...],
) -> Land:
    centres = tuple(_inside(x, y, GROUND_WIDTH, GROUND_HEIGHT) for x, y in places)
    sites = tuple(_inside(x, y, _SITE_WIDTH, _SITE_HEIGHT) for x, y in site_places)
    road = tuple(_bent(*ends, 0.1) for ends in pairwise(centres))
    over = []
    for (near, far), (x, y) in zip(bridge_sites, sites, strict=True):
        (from_x, from_y), (to_x, to_y) = centres[near], centres[far]
        # The middle of the curve is the site: of a quadratic curve, it is half the bend and a quarter of each end.
        bend = (2 * x - (from_x + to_x) / 2, 2 * y - (from_y + to_y) / 2)
        over.append(Way(centres[near], bend, centres[far]))
    land = Land(centres, sites, road, tuple(over), "")
    return land._replace(drawn=_drawn(land, bridge_sites))


def _inside(x: int, y: int, width: float, height: float) -> Point:
    """Convert a point of the board file to one of the map, with a margin for a piece of this size."""
    half, tall = width / 2 + 10, height / 2 + 10
    return (
        min(max(x * MAP_WIDTH / 100, half), MAP_WIDTH - half),
        min(max(y * MAP_HEIGHT / 100, tall), MAP_HEIGHT - tall),
    )


def _bent(start: Point, end: Point, much: float) -> Way:
    (x, y), (to_x, to_y) = start, end
    return Way(start, ((x + to_x) / 2 + (to_y - y) * much, (y + to_y) / 2 - (to_x - x) * much), end)


def gate_of(way: Way) -> Point:
    """Return the middle of the visible part of a way, between the grounds of its ends."""
    seen = seen_of(way)
    return way.at((seen[0] + seen[-1]) / 2 if seen else 0.5)


@lru_cache(maxsize=100)
def seen_of(way: Way) -> list[float]:
    """Return the shares (see `Way.at`) for which a way is between the grounds of its ends, in ascending order."""
    return [
        share / 40
        for share in range(41)
        if not any(_in_ground(way.at(share / 40), centre) for centre in (way.start, way.end))
    ]


def _in_ground(point: Point, centre: Point, more: float = 0) -> bool:
    return abs(point[0] - centre[0]) < GROUND_WIDTH / 2 + more and abs(point[1] - centre[1]) < GROUND_HEIGHT / 2 + more


# --- the division of the land -----------------------------------------------------------------------


class _Seed(NamedTuple):
    """A point in a province; land belongs to the province of the nearest such point."""

    x: float
    y: float
    province: int


def _seeds(land: Land, bridge_sites: tuple[tuple[Province, Province], ...]) -> list[_Seed]:
    seeds = []
    for province, (x, y) in enumerate(land.centres):  # six to a province, so that all its ground is its own land
        seeds += [_Seed(x + east, y + south, province) for east in (-76, 0, 76) for south in (-34, 34)]
    crossings = [(gate_of(way), way, number, number + 1) for number, way in enumerate(land.road)]
    crossings += [
        (site, way, int(near), int(far))
        for site, way, (near, far) in zip(land.sites, land.over, bridge_sites, strict=True)
    ]
    for (x, y), way, near, far in crossings:
        east, south = way.end[0] - way.start[0], way.end[1] - way.start[1]
        # Two seeds at equal distances from the gate or bridge put the border exactly there; two more keep the way within
        # its two provinces.
        step = 24 / max(hypot(east, south), 1)
        seeds.append(_Seed(x - east * step, y - south * step, near))
        seeds.append(_Seed(x + east * step, y + south * step, far))
        seeds += [_Seed(*way.at(0.34), near), _Seed(*way.at(0.66), far)]
    return seeds


class _Side(NamedTuple):
    """A side of the land around a seed."""

    start: Point
    end: Point
    beyond: int
    """The province on the other side, or -1 at the frame."""


def _cell(seeds: list[_Seed], own: _Seed) -> list[_Side]:
    """Return the sides of the land that is nearer to one seed than to all others."""
    corners = [(0.0, 0.0), (float(MAP_WIDTH), 0.0), (float(MAP_WIDTH), float(MAP_HEIGHT)), (0.0, float(MAP_HEIGHT))]
    sides = [_Side(start, end, -1) for start, end in zip(corners, [*corners[1:], corners[0]], strict=True)]
    for other in seeds:
        if other is own:
            continue
        east, south = other.x - own.x, other.y - own.y
        # A point belongs to `own` if east * x + south * y is at most this: it lies before the perpendicular bisector.
        limit = (other.x**2 + other.y**2 - own.x**2 - own.y**2) / 2
        remaining: list[_Side] = []
        leaving = -1
        for side in sides:
            first, last = (east * x + south * y - limit for x, y in (side.start, side.end))
            if first <= 0 and last <= 0:
                remaining.append(side)
            elif first <= 0 or last <= 0:
                share = first / (first - last)
                (x, y), (to_x, to_y) = side.start, side.end
                crossing = (x + (to_x - x) * share, y + (to_y - y) * share)
                if first <= 0:
                    leaving = len(remaining)
                remaining.append(side._replace(end=crossing) if first <= 0 else side._replace(start=crossing))
        if leaving >= 0:  # the new side joins the points where the outline leaves the nearer land and returns to it
            back = remaining[(leaving + 1) % len(remaining)].start
            remaining.insert(leaving + 1, _Side(remaining[leaving].end, back, other.province))
        sides = remaining
    return sides


def _winding(start: Point, end: Point) -> list[Point]:
    """Return the points of a line from start (excluded) to end, displaced in the same way as the land around them."""
    (x, y), (to_x, to_y) = start, end
    steps = max(1, round(hypot(to_x - x, to_y - y) / 10))
    return [_moved(x + (to_x - x) * step / steps, y + (to_y - y) * step / steps) for step in range(1, steps + 1)]


def _moved(x: float, y: float) -> Point:
    """Displace a point a little; nearby points move alike, and points at the frame do not move."""
    much = min(x, y, MAP_WIDTH - x, MAP_HEIGHT - y, 24) / 24
    return (
        x + much * (6 * sin(0.047 * y + 1.3) + 4 * sin(0.1 * y + 0.06 * x)),
        y + much * (6 * sin(0.051 * x + 0.4) + 4 * sin(0.09 * x - 0.07 * y)),
    )


def _lines(points: list[Point]) -> str:
    """Write a line through points as its start and relative steps, which are much shorter than absolute positions."""
    (x, y), *others = [(round(x), round(y)) for x, y in points]
    steps = []
    for to_x, to_y in others:
        if (to_x, to_y) != (x, y):
            steps.append(f"{to_x - x} {to_y - y}".replace(" -", "-"))
            x, y = to_x, to_y
    return f"{round(points[0][0])} {round(points[0][1])}" + (f"l{' '.join(steps)}".replace(" -", "-") if steps else "")


# --- the picture --------------------------------------------------------------------------------------

_FILLS = ("#43522f", "#2a4a35", "#3a4d2c", "#463d2c", "#33404f", "#4a472c")
_GROWTH = ("#86a55c", "#67a075", "#8aac62", "#a08f66", "#9fb4c6", "#ada264")
_RIVER, _ROAD, _RUT = "#3f83a6", "#a37f45", "#5b4527"

_GLYPHS = (
    (0, 7, "q-9-2-9-11q9 1 9 11q9-2 9-11q-9 1-9 11v5"),  # leaves of tea
    (-13, -3, "q13-9 26 0m-26 6q13-9 26 0m-26 6q13-9 26 0"),  # terraces
    (-6, 11, "v-22m0 8l-6-5m6 11l6-5m6 13v-18m0 7l6-5m-6 10l-5-4"),  # bamboo
    (-14, 9, "l8-15l6 9l5-7l9 13m-22-15l2 8"),  # ridges
    (-14, 10, "l13-22l13 22m-18-13l4 4l3-3l3 4"),  # peaks with snow
    (-13, 5, "q3-6 1-11m3 11q0-8 3-12m3 12q0-6 4-9m-14 13h22"),  # grass
)
"""The glyph of each province: the offset to the beginning of its line, and the line."""


def _drawn(land: Land, bridge_sites: tuple[tuple[Province, Province], ...]) -> str:
    seeds = _seeds(land, bridge_sites)
    fields = [""] * len(Province)
    bridged = set(bridge_sites)
    borders, gorges = "", ""
    for seed in seeds:
        sides = _cell(seeds, seed)
        if not sides:
            continue
        outline: list[Point] = []
        for start, end, beyond in sides:
            if beyond in (-1, seed.province):
                outline.append(_moved(*end))
                continue
            outline += _winding(start, end)
            if seed.province < beyond:  # each border once, from one side
                line = f"M{_lines([_moved(*start), *_winding(start, end)])}"
                if (Province(seed.province), Province(beyond)) in bridged:
                    gorges += line
                else:
                    borders += line
        fields[seed.province] += f"M{_lines(outline)}z"
    road = "".join(way.drawn() for way in land.road)
    growth = _growth(land, seeds)
    parts = [path(field, fill, fill, 1) for field, fill in zip(fields, _FILLS, strict=True) if field]
    parts += [
        path(d, stroke=stroke, thick=1.4, opacity=0.75, stroke_linejoin="round")
        for d, stroke in zip(growth, _GROWTH, strict=True)
        if d
    ]
    parts += [
        path(borders, stroke=BRASS, thick=2, stroke_dasharray="2 6", stroke_linecap="round", opacity=0.8),
        path(gorges, stroke="#15242c", thick=11, stroke_linejoin="round", stroke_linecap="round"),
        path(gorges, stroke=_RIVER, thick=4.5, stroke_linejoin="round", stroke_linecap="round"),
        path(road, stroke=_RUT, thick=17, stroke_linecap="round"),
        path(road, stroke=_ROAD, thick=12, stroke_linecap="round"),
        path(road, stroke=_RUT, thick=1.5, stroke_dasharray="5 7"),
    ]
    within = element("svg", "".join(parts), width=MAP_WIDTH, height=MAP_HEIGHT, overflow="hidden")
    return within + box(0, 0, MAP_WIDTH, MAP_HEIGHT, "none", BRASS, 2, 3)


def _growth(land: Land, seeds: list[_Seed]) -> list[str]:
    """Return the glyphs of each province, in its empty areas."""
    along = [way.at(step / 16) for way in (*land.road, *land.over) for step in range(17)]
    found = [""] * len(Province)
    for x, y in _scattered():
        near = sorted((hypot(x - seed.x, y - seed.y), seed.province) for seed in seeds)
        own = near[0][1]
        border = next((distance for distance, province in near if province != own), 99.0) - near[0][0]
        left, top, width, height = LEGEND
        if (
            border > 30
            and not any(_in_ground((x, y), centre, 12) for centre in land.centres)
            and not any(abs(x - to_x) < 76 and abs(y - to_y) < 52 for to_x, to_y in land.sites)
            and all(hypot(x - to_x, y - to_y) > 30 for to_x, to_y in along)
            and not (left - 16 < x < left + width + 16 and top - 14 < y < top + height)
        ):
            east, south, line = _GLYPHS[own]
            found[own] += f"M{x + east:.0f} {y + south:.0f}{line}"
    return found


def _scattered() -> Iterator[Point]:
    """Yield points all over the map, in slightly irregular rows."""
    for row in range(22, MAP_HEIGHT - 12, 34):
        for column in range(24, MAP_WIDTH - 20, 42):
            yield column + 8 * sin(row * 1.7 + column), row + 7 * sin(column * 2.3)
