"""A picture of an observation, for spectators (RULES.md, section 2).

From top to bottom, it shows the last step (only in a match); the turn track; the chart with Macao among the ports, and
beside it the current seat and the cards on offer; the goods in the bag and on the discard pile; the values of sets; a
panel for each seat; and, when the match is over, the sources of all points. Every place has room for its maximum,
because large numbers of tokens are drawn as counts.
"""

from __future__ import annotations

import textwrap

from referee.game import Scene
from referee.games.cargo_noir import drawing_chart as chart
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.breakdown import breakdown, criteria, titled
from referee.games.cargo_noir.drawing_panel import panel, panel_height
from referee.games.cargo_noir.drawing_style import card_colour, pieces_of, ship, token
from referee.games.cargo_noir.drawing_words import can_pay, described, doing, happened, notes
from referee.games.cargo_noir.names import Card, Kind, Phase, Purpose
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.games.cargo_noir.spots import spot_of
from referee.kit.scene import brackets, end_table, end_table_height, ordinal, strip, strip_height
from referee.kit.svg import (
    ALARM,
    BRASS,
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LAND,
    LINE,
    NIGHT,
    SEAT_COLOURS,
    SMALLEST,
    box,
    crown,
    document,
    element,
    figure,
    group,
    name_text,
    path,
    short,
    text,
)

_WIDTH, _MARGIN = 1200, chart.LEFT
_SIDE, _SIDE_WIDTH, _TURN_HEIGHT, _OFFER_TOP = 812, 372, 250, 322
_BELOW_CHART = chart.TOP + chart.HEIGHT
_GOODS_TOP, _GOODS_HEIGHT = _BELOW_CHART + 8, 82
_SETS_TOP, _SETS_HEIGHT = _GOODS_TOP + _GOODS_HEIGHT + 8, 74
_PANELS_TOP = _SETS_TOP + _SETS_HEIGHT + 8


def draw(board: CargoNoirBoard, seen: CargoNoirObservation, scene: Scene | None) -> str:
    """Return an SVG document of an observation and its scene; equal arguments give equal documents."""
    seats = range(len(seen.seats))
    was = scene.before if scene is not None and isinstance(scene.before, CargoNoirObservation) else seen
    news = None if scene is None else happened(board, seen, scene)
    width = (_WIDTH - 2 * _MARGIN + 8) / len(seats) - 8
    height = _PANELS_TOP + panel_height(width) + _MARGIN
    head = 0.0 if news is None else strip_height(_WIDTH, news)
    parts = [
        pieces_of(len(seats)),
        "" if news is None else strip(_WIDTH, news, [ship(0, 0, seat) for seat in seats]),
        _header(seen),
        chart.chart(board, seen, was),
        _standing(board, seen, scene) if seen.phase is Phase.OVER else _turn(board, seen, scene, was),
        _offer(board, seen, was),
        _goods(seen, was),
        _sets(board, seen, was),
    ]
    for seat in seats:
        drawn = panel(board, seen, was, scene, seat, width)
        parts.append(group(_MARGIN + (width + 8) * seat, _PANELS_TOP, drawn))
    if seen.phase is Phase.OVER:
        names = board.families if scene is None else scene.bots
        points, decided = breakdown(board, seen), criteria(board, seen)
        below = end_table_height(_WIDTH - 2 * _MARGIN, points, decided)
        marks = [(ship(0, 0, seat), names[seat]) for seat in seats]
        table = end_table(_WIDTH - 2 * _MARGIN, below, marks, [has.rank for has in seen.seats], points, decided)
        parts.append(group(_MARGIN, height, box(0, 0, _WIDTH - 2 * _MARGIN, below) + table))
        height += below + _MARGIN
    title = f"Cargo Noir, turn {seen.turn} of {seen.last_turn}"
    return document(_WIDTH, -head, height + head, title, described(board, seen, news), parts)


# --- the head -----------------------------------------------------------------------


def _header(seen: CargoNoirObservation) -> str:
    """Draw the turn track, and the seat that goes first in every turn."""
    over = seen.phase is Phase.OVER
    reached, step = seen.last_turn + 1 if over else seen.turn, min(34, 600 / seen.last_turn)
    parts = [
        text(_MARGIN, 42, "CARGO NOIR", 27, BRASS, serif=True, bold=True),
        text(252, 40, "Game over" if over else f"Turn {seen.turn} of {seen.last_turn}", 16, bold=True, fit=118),
        path(f"M390 35h{round(step * (seen.last_turn - 1), 2):g}", stroke=LINE, thick=2),
        text(1138, 40, "first player", SMALLEST, FADED, "end"),
        ship(1164, 36, seen.first_seat),
    ]
    for turn in range(1, seen.last_turn + 1):
        x, now, past = 390 + step * (turn - 1), turn == reached, turn < reached
        rim = ALARM if turn == seen.last_turn else BRASS if now or past else DIM
        parts.append(box(x - 11, 24, 22, 22, BRASS if now else "#5b4a26" if past else NIGHT, rim, 1.5, 11))
        parts.append(figure(x, 40, turn, SMALLEST, DARK if now else INK))
        if now:
            parts.append(element("circle", cx=x, cy=35, r=14.5, fill="none", stroke=BRASS, stroke_width=1.5))
    return "".join(parts)


