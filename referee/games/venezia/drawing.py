"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

Below the title line, from the left: the city with its places; the Piazza, below it what is being done and the
legend; a panel for each seat, with its plan as far as the observer may know it. Every place has room for the most
that can lie there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from referee.game import Seat
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.drawing_style import (
    DANGER,
    GOLD,
    RIPPLE,
    SEAT_COLOURS,
    STONE,
    STONE_TOO,
    WATER,
    Shown,
    circle,
    flag,
    flock,
    grave,
    house,
    hunter,
    pigeon,
    plan_card,
    raptor,
    tourist,
    tower,
    wrapped,
)
from referee.games.venezia.grid import bits, grid_of
from referee.games.venezia.names import CARDS, COLUMNS, DISTRICTS, ActionCard, Phase, Place, Square, Step
from referee.games.venezia.observation import PlanView, SeatView, VeneziaObservation
from referee.kit.svg import (
    ALARM,
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LAND,
    LINE,
    LIT,
    NIGHT,
    SANS,
    box,
    crown,
    element,
    figure,
    group,
    name_text,
    path,
    printable,
    text,
)

_WIDTH, _MARGIN, _TOP, _BODY = 1440, 16, 64, 780
_CITY_WIDTH = 490
_PIAZZA, _PIAZZA_WIDTH, _PIAZZA_HEIGHT, _SQUARE = 518, 486, 420, 45
_TURN_TOP, _TURN_HEIGHT = _TOP + _PIAZZA_HEIGHT + 10, 200
_LEGEND_TOP = _TURN_TOP + _TURN_HEIGHT + 10
_PANELS, _PANELS_WIDTH = 1016, 408
_TILE_WIDTH, _TILE_HEIGHT = 152, 144
_COLUMNS_AT = ((84, (82, 276, 474, 694)), (245, (106, 304, 500, 704)), (406, (80, 280, 478, 690)))
_BERTHS = tuple((x, y) for x, rows in _COLUMNS_AT for y in rows)  # for the middle of each place of the city
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
"""What is side by side in the city; 8 is the cemetery (RULES.md, 1.1)."""
_CARD_NAMES = {
    ActionCard.NONE: "no card",
    ActionCard.FAM: "Family",
    ActionCard.FEH: "Feud",
    ActionCard.UEB: "Takeover",
    ActionCard.GIF: "Poison",
    ActionCard.RAU: "Bird of prey",
    ActionCard.MIC: "San Michele",
    ActionCard.SAU: "Purge",
    ActionCard.WEI: "Vatican",
}


