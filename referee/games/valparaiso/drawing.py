"""A picture of an observation, for spectators who look and do not read (RULES.md, section 2).

Below the title line, from the left: the map, with the sea, Valparaíso and its building row, and the villages, in each market its
tiles; below it what is being done, the reserve of tiles and the legend; a panel for each seat, with its plan as far as the
observer may know it. Every place has room for the most that can lie there, and pieces carry the number of their seat.
"""

from __future__ import annotations

import textwrap
from html import escape

from referee.game import Seat
from referee.games.valparaiso.board import Side, ValparaisoBoard
from referee.games.valparaiso.drawing_cards import Slot, action_cards, owned_cards, plan_slot
from referee.games.valparaiso.drawing_map import draw_map
from referee.games.valparaiso.drawing_places import MAP_HEIGHT
from referee.games.valparaiso.drawing_style import holdings, legend, lighthouse, owner_of, ship, tile
from referee.games.valparaiso.drawing_words import (
    DOING,
    goods_in_letters,
    goods_in_words,
    in_words,
    name_of,
    ordinal,
    seats_in_words,
)
from referee.games.valparaiso.names import Card, Location, Phase
from referee.games.valparaiso.observation import ValparaisoObservation, is_secret
from referee.kit.svg import (
    BRASS,
    DEEP,
    DIM,
    FADED,
    INK,
    LAMP,
    LAND,
    LINE,
    LIT,
    NIGHT,
    SANS,
    box,
    crown,
    element,
    group,
    path,
    printable,
    short,
    text,
)

_WIDTH, _MARGIN, _TOP, _BODY = 1440, 16, 64, 1040
_BELOW = _TOP + MAP_HEIGHT + 10
_BELOW_HEIGHT = _TOP + _BODY - _BELOW
_TURN_WIDTH, _STOCK, _STOCK_WIDTH = 462, 488, 508
_PANELS, _PANELS_WIDTH = 1006, 418
_LEGEND = 150


