"""The map of Yunnan: the pieces in each province and on each bridge site."""

from __future__ import annotations

from functools import lru_cache
from math import hypot

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.drawing_changes import walks
from referee.games.yunnan.drawing_land import GROUND_HEIGHT, GROUND_WIDTH, LEGEND, Way, gate_of, land_of, seen_of
from referee.games.yunnan.drawing_pieces import (
    BROKEN,
    EMPTY_BRIDGE,
    EMPTY_TEAHOUSE,
    FILLS,
    GATE,
    GIFT,
    INSPECTOR,
    LETTERS,
    LOCK,
    bridge,
    horse,
    legend,
    merchant,
    post,
    teahouse,
)
from referee.games.yunnan.names import Colour, Phase, Province, Site
from referee.games.yunnan.observation import YunnanObservation
from referee.games.yunnan.routes import Reach, routes_of
from referee.games.yunnan.spots import spot_of
from referee.kit.scene import halo
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
    figure,
    group,
    name_text,
    path,
    spot,
    text,
)

_SIGN = 156
_ROWS = (49, 84, 118)
"""The y of each row in a province's ground: Merchants; Posts and Teahouse; gifts and Horses."""


def draw_map(board: YunnanBoard, seen: YunnanObservation, reach: Reach | None, was: YunnanObservation) -> str:
    """Draw the map, 776 wide and 640 high, with marks on all changes.

    Args:
        board: the numbers printed on the components of the game.
        seen: the observation.
        reach: the reach of the travelling colour, whose route is then drawn; None if no colour travels.
        was: the observation before the last action, or `seen` itself.
    """
    land = land_of(board)
    below, above = _still(board)
    parts = [below]
    if reach is not None:
        parts.append(_route(board, seen, reach))
    parts += [above, _journeys(board, was, seen)]
    parts += [_site(seen, site, was, *land.sites[site]) for site in Site]
    for province in Province:
        x, y = land.centres[province]
        inside = _province(board, seen, province, reach, was)
        parts.append(group(x - GROUND_WIDTH / 2, y - GROUND_HEIGHT / 2, inside))
    if not _inspected(seen):
        left, top, _, _ = LEGEND
        parts.append(group(left + 30, top - 24, INSPECTOR))
    return "".join(parts)


@lru_cache(maxsize=8)
def _still(board: YunnanBoard) -> tuple[str, str]:
    """Return the constant parts of all pictures of a board: those below the routes, and those above them."""
    land = land_of(board)
    below = [land.drawn]
    for way in land.over:
        below.append(path(way.drawn(), stroke=PARCHMENT, thick=2, stroke_dasharray="1 8", stroke_linecap="round"))
    above = [group(*gate_of(way), GATE) for way in land.road]
    for province, (x, y) in enumerate(land.centres):
        above.append(group(x - GROUND_WIDTH / 2, y - GROUND_HEIGHT / 2, _ground(board, Province(province))))
    left, top, width, height = LEGEND
    above.append(group(left, top, box(0, 0, width, height, NIGHT, DIM, 1, 6, fill_opacity=0.82) + legend()))
    return "".join(below), "".join(above)


def _ground(board: YunnanBoard, province: Province) -> str:
    """Draw a province's name, and the income from a Merchant and from a Post there."""
    parts = [
        box(
            *(0, 0, GROUND_WIDTH, GROUND_HEIGHT, NIGHT, BRASS, 1, 7),
            fill_opacity=0.64,
            data_spot=spot_of("province", province),
        ),
        path(f"M1 28v-20q0-7 7-7h{GROUND_WIDTH - 16}q7 0 7 7v20z", NIGHT),
        name_text(9, 20, board.province_names[province], 17, 104),
        group(124, 15, merchant(None), 0.6),
        text(136, 20, board.merchant_value[province], 16, BRASS, bold=True, fit=26),
    ]
    if province is not Province.PUE:
        parts.append(group(174, 14, post(None), 0.65))
        parts.append(text(186, 20, board.post_value[province], 16, BRASS, bold=True, fit=22))
    return "".join(parts)