# --- beside the chart -----------------------------------------------------------------------------


def _turn(board: CargoNoirBoard, seen: CargoNoirObservation, scene: Scene | None, was: CargoNoirObservation) -> str:
    seat, pending, has = seen.seat, seen.pending_stake, seen.seats[seen.seat]
    sending = seen.phase is Phase.P3 or (pending is not None and pending.purpose is Purpose.SEND)
    now = 2 if sending else 1 if seen.phase in (Phase.P2, Phase.P2_DIFF, Phase.P2_DISCARD) else 0
    following = (seat + 1) % len(seen.seats)
    then = "the last in this turn" if following == seen.first_seat else f"then seat {following}"
    parts = [
        box(0, 0, _SIDE_WIDTH, _TURN_HEIGHT, LAND, SEAT_COLOURS[seat], 2),
        ship(40, 36, seat, 1.45),
        name_text(76, 34, board.families[seat] if scene is None else scene.bots[seat], 20, 284),
        text(76, 54, f"seat {seat} is to act, {then}", SMALLEST, FADED),
    ]
    for step, words in enumerate(("1 Ships", "2 Smuggling", "3 Sending")):
        fill, rim, ink = (BRASS, BRASS, DARK) if step == now else (DEEP, LINE, DIM)
        parts.append(box(12 + 118 * step, 68, 112, 26, fill, rim, 1, 13))
        parts.append(figure(68 + 118 * step, 86, words, SMALLEST, ink))
    y = 118
    for line in textwrap.wrap(doing(board, seen), 40):
        parts.append(text(14, y, line, 14, bold=True, fit=_SIDE_WIDTH - 28))
        y += 18
    if seen.phase in (Phase.P2, Phase.P2_DIFF):
        parts.append(text(14, y + 10, f"Credit {short(seen.credit)}", 20, BRASS, bold=True, fit=114))
        if seen.credit != was.credit:
            parts.append(brackets(6, y - 11, 126, 30))
        parts += [token(148 + 25 * place, y + 3, kind, 23) for place, kind in enumerate(seen.diff_kinds)]
    elif pending is None and now != 1:
        count = has.ships_home if sending else seen.todo_casino + seen.todo_market + len(seen.todo_ports)
        parts += [ship(32 + 44 * place, y + 6, seat) for place in range(min(count, 7))]
        if count > 7:
            parts.append(text(326, y + 11, f"+{short(count - 7)}", 14, bold=True, fit=36))
    y += 36 if pending is None else 4
    for line in (line for note in notes(seen) for line in textwrap.wrap(note, 46)):
        parts.append(text(14, y, line, SMALLEST, FADED, fit=_SIDE_WIDTH - 28))
        y += 17
    return group(_SIDE, chart.TOP, "".join(parts))


def _standing(board: CargoNoirBoard, seen: CargoNoirObservation, scene: Scene | None) -> str:
    """Draw the final standing, in place of the current turn."""
    places = [has.rank for has in seen.seats]
    parts = [
        box(0, 0, _SIDE_WIDTH, _TURN_HEIGHT, LAND, BRASS, 2),
        text(14, 32, "Final standing", 19, BRASS, serif=True, bold=True),
        text(358, 31, "ties: best single card", SMALLEST, FADED, "end"),
    ]
    best = criteria(board, seen)[1].values
    for line, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
        y, colour = 66 + 38 * line, BRASS if places[seat] == 1 else INK
        parts.append(text(14, y + 5, ordinal(places[seat]), 15, colour, bold=True))
        parts.append(crown(63, y) if places[seat] == 1 else "")
        parts.append(ship(102, y, seat))
        parts.append(name_text(126, y + 5, board.families[seat] if scene is None else scene.bots[seat], SMALLEST, 130))
        parts.append(text(300, y + 6, seen.seats[seat].score, 19, colour, "end", bold=True, fit=42))
        parts.append(text(358, y + 5, f"best {short(best[seat])}", SMALLEST, FADED, "end", fit=56))
    return group(_SIDE, chart.TOP, "".join(parts))