def draw(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """Return an SVG document that shows all of an observation; equal observations give equal documents."""
    seats = range(len(seen.seats))
    height = _TOP + _BODY + _MARGIN
    panel_height = (_BODY + 8) / len(seats) - 8
    parts = [
        element("title", f"Valparaíso, round {seen.round}"),
        element("desc", escape(_described(board, side, seen))),
        element("rect", width=_WIDTH, height=height, fill=NIGHT),
        _header(seen),
        group(_MARGIN, _TOP, draw_map(board, side, seen)),
        group(_MARGIN, _BELOW, _standing(board, seen) if seen.phase is Phase.OVER else _turn(board, side, seen)),
        group(_STOCK, _BELOW, _stock(board, seen)),
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


def _described(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """Return the picture for those who hear it."""
    said = [f"Round {seen.round}", _who(seen), DOING[seen.phase], *_notes(board, side, seen)]
    for seat, has in enumerate(seen.seats):
        there = [
            f"{count} in {_name(side, where)}" for where, count in zip(Location, has.merchants, strict=True) if count
        ]
        said.append(
            f"{owner_of(seen, seat).name.capitalize()}: {has.vp} VP on the track, {has.final_vp} were it to end now, {has.money} pesos, "
            f"warehouse {goods_in_words(has.warehouse)}, hold {goods_in_words(has.hold)}, {has.merchants_reserve} merchants in reserve, "
            f"{has.houses_left} houses left, ship in {printable(board.sector_names[has.ship])}, merchants: {', '.join(there) or 'none'}, "
            f"achievements: {' '.join(card.name for card in has.achievements) or 'none'}"
        )
    for village, market in zip(side.markets, seen.markets, strict=True):
        said += [f"Market of {_name(side, village)}: {in_words(board.tiles[kind])}" for kind in market.tiles[:1]]
    said += [f"House of seat {built.seat} in {_name(side, built.location)}" for built in seen.houses]
    return ". ".join(said) + "."


def _name(side: Side, location: Location) -> str:
    return printable(side.names[location])


def _to_act(seen: ValparaisoObservation) -> list[Seat]:
    """Return the seats whose decisions are open."""
    if seen.phase is Phase.PLAN:
        return [seat for seat, has in enumerate(seen.seats) if not has.committed]
    return [] if seen.seat is None else [seen.seat]


def _who(seen: ValparaisoObservation) -> str:
    """Say who is to act, or who has won."""
    if seen.phase is Phase.OVER:
        return f"Seat {[has.rank for has in seen.seats].index(1)} wins"
    seats = _to_act(seen)
    return f"{seats_in_words(seats)} {'is' if len(seats) == 1 else 'are'} to act"


def _notes(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> list[str]:
    """Return the action in progress, and what else holds now."""
    notes = [] if seen.effect is None else [f"Action: {name_of(board, seen.effect, brief=False)}"]
    if seen.phase is Phase.PLAN:
        done = [seat for seat, has in enumerate(seen.seats) if has.committed]
        notes.append(f"{seats_in_words(done)}: planning is finished" if done else "Nobody has finished planning yet")
    if seen.first_finisher is not None:
        notes.append(f"Seat {seen.first_finisher} has finished first, and gets a good")
    if seen.plan is not None:
        left = f"warehouse: {goods_in_words(seen.plan.warehouse)}; hold: {goods_in_words(seen.plan.hold)}"
        notes.append(f"Your plan leaves {seen.plan.money} pesos; {left}")
    if seen.path:
        way = " → ".join(location.name for location in seen.path)
        notes.append(f"Merchant in motion: {way}; counted steps: {seen.steps} of {len(board.move_costs)}")
    if any(seen.unmoved):
        still = zip(Location, seen.unmoved, strict=True)
        notes.append(
            "May still move: " + ", ".join(f"{count} in {_name(side, where)}" for where, count in still if count)
        )
    if seen.village is not None:
        bottom = seen.markets[seen.village - Location.M1].tiles[:1]
        notes += [f"{_name(side, seen.village)}: {in_words(board.tiles[kind])}" for kind in bottom]
    if seen.phase is Phase.EXCHANGE:
        notes.append(f"Uses of the tile left: {seen.left}")
    if seen.phase is Phase.BUY:
        notes.append(f"Goods that can still be bought: {seen.left}")
    if seen.villages:
        notes.append("Still to be resolved: " + ", ".join(_name(side, village) for village in seen.villages))
    if seen.phase is Phase.USE:
        notes.append("The card in slot #1 and the mayor's cost nothing more")
    if seen.phase is not Phase.OVER and _is_last(board, seen):
        notes.append("This is the last round")
    return notes


def _is_last(board: ValparaisoBoard, seen: ValparaisoObservation) -> bool:
    """Return whether the match ends with this round as things are (V7.1)."""
    on_track = max(has.vp for has in seen.seats)
    return on_track >= board.end_vp or any(slot.card is None for slot in seen.slots) or seen.round >= seen.last_round


def _order(seen: ValparaisoObservation) -> list[Seat]:
    """Return the seats in this round's order."""
    seats = len(seen.seats)
    return [(seen.start_seat + step) % seats for step in range(seats)]


# --- the head -------------------------------------------------------------------------------------


def _header(seen: ValparaisoObservation) -> str:
    """Draw the round, what is open and for whom, and the start player."""
    parts = [
        text(_MARGIN, 43, "VALPARAÍSO", 28, BRASS, serif=True, bold=True, fit=222),
        text(254, 41, f"Round {seen.round}", 17, bold=True, fit=92),
        path("M356 22v26", stroke=LINE, thick=2),
        text(374, 41, "Game over" if seen.phase is Phase.OVER else DOING[seen.phase], 17, fit=470),
        text(1212, 41, _who(seen), 17, BRASS, "end", bold=True, fit=330),
        path("M1234 22v26", stroke=LINE, thick=2),
        text(1346, 41, "start player", 14, FADED, "end"),
        lighthouse(1370, 35),
        ship(1404, 37, owner_of(seen, seen.start_seat)),
    ]
    return "".join(parts)


# --- below the map --------------------------------------------------------------------------------


def _turn(board: ValparaisoBoard, side: Side, seen: ValparaisoObservation) -> str:
    """Draw who is to do what, the action in progress, and the order of the round."""
    seats, order = _to_act(seen), _order(seen)
    rim = owner_of(seen, seats[0]).rim if len(seats) == 1 else BRASS
    parts = [box(0, 0, _TURN_WIDTH, _BELOW_HEIGHT, LAND, rim, 2)]
    parts += [ship(34 + 42 * at, 32, owner_of(seen, seat), 1.15) for at, seat in enumerate(seats)]
    left = 20 + 42 * len(seats)
    who = f"{owner_of(seen, seats[0]).name.capitalize()}, to act" if len(seats) == 1 else _who(seen)
    parts.append(text(left, 37, who, 18, BRASS, serif=True, bold=True, fit=_TURN_WIDTH - left - 14))
    parts.append(text(16, 70, DOING[seen.phase], 16, bold=True, fit=_TURN_WIDTH - 32))
    lines = [line for note in _notes(board, side, seen) for line in textwrap.wrap(note, 64)]
    step = min(19, 126 / max(len(lines), 1))
    for row, line in enumerate(lines):
        parts.append(text(16, 94 + step * row, line, min(13.5, step), FADED, fit=_TURN_WIDTH - 32))
    parts.append(text(16, _BELOW_HEIGHT - 18, "order of the round", 12.5, DIM))
    for at, seat in enumerate(order):
        parts.append(ship(166 + 44 * at, _BELOW_HEIGHT - 24, owner_of(seen, seat), 0.9, 1 if seat in seats else 0.55))
    return "".join(parts)


def _standing(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """Draw the final standing, in place of a turn."""
    places, columns = [has.rank for has in seen.seats], (316, 356, 396, 438)
    parts = [
        box(0, 0, _TURN_WIDTH, _BELOW_HEIGHT, LAND, BRASS, 2),
        text(16, 32, "Final standing", 19, BRASS, serif=True, bold=True),
        text(16, _BELOW_HEIGHT - 14, "ties: pesos that are left, then who went last", 12, DIM),
    ]
    for x, words in zip(columns, ("track", "cards", "pesos", "left"), strict=True):
        parts.append(text(x, 42, words, 11.5, FADED, "middle"))
    for row, seat in enumerate(sorted(range(len(places)), key=places.__getitem__)):
        has, y, colour = seen.seats[seat], 66 + 36 * row, BRASS if places[seat] == 1 else INK
        cards = sum(board.cards[card].vp for card in has.achievements)
        parts.append(text(16, y + 6, ordinal(places[seat]), 16, colour, bold=True))
        parts.append(crown(66, y) if places[seat] == 1 else "")
        parts.append(ship(106, y, owner_of(seen, seat)))
        parts.append(text(130, y + 6, owner_of(seen, seat).name, 13.5, fit=96))
        parts.append(text(292, y + 6, f"{short(has.final_vp)} VP", 17, colour, "end", bold=True, fit=66))
        for x, count in zip(columns, (has.vp, cards, has.final_vp - has.vp - cards, has.rest_money), strict=True):
            parts.append(text(x, y + 6, short(count), 14, FADED, "middle", fit=36))
    return "".join(parts)


def _stock(board: ValparaisoBoard, seen: ValparaisoObservation) -> str:
    """Draw the reserve of market tiles, the next one first; and what pieces and marks mean."""
    count = len(seen.reserve)
    per_row = max(5, -(-count // 2)) if count <= 10 else -(-count // 3)
    step = (_STOCK_WIDTH - 24) / per_row
    parts = [
        box(0, 0, _STOCK_WIDTH, _BELOW_HEIGHT),
        text(14, 26, "Reserve of tiles", 16, BRASS, serif=True, bold=True),
        text(_STOCK_WIDTH - 14, 25, "from the bottom, which is next, to the top", 12, FADED, "end"),
    ]
    for at, kind in enumerate(seen.reserve):
        where = (14 + step * (at % per_row), 40 + 27 * (at // per_row))
        parts.append(tile(*where, step - 5, board.tiles[kind], lit=False))
        if not at:
            parts.append(box(where[0] - 2, where[1] - 2, step - 1, 25, "none", LAMP, 1.5, 5))
    parts.append(path(f"M14 {_LEGEND - 24}h{_STOCK_WIDTH - 28}", stroke=LINE))
    parts.append(group(34, _LEGEND, legend(owner_of(seen, seen.start_seat))))
    return "".join(parts)


# --- the seats ------------------------------------------------------------------------------------


def _panel(board: ValparaisoBoard, seen: ValparaisoObservation, seat: Seat, height: float) -> str:
    """Draw all that a seat has; where there are few seats, with more room between, and more said of its cards."""
    has, width, over, owner = seen.seats[seat], _PANELS_WIDTH, seen.phase is Phase.OVER, owner_of(seen, seat)
    active, winner = seat in _to_act(seen), over and has.rank == 1
    remarks = ["start player"] * (seat == seen.start_seat) + ["finished first"] * (seat == seen.first_finisher)
    remarks += ["to act"] * active + [ordinal(has.rank)] * over
    roomy = height > 250
    gap = min(32, max(0, height - 202 - 52 * roomy) / 6)
    parts = [
        box(0, 0, width, height, LIT if active or winner else LAND, owner.rim if active else BRASS if winner else LINE),
        box(12, 0, width - 24, 5, owner.fill, owner.rim, 0.8, 2),
        ship(34, 32, owner, 1.15),
        text(62, 28, f"Seat {seat}{' (you)' if seat == seen.viewer else ''}", 17, bold=True, serif=True),
        text(
            62,
            44,
            " · ".join([owner.colour.name.lower(), *remarks]),
            12.5,
            BRASS if active or winner else FADED,
            fit=220,
        ),
        text(width - 82, 31, short(has.vp), 25, BRASS, "end", bold=True, fit=54),
        text(width - 82, 44, "VP on track", 10.5, FADED, "end", fit=66),
        text(width - 14, 31, short(has.final_vp), 20, INK, "end", bold=True, fit=48),
        text(width - 14, 44, "in the end" if over else "if it ended", 10.5, FADED, "end", fit=58),
    ]
    if active or winner:
        parts[0] = box(0, 0, width, height, LIT, owner.rim if active else BRASS, 2.5)
    y = 64 + gap
    parts.append(group(0, y, holdings(has, owner, board.hold)))
    y += 28 + gap
    if seat == seen.viewer and seen.plan is not None:
        left = f"warehouse {goods_in_letters(seen.plan.warehouse)} · hold {goods_in_letters(seen.plan.hold)}"
        parts.append(text(14, y + 7, f"plan leaves {short(seen.plan.money)}p · {left}", 11.5, INK, fit=width - 28))
        y += 14
    slot_height = min(74.0, 46 + gap)
    parts.append(group(14, y, _plan(board, seen, seat, width - 28, slot_height)))
    y += slot_height + 6 + gap / 2
    if roomy:
        cards, mayor = _known_plan(seen, seat)
        planned = cards if mayor is None else (*cards, mayor)
        parts.append(group(14, y, action_cards(planned, board, has.colour, width - 28, 20 + gap / 3)))
        y += 2 * (20 + gap / 3) + 12 + gap / 2
    parts.append(group(14, y, owned_cards(has.achievements, board, has.colour, width - 28, height - y - 8)))
    return "".join(parts)


def _known_plan(seen: ValparaisoObservation, seat: Seat) -> tuple[tuple[Card, ...], Card | None]:
    """Return the cards in the slots of a seat and in its mayor's slot, as far as the observer may know them."""
    if seat == seen.viewer and seen.plan is not None:
        return seen.plan.cards, seen.plan.mayor
    return seen.seats[seat].plan, seen.seats[seat].mayor


def _plan(board: ValparaisoBoard, seen: ValparaisoObservation, seat: Seat, width: float, height: float) -> str:
    """Draw the plan of a seat, as far as the observer may know it."""
    has, hidden = seen.seats[seat], is_secret(seen.phase)
    if seen.phase < Phase.PLAN or (hidden and seat != seen.viewer):
        done = has.committed and hidden
        words = "no plan yet" if seen.phase < Phase.PLAN else "finished" if done else "planning"
        frame = box(0, 0, width, height, DEEP, DIM if done else LINE, 1, 6, stroke_dasharray="none" if done else "5 5")
        return frame + text(width / 2, height / 2 + 5, words, 14, INK if done else FADED, "middle")
    cards, mayor = _known_plan(seen, seat)
    open_slots = board.open_slots + (board.houses - has.houses_left >= board.slot_houses)
    slots = []
    for at, price in enumerate(board.surcharges[: board.open_slots + 1]):
        card = cards[at] if at < len(cards) else None
        slots.append(Slot(f"#{at + 1}", price, card, has.colour, hidden, at >= open_slots))
    slots.append(Slot("mayor", 0, mayor, has.colour, hidden))
    step = (width + 5) / len(slots)
    return "".join(group(step * at, 0, plan_slot(step - 5, height, slot, board)) for at, slot in enumerate(slots))
