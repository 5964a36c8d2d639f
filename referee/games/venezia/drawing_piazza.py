"""The Piazza in a picture of Venezia: the pigeons on it, and those that have just arrived, moved or gone."""

from __future__ import annotations

from referee.game import Action, Scene
from referee.games.venezia.actions import Jump, Walk
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.drawing_city import TOP
from referee.games.venezia.drawing_style import (
    DANGER,
    GOLD,
    SEAT_COLOURS,
    SQUARE,
    STONE,
    STONE_TOO,
    cross,
    hunter,
    pigeon,
    tourist,
    tower,
)
from referee.games.venezia.grid import bits, grid_of
from referee.games.venezia.names import COLUMNS, Square
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.spots import spot_of
from referee.kit.scene import arrow, halo
from referee.kit.svg import DARK, FADED, LAND, box, circle, element, figure, group, path, text

PIAZZA, PIAZZA_WIDTH, PIAZZA_HEIGHT = 514, 466, 404


def _middle(square: int) -> tuple[float, float]:
    """Return the centre of a square, relative to the box of the Piazza."""
    row, column = divmod(square, COLUMNS)
    return 28 + SQUARE * (column + 0.5), 52 + SQUARE * (row + 0.5)


def piazza(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene | None, *, has_tower: bool) -> str:
    """Draw the squares, and on them the danger zone, the chain of jumps, the pigeons, and the latest changes."""
    rows, size = len(Square) // COLUMNS, SQUARE
    # All squares are drawn here, and the Campanile is drawn over its square later.
    danger = grid_of(None).danger(seen.hunters)
    birds = {bird.square: bird.seat for bird in seen.piazza}
    parts = [
        box(0, 0, PIAZZA_WIDTH, PIAZZA_HEIGHT, LAND),
        text(28, 24, "Piazza San Marco", 17, GOLD, serif=True, bold=True),
        box(26, 50, size * COLUMNS + 4, size * rows + 4, STONE, STONE_TOO, 1, 3),
    ]
    parts += [figure(28 + size * (at + 0.5), 45, at + 1, 15, FADED) for at in range(COLUMNS)]
    parts += [figure(15, 57 + size * (at + 0.5), "ABCDEFGH"[at], 15, FADED) for at in range(rows)]
    dark = [square for square in Square if sum(divmod(square, COLUMNS)) % 2]
    corners = [(x - size / 2, y - size / 2) for x, y in map(_middle, dark)]
    parts.append(path("".join(f"M{x:g} {y:g}h{size}v{size}h-{size}z" for x, y in corners), STONE_TOO))
    for square in Square:
        x, y = _middle(square)
        left, top = x - size / 2, y - size / 2
        parts.append(element("use", href="#ve-square", x=left, y=top, data_spot=spot_of("square", square)))
        if danger & bits((square,)):
            hatch = f"M{left} {top + 15}l15-15M{left} {top + 29}l29-29M{left} {top + 43}l43-43"
            parts.append(box(left, top, size, size, DANGER, "none", 0, 0, opacity=0.28))
            parts.append(path(f"{hatch}m0 14l-29 29m15 0l14-14", stroke=DANGER, thick=1.2, opacity=0.55))
    if has_tower:
        parts.append(tower(*_middle(board.campanile), size))
    parts += [tourist(*_middle(square), 1.15 if square in birds else 1) for square in seen.tourists]
    parts += [hunter(*_middle(square)) for square in seen.hunters]
    parts.append(_jumps(seen))
    for square, seat in birds.items():
        x, y = _middle(square)
        if square in seen.unmoved:
            parts.append(box(x - 20, y - 20, 40, 40, "none", DARK, 2.5, 9, stroke_dasharray="5 3"))
        small = square in seen.tourists
        parts.append(pigeon(x - 1, y + (7 if small else 2), seat, 0.85 if small else 1))
    if scene is not None and isinstance(scene.before, VeneziaObservation):
        parts.append(_changes(seen, scene.before, scene.action))
    return group(PIAZZA, TOP, "".join(parts))


def _changes(seen: VeneziaObservation, was: VeneziaObservation, action: Action | None) -> str:
    """Mark the pieces that have just arrived or moved, and cross out the pigeons that have gone."""
    now, then = dict(seen.piazza), dict(was.piazza)
    way = (action.start, action.end) if isinstance(action, Walk | Jump) else None
    parts = []
    for square in {*now, *then}:
        x, y = _middle(square)
        if now.get(square) == then.get(square):
            continue
        if square in now:
            parts.append(halo(x, y, 20))
        elif way is None or square != way[0]:
            parts.append(cross(x, y, then[square]))
    for squares, old in ((seen.tourists, was.tourists), (seen.hunters, was.hunters)):
        parts += [halo(*_middle(square), 20) for square in squares if square not in old]
    if way is not None:
        parts.append(arrow(*_middle(way[0]), *_middle(way[1]), 14))
    return "".join(parts)


def _jumps(seen: VeneziaObservation) -> str:
    """Draw the open chain of jumps, beginning at its start."""
    if len(seen.chain) < 2 or seen.seat is None:
        return ""
    spots = [_middle(square) for square in seen.chain]
    line = "M" + "L".join(f"{x:g} {y:g}" for x, y in spots)
    parts = [
        path(line, stroke=DARK, thick=6, stroke_linejoin="round", stroke_linecap="round"),
        path(line, stroke=SEAT_COLOURS[seen.seat], thick=3, stroke_linejoin="round", stroke_linecap="round"),
    ]
    parts += [circle(x, y, 6, SEAT_COLOURS[seen.seat], DARK, 1.5) for x, y in spots[:-1]]
    return "".join(parts)
