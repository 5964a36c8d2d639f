"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

Below the title line, from the left: the map, with the sea, Valparaíso and its building row, and the villages, in each market its
tiles; below it what is being done, the reserve of tiles and the legend; a panel for each seat, with its plan as far as the
observer may know it. Every place has room for the most that can lie there, and pieces carry the number of their seat.
"""

from __future__ import annotations

import textwrap
from html import escape

from referee.game import Scene
from referee.games.valparaiso.board import Side, ValparaisoBoard
from referee.games.valparaiso.breakdown import breakdown, criteria
from referee.games.valparaiso.drawing_map import draw_map
from referee.games.valparaiso.drawing_panel import panel
from referee.games.valparaiso.drawing_places import MAP_HEIGHT
from referee.games.valparaiso.drawing_style import legend, lighthouse, owner_of, ship, tile
from referee.games.valparaiso.drawing_words import DOING, described, happened, notes, order_of, to_act, who
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.kit.scene import clock, end_table, end_table_height, ordinal, strip, strip_height
from referee.kit.svg import (
    BRASS,
    DIM,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    NIGHT,
    SANS,
    box,
    crown,
    element,
    group,
    name_text,
    path,
    short,
    text,
)

_WIDTH, _MARGIN, _TOP, _BODY = 1440, 16, 64, 1172
_BELOW = _TOP + MAP_HEIGHT + 10
_BELOW_HEIGHT = _TOP + _BODY - _BELOW
_TURN_WIDTH, _STOCK, _STOCK_WIDTH = 462, 488, 508
_PANELS, _PANELS_WIDTH = 1006, 418
_LEGEND = 154


def draw(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene | None) -> str:
    """Return an SVG document of an observation and its scene; equal ones give equal documents."""
    seats = range(len(seen.seats))
    was = scene.before if scene is not None and isinstance(scene.before, ValparaisoObservation) else seen
    told = None if scene is None else happened(board, side, seen, scene)
    height, head = float(_TOP + _BODY + _MARGIN), 0.0 if told is None else strip_height(_WIDTH, told)
    panel_height = (_BODY + 8) / len(seats) - 8
    marks = [ship(0, 2, owner_of(seen, seat)) for seat in seats]
    over = seen.phase is Phase.OVER
    parts = [
        element("title", f"Valparaíso, round {seen.round}"),
        element("desc", escape(described(board, side, seen, told))),
        "" if told is None else strip(_WIDTH, told, marks),
        _header(seen),
        group(_MARGIN, _TOP, draw_map(board, side, seen, was)),
        group(_MARGIN, _BELOW, _standing(board, seen) if over else _turn(board, side, seen, scene)),
        group(_STOCK, _BELOW, _stock(board, seen)),
    ]
    for seat in seats:
        drawn = panel(board, seen, was, scene, seat, _PANELS_WIDTH, panel_height)
        parts.append(group(_PANELS, _TOP + (panel_height + 8) * seat, drawn))
    if over:
        names = [f"{owner_of(seen, seat).colour.name.lower()}" for seat in seats] if scene is None else scene.bots
        points, decided = breakdown(board, seen), criteria(seen)
        width, below = _WIDTH - 2 * _MARGIN, end_table_height(_WIDTH - 2 * _MARGIN, points, decided)
        signs = list(zip(marks, names, strict=True))
        table = end_table(width, below, signs, [has.rank for has in seen.seats], points, decided)
        parts.append(group(_MARGIN, height, box(0, 0, width, below) + table))
        height += below + _MARGIN
    parts.insert(2, element("rect", width=_WIDTH, height=round(height, 1), fill=NIGHT))
    return element(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 {0 - head:g} {_WIDTH} {round(height + head, 1):g}",
        role="img",
        direction="ltr",
        font_family=SANS,
    )


# --- the head -------------------------------------------------------------------------------------


def _header(seen: ValparaisoObservation) -> str:
    """Draw the round, what is open and for whom, and the start player."""
    parts = [
        text(_MARGIN, 43, "VALPARAÍSO", 28, BRASS, serif=True, bold=True, fit=222),
        text(254, 41, f"Round {seen.round}", 17, bold=True, fit=92),
        path("M356 22v26", stroke=LINE, thick=2),
        text(374, 41, "Game over" if seen.phase is Phase.OVER else DOING[seen.phase], 17, fit=470),
        text(1212, 41, who(seen), 17, BRASS, "end", bold=True, fit=330),
        path("M1234 22v26", stroke=LINE, thick=2),
        text(1346, 41, "start player", 16, FADED, "end", fit=104),
        lighthouse(1370, 35),
        ship(1404, 37, owner_of(seen, seen.start_seat)),
    ]
    return "".join(parts)


# --- below the map --------------------------------------------------------------------------------


def _turn(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation, scene: Scene | None) -> str:
    """Draw who is to do what, the action in progress, and the order of the round."""
    seats = to_act(seen)
    rim = owner_of(seen, seats[0]).rim if len(seats) == 1 else BRASS
    parts = [box(0, 0, _TURN_WIDTH, _BELOW_HEIGHT, LAND, rim, 2)]
    parts += [ship(34 + 42 * at, 32, owner_of(seen, seat), 1.15) for at, seat in enumerate(seats)]
    left = 20 + 42 * len(seats)
    words = f"{owner_of(seen, seats[0]).name.capitalize()}, to act" if len(seats) == 1 else who(seen)
    if scene is not None and len(seats) == 1:
        parts.append(name_text(left, 37, scene.bots[seats[0]], 19, _TURN_WIDTH - left - 90))
        parts.append(text(_TURN_WIDTH - 16, 37, "to act", 16, BRASS, "end"))
    else:
        parts.append(text(left, 37, words, 18, BRASS, serif=True, bold=True, fit=_TURN_WIDTH - left - 14))
    parts.append(text(16, 72, DOING[seen.phase], 17, bold=True, fit=_TURN_WIDTH - 32))
    lines = [line for note in notes(board, side, seen) for line in textwrap.wrap(note, 52)]
    room = _BELOW_HEIGHT - 106 - (26 * len(seen.seats) + 30 if scene is not None else 44)
    step = min(22, room / max(len(lines), 1))
    for row, line in enumerate(lines):
        parts.append(text(16, 100 + step * row, line, min(16, step), FADED, fit=_TURN_WIDTH - 32))
    parts.append(_order_of_the_round(seen, scene))
    return "".join(parts)


def _order_of_the_round(seen: ValparaisoObservation, scene: Scene | None) -> str:
    """Draw the seats in the order of the round; in a match with the bots, and what is left on their clocks."""
    order, seats = order_of(seen), to_act(seen)
    if scene is None:
        parts = [text(16, _BELOW_HEIGHT - 18, "order of the round", 15, FADED, fit=134)]
        for at, seat in enumerate(order):
            faint = 1 if seat in seats else 0.55
            parts.append(ship(166 + 44 * at, _BELOW_HEIGHT - 24, owner_of(seen, seat), 0.9, faint))
        return "".join(parts)
    top = _BELOW_HEIGHT - 26 * len(order)
    parts = [text(16, top - 12, "order of the round", 15, FADED)]
    if scene.clocks is not None:
        parts.append(text(_TURN_WIDTH - 16, top - 12, "time left", 15, FADED, "end"))
    for at, seat in enumerate(order):
        y, active = top + 10 + 26 * at, seat in seats
        parts.append(ship(34, y, owner_of(seen, seat), 0.85))
        parts.append(name_text(60, y + 5, scene.bots[seat], 16, 290, INK if active else FADED))
        if scene.clocks is not None:
            words = clock(scene.clocks[seat])
            parts.append(text(_TURN_WIDTH - 16, y + 5, words, 16, INK if active else FADED, "end", bold=active))
    return "".join(parts)


def _standing(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """Draw the final standing, in place of a turn."""
    places, columns = [has.rank for has in seen.seats], (316, 356, 396, 438)
    parts = [
        box(0, 0, _TURN_WIDTH, _BELOW_HEIGHT, LAND, BRASS, 2),
        text(16, 32, "Final standing", 19, BRASS, serif=True, bold=True),
        text(16, _BELOW_HEIGHT - 14, "ties: pesos that are left, then who went last", 15, DIM, fit=_TURN_WIDTH - 32),
    ]
    for x, words in zip(columns, ("track", "cards", "pesos", "left"), strict=True):
        parts.append(text(x, 44, words, 14, FADED, "middle", fit=38))
    for row, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
        has, y, colour = seen.seats[seat], 78 + 45 * row, BRASS if places[seat] == 1 else INK
        cards = sum(board.cards[card].vp for card in has.achievements)
        parts.append(text(16, y + 6, ordinal(places[seat]), 16, colour, bold=True))
        parts.append(crown(66, y) if places[seat] == 1 else "")
        parts.append(ship(106, y, owner_of(seen, seat)))
        parts.append(text(130, y + 6, owner_of(seen, seat).name, 15.5, fit=94))
        parts.append(text(292, y + 6, f"{short(has.final_vp)} VP", 17, colour, "end", bold=True, fit=66))
        for x, count in zip(columns, (has.vp, cards, has.final_vp - has.vp - cards, has.rest_money), strict=True):
            parts.append(text(x, y + 6, short(count), 16, FADED, "middle", fit=38))
    return "".join(parts)


def _stock(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """Draw the reserve of market tiles, the next one first; and what pieces and marks mean."""
    count = len(seen.reserve)
    per_row = max(5, -(-count // 2)) if count <= 10 else -(-count // 3)
    step = (_STOCK_WIDTH - 24) / per_row
    parts = [
        box(0, 0, _STOCK_WIDTH, _BELOW_HEIGHT),
        text(14, 28, "Reserve of tiles", 17, BRASS, serif=True, bold=True),
        text(_STOCK_WIDTH - 14, 27, "from the bottom, which is next, to the top", 14.5, FADED, "end", fit=320),
    ]
    for at, kind in enumerate(seen.reserve):
        where = (14 + step * (at % per_row), 44 + 28 * (at // per_row))
        parts.append(tile(*where, step - 5, board.tiles[kind], lit=False))
        if not at:
            parts.append(box(where[0] - 2, where[1] - 2, step - 1, 25, "none", LAMP, 1.5, 5))
    parts.append(path(f"M14 {_LEGEND - 26}h{_STOCK_WIDTH - 28}", stroke=LINE))
    parts.append(group(34, _LEGEND, legend(owner_of(seen, seen.start_seat))))
    return "".join(parts)