def _offer(board: CargoNoirBoard, seen: CargoNoirObservation, was: CargoNoirObservation) -> str:
    powers = {
        Card.CARGO_SHIP: "+1 ship",
        Card.WAREHOUSE: f"+{board.warehouse_storage} storage",
        Card.SYNDICATE: f"+{board.syndicate_income} coins",
    }
    parts = [
        box(0, 0, _SIDE_WIDTH, _BELOW_CHART - _OFFER_TOP),
        text(14, 23, "Victory cards", 15.5, BRASS, serif=True, bold=True),
        path("M138 12l7 4.5-7 4.5z", BRASS),
        text(150, 22, "can be paid", SMALLEST, FADED, fit=88),
        text(271, 23, "cost", SMALLEST, FADED, "end"),
        text(360, 23, "left", SMALLEST, FADED, "end"),
    ]
    for card in Card:
        left, colour = seen.supply[card], card_colour(board, card)
        row = [
            box(6, -17, _SIDE_WIDTH - 12, 20.6, "none", "none", 0, 0, data_spot=spot_of("card", card)),
            box(12, -14, 34, 18, colour, "none", 0, 4),
            figure(29, 0, board.vp[card], SMALLEST, DARK, fit=30),
            text(57, 0, titled(card), SMALLEST, fit=105),
            text(162, 0, powers.get(card, ""), SMALLEST, FADED, fit=80),
            text(271, 0, board.cost[card], 14, INK, "end", bold=True, fit=30),
            text(360, 0, left or "sold out", SMALLEST, INK, "end", bold=left > 0, fit=24 if left else 62),
            *(box(330 - 7 * copy, -9, 5, 9, colour, "none", 0, 1) for copy in range(min(left, 8))),
        ]
        if can_pay(board, seen, card):
            row.append(path("M48-10l7 4.5-7 4.5z", BRASS))
        parts.append(group(0, 46 + 20.6 * card, "".join(row), opacity=1 if left else 0.5))
        if left != was.supply[card]:
            parts.append(brackets(6, 29 + 20.6 * card, _SIDE_WIDTH - 12, 23))
    return group(_SIDE, _OFFER_TOP, "".join(parts))


# --- below the chart --------------------------------------------------------------------------------


def _goods(seen: CargoNoirObservation, was: CargoNoirObservation) -> str:
    """Draw the goods in the bag and on the discard pile, by kind; this also serves as the legend of the goods."""
    parts = [
        box(0, 0, _WIDTH - 2 * _MARGIN, _GOODS_HEIGHT),
        text(14, 50, f"in the bag: {short(sum(seen.bag))}", SMALLEST, FADED, fit=120),
        text(14, 71, f"discarded: {short(sum(seen.discard))}", SMALLEST, FADED, fit=120),
    ]
    for kind in Kind:
        x = 146 + 102 * kind
        parts.append(token(x + 12, 20, kind, 25))
        parts.append(text(x + 29, 25, kind.name.title(), SMALLEST, fit=72))
        for y, now, then in ((50, seen.bag[kind], was.bag[kind]), (71, seen.discard[kind], was.discard[kind])):
            parts.append(text(x + 29, y, short(now), 14.5, INK if now else DIM, bold=now > 0))
            if now != then:
                parts.append(brackets(x + 23, y - 15, 32, 20))
    return group(_MARGIN, _GOODS_TOP, "".join(parts))


def _sets(board: CargoNoirBoard, seen: CargoNoirObservation, was: CargoNoirObservation) -> str:
    """Draw the values of sets, the coins in the bank, and a legend for the marks."""
    parts = [
        box(0, 0, _WIDTH - 2 * _MARGIN, _SETS_HEIGHT),
        text(14, 22, "Worth of a set of", SMALLEST, BRASS, bold=True),
        text(14, 43, "equal goods", SMALLEST, FADED),
        text(14, 63, "different goods", SMALLEST, FADED),
        path("M150 29H516", "none", LINE),
    ]
    for size in range(1, board.max_set + 1):
        x = 170 + 40 * (size - 1)
        parts.append(text(x, 22, size, SMALLEST, FADED, "middle"))
        parts.append(figure(x, 43, short(board.same[size]), 14.5, fit=36))
        parts.append(figure(x, 63, short(board.different[size]), 14.5, fit=36) if size > 1 else "")
    parts.append(path("M540 12v50", "none", LINE, 1.5))
    parts.append(text(560, 32, short(seen.bank), 21, BRASS, bold=True, fit=60))
    parts.append(text(560, 54, "coins in the bank", SMALLEST, FADED))
    if seen.bank != was.bank:
        parts.append(brackets(552, 10, 60, 30))
    parts.append(path("M706 12v50", "none", LINE, 1.5))
    parts.append(ship(738, 26, seen.seat, 0.9, waiting=True))
    parts.append(text(766, 27, "to be resolved", SMALLEST, FADED))
    parts.append(brackets(722, 43, 34, 20) + text(766, 58, "just changed", SMALLEST, FADED))
    parts.append(token(908, 25, Kind.WILD, 22) + text(926, 30, "stands for any kind", SMALLEST, FADED))
    parts.append(box(897, 44, 22, 16, card_colour(board, Card.VILLA), "none", 0, 3))
    parts.append(figure(908, 57, "2×", SMALLEST, DARK) + text(926, 57, "cards, and their points", SMALLEST, FADED))
    return group(_MARGIN, _SETS_TOP, "".join(parts))
