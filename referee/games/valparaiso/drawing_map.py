"""The map of Valparaíso: the sea with its sectors, and the land with roads, rivers, villages and the city."""

from __future__ import annotations

from itertools import pairwise

from referee.games.valparaiso.board import OUTER, SLOTS_OF_A_SECTOR, Side, ValparaisoBoard, is_market
from referee.games.valparaiso.drawing_cards import achievement
from referee.games.valparaiso.drawing_places import MAP_HEIGHT, MAP_WIDTH, places_of, share_within, size_of
from referee.games.valparaiso.drawing_style import (
    GROUND,
    RIVER,
    ROAD,
    arrow,
    coin,
    column,
    cube,
    house,
    in_a_row,
    lighthouse,
    merchant,
    owner_of,
    ship,
    symbols_of,
    waves,
)
from referee.games.valparaiso.names import Location, Phase, Sector, Slot
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.spots import site_spot, spot_of
from referee.kit.scene import arrow as trail
from referee.kit.scene import brackets, halo
from referee.kit.svg import (
    BRASS,
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    LIT,
    SEA,
    SMALLEST,
    box,
    figure,
    group,
    name_text,
    number,
    path,
    short,
    spot,
    text,
    wrapped,
)

_SECTOR_WIDTH, _SECTOR_HEIGHT, _CARD_WIDTH, _CARD_HEIGHT = 316, 164, 99, 84
_COAST, _MAX_ROW = 234, 20

Places = dict[Location, tuple[float, float]]
"""The centre of each location's box on the map."""


def draw_map(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, was: ValparaisoObservation) -> str:
    """Draw the sea, and the land with its roads and rivers, the path of the moving merchant, and the locations.

    Differences from `was`, the observation before the last action, are marked.
    """
    places = places_of(side)
    parts = [
        box(0, 0, MAP_WIDTH, MAP_HEIGHT, GROUND),
        _sea(board, seen, was),
        _ways(side, places),
        _motion(seen, places),
        *(_village(board, side, seen, was, village, *places[village]) for village in side.villages),
        _city(side, seen, was, *places[Location.V]),
        _moved(seen, was, places),
    ]
    return "".join(parts)


def _sea(board: ValparaisoBoard, seen: ValparaisoObservation, was: ValparaisoObservation) -> str:
    """Draw the outer sectors from west to east, the harbour below them, the pile, and the scrapped cards."""
    coast = f"M0 8q0-8 8-8h{MAP_WIDTH - 16}q8 0 8 8v{_COAST - 12}"
    wave = MAP_WIDTH / 28
    # Each step is four waves wide, so seven steps make the whole coast.
    for step in range(7):
        coast += f"q-{number(wave)} {14 if step % 2 else -10}-{number(2 * wave)} 0t-{number(2 * wave)} 0"
    crests = ((276, 192), (308, 200))
    parts = [
        path(f"{coast}z", SEA, "#6f6242", 2),
        path("".join(f"M{x} {y}q6-6 12 0t12 0" for x, y in crests), stroke="#33586a", thick=2),
    ]
    west_to_east = sorted(OUTER, key=lambda sector: (board.sector_places[sector], sector))
    for at, sector in enumerate(west_to_east):
        parts.append(group(14 + (_SECTOR_WIDTH + 8) * at, 10, _outer(board, seen, was, sector)))
    parts.append(group((MAP_WIDTH - _SECTOR_WIDTH) / 2, 182, _harbour(board, seen, was)))
    parts += [
        box(16 + 4 * at, 188 + 3 * at, 26, 34, DEEP, BRASS, 1.2, 4) for at in range(3 if seen.deck > 2 else seen.deck)
    ]
    parts.append(text(60, 200, f"{seen.deck} card{'' if seen.deck == 1 else 's'} in the pile", 15, bold=True))
    ends = f"the end: {board.end_vp} VP, or an empty space"
    parts.append(text(60, 218, ends, SMALLEST, FADED, fit=270))
    words = " ".join(card.name for card in seen.scrapped) or "none"
    for row, line in enumerate(wrapped(f"Scrapped: {words}", SMALLEST, 296)[:3]):
        parts.append(text(674, 196 + 16 * row, line, SMALLEST, FADED, fit=296))
    return "".join(parts)


