"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

In a match, what has just happened is told at the top. Below the title line, from the left: the city with its places; the
Piazza, below it what is being done and the legend; a panel for each seat, with its plan as far as the observer may know it;
at the end, what all points were for. Every place has room for the most that can lie there.
"""

from __future__ import annotations

import textwrap
from html import escape

from referee.game import Scene
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.breakdown import breakdown, criteria
from referee.games.venezia.drawing_city import BODY, MARGIN, TOP, city
from referee.games.venezia.drawing_panel import panel
from referee.games.venezia.drawing_piazza import PIAZZA, PIAZZA_HEIGHT, PIAZZA_WIDTH, piazza
from referee.games.venezia.drawing_style import (
    DANGER,
    GOLD,
    SEAT_COLOURS,
    STONE,
    circle,
    cross,
    flag,
    house,
    hunter,
    pigeon,
    raptor,
    tourist,
)
from referee.games.venezia.drawing_words import described, doing, happened, notes, who
from referee.games.venezia.names import Phase
from referee.games.venezia.observation import VeneziaObservation
from referee.kit.scene import brackets, end_table, end_table_height, halo, ordinal, strip, strip_height
from referee.kit.svg import (
    ALARM,
    DEEP,
    DIM,
    FADED,
    INK,
    LAND,
    LINE,
    NIGHT,
    SANS,
    box,
    crown,
    element,
    figure,
    group,
    name_text,
    path,
    text,
)

_WIDTH = 1440
_TURN_TOP, _TURN_HEIGHT = TOP + PIAZZA_HEIGHT + 8, 202
_LEGEND_TOP = _TURN_TOP + _TURN_HEIGHT + 8
_PANELS = 1016


def draw(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene | None, *, has_tower: bool) -> str:
    """Return an SVG document of an observation and its scene; equal ones give equal documents."""
    seats = range(len(seen.seats))
    was = scene.before if scene is not None and isinstance(scene.before, VeneziaObservation) else seen
    told = None if scene is None else happened(board, seen, scene)
    height, head = float(TOP + BODY + MARGIN), 0.0 if told is None else strip_height(_WIDTH, told)
    panel_height = (BODY + 8) / len(seats) - 8
    marks = [pigeon(0, 0, seat) for seat in seats]
    parts = [
        element("title", f"Venezia, round {seen.round} of {seen.last_round}"),
        element("desc", escape(described(board, seen, told))),
        "" if told is None else strip(_WIDTH, told, marks),
        _header(board, seen),
        city(board, seen, was),
        piazza(board, seen, scene, has_tower=has_tower),
        _turn(board, seen, scene),
        _legend(seen),
    ]
    for seat in seats:
        drawn = panel(board, seen, was, scene, seat, panel_height)
        parts.append(group(_PANELS, TOP + (panel_height + 8) * seat, drawn))
    if seen.phase is Phase.OVER:
        names = [f"seat {seat}" for seat in seats] if scene is None else scene.bots
        points, decided, width = breakdown(board, seen), criteria(board, seen), _WIDTH - 2 * MARGIN
        below = end_table_height(width, points, decided)
        signs = list(zip(marks, names, strict=True))
        table = end_table(width, below, signs, [has.rank for has in seen.seats], points, decided)
        parts.append(group(MARGIN, height, box(0, 0, width, below) + table))
        height += below + MARGIN
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


def _header(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Draw the title line: the round, what is open and for whom, and the first player."""
    over = seen.phase is Phase.OVER
    parts = [
        text(MARGIN, 43, "VENEZIA", 28, GOLD, serif=True, bold=True),
        text(176, 41, f"Round {seen.round} of {seen.last_round}", 17, bold=True, fit=134),
        path("M322 22v26", stroke=LINE, thick=2),
        text(340, 41, "Game over" if over else doing(board, seen), 17, fit=550),
        text(1190, 41, who(seen), 17, GOLD, "end", bold=True, fit=270),
        path("M1212 22v26", stroke=LINE, thick=2),
        text(1370, 41, "first player", 16, FADED, "end", fit=104),
        pigeon(1400, 37, seen.first_seat),
    ]
    return "".join(parts)