def _route(board: YunnanBoard, seen: YunnanObservation, reach: Reach) -> str:
    """Draw the travelling colour's connected route, along the road and over the colour's own bridges (Y5.10)."""
    acting = seen.acting_colour
    if acting is None:
        return ""
    land = land_of(board)
    ways = [
        way
        for province, way in enumerate(land.road)
        if reach.connected >> province & 1 and reach.connected >> province + 1 & 1
    ]
    for site in seen.colours[acting].bridges:
        if all(reach.connected >> end & 1 for end in board.bridge_sites[site]):
            ways.append(land.over[site])
    line = "".join(way.drawn() for way in ways)
    return path(line, stroke=DARK, thick=10) + path(line, stroke=FILLS[acting], thick=6) if line else ""


def _site(seen: YunnanObservation, site: Site, was: YunnanObservation, x: float, y: float) -> str:
    owners = [colour for colour, has in zip(Colour, seen.colours, strict=False) if site in has.bridges]
    across = min(max(len(owners), 1), 3)
    parts = [
        box(-21 * across - 28, -9, 28, 20, NIGHT, DIM, 1, 6, fill_opacity=0.8),
        figure(-21 * across - 14, 6, site.name.lower(), SMALLEST, PARCHMENT),
    ]
    for at, owner in enumerate(owners):
        row = owners[at // 3 * 3 :][:3]
        new = site not in was.colours[owner].bridges
        parts.append(group(42 * (at % 3 - (len(row) - 1) / 2), 28 * (at // 3), _NEW * new + bridge(owner)))
    if not owners:
        parts.append(EMPTY_BRIDGE)
    return group(x, y, spot(spot_of("site", site), "".join(parts)))


def _inspected(seen: YunnanObservation) -> bool:
    """Return whether the inspector has visited a province in this turn; otherwise it stands in its corner."""
    return seen.phase in (Phase.CONVERT, Phase.OVER) and seen.last_inspector is not None


def _province(
    board: YunnanBoard, seen: YunnanObservation, province: Province, reach: Reach | None, was: YunnanObservation
) -> str:
    parts = []
    if seen.pending_displace is province:
        parts.append(_sign(merchant(None), "displace?", LAMP))
    if _inspected(seen) and seen.last_inspector is province:
        took = "nobody" if seen.last_banned is None else LETTERS[seen.last_banned]
        parts.append(_sign(INSPECTOR, f"took {took}", ALARM))
    if seen.acting_colour is not None and reach is not None:
        has = seen.colours[seen.acting_colour]
        if province > has.horse:
            parts.append(group(GROUND_WIDTH - 16, -6, LOCK))
        if (has.merchants[province] or has.posts[province]) and not reach.connected >> province & 1:
            parts.append(_sign(BROKEN, "cut off", ALARM))
    merchants, posts, horses = [], [], []
    for colour, has, had in zip(Colour, seen.colours, was.colours, strict=False):
        count = has.merchants[province]
        if count:
            waiting = bool(seen.unmoved) and colour is seen.acting_colour and seen.unmoved[province] > 0
            piece = merchant(colour, count, waiting=waiting)
            if seen.pending_displace is province:
                piece = spot(spot_of("merchant", colour), piece)
            merchants.append((_marked(piece, had.merchants[province] < count), 38 + 8 * (count > 9)))
        count = has.posts[province]
        if count:
            posts.append((_marked(post(colour, count), had.posts[province] != count), 32 + 8 * (count > 1)))
        if has.horse is province:
            horses.append(_marked(horse(colour), had.horse is not province))
    parts += [_in_a_row(merchants, _ROWS[0], GROUND_WIDTH - 8), _in_a_row(posts, _ROWS[1], 164)]
    there, before = seen.provinces[province], was.provinces[province]
    if board.teahouse_space[province]:
        house = EMPTY_TEAHOUSE if there.teahouse is None else teahouse(there.teahouse)
        parts.append(group(190, _ROWS[1] - 5, _marked(house, before.teahouse is not there.teahouse)))
    left = 22.0
    if board.gifts[province]:
        left = 78
        parts.append(group(20, _ROWS[2] + 1, _NEW_GIFT * (before.gifts != there.gifts) + GIFT))
        parts.append(text(39, _ROWS[2] + 6, there.gifts, 16, INK if there.gifts else FADED, bold=True))
    step = min(38, (GROUND_WIDTH - 20 - left) / max(len(horses) - 1, 1))
    parts += [group(left + step * place, _ROWS[2], piece) for place, piece in enumerate(horses)]
    return "".join(parts)


_NEW = halo(0, 0, 17)
"""The mark of a piece that has just arrived or changed."""
_NEW_GIFT = halo(0, 0, 13)
"""The mark of gifts that were just taken; their number stands close by."""


def _marked(piece: str, new: bool) -> str:
    """Mark a new or changed piece; the mark lies below its number."""
    return _NEW + piece if new else piece


def _in_a_row(pieces: list[tuple[str, int]], y: float, room: float) -> str:
    """Draw pieces of given widths from the left of a ground, scaled down if they need more room."""
    total = sum(width for _, width in pieces)
    scale = min(1, room / max(total, 1))
    x, parts = 4.0, []
    for piece, width in pieces:
        parts.append(group(x + 16 * scale, y, piece, scale))
        x += width * scale
    return "".join(parts)


def _sign(sign: str, words: str, rim: str) -> str:
    """Frame a province's ground, with a sign and words on its upper edge."""
    parts = (
        box(-2, -2, GROUND_WIDTH + 4, GROUND_HEIGHT + 4, "none", rim, 3, 9),
        box(3, -20, _SIGN, 22, NIGHT, rim, 1.5, 6),
        group(24, -9, sign, 0.8),
        text(46, -4, words, 14, rim, bold=True, fit=_SIGN - 50),
    )
    return "".join(parts)


# --- journeys -------------------------------------------------------------------------------------------


def _journeys(board: YunnanBoard, before: YunnanObservation, seen: YunnanObservation) -> str:
    """Draw an arrow along each way on which Merchants have just gone from one province to another."""
    land = land_of(board)
    legs: set[tuple[Way, bool]] = set()
    for colour, start, end in walks(before, seen):
        bridges = seen.colours[colour].bridges
        distances = routes_of(board.bridge_sites).distances[sum(1 << site for site in bridges)]
        ways = {(near, near + 1): way for near, way in enumerate(land.road)}
        ways |= {board.bridge_sites[site]: land.over[site] for site in bridges}
        here = int(start)
        while here != end:
            onward = [
                (there, way, there > here)
                for ends, way in ways.items()
                for there in ends
                # Only towards the end, because a journey keeps its direction (Y5.4).
                if here in ends and there != here and min(here, end) <= there <= max(here, end)
            ]
            here, way, outwards = min(onward, key=lambda leg: distances[leg[0]][end])
            legs.add((way, outwards))
    return "".join(_leg(way, outwards=outwards) for way, outwards in sorted(legs))


def _leg(way: Way, *, outwards: bool) -> str:
    """Draw an arrow over the visible part of a way between its two provinces."""
    shares = seen_of(way)
    if len(shares) < 2:
        return ""
    points = [way.at(share) for share in (shares if outwards else shares[::-1])]
    line = "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points)
    (x, y), (to_x, to_y) = points[-min(4, len(points))], points[-1]
    length = max(hypot(to_x - x, to_y - y), 1)
    east, south = (to_x - x) / length * 12, (to_y - y) / length * 12
    head = f"M{to_x - east - south:.0f} {to_y - south + east:.0f}L{to_x:.0f} {to_y:.0f}L{to_x - east + south:.0f} {to_y - south - east:.0f}"
    return (
        path(line + head, stroke=DARK, thick=8)
        + path(line, stroke=LAMP, thick=4, stroke_dasharray="7 6")
        + path(head, stroke=LAMP, thick=4)
    )
