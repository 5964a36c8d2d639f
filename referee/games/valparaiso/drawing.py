"""A picture of an observation, for spectators who look rather than read (RULES.md, section 2).

Below the title line, the map is on the left: the sea, Valparaíso with its building row, and the villages with their
market tiles. On the right are the open decision and the reserve of tiles. Below them are a panel for each seat, with
its plan as far as the observer may know it, and the legend. When the match is over, the sources of all points follow.
Every place has room for its maximum, and pieces carry the number of their seat.
"""

from __future__ import annotations

from referee.game import Scene
from referee.games.valparaiso.board import Side, ValparaisoBoard
from referee.games.valparaiso.breakdown import breakdown, criteria
from referee.games.valparaiso.drawing_map import draw_map
from referee.games.valparaiso.drawing_panel import panel
from referee.games.valparaiso.drawing_places import MAP_HEIGHT, MAP_WIDTH
from referee.games.valparaiso.drawing_style import legend, lighthouse, owner_of, pieces_of, ship, tile
from referee.games.valparaiso.drawing_words import DOING, described, happened, notes, order_of, to_act, who
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.kit.scene import clock, end_table, end_table_height, ordinal, strip, strip_height
from referee.kit.svg import (
    BRASS,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    SMALLEST,
    box,
    crown,
    document,
    group,
    name_text,
    path,
    short,
    text,
    wrapped,
)

_WIDTH, _MARGIN, _TOP = 1200, 16, 64
_SIDE = _MARGIN + MAP_WIDTH + 8
_SIDE_WIDTH = _WIDTH - _MARGIN - _SIDE
_PANELS = _TOP + MAP_HEIGHT + 8
_TILE_STEP = 25