def _turn(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene | None) -> str:
    """Draw who is to do what, and what else holds; the standing when the match is over."""
    over = seen.phase is Phase.OVER
    parts = [box(0, 0, PIAZZA_WIDTH, _TURN_HEIGHT, LAND, GOLD if over else LINE, 2 if over else 1)]
    if over:
        parts.append(text(16, 30, who(seen), 19, GOLD, serif=True, bold=True))
        places = [has.rank for has in seen.seats]
        for row, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
            y, colour = 58 + 28 * row, GOLD if places[seat] == 1 else INK
            majorities = sum(won.seat == seat for won in seen.majorities)
            parts.append(text(16, y + 6, ordinal(places[seat]), 16, colour, bold=True))
            parts.append(crown(66, y) if places[seat] == 1 else "")
            parts.append(pigeon(104, y, seat, 0.9))
            parts.append(text(136, y + 6, f"seat {seat}", 16))
            parts.append(text(290, y + 6, f"{seen.seats[seat].score} points", 16, colour, "end", bold=True, fit=90))
            parts.append(text(470, y + 6, f"last majorities: {majorities}", 15, FADED, "end", fit=170))
        y = 64 + 28 * len(places)
    else:
        acting = (
            [seat for seat, has in enumerate(seen.seats) if not has.committed] if seen.seat is None else [seen.seat]
        )
        parts += [pigeon(34 + 46 * place, 30, seat, 1.15) for place, seat in enumerate(acting)]
        left = 22 + 46 * len(acting)
        room = PIAZZA_WIDTH - left - (14 if seen.seat is None else 240)
        if scene is not None and seen.seat is not None:
            parts.append(name_text(left, 36, scene.bots[seen.seat], 18, room))
        else:
            parts.append(text(left, 36, who(seen), 18, GOLD, serif=True, bold=True, fit=room))
        if seen.seat is not None:
            order = [(seen.first_seat + step) % len(seen.seats) for step in range(len(seen.seats))]
            parts.append(text(462 - 34 * len(order), 35, "turn order", 15, FADED, "end"))
            parts += [pigeon(486 - 34 * (len(order) - at), 30, seat, 0.72) for at, seat in enumerate(order)]
        y = 70
        for line in textwrap.wrap(doing(board, seen), 56)[:2]:
            parts.append(text(16, y, line, 16, bold=True, fit=PIAZZA_WIDTH - 32))
            y += 21
        y += 6
    for line in (line for note in notes(board, seen) for line in textwrap.wrap(note, 56)):
        parts.append(text(16, y, line, 16, FADED, fit=PIAZZA_WIDTH - 32))
        y += 19
    return group(PIAZZA, _TURN_TOP, "".join(parts))


def _legend(seen: VeneziaObservation) -> str:
    """Draw the legend: what the pieces mean, and how many grey pigeons are at the side."""
    height = TOP + BODY - _LEGEND_TOP
    frame = box(-17, -14, 34, 28, "none", INK, 2, 7, stroke_dasharray="5 3")
    danger = box(-16, -13, 32, 26, STONE, "none", 0, 3) + box(-16, -13, 32, 26, DANGER, "none", 0, 3, opacity=0.28)
    danger += path("M-16-3l10-10M-16 8l21-21M-11 13l26-26M0 13l16-16M11 13l5-5", stroke=DANGER, thick=1.2, opacity=0.55)
    dots = path("M-12 7L0-6L12 7", stroke=SEAT_COLOURS[seen.first_seat], thick=3)
    dots += circle(-12, 7, 4, SEAT_COLOURS[seen.first_seat]) + circle(0, -6, 4, SEAT_COLOURS[seen.first_seat])
    cancelled = box(-16, -10, 32, 20, "none", ALARM, 1.5, 4, stroke_dasharray="4 3") + path("M-12 0h24", stroke=ALARM)
    pieces = (
        (frame, "can still move"),
        (tourist(0, 0, 0.8), "tourist"),
        (hunter(0, 0, 0.8), "hunter"),
        (danger, "danger zone"),
        (house(0, 1, seen.first_seat), "home of seat"),
        (flag(-1, 0, seen.first_seat), "last majority"),
        (raptor(0, 3), "bird of prey"),
        (dots, "jumps"),
        (box(-10, -14, 20, 28, STONE, DIM, 1, 4), "face up"),
        (box(-10, -14, 20, 28, DEEP, DIM, 1, 4), "face down"),
        (box(-16, -10, 32, 20, GOLD, GOLD, 1, 4), "to be executed"),
        (cancelled, "cancelled"),
        (figure(0, 5, "R2", 15, ALARM), "done in round 2"),
        (pigeon(0, 0, None, 0.85), f"grey, {seen.grey_side} aside"),
        (figure(0, 5, "+3/6", 15, GOLD), "home seat/others"),
        (figure(0, 3, "7", 17) + path("M-7 9h14", stroke=GOLD, thick=3), "leads there now"),
        (halo(0, 0, 9), "just come"),
        (cross(0, 0, seen.first_seat, 0.75), "just gone"),
        (brackets(-15, -10, 30, 20), "just changed"),
    )
    parts = [box(0, 0, PIAZZA_WIDTH, height)]
    for at, (piece, words) in enumerate(pieces):
        x, y = 28 + 162 * (at % 3), 20 + 30.5 * (at // 3)
        parts.append(group(x, y, piece))
        parts.append(text(x + 24, y + 5, words, 15, FADED, fit=112))
    return group(PIAZZA, _LEGEND_TOP, "".join(parts))
