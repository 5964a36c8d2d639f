"""The panel of a seat in a picture of Valparaíso: its holdings, the known part of its plan, and the latest changes."""

from __future__ import annotations

from referee.game import Scene, Seat
from referee.games.valparaiso.board import ValparaisoBoard
from referee.games.valparaiso.drawing_cards import Slot, action_cards, owned_cards, plan_slot
from referee.games.valparaiso.drawing_style import holdings, lighthouse, owner_of, ship
from referee.games.valparaiso.drawing_words import goods_in_letters, order_of, to_act
from referee.games.valparaiso.names import Card, Phase
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.observing import is_secret
from referee.games.valparaiso.spots import MAYOR, slot_spot
from referee.kit.scene import brackets, ordinal, signed
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
    SMALLEST,
    box,
    group,
    name_text,
    path,
    short,
    spot,
    text,
)


def panel(
    board: ValparaisoBoard,
    seen: ValparaisoObservation,
    was: ValparaisoObservation,
    scene: Scene | None,
    seat: Seat,
    width: float,
    height: float,
) -> str:
    """Draw the holdings of a seat; with few seats, there is room for more words about its cards."""
    has, had, over, owner = seen.seats[seat], was.seats[seat], seen.phase is Phase.OVER, owner_of(seen, seat)
    own, active, winner = seat == seen.viewer, seat in to_act(seen), over and has.rank == 1
    lit = active or winner
    title = f"Seat {seat}{' (you)' * own}" if scene is None else scene.bots[seat]
    remarks = ["you"] * (own and scene is not None) + [owner.colour.name.lower()]
    remarks += ["was first"] * (seat == seen.first_finisher) + ["to act"] * active + [ordinal(has.rank)] * over
    roomy = height > 250
    columns = 8 if not roomy else 3 if width < 450 else 4
    # The height that is left over, shared by the gaps and the taller rows.
    gap = min(30, max(0, height - 205 - 25 * -(-8 // columns)) / 6)
    rim = owner.rim if active else BRASS if winner else LINE
    parts = [
        box(0, 0, width, height, LIT if lit else LAND, rim, 2.5 if lit else 1),
        box(12, 0, width - 24, 5, owner.fill, owner.rim, 0.8, 2),
        ship(32, 34, owner, 1.15),
        name_text(58, 29, title, 18, width - 238),
        text(58, 48, " · ".join(remarks), SMALLEST, BRASS if lit else FADED, fit=width - 210),
        text(width - 94, 31, short(has.vp), 26, BRASS, "end", bold=True, fit=50),
        text(width - 94, 48, "on track", SMALLEST, FADED, "end"),
        text(width - 12, 31, short(has.final_vp), 21, INK, "end", bold=True, fit=52),
        text(width - 12, 48, "in the end" if over else "if it ended", SMALLEST, FADED, "end"),
    ]
    if seat == seen.start_seat:
        parts.append(lighthouse(width - 166, 21))
    if has.vp != had.vp:
        parts.append(text(width - 150, 29, signed(has.vp - had.vp), 16, LAMP, "end", bold=True, fit=34))
        parts.append(brackets(width - 146, 6, 58, 31))
    y = 72 + gap
    parts.append(group(0, y, holdings(has, had, owner, board.hold, is_own=own)))
    y += 32 + gap
    if own and seen.plan is not None:
        left = f"{goods_in_letters(seen.plan.warehouse)} · hold {goods_in_letters(seen.plan.hold)}"
        parts.append(text(14, y + 9, f"plan leaves {short(seen.plan.money)}p · {left}", SMALLEST, fit=width - 28))
        y += 15
    slot_height = 60 + min(16, gap)
    parts.append(group(14, y, _plan(board, seen, seat, width - 28, slot_height)))
    if (has.plan, has.mayor, has.committed) != (had.plan, had.mayor, had.committed):
        parts.append(brackets(10, y - 3, width - 20, slot_height + 6))
    y += slot_height + 6 + gap / 2
    cards, mayor = _known_plan(seen, seat)
    planned = cards if mayor is None else (*cards, mayor)
    line = 21 + gap / 3
    parts.append(group(14, y, action_cards(planned, board, has.colour, width - 28, line, columns, is_own=own)))
    y += (line + 4) * -(-8 // columns) + 2 + gap / 2
    parts.append(group(14, y, owned_cards(has.achievements, board, has.colour, width - 28, height - y - 6, is_own=own)))
    if has.achievements != had.achievements:
        parts.append(brackets(10, y - 3, width - 20, height - y - 2))
    return "".join(parts)


def _known_plan(seen: ValparaisoObservation, seat: Seat) -> tuple[tuple[Card, ...], Card | None]:
    """Return the cards in a seat's slots, and the one in its mayor's slot, as far as the observer may know them."""
    if seat == seen.viewer and seen.plan is not None:
        return seen.plan.cards, seen.plan.mayor
    return seen.seats[seat].plan, seen.seats[seat].mayor


def _set_up(seen: ValparaisoObservation, seat: Seat) -> tuple[str, bool]:
    """Return words for a seat's progress in the set-up, and whether it has chosen; the last seat begins (S6, S8)."""
    what = "goods" if seen.phase is Phase.SETUP_GOODS else "the place of a merchant"
    order = order_of(seen)[::-1]
    if seat == seen.seat:
        return f"chooses {what} now", False
    done = seen.seat is not None and order.index(seat) < order.index(seen.seat)
    return (f"has chosen {what}" if done else f"has still to choose {what}"), done


def _plan(board: ValparaisoBoard, seen: ValparaisoObservation, seat: Seat, width: float, height: float) -> str:
    """Draw the plan of a seat, as far as the observer may know it."""
    has, hidden = seen.seats[seat], is_secret(seen.phase)
    if seen.phase < Phase.PLAN or (hidden and seat != seen.viewer):
        if seen.phase < Phase.PLAN:
            words, done = _set_up(seen, seat)
        else:
            words, done = "finished" if has.committed else "planning", has.committed
        frame = box(0, 0, width, height, DEEP, DIM if done else LINE, 1, 6, stroke_dasharray="none" if done else "5 5")
        sign = text(width / 2, height / 2 + 5, words, 15, INK if done else FADED, "middle")
        return frame + sign + (_tick(width - 30, height / 2) if done else "")
    cards, mayor = _known_plan(seen, seat)
    # Like `planning.slots`, but computed from an observation.
    open_slots = board.open_slots + (board.houses - has.houses_left >= board.slot_houses)
    slots = []
    for at, price in enumerate(board.surcharges[: board.open_slots + 1]):
        card = cards[at] if at < len(cards) else None
        slots.append(Slot(f"#{at + 1}", price, card, has.colour, hidden, at >= open_slots))
    slots.append(Slot("mayor", 0, mayor, has.colour, hidden))
    step = (width + 5) / len(slots)
    drawn = [plan_slot(step - 5, height, slot, board) for slot in slots]
    if seat == seen.viewer:
        names = [*map(slot_spot, range(1, len(slots))), MAYOR]
        drawn = [spot(name, slot) for name, slot in zip(names, drawn, strict=True)]
    return "".join(group(step * at, 0, slot) for at, slot in enumerate(drawn))


def _tick(x: float, y: float) -> str:
    return path(f"M{x - 9:g} {y:g}l6 7 12-15", stroke=BRASS, thick=3)
