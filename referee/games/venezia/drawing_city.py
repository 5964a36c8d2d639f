"""The city in a picture of Venezia: districts, the island and the cemetery, with the latest changes marked."""

from __future__ import annotations

from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.drawing_style import GOLD, RIPPLE, WATER, bird, flag, flock, grave, halved, house, raptor
from referee.games.venezia.drawing_words import leader, worth
from referee.games.venezia.names import DISTRICTS, Place
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.spots import spot_of
from referee.kit.scene import brackets, halo, nearest_berths
from referee.kit.svg import ALARM, DEEP, DIM, FADED, LAND, LINE, SMALLEST, box, group, name_text, path, text, width_of

MARGIN, TOP, BODY, CITY_WIDTH = 16, 64, 860, 490
_TILE_WIDTH, _TILE_HEIGHT = 152, 150
_COLUMNS_AT = ((84, (90, 306, 524, 766)), (245, (120, 336, 554, 776)), (406, (88, 308, 528, 762)))
_BERTHS = tuple((x, y) for x, rows in _COLUMNS_AT for y in rows)  # each is the middle of a place of the city
_LANES = (
    (0, 6),
    (0, 5),
    (0, 1),
    (0, 8),
    (1, 4),
    (1, 7),
    (1, 8),
    (2, 6),
    (2, 5),
    (2, 4),
    (2, 3),
    (3, 7),
    (4, 5),
    (4, 7),
    (5, 6),
)
"""The pairs of places that are neighbours in the city; 8 stands for the cemetery (RULES.md, 1.1)."""


def city(board: VeneziaBoard, seen: VeneziaObservation, was: VeneziaObservation) -> str:
    """Draw the places, each on the free berth nearest to its place on the board, and the water between them."""
    places = [*board.place_places, board.cemetery_place]
    berths = nearest_berths([(x * CITY_WIDTH / 100, y * BODY / 100) for x, y in places], _BERTHS)
    lanes = ["M{} {}L{} {}".format(*berths[one], *berths[other]) for one, other in _LANES]
    crests = ((40, 56), (92, 106), (50, 176), (220, 18), (366, 446), (420, 516), (392, 586), (44, 650), (96, 712))
    parts = [
        box(0, 0, CITY_WIDTH, BODY, WATER),
        path("".join(f"M{x} {y}q6-6 12 0t12 0t12 0" for x, y in crests), stroke=RIPPLE, thick=2),
        path("".join(lanes), stroke="#c9b27a", thick=2, stroke_dasharray="2 6", opacity=0.5),
    ]
    parts += [_place(board, seen, was, place, *berths[place]) for place in Place]
    parts.append(_cemetery(board, seen, was, *berths[len(Place)]))
    return group(MARGIN, TOP, "".join(parts))


def _place(
    board: VeneziaBoard, seen: VeneziaObservation, was: VeneziaObservation, place: Place, x: float, y: float
) -> str:
    """Draw a place: its pigeons; above them, a home; below them, greys, the last majority and the bird of prey."""
    view, width, height = seen.places[place], _TILE_WIDTH, _TILE_HEIGHT
    homes = [seat for seat, has in enumerate(seen.seats) if has.home is place]
    rim = ALARM if seen.raptor is place else GOLD if seen.card_place is place else LINE
    parts = [
        box(
            *(0, 0, width, height, LAND, rim, 1.5 if rim == LINE else 3, 12 if place in DISTRICTS else 30),
            data_spot=spot_of("place", place),
        ),
        sign(board.place_names[place], 12, 24, width - 22 - 30 * bool(homes)),
        *(house(width - 20, 18, seat) for seat in homes),
        flock(view.pigeons, was.places[place].pigeons, 40, leader(seen, place)),
        path(f"M12 {height - 37}h{width - 24}", stroke=LINE),
    ]
    if view.grey:
        parts += [bird(64, height - 18, None, 0.72), text(79, height - 12, view.grey, 16, bold=True, fit=24)]
    parts += [flag(115, height - 18, won.seat) for won in seen.majorities if won.place is place]
    parts += [raptor(135, height - 16, 0.9)] * (seen.raptor is place)
    if place in DISTRICTS:
        parts.append(_value(board, seen, place, height - 18))
    if view.grey != was.places[place].grey:
        parts.append(brackets(47, height - 33, 54, 29))
    if [won for won in seen.majorities if won.place is place] != [won for won in was.majorities if won.place is place]:
        parts.append(halo(115, height - 18, 14))
    if (seen.raptor is place) != (was.raptor is place):
        parts.append(halo(135, height - 16, 14))
    if homes != [seat for seat, has in enumerate(was.seats) if has.home is place]:
        parts.append(halo(width - 20, 18, 17))
    return group(x - width / 2, y - height / 2, "".join(parts))


def sign(name: str, x: float, y: float, width: float) -> str:
    """Draw the name of a place, on one line or two."""
    lines = halved(name, 14)
    top = y if len(lines) == 1 else y - 7
    size = 15 if len(lines) == 1 and width_of(name) * 15 * 1.13 <= width else SMALLEST
    return "".join(name_text(x, top + 16 * at, line, size, width) for at, line in enumerate(lines))


def _cemetery(board: VeneziaBoard, seen: VeneziaObservation, was: VeneziaObservation, x: float, y: float) -> str:
    width, height = _TILE_WIDTH, _TILE_HEIGHT
    parts = [
        box(0, 0, width, height, DEEP, DIM, 1.5, 30),
        sign(board.cemetery_name, 12, 24, width - 52),
        grave(width - 22, 20),
        flock([has.cemetery for has in seen.seats], [has.cemetery for has in was.seats], 40, None),
        path(f"M16 {height - 37}h{width - 32}", stroke=LINE),
        text(width / 2, height - 13, "cemetery", 16, FADED, "middle"),
    ]
    return group(x - width / 2, y - height / 2, "".join(parts))


def _value(board: VeneziaBoard, seen: VeneziaObservation, place: Place, y: float) -> str:
    """Draw what a majority in a district is worth in the next scoring; this differs for a seat whose home is there."""
    values = sorted({worth(board, seen, place, seat) for seat in range(len(seen.seats))})
    words = "–" if values == [0] else "+" + "/".join(map(str, values))
    return text(10, y + 6, words, 15, GOLD, bold=True, fit=40)