def draw(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene | None) -> str:
    """Return an SVG document of an observation and its scene; equal arguments give equal documents."""
    seats = range(len(seen.seats))
    owners = [owner_of(seen, seat) for seat in seats]
    was = scene.before if scene is not None and isinstance(scene.before, ValparaisoObservation) else seen
    news = None if scene is None else happened(board, side, seen, scene)
    marks = [ship(0, 2, owner) for owner in owners]
    over = seen.phase is Phase.OVER
    reserve = _reserve_height(seen)
    parts = [
        pieces_of(owners),
        "" if news is None else strip(_WIDTH, news, marks),
        _header(seen),
        group(_MARGIN, _TOP, draw_map(board, side, seen, was)),
        group(_SIDE, _TOP, (_standing if over else _turn)(board, side, seen, scene, MAP_HEIGHT - reserve - 8)),
        group(_SIDE, _TOP + MAP_HEIGHT - reserve, _reserve(board, seen, reserve)),
    ]
    # The legend takes the cell after the last panel: 2 + 1 in a row of three, 3 + 1 in two rows of two, 4 or 5 + 1 in
    # two rows of three.
    columns, high = 2 if len(seats) == 3 else 3, 300.0 if len(seats) == 2 else 234.0
    wide = (_WIDTH - 2 * _MARGIN + 8) / columns - 8
    cells = [(_MARGIN + (wide + 8) * (at % columns), _PANELS + (high + 8) * (at // columns)) for at in range(6)]
    for seat in seats:
        parts.append(group(*cells[seat], panel(board, seen, was, scene, seat, wide, high)))
    x, y = cells[len(seats)]
    parts.append(group(x, y, legend(owners[seen.start_seat], _WIDTH - _MARGIN - x, high)))
    height = y + high + _MARGIN
    if over:
        names = [f"{owner.colour.name.lower()}" for owner in owners] if scene is None else scene.bots
        points, decided = breakdown(board, seen), criteria(seen)
        width, below = _WIDTH - 2 * _MARGIN, end_table_height(_WIDTH - 2 * _MARGIN, points, decided)
        signs = list(zip(marks, names, strict=True))
        table = end_table(width, below, signs, [has.rank for has in seen.seats], points, decided)
        parts.append(group(_MARGIN, height, box(0, 0, width, below) + table))
        height += below + _MARGIN
    above = 0.0 if news is None else strip_height(_WIDTH, news)
    words = described(board, side, seen, news)
    return document(_WIDTH, -above, height + above, f"Valparaíso, round {seen.round}", words, parts)


# --- the head -------------------------------------------------------------------------------------


def _header(seen: ValparaisoObservation) -> str:
    """Draw the round, the open decision, the seats that are to take it, and the start player."""
    parts = [
        text(_MARGIN, 43, "VALPARAÍSO", 28, BRASS, serif=True, bold=True, fit=222),
        text(254, 41, f"Round {seen.round}", 17, bold=True, fit=92),
        path("M356 22v26", stroke=LINE, thick=2),
        text(374, 41, "Game over" if seen.phase is Phase.OVER else DOING[seen.phase], 17, fit=335),
        text(986, 41, who(seen), 17, BRASS, "end", bold=True, fit=270),
        path("M1000 22v26", stroke=LINE, thick=2),
        text(1112, 41, "start player", 15, FADED, "end"),
        lighthouse(1132, 35),
        ship(1164, 37, owner_of(seen, seen.start_seat)),
    ]
    return "".join(parts)


# --- beside the map -------------------------------------------------------------------------------


def _turn(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene | None, height: float) -> str:
    """Draw the seats to act and their decision, the action in progress, and the order of the round."""
    seats, room = to_act(seen), _SIDE_WIDTH - 24
    rim = owner_of(seen, seats[0]).rim if len(seats) == 1 else BRASS
    parts = [box(0, 0, _SIDE_WIDTH, height, LAND, rim, 2)]
    parts += [ship(32 + 31 * at, 32, owner_of(seen, seat)) for at, seat in enumerate(seats)]
    y = 92.0
    if scene is not None and len(seats) == 1:
        parts += [text(56, 36, "to act", 15, BRASS), name_text(12, 66, scene.bots[seats[0]], 17, room)]
    else:
        words = f"{owner_of(seen, seats[0]).name.capitalize()}, to act" if len(seats) == 1 else who(seen)
        for row, line in enumerate(wrapped(words, 18, room)):
            parts.append(text(12, 66 + 19 * row, line, 15, BRASS, bold=True))
            y = 92 + 19 * row
    for line in wrapped(DOING[seen.phase], 17, room):
        parts.append(text(12, y, line, 15, bold=True))
        y += 19
    lines = [line for note in notes(board, side, seen) for line in wrapped(note, SMALLEST, room)]
    # The order is at the bottom; notes that do not fit above it are left out.
    order = height - 36 * len(seen.seats) - 24
    for line in lines[: int((order - y - 14) // 17)]:
        parts.append(text(12, y + 4, line, SMALLEST, FADED, fit=room))
        y += 17
    return "".join([*parts, group(0, order, _order_of_the_round(seen, scene))])


def _order_of_the_round(seen: ValparaisoObservation, scene: Scene | None) -> str:
    """Draw the seats in the order of the round and, in a match, also their bots and clocks."""
    seats = to_act(seen)
    parts = [text(12, 12, "order of the round", SMALLEST, FADED)]
    for at, seat in enumerate(order_of(seen)):
        y, ink = 36 + 36 * at, INK if seat in seats else FADED
        parts.append(ship(30, y, owner_of(seen, seat)))
        name = owner_of(seen, seat).colour.name.lower() if scene is None else scene.bots[seat]
        timed = scene is not None and scene.clocks is not None
        parts.append(name_text(53, y - 2 if timed else y + 5, name, 14, _SIDE_WIDTH - 60, ink))
        if scene is not None and scene.clocks is not None:
            words = f"{clock(scene.clocks[seat])} left"
            parts.append(text(53, y + 14, words, SMALLEST, ink, bold=seat in seats, fit=_SIDE_WIDTH - 60))
    return "".join(parts)


def _standing(
    board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene | None, height: float
) -> str:
    """Draw the final standing, in place of the current turn; the table below lists the sources of the points."""
    places = [has.rank for has in seen.seats]
    parts = [
        box(0, 0, _SIDE_WIDTH, height, LAND, BRASS, 2),
        text(12, 32, "Final standing", 18, BRASS, serif=True, bold=True),
    ]
    for row, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
        has, y, colour = seen.seats[seat], 66 + 68 * row, BRASS if places[seat] == 1 else INK
        parts.append(text(12, y + 6, ordinal(places[seat]), 16, colour, bold=True))
        parts.append(crown(62, y) if places[seat] == 1 else "")
        parts.append(text(_SIDE_WIDTH - 12, y + 6, f"{short(has.final_vp)} VP", 17, colour, "end", bold=True, fit=76))
        parts.append(ship(30, y + 30, owner_of(seen, seat)))
        parts.append(text(54, y + 35, owner_of(seen, seat).name, 14, fit=_SIDE_WIDTH - 66))
    return "".join(parts)


def _reserve_height(seen: ValparaisoObservation) -> float:
    """Return the height of the reserve of tiles, which has several columns if a corrected board has many tiles."""
    return 60 + _TILE_STEP * min(max(len(seen.reserve), 1), 12)


def _reserve(board: ValparaisoBoard, seen: ValparaisoObservation, height: float) -> str:
    """Draw the reserve of market tiles, beginning with the next one."""
    columns = max(1, -(-len(seen.reserve) // 12))
    step = (_SIDE_WIDTH - 24) / columns
    parts = [
        box(0, 0, _SIDE_WIDTH, height),
        text(12, 25, "Reserve of tiles", 16, BRASS, serif=True, bold=True),
        text(12, 43, "the next one first" if seen.reserve else "none", SMALLEST, FADED),
    ]
    for at, kind in enumerate(seen.reserve):
        x, y = 12 + step * (at // 12), 53 + _TILE_STEP * (at % 12)
        parts.append(tile(x, y, step - 4 * (columns > 1), board.tiles[kind]))
        if not at:
            parts.append(box(x - 2, y - 2, step + 4 - 4 * (columns > 1), 25, "none", LAMP, 1.5, 5))
    return "".join(parts)
