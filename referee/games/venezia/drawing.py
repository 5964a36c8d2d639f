"""A picture of an observation, for spectators who look rather than read (RULES.md, section 2).

In a match, the last step is at the top. Below the title line, the city with its places is on the left. The Piazza is
to its right, with the open decision beside it, and below it a panel for each seat, with its plan as far as the observer
may know it. The legend follows and, when the match is over, the sources of all points. Every place has room for its
maximum.
"""

from __future__ import annotations

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
    bird,
    cross,
    flag,
    house,
    hunter,
    pieces_of,
    pigeon,
    raptor,
    tourist,
)
from referee.games.venezia.drawing_words import described, doing, happened, majorities_of, notes, who
from referee.games.venezia.names import Phase
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.spots import GREYS
from referee.kit.scene import brackets, clock, end_table, end_table_height, halo, ordinal, strip, strip_height
from referee.kit.svg import (
    ALARM,
    DEEP,
    DIM,
    FADED,
    INK,
    LAND,
    LINE,
    SMALLEST,
    box,
    circle,
    crown,
    document,
    figure,
    group,
    name_text,
    path,
    spot,
    text,
    wrapped,
)

_WIDTH = 1200
_RIGHT = _WIDTH - MARGIN
_TURN = PIAZZA + PIAZZA_WIDTH + 8
_TURN_WIDTH = _RIGHT - _TURN
_PANELS = TOP + PIAZZA_HEIGHT + 8
_BELOW = TOP + BODY - _PANELS