def _rim_of(seen: ValparaisoObservation, lit: bool) -> tuple[str, float]:
    """Return the colour and width of a place's outline; `lit` marks a place that the action in progress involves."""
    return (owner_of(seen, seen.seat).rim, 3) if lit and seen.seat is not None else (LINE, 1)


def _outer(board: ValparaisoBoard, seen: ValparaisoObservation, was: ValparaisoObservation, sector: Sector) -> str:
    """Draw an outer sector: the good that it asks for, its pesos, its cards, and the ships there."""
    at = OUTER.index(sector)
    lit = seen.phase is Phase.ACQUIRE and seen.seat is not None and seen.seats[seen.seat].ship is sector
    parts = [
        box(0, 0, _SECTOR_WIDTH, _SECTOR_HEIGHT, DEEP, *_rim_of(seen, lit), data_spot=spot_of("sector", sector)),
        text(9, 21, sector.name, SMALLEST, FADED, bold=True),
        name_text(38, 21, board.sector_names[sector], 15, 118),
        text(194, 20, f"{board.overseas_goods} ×", 14, INK, "end", bold=True),
        cube(207, 15, board.sector_goods[at]),
        coin(252, 15, seen.sea_money[at]),
        text(267, 20, "pesos", SMALLEST, FADED, fit=44),
    ]
    for place in range(SLOTS_OF_A_SECTOR):
        card, x = seen.slots[at * SLOTS_OF_A_SECTOR + place].card, 5 + (_CARD_WIDTH + 4) * place
        if card is None:
            gone = box(x, 31, _CARD_WIDTH, _CARD_HEIGHT, "none", DIM, 1, 5, stroke_dasharray="4 4")
            parts.append(gone + text(x + _CARD_WIDTH / 2, 77, "empty", SMALLEST, DIM, "middle"))
        else:
            drawn = achievement(_CARD_WIDTH, _CARD_HEIGHT, card, board)
            name = spot_of("sea", Slot(at * SLOTS_OF_A_SECTOR + place))
            parts.append(group(x, 31, spot(name, drawn)))
        if card is not was.slots[at * SLOTS_OF_A_SECTOR + place].card:
            parts.append(brackets(x - 3, 28, _CARD_WIDTH + 6, _CARD_HEIGHT + 6))
    if seen.sea_money[at] != was.sea_money[at]:
        parts.append(brackets(237, 1, 30, 28))
    parts.append(_ships(seen, was, sector, 30, 142))
    return "".join(parts)


def _harbour(board: ValparaisoBoard, seen: ValparaisoObservation, was: ValparaisoObservation) -> str:
    parts = (
        box(0, 0, _SECTOR_WIDTH, 44, DEEP, LINE, 1, 8, data_spot=spot_of("sector", Sector.H)),
        text(9, 27, Sector.H.name, SMALLEST, FADED, bold=True),
        name_text(24, 27, board.sector_names[Sector.H], 15, 88),
        _ships(seen, was, Sector.H, 136, 25),
    )
    return "".join(parts)


def _ships(seen: ValparaisoObservation, was: ValparaisoObservation, sector: Sector, x: float, y: float) -> str:
    """Draw the ships in a sector; a newly arrived one is marked."""
    there = [seat for seat, has in enumerate(seen.seats) if has.ship is sector]
    parts = [ship(x + 38 * at, y, owner_of(seen, seat)) for at, seat in enumerate(there)]
    parts += [halo(x + 38 * at, y - 2, 15) for at, seat in enumerate(there) if was.seats[seat].ship is not sector]
    return "".join(parts)


# --- the land -------------------------------------------------------------------------------------


