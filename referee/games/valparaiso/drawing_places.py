"""The positions of the locations of Valparaíso on the map."""

from __future__ import annotations

from referee.games.valparaiso.board import Side
from referee.games.valparaiso.names import Location
from referee.kit.scene import nearest_berths

MAP_WIDTH, MAP_HEIGHT, _NORTH, _SOUTH = 992, 778, 320, 704
CITY, MARKET, CUSTOMS = (262.0, 154.0), (194.0, 146.0), (124.0, 108.0)


def size_of(location: Location) -> tuple[float, float]:
    """Return the width and height of a location on the map."""
    return CITY if location is Location.V else MARKET if location <= Location.M4 else CUSTOMS


def share_within(size: tuple[float, float], east: float, south: float) -> float:
    """Return the share of a line that lies inside a box, if it begins at the box's centre; the share is at most 0.5."""
    # A road may run straight north or west, so never divide by less than 1.
    return min(size[0] / 2 / max(abs(east), 1), size[1] / 2 / max(abs(south), 1), 0.5)


def places_of(side: Side) -> dict[Location, tuple[float, float]]:
    """Return the centre of each location: its place on the board or, if any are too close together, a berth."""
    wests, norths = ([side.places[location][axis] for location in side.locations] for axis in (0, 1))
    across, down = max(max(wests) - min(wests), 1), max(max(norths) - min(norths), 1)
    found = {}
    for location in side.locations:
        (x, y), (width, height) = side.places[location], size_of(location)
        east = 100 + (x - min(wests)) * (MAP_WIDTH - 200) / across
        south = _NORTH + (y - min(norths)) * (_SOUTH - _NORTH) / down
        found[location] = (
            min(max(east, width / 2 + 7), MAP_WIDTH - width / 2 - 7),
            min(max(south, _NORTH - 76 + height / 2), MAP_HEIGHT - height / 2 - 5),
        )
    return found if _are_apart(found) else _in_berths(found)


def _are_apart(places: dict[Location, tuple[float, float]]) -> bool:
    boxes = [(*place, *size_of(location)) for location, place in places.items()]
    return not any(
        abs(one[0] - other[0]) * 2 < one[2] + other[2] + 12 and abs(one[1] - other[1]) * 2 < one[3] + other[3] + 12
        for at, one in enumerate(boxes)
        for other in boxes[:at]
    )


def _in_berths(wanted: dict[Location, tuple[float, float]]) -> dict[Location, tuple[float, float]]:
    """Place Valparaíso in the middle and the others on a grid, for boards whose locations are too close together."""
    rows = (320, 492, 668)
    # Valparaíso is wider than a column, so the first row has berths at both ends only: twelve for ten villages at most.
    berths = [(100 + 198 * column, row) for row in rows for column in range(5) if row > rows[0] or column % 4 == 0]
    villages = [location for location in wanted if location is not Location.V]
    found = nearest_berths([wanted[village] for village in villages], berths)
    return {Location.V: (MAP_WIDTH / 2, 320), **dict(zip(villages, found, strict=True))}