def draw(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene | None, *, has_tower: bool) -> str:
    """Return an SVG document of an observation and its scene; equal arguments give equal documents."""
    seats = range(len(seen.seats))
    was = scene.before if scene is not None and isinstance(scene.before, VeneziaObservation) else seen
    news = None if scene is None else happened(board, seen, scene)
    marks = [pigeon(0, 0, seat) for seat in seats]
    parts = [
        pieces_of(len(seats)),
        "" if news is None else strip(_WIDTH, news, marks),
        _header(board, seen),
        city(board, seen, was),
        piazza(board, seen, scene, has_tower=has_tower),
        group(_TURN, TOP, (_standing if seen.phase is Phase.OVER else _turn)(board, seen, scene)),
    ]
    wide, high = (_RIGHT - PIAZZA - 8) / 2, (_BELOW - 8) / 2
    for seat in seats:
        name = f"Seat {seat}" if scene is None else scene.bots[seat]
        drawn = panel(board, seen, was, seat, name, wide, high)
        parts.append(group(PIAZZA + (wide + 8) * (seat % 2), _PANELS + (high + 8) * (seat // 2), drawn))
    height = float(TOP + BODY + MARGIN)
    # With two seats, the space of the other two panels is free.
    if len(seats) == 2:
        parts.append(group(PIAZZA, _PANELS + high + 8, _legend(seen, _RIGHT - PIAZZA, high)))
    else:
        parts.append(group(MARGIN, height - 8, _legend(seen, _RIGHT - MARGIN, 108)))
        height += 116
    if seen.phase is Phase.OVER:
        names = [f"seat {seat}" for seat in seats] if scene is None else scene.bots
        points, decided, width = breakdown(board, seen), criteria(board, seen), _WIDTH - 2 * MARGIN
        below = end_table_height(width, points, decided)
        signs = list(zip(marks, names, strict=True))
        table = end_table(width, below, signs, [has.rank for has in seen.seats], points, decided)
        parts.append(group(MARGIN, height, box(0, 0, width, below) + table))
        height += below + MARGIN
    above = 0.0 if news is None else strip_height(_WIDTH, news)
    title = f"Venezia, round {seen.round} of {seen.last_round}"
    return document(_WIDTH, -above, height + above, title, described(board, seen, news), parts)


def _header(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Draw the title line: the round, the open decision, the seats that are to take it, and the first player."""
    over = seen.phase is Phase.OVER
    parts = [
        text(MARGIN, 43, "VENEZIA", 28, GOLD, serif=True, bold=True),
        text(176, 41, f"Round {seen.round} of {seen.last_round}", 17, bold=True, fit=134),
        path("M322 22v26", stroke=LINE, thick=2),
        text(340, 41, "Game over" if over else doing(board, seen).partition(":")[0], 17, fit=390),
        text(1002, 41, who(seen), 17, GOLD, "end", bold=True, fit=270),
        path("M1020 22v26", stroke=LINE, thick=2),
        text(1134, 41, "first player", 15, FADED, "end"),
        pigeon(1162, 37, seen.first_seat),
    ]
    return "".join(parts)


def _turn(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene | None) -> str:
    """Draw the seats to act and their decision, other facts, and the order of the round with the seats' clocks."""
    seats, room = range(len(seen.seats)), _TURN_WIDTH - 24
    acting = [seat for seat in seats if not seen.seats[seat].committed] if seen.seat is None else [seen.seat]
    parts = [box(0, 0, _TURN_WIDTH, PIAZZA_HEIGHT, LAND)]
    parts += [pigeon(32 + 42 * place, 30, seat) for place, seat in enumerate(acting)]
    y = 66.0
    if scene is not None and seen.seat is not None:
        parts += [text(62, 36, "to act", 15, GOLD), name_text(12, y, scene.bots[seen.seat], 17, room)]
        y += 22
    else:
        for line in wrapped(who(seen), 18, room):
            parts.append(text(12, y, line, 15, GOLD, bold=True))
            y += 20
    for line in wrapped(doing(board, seen), 17, room):
        parts.append(text(12, y + 4, line, 15, bold=True, fit=room))
        y += 19
    # The order is at the bottom; notes that do not fit above it are left out.
    order = PIAZZA_HEIGHT - 30 * len(seats) - 18
    lines = [line for note in notes(board, seen) for line in wrapped(note, SMALLEST, room)]
    for line in lines[: max(0, int((order - y - 14) // 17))]:
        parts.append(text(12, y + 8, line, SMALLEST, FADED, fit=room))
        y += 17
    parts.append(text(12, order, "turn order", SMALLEST, FADED))
    for at in seats:
        seat, y = (seen.first_seat + at) % len(seats), order + 22 + 30 * at
        ink = INK if seat in acting else FADED
        words = (
            f"{clock(scene.clocks[seat])} left" if scene is not None and scene.clocks is not None else f"seat {seat}"
        )
        parts += [pigeon(32, y, seat, 0.9), text(60, y + 5, words, SMALLEST, ink, bold=seat in acting, fit=room - 48)]
    return "".join(parts)


def _standing(board: VeneziaBoard, seen: VeneziaObservation, scene: Scene | None) -> str:
    """Draw the final standing, in place of the current turn; the table below lists the sources of the points."""
    places, room = [has.rank for has in seen.seats], _TURN_WIDTH - 24
    parts = [box(0, 0, _TURN_WIDTH, PIAZZA_HEIGHT, LAND, GOLD, 2)]
    y = 30
    for line in wrapped(who(seen), 20, room):
        parts.append(text(12, y, line, 17, GOLD, serif=True, bold=True))
        y += 20
    for seat in sorted(range(len(places)), key=places.__getitem__):
        colour = GOLD if places[seat] == 1 else INK
        parts += [
            text(12, y + 14, ordinal(places[seat]), 16, colour, bold=True),
            crown(62, y + 8) if places[seat] == 1 else "",
            pigeon(32, y + 38, seat),
            text(60, y + 36, f"seat {seat}", SMALLEST, fit=46),
            text(_TURN_WIDTH - 12, y + 14, f"{seen.seats[seat].score} points", 16, colour, "end", bold=True, fit=92),
            text(60, y + 53, f"last majorities: {majorities_of(seen)[seat]}", SMALLEST, FADED, fit=room - 48),
        ]
        y += 66
    if max(majorities_of(seen)) >= board.win_districts:
        # The last note says how the match was won.
        for line in wrapped(notes(board, seen)[-1], SMALLEST, room):
            parts.append(text(12, y + 8, line, SMALLEST, FADED, fit=room))
            y += 17
    return "".join(parts)


def _legend(seen: VeneziaObservation, width: float, height: float) -> str:
    """Draw the legend: the meanings of the pieces, and the number of grey pigeons at the side."""
    frame = box(-17, -14, 34, 28, "none", INK, 2, 7, stroke_dasharray="5 3")
    danger = box(-16, -13, 32, 26, STONE, "none", 0, 3) + box(-16, -13, 32, 26, DANGER, "none", 0, 3, opacity=0.28)
    danger += path("M-16-3l10-10M-16 8l21-21M-11 13l26-26M0 13l16-16M11 13l5-5", stroke=DANGER, thick=1.2, opacity=0.55)
    dots = path("M-12 7L0-6L12 7", stroke=SEAT_COLOURS[seen.first_seat], thick=3)
    dots += circle(-12, 7, 4, SEAT_COLOURS[seen.first_seat]) + circle(0, -6, 4, SEAT_COLOURS[seen.first_seat])
    cancelled = box(-16, -10, 32, 20, "none", ALARM, 1.5, 4, stroke_dasharray="4 3") + path("M-12 0h24", stroke=ALARM)
    meanings = (
        (frame, "can still move"),
        (tourist(0, 0, 0.8), "tourist"),
        (hunter(0, 0, 0.8), "hunter"),
        (danger, "danger zone"),
        (house(0, 1, seen.first_seat), "home of seat"),
        (flag(-1, 0, seen.first_seat), "last majority"),
        (raptor(0, 3), "bird of prey"),
        (dots, "jumps"),
        (box(-16, -10, 32, 20, STONE, DIM, 1, 4), "face up"),
        (box(-16, -10, 32, 20, DEEP, DIM, 1, 4), "face down"),
        (box(-16, -10, 32, 20, GOLD, GOLD, 1, 4), "to be executed"),
        (cancelled, "cancelled"),
        (figure(0, 5, "2", 15, ALARM), "done in round 2"),
        (spot(GREYS, bird(0, 0, None, 0.85)), f"grey, {seen.grey_side} aside"),
        (figure(0, 5, "+3/6", 15, GOLD), "home/others"),
        (figure(0, 3, "7", 17) + path("M-7 9h14", stroke=GOLD, thick=3), "leads there now"),
        (halo(0, 0, 9), "just come"),
        (cross(0, 0, seen.first_seat), "just gone"),
        (brackets(-15, -10, 30, 20), "just changed"),
    )
    columns = int(width // 166)
    rows, column, parts = -(-len(meanings) // columns), (width - 8) / columns, [box(0, 0, width, height)]
    for at, (drawn, words) in enumerate(meanings):
        x, y = 28 + column * (at % columns), height / rows * (at // columns + 0.5)
        parts.append(group(x, y, drawn) + text(x + 25, y + 5, words, SMALLEST, FADED, fit=column - 50))
    return "".join(parts)