def _ways(side: Side, places: Places) -> str:
    """Draw the rivers, and the roads on top of them."""
    parts = []
    # Two rivers may join the same two locations: the line between them is drawn once.
    for one, other in sorted({tuple(sorted(pair)) for river in side.rivers for pair in pairwise(river)}):
        (x, y), (to_x, to_y) = places[one], places[other]
        east, south = to_x - x, to_y - y
        # The line is bent, because a road may join the same two places.
        bend = f"q{east / 2 + south * 0.32:.0f} {south / 2 - east * 0.32:.0f} {east:.0f} {south:.0f}"
        parts.append(path(f"M{x:.0f} {y:.0f}{bend}", stroke=RIVER, thick=9, stroke_linecap="round", opacity=0.8))
    for one, other in sorted({tuple(sorted(road)) for road in side.roads}):
        (x, y), (to_x, to_y) = places[one], places[other]
        parts.append(path(f"M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}", stroke=ROAD, thick=5, stroke_dasharray="12 4"))
    return "".join(parts)


def _motion(seen: ValparaisoObservation, places: Places) -> str:
    """Draw the path of the moving merchant, with an arrow for each step."""
    if seen.seat is None or len(seen.path) < 2:
        return ""
    rim, lines, arrows = owner_of(seen, seen.seat).rim, [], []
    for start, end in pairwise(seen.path):
        (x, y), (to_x, to_y) = places[start], places[end]
        east, south = to_x - x, to_y - y
        lines.append(f"M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}")
        # The arrow is in the middle of the visible part of the line.
        left, right = (share_within(size_of(location), east, south) for location in (start, end))
        middle = (left + 1 - right) / 2
        arrows.append(arrow(x + east * middle, y + south * middle, east, south))
    way = "".join(lines)
    return path(way, stroke=DARK, thick=11) + path(way, stroke=rim, thick=5) + path("".join(arrows), rim, DARK, 1.5)


def _sign(side: Side, location: Location, width: float, river: tuple[float, float]) -> str:
    """Draw the name of a location, and the river mark if the location is on a river."""
    left = 23 if location is Location.V else 32
    parts = [
        text(7, 19, location.name, SMALLEST, FADED, bold=True),
        name_text(left, 19, side.names[location], 15 if location is Location.V else SMALLEST, width - left - 6),
    ]
    return "".join([*parts, waves(*river)] if location in side.river_locations else parts)


def _village(
    board: ValparaisoBoard,
    side: Side,
    seen: ValparaisoObservation,
    was: ValparaisoObservation,
    village: Location,
    x: float,
    y: float,
) -> str:
    """Draw a village: building spaces with points, merchants, and any market tiles, of which the lowest is in use."""
    width, height = size_of(village)
    lit = seen.village is village or seen.path[-1:] == (village,)
    rim = (LAMP, 2.0) if village in seen.villages and not lit else _rim_of(seen, lit)
    room, per_row = (74, 3) if is_market(village) else (width - 14, 5)
    parts = [
        box(
            *(0, 0, width, height, LAND, *rim, 8 if is_market(village) else 22), data_spot=spot_of("location", village)
        ),
        _sign(side, village, width - 20 * is_market(village), (width - 15, 14 if is_market(village) else 40)),
        _sites(side, seen, was, village, room if is_market(village) else room - 20),
        _merchants(seen, was, village, 5, 80, room / per_row, per_row),
    ]
    if is_market(village):
        tiles = [board.tiles[kind] for kind in seen.markets[village - Location.M1].tiles]
        parts.append(group(80, 27, column(111, tiles, lit=seen.village is village)))
        if seen.markets[village - Location.M1] != was.markets[village - Location.M1]:
            parts.append(brackets(77, 24, 116, 119))
    return group(x - width / 2, y - height / 2, "".join(parts))


def _sites(side: Side, seen: ValparaisoObservation, was: ValparaisoObservation, village: Location, room: float) -> str:
    """Draw a village's building spaces, with their points and the houses on them."""
    built = {house.space: house.seat for house in seen.houses if house.location is village}
    spaces = side.spaces[village]
    step = min(42, room / len(spaces))
    parts = []
    for space, vp in enumerate(spaces):
        x = 5 + step * (space + 0.5)
        owner = owner_of(seen, built[space]) if space in built else None
        parts.append(house(x, 39, owner) if owner else spot(site_spot(village, space), house(x, 39, None)))
        if vp:
            parts.append(figure(x, 63, f"+{short(vp)}", 14, BRASS if owner is None else DIM, fit=step - 2))
        if owner is not None and not any(old.location is village and old.space == space for old in was.houses):
            parts.append(halo(x, 39, 15))
    return "".join(parts)