def draw(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Return an SVG document that shows all of an observation; equal observations give equal documents."""
    seats = range(len(seen.seats))
    height = _TOP + _BODY + _MARGIN
    panel_height = (_BODY + 8) / len(seats) - 8
    parts = [
        element("title", f"Venezia, round {seen.round} of {seen.last_round}"),
        element("desc", escape(_described(board, seen))),
        element("rect", width=_WIDTH, height=height, fill=NIGHT),
        _header(board, seen),
        _city(board, seen),
        _piazza(board, seen),
        _turn(board, seen),
        _legend(seen),
    ]
    for seat in seats:
        panel = _panel(board, seen, seat, panel_height)
        parts.append(group(_PANELS, _TOP + (panel_height + 8) * seat, panel))
    return element(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        direction="ltr",
        font_family=SANS,
    )


# --- in words -------------------------------------------------------------------------------------


def _described(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Describe the picture in words, for those who cannot see it."""
    said = [_who(seen), _doing(board, seen), *_notes(board, seen)]
    for seat, has in enumerate(seen.seats):
        home = "no home" if has.home is None else f"home {_place_name(board, has.home)}"
        said.append(
            f"Seat {seat}: {has.score} points, {home}, {has.reserve} pigeons in reserve, {has.nest} in the nest, "
            f"{has.supply} in supply, {has.cemetery} in the cemetery, {_on_piazza(seen, seat)} on the Piazza"
        )
    for place, view in zip(Place, seen.places, strict=True):
        there = [f"{count} of seat {seat}" for seat, count in enumerate(view.pigeons) if count]
        there += [f"{view.grey} grey"] * (view.grey > 0)
        said.append(f"{_place_name(board, place)}: {', '.join(there) or 'no pigeons'}")
    for words, squares in (("Tourists", seen.tourists), ("Hunters", seen.hunters)):
        said += [f"{words} on {', '.join(square.name for square in squares)}"] * bool(squares)
    said += [] if seen.raptor is None else [f"The bird of prey is in {_place_name(board, seen.raptor)}"]
    return ". ".join(said) + "."


def _who(seen: VeneziaObservation) -> str:
    """Say who is to act, or who has won."""
    if seen.phase is Phase.OVER:
        winners = [seat for seat, has in enumerate(seen.seats) if has.rank == 1]
        return f"{_seats(winners)} {'wins' if len(winners) == 1 else 'share the victory'}"
    if seen.seat is not None:
        return f"Seat {seen.seat} is to act"
    thinking = [seat for seat, has in enumerate(seen.seats) if not has.committed]
    return f"{_seats(thinking)} {'is' if len(thinking) == 1 else 'are'} to act"


def _seats(seats: Sequence[Seat]) -> str:
    named = [str(seat) for seat in seats]
    if len(named) < 2:
        return f"Seat {''.join(named)}"
    return f"Seats {', '.join(named[:-1])} and {named[-1]}"


def _doing(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Say what the seat whose decision is open has to do."""
    has, place = seen.seats[seen.seat or 0], seen.card_place
    where = "" if place is None else _place_name(board, place)
    last = Square(seen.chain[-1]).name if seen.chain else ""
    return {
        Phase.HOME: "Choosing a home",
        Phase.PLAN: "Planning in secret",
        Phase.FEINT: f"Moving from the Feint onto district card {seen.slot}: {has.first_count} left",
        Phase.PLACE: f"Placing pigeons on the Piazza: {has.first_count} left",
        Phase.MOVE: f"Moving on the Piazza: {len(seen.unmoved)} can still move",
        Phase.CHAIN: f"Going on jumping from {last}, or stopping there",
        Phase.FAMILY: "Family meeting: choosing where all nests go",
        Phase.REINFORCE: f"Reinforcing the home: {has.nest} in the nest",
        Phase.FEHDE: f"Feud: removing a pigeon in {where}, or none",
        Phase.TAKEOVER: "Takeover: choosing a district",
        Phase.FROM_RESERVE: f"Takeover of {where}: how many of {seen.card_count} pigeons come from the reserve",
        Phase.POISON: f"Poison on the Piazza: {seen.card_count} of {board.poisoned} pigeons removed",
        Phase.RAPTOR: "Sending the bird of prey to a place",
        Phase.PURGE: "Purge: choosing a district and a colour",
        Phase.GREY: f"Vatican: {seen.card_count} of {board.grey_operations} grey pigeons added or moved",
        Phase.RECOVER: "Taking an executed card back",
        Phase.MICHELE: "Taking pigeons back from the cemetery",
        Phase.OVER: "The match is over",
    }[seen.phase]


def _notes(board: VeneziaBoard, seen: VeneziaObservation) -> list[str]:
    """Say what else holds now."""
    notes = []
    if seen.phase is Phase.PLAN:
        made = [seat for seat, has in enumerate(seen.seats) if has.committed]
        notes.append(f"{_seats(made)}: plan is made" if made else "No plan is made yet")
    if seen.plan is not None and seen.phase is Phase.PLAN and seen.plan.step is not Step.COMMITTED:
        left = seen.seats[seen.viewer or 0].reserve - sum(seen.plan.counts)
        step = {
            Step.FIRST: "choosing the first card",
            Step.ACTION: "choosing an action card, or none",
            Step.DISTRICTS: "choosing district cards",
        }.get(seen.plan.step, "laying pigeons on the cards")
        notes.append(f"Your plan: {step}; still in reserve: {left}")
    if seen.waiting:
        notes.append(f"Action cards still to be executed, in this order: seat {', '.join(map(str, seen.waiting))}")
    untouched = [
        f"{count} in {_place_name(board, place)}"
        for place, count in zip(Place, seen.grey_untouched, strict=False)
        if count
    ]
    if untouched:
        notes.append(f"Grey pigeons not yet touched: {', '.join(untouched)}")
    if seen.grey_owner is not None:
        notes.append(f"Grey pigeons count for seat {seen.grey_owner} in this round")
    if seen.phase is Phase.OVER:
        majorities = [[majority.seat for majority in seen.majorities].count(seat) for seat in range(len(seen.seats))]
        if max(majorities) >= board.win_districts:
            notes.append(f"Won by majorities in {max(majorities)} districts, whatever the points")
    return notes


def _place_name(board: VeneziaBoard, place: Place) -> str:
    return printable(board.place_names[place])


def _on_piazza(seen: VeneziaObservation, seat: Seat) -> int:
    return sum(bird.seat == seat for bird in seen.piazza)


def _ordinal(place: int) -> str:
    return f"{place}{({1: 'st', 2: 'nd', 3: 'rd'}).get(place, 'th')}"


# --- the head and the city ------------------------------------------------------------------------


def _header(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Draw the title line: the round, what is open and for whom, and the first player."""
    over = seen.phase is Phase.OVER
    parts = [
        text(_MARGIN, 43, "VENEZIA", 28, GOLD, serif=True, bold=True),
        text(176, 41, f"Round {seen.round} of {seen.last_round}", 17, bold=True),
        path("M322 22v26", stroke=LINE, thick=2),
        text(340, 41, "Game over" if over else _doing(board, seen), 17, fit=560),
        text(1190, 41, _who(seen), 17, GOLD, "end", bold=True, fit=270),
        path("M1212 22v26", stroke=LINE, thick=2),
        text(1370, 41, "first player", 14, FADED, "end"),
        pigeon(1400, 37, seen.first_seat),
    ]
    return "".join(parts)


def _city(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Draw the places, each on the free berth nearest to its place on the board, and the water between them."""
    berths = _berths([*board.place_places, board.cemetery_place])
    lanes = ["M{} {}L{} {}".format(*berths[one], *berths[other]) for one, other in _LANES]
    crests = ((40, 56), (92, 106), (50, 176), (220, 18), (366, 446), (420, 516), (392, 586), (44, 650), (96, 712))
    parts = [
        box(0, 0, _CITY_WIDTH, _BODY, WATER),
        path("".join(f"M{x} {y}q6-6 12 0t12 0t12 0" for x, y in crests), stroke=RIPPLE, thick=2),
        path("".join(lanes), stroke="#c9b27a", thick=2, stroke_dasharray="2 6", opacity=0.5),
    ]
    parts += [_place(board, seen, place, *berths[place]) for place in Place]
    parts.append(_cemetery(board, seen, *berths[len(Place)]))
    return group(_MARGIN, _TOP, "".join(parts))


def _berths(places: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return a berth for each place, because the places of a corrected board may overlap."""
    ways = sorted(
        ((x * _CITY_WIDTH / 100 - left) ** 2 + (y * _BODY / 100 - top) ** 2, place, (left, top))
        for place, (x, y) in enumerate(places)
        for left, top in _BERTHS
    )
    found: dict[int, tuple[float, float]] = {}
    for _, place, berth in ways:
        if place not in found and berth not in found.values():
            found[place] = berth
    return [found[place] for place in range(len(places))]


def _place(board: VeneziaBoard, seen: VeneziaObservation, place: Place, x: float, y: float) -> str:
    """Draw a place: its pigeons, below them greys, the last majority and the bird of prey; above, whose home it is."""
    view, width, height = seen.places[place], _TILE_WIDTH, _TILE_HEIGHT
    homes = [seat for seat, has in enumerate(seen.seats) if has.home is place]
    rim = ALARM if seen.raptor is place else GOLD if seen.card_place is place else LINE
    parts = [
        box(0, 0, width, height, LAND, rim, 1.5 if rim == LINE else 3, 12 if place in DISTRICTS else 30),
        _sign(board.place_names[place], 12, 24, width - 22 - 30 * bool(homes)),
        *(house(width - 22, 19, seat, 0.95) for seat in homes),
        flock(view.pigeons, 40),
        path(f"M12 {height - 37}h{width - 24}", stroke=LINE),
    ]
    if view.grey:
        parts += [pigeon(32, height - 18, None, 0.85), text(52, height - 13, view.grey, 15, bold=True, fit=22)]
    parts += [flag(94, height - 18, won.seat, 0.95) for won in seen.majorities if won.place is place]
    parts += [raptor(128, height - 16, 1.05)] * (seen.raptor is place)
    return group(x - width / 2, y - height / 2, "".join(parts))


def _sign(name: str, x: float, y: float, width: float) -> str:
    """Draw the name of a place, in one line or in two."""
    lines = wrapped(name, 14)
    top, size = (y, 15) if len(lines) == 1 else (y - 7, 13)
    return "".join(name_text(x, top + 16 * at, line, size, width) for at, line in enumerate(lines))


def _cemetery(board: VeneziaBoard, seen: VeneziaObservation, x: float, y: float) -> str:
    width, height = _TILE_WIDTH, _TILE_HEIGHT
    parts = (
        box(0, 0, width, height, DEEP, DIM, 1.5, 30),
        _sign(board.cemetery_name, 12, 24, width - 52),
        grave(width - 22, 20),
        flock([has.cemetery for has in seen.seats], 40),
        path(f"M16 {height - 37}h{width - 32}", stroke=LINE),
        text(width / 2, height - 14, "cemetery", 13, FADED, "middle"),
    )
    return group(x - width / 2, y - height / 2, "".join(parts))


# --- the Piazza and what is below it --------------------------------------------------------------


def _middle(square: int) -> tuple[float, float]:
    """Return the middle of a square, in the box of the Piazza."""
    row, column = divmod(square, COLUMNS)
    return 28 + _SQUARE * (column + 0.5), 52 + _SQUARE * (row + 0.5)


def _piazza(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Draw the squares, and upon them the danger zone, the chain of jumps, and who stands there."""
    rows, size = len(Square) // COLUMNS, _SQUARE
    danger = grid_of(None).danger(seen.hunters)
    birds = {bird.square: bird.seat for bird in seen.piazza}
    parts = [
        box(0, 0, _PIAZZA_WIDTH, _PIAZZA_HEIGHT, LAND),
        text(28, 24, "Piazza San Marco", 17, GOLD, serif=True, bold=True),
        box(26, 50, size * COLUMNS + 4, size * rows + 4, STONE, STONE_TOO, 1, 3),
    ]
    parts += [figure(28 + size * (at + 0.5), 45, at + 1, 13, FADED) for at in range(COLUMNS)]
    parts += [figure(15, 57 + size * (at + 0.5), "ABCDEFGH"[at], 13, FADED) for at in range(rows)]
    for square in Square:
        x, y = _middle(square)
        left, top = x - size / 2, y - size / 2
        if sum(divmod(square, COLUMNS)) % 2:
            parts.append(box(left, top, size, size, STONE_TOO, "none", 0, 0))
        if danger & bits((square,)):
            hatch = f"M{left} {top + 15}l15-15M{left} {top + 30}l30-30M{left} {top + 45}l45-45"
            parts.append(box(left, top, size, size, DANGER, "none", 0, 0, opacity=0.28))
            parts.append(path(f"{hatch}m0 15l-30 30m15 0l15-15", stroke=DANGER, thick=1.2, opacity=0.55))
    campanile = board.campanile
    if campanile not in birds and campanile not in seen.tourists and campanile not in seen.hunters:
        parts.append(tower(*_middle(campanile), size))  # the match may be played without it
    parts += [tourist(*_middle(square), 1.15 if square in birds else 1) for square in seen.tourists]
    parts += [hunter(*_middle(square)) for square in seen.hunters]
    parts.append(_jumps(seen))
    for square, seat in birds.items():
        x, y = _middle(square)
        if square in seen.unmoved:
            parts.append(box(x - 20, y - 20, 40, 40, "none", DARK, 2.5, 9, stroke_dasharray="5 3"))
        small = square in seen.tourists
        parts.append(pigeon(x - 1, y + (7 if small else 2), seat, 0.85 if small else 1))
    return group(_PIAZZA, _TOP, "".join(parts))


def _jumps(seen: VeneziaObservation) -> str:
    """Draw the open chain of jumps, from its start."""
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


def _turn(board: VeneziaBoard, seen: VeneziaObservation) -> str:
    """Draw who is to do what, and what else holds; the standing when the match is over."""
    over = seen.phase is Phase.OVER
    parts = [box(0, 0, _PIAZZA_WIDTH, _TURN_HEIGHT, LAND, GOLD if over else LINE, 2 if over else 1)]
    if over:
        parts.append(text(16, 30, _who(seen), 19, GOLD, serif=True, bold=True))
        places = [has.rank for has in seen.seats]
        for row, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
            y, colour = 58 + 28 * row, GOLD if places[seat] == 1 else INK
            majorities = sum(won.seat == seat for won in seen.majorities)
            parts.append(text(16, y + 6, _ordinal(places[seat]), 16, colour, bold=True))
            parts.append(crown(66, y) if places[seat] == 1 else "")
            parts.append(pigeon(104, y, seat, 0.9))
            parts.append(text(136, y + 6, f"seat {seat}", 15))
            parts.append(text(290, y + 6, f"{seen.seats[seat].score} points", 16, colour, "end", bold=True, fit=90))
            parts.append(text(470, y + 6, f"last majorities: {majorities}", 13, FADED, "end", fit=170))
        y = 64 + 28 * len(places)
    else:
        acting = (
            [seat for seat, has in enumerate(seen.seats) if not has.committed] if seen.seat is None else [seen.seat]
        )
        parts += [pigeon(34 + 46 * place, 30, seat, 1.15) for place, seat in enumerate(acting)]
        left = 22 + 46 * len(acting)
        room = _PIAZZA_WIDTH - left - (14 if seen.seat is None else 240)
        parts.append(text(left, 36, _who(seen), 18, GOLD, serif=True, bold=True, fit=room))
        if seen.seat is not None:
            order = [(seen.first_seat + step) % len(seen.seats) for step in range(len(seen.seats))]
            parts.append(text(462 - 34 * len(order), 35, "turn order", 13, FADED, "end"))
            parts += [pigeon(486 - 34 * (len(order) - at), 30, seat, 0.72) for at, seat in enumerate(order)]
        y = 70
        for line in textwrap.wrap(_doing(board, seen), 56)[:2]:
            parts.append(text(16, y, line, 16, bold=True, fit=_PIAZZA_WIDTH - 32))
            y += 21
        y += 6
    for line in (line for note in _notes(board, seen) for line in textwrap.wrap(note, 66)):
        parts.append(text(16, y, line, 14, FADED, fit=_PIAZZA_WIDTH - 32))
        y += 19
    return group(_PIAZZA, _TURN_TOP, "".join(parts))


def _legend(seen: VeneziaObservation) -> str:
    """Draw the legend: what the pieces mean, and how many grey pigeons are at the side."""
    height = _TOP + _BODY - _LEGEND_TOP
    frame = box(-17, -14, 34, 28, "none", INK, 2, 7, stroke_dasharray="5 3")
    danger = box(-16, -13, 32, 26, STONE, "none", 0, 3) + box(-16, -13, 32, 26, DANGER, "none", 0, 3, opacity=0.28)
    danger += path("M-16-3l10-10M-16 8l21-21M-11 13l26-26M0 13l16-16M11 13l5-5", stroke=DANGER, thick=1.2, opacity=0.55)
    dots = path("M-12 7L0-6L12 7", stroke=SEAT_COLOURS[seen.first_seat], thick=3)
    dots += circle(-12, 7, 4, SEAT_COLOURS[seen.first_seat]) + circle(0, -6, 4, SEAT_COLOURS[seen.first_seat])
    pieces = (
        (frame, "can still move"),
        (tourist(0, 0, 0.85), "tourist"),
        (hunter(0, 0, 0.8), "hunter"),
        (danger, "danger zone"),
        (house(0, 1, seen.first_seat), "home of seat"),
        (flag(-1, 0, seen.first_seat), "last majority"),
        (raptor(0, 3), "bird of prey"),
        (dots, "jumps"),
        (box(-10, -14, 20, 28, STONE, DIM, 1, 4), "face up"),
        (box(-10, -14, 20, 28, DEEP, DIM, 1, 4), "face down"),
        (figure(0, 5, "R2", 14, ALARM), "done in round"),
        (pigeon(0, 0, None, 0.85), f"grey, {seen.grey_side} aside"),
    )
    parts = [box(0, 0, _PIAZZA_WIDTH, height)]
    for at, (piece, words) in enumerate(pieces):
        x, y = 30 + 119 * (at % 4), 27 + 43 * (at // 4)
        parts.append(group(x, y, piece))
        parts.append(text(x + 23, y + 5, words, 11.5, FADED, fit=76))
    return group(_PIAZZA, _LEGEND_TOP, "".join(parts))


# --- the seats ------------------------------------------------------------------------------------


def _panel(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat, height: float) -> str:
    """Draw all that a seat has; with few seats, in larger cards with more room between."""
    has, width, over = seen.seats[seat], _PANELS_WIDTH, seen.phase is Phase.OVER
    place = has.rank
    active = seat == seen.seat or (seen.phase is Phase.PLAN and not has.committed)
    winner = over and place == 1
    remarks = ["first player"] * (seat == seen.first_seat)
    remarks += ["to act"] * active + [_ordinal(place)] * over
    rim = SEAT_COLOURS[seat] if active else GOLD if winner else LINE
    gap = min(20, (height - 187) / 9)
    parts = [
        box(0, 0, width, height, LIT if active or winner else LAND, rim, 2.5 if active or winner else 1),
        box(12, 0, width - 24, 5, SEAT_COLOURS[seat], "none", 0, 2),
        pigeon(34, 30, seat, 1.15),
        text(62, 27, f"Seat {seat}{' (you)' if seat == seen.viewer else ''}", 17, bold=True, serif=True),
        text(62, 43, " · ".join(remarks), 12.5, GOLD if active or winner else FADED, fit=136),
        text(width - 14, 33, has.score, 25, GOLD, "end", bold=True, fit=54),
        text(width - 14, 45, "points", 11.5, FADED, "end"),
    ]
    if has.home is not None:
        parts += [house(212, 28, seat), _sign(board.place_names[has.home], 230, 33, 106)]
    y = 62 + gap
    numbers = {"supply": has.supply, "reserve": has.reserve, "nest": has.nest}
    numbers |= {"Piazza": _on_piazza(seen, seat), "cemetery": has.cemetery}
    for x, (words, count) in zip((14, 92, 174, 242, 318), numbers.items(), strict=True):
        parts.append(text(x + 23, y + 5, count, 17, INK, "end", bold=True, fit=30))
        parts.append(text(x + 28, y + 4, words, 12.5, FADED, fit=50))
    y += 14 + gap
    row = min(34, 19 + gap)
    for at, card in enumerate(CARDS):
        where = (14 + (width - 22) / 4 * (at % 4), y + (row + 3) * (at // 4))
        parts.append(_action_card(has, card, *where, (width - 22) / 4 - 6, row))
    y += 2 * row + 9 + gap
    parts.append(_plan(board, seen, seat, y, min(height - y - 10, 140)))
    return "".join(parts)


def _action_card(has: SeatView, card: ActionCard, x: float, y: float, width: float, height: float) -> str:
    """Draw an action card: in the hand, face up in this round, or executed with its round."""
    when, name, middle = has.discard[CARDS.index(card)], _CARD_NAMES[card], y + height / 2 + 4
    if when:
        words = text(x + 5, middle, name, 11.5, FADED, fit=width - 28)
        return (
            box(x, y, width, height, "none", LINE, 1, 4)
            + words
            + text(x + width - 5, middle, f"R{when}", 11.5, ALARM, "end", bold=True)
        )
    fill, rim, ink = (GOLD, GOLD, DARK) if has.action is card else (DEEP, DIM, INK)
    return box(x, y, width, height, fill, rim, 1, 4) + text(
        x + width / 2, middle, name, 12, ink, "middle", fit=width - 8
    )


def _plan(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat, y: float, height: float) -> str:
    """Draw the plan of a seat, as far as the observer may know it."""
    has, own = seen.seats[seat], seen.plan if seat == seen.viewer else None
    width = _PANELS_WIDTH - 28
    if seen.phase is Phase.HOME or (own is None and seen.phase is Phase.PLAN):
        words = "no plan yet" if seen.phase is Phase.HOME else "plan is made" if has.committed else "planning in secret"
        made = has.committed and seen.phase is Phase.PLAN
        frame = box(14, y, width, height, DEEP, DIM if made else LINE, 1, 6, stroke_dasharray="none" if made else "5 5")
        return frame + text(14 + width / 2, y + height / 2 + 5, words, 14, INK if made else FADED, "middle")
    most = 2 + max(3, board.district_cards, len(has.piles))
    step, parts = (width + 6) / most, []
    planning = own is not None and seen.phase is Phase.PLAN
    cards = _own_cards(board, own) if own is not None and planning else _cards(board, seen, seat, own)
    for at, card in enumerate(cards):
        parts.append(group(14 + step * at, y, plan_card(seat, step - 6, height, card)))
    return "".join(parts)


def _on_card(board: VeneziaBoard, place: Place) -> str:
    """Return the name of a place, or its short id where a corrected board has many cards."""
    return board.place_names[place] if board.district_cards <= 4 else place.name


def _own_cards(board: VeneziaBoard, plan: PlanView) -> list[Shown]:
    """Return the cards of the viewer's own plan while it is being made."""
    laying = len(plan.counts) if plan.step is Step.COUNT else -1
    counts = [*plan.counts, *[None] * (1 + len(plan.chosen))]
    choosing = plan.step is Step.FIRST
    first = "" if plan.first is None else plan.first.name.title()
    shown = [
        Shown("first", first, counts[0], "down" if first else "none", choosing or laying == 0),
        Shown("action", "", None, "none", plan.step is Step.ACTION)
        if plan.action in (None, ActionCard.NONE)
        else Shown("action", _CARD_NAMES[plan.action], None, "down"),
    ]
    for at, place in enumerate(plan.chosen, 1):
        shown.append(Shown(str(at), _on_card(board, place), counts[at], "down", laying == at))
    if plan.step is Step.DISTRICTS:
        shown.append(Shown(str(len(plan.chosen) + 1), "", None, "none", now=True))
    return shown


def _cards(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat, own: PlanView | None) -> list[Shown]:
    """Return the cards of a seat's plan once all have committed; viewers also see their own face-down cards."""
    has = seen.seats[seat]
    placing = seat == seen.seat and seen.phase in (Phase.FEINT, Phase.PLACE)
    first = has.first if own is None else own.first
    turned = "down" if has.first is None else "up"
    left = has.first_count if placing or has.first is None or has.first_count else None
    shown = [Shown("first", "" if first is None else first.name.title(), left, turned, placing and not seen.slot)]
    if not has.card_planned:
        shown.append(Shown("action", "", None, "none"))
    else:
        action = has.action if own is None else own.action
        name = "" if action is None else _CARD_NAMES[action]
        shown.append(Shown("action", name, None, "down" if has.action is None else "up"))
    slots = has.pile_places or (() if own is None else own.slots)
    for at, count in enumerate(has.piles):
        name = _on_card(board, slots[at]) if at < len(slots) else ""
        now = placing and seen.slot == at + 1
        shown.append(
            Shown(str(at + 1), name, None, "up") if has.pile_places else Shown(str(at + 1), name, count, "down", now)
        )
    return shown