def _merchants(
    seen: ValparaisoObservation,
    was: ValparaisoObservation,
    location: Location,
    x: float,
    y: float,
    step: float,
    per_row: int,
    *,
    beside: bool = False,
) -> str:
    """Draw the merchants at a location: one piece for each seat present, with a count if it has several."""
    parts = []
    there = [seat for seat, has in enumerate(seen.seats) if has.merchants[location]]
    for at, seat in enumerate(there):
        waiting = seat == seen.seat and any(seen.unmoved) and seen.unmoved[location] > 0
        left, middle = x + step * (at % per_row + 0.5), y + 38 * (at // per_row)
        count = seen.seats[seat].merchants[location]
        parts.append(merchant(left - 8 * beside, middle, owner_of(seen, seat), waiting=waiting))
        if count > 1:
            parts.append(
                figure(
                    left + (15 if beside else 0), middle + (5 if beside else 25), f"×{short(count)}", SMALLEST, fit=26
                )
            )
        if count > was.seats[seat].merchants[location]:
            parts.append(halo(left - 8 * beside, middle - 1, 15))
    return "".join(parts)


def _city(side: Side, seen: ValparaisoObservation, was: ValparaisoObservation, x: float, y: float) -> str:
    """Draw Valparaíso with its merchants and its building row.

    The row begins at the lighthouse, and each of its spaces shows its revenue and points.
    """
    width, height = size_of(Location.V)
    lit = seen.path[-1:] == (Location.V,)
    parts = [
        box(
            *(0, 0, width, height, LIT, *(_rim_of(seen, lit) if lit else (BRASS, 1.5))),
            data_spot=spot_of("location", Location.V),
        ),
        _sign(side, Location.V, width - 50, (width - 44, 14)),
        lighthouse(width - 19, 16),
    ]
    spaces = side.row[:_MAX_ROW]  # more spaces than the seats have houses
    columns = max(5, -(-len(spaces) // 2))
    step = (width - 12) / columns
    for at, space in enumerate(spaces):
        free, owner = at == len(seen.row), owner_of(seen, seen.row[at]) if at < len(seen.row) else None
        inside = [
            box(0, 0, 47, 42, DEEP, LAMP if free else owner.rim if owner else LINE, 2 if free or owner else 1, 5),
            in_a_row(symbols_of(space.revenue), 23.5, 11, 43),
            house(13 if space.built else 23, 30, owner, bid=free),
        ]
        if space.built:
            points = f"+{short(space.built)}"
            inside.append(text(45, 36, points, SMALLEST, DIM if owner else BRASS, "end", bold=True, fit=20))
        if owner is not None and at >= len(was.row):
            inside.append(brackets(-3, -3, 53, 48))
        where = (8 + step * (at % columns), 28 + 45 * (at // columns))
        drawn = group(*where, "".join(inside), min(1, step / 50))
        parts.append(spot(site_spot(Location.V, 0), drawn) if free else drawn)
    parts.append(_merchants(seen, was, Location.V, 6, 134, (width - 12) / 5, 5, beside=True))
    return group(x - width / 2, y - height / 2, "".join(parts))


def _moved(seen: ValparaisoObservation, was: ValparaisoObservation, places: Places) -> str:
    """Draw an arrow for each seat that has just moved exactly one merchant from one location to another."""
    parts = []
    for has, had in zip(seen.seats, was.seats, strict=True):
        left = [where for where in places if has.merchants[where] < had.merchants[where]]
        come = [where for where in places if has.merchants[where] > had.merchants[where]]
        if len(left) == len(come) == 1:  # not one that was hired or placed: it comes from no location
            (x, y), (to_x, to_y) = places[left[0]], places[come[0]]
            away, there = (share_within(size_of(where), to_x - x, to_y - y) for where in (left[0], come[0]))
            east, south = to_x - x, to_y - y
            parts.append(trail(x + east * away, y + south * away, to_x - east * there, to_y - south * there))
    return "".join(parts)
