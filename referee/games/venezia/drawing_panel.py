"""The panel of a seat in a picture of Venezia: all that it has, its plan as far as it may be known, and what has changed."""

from __future__ import annotations

from referee.game import Scene, Seat
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.drawing_city import sign
from referee.games.venezia.drawing_style import GOLD, SEAT_COLOURS, Shown, house, pigeon, plan_card
from referee.games.venezia.drawing_words import CARD_NAMES, on_piazza
from referee.games.venezia.names import CARDS, ActionCard, Phase, Place, Step
from referee.games.venezia.observation import PlanView, SeatView, VeneziaObservation
from referee.kit.scene import brackets, clock, ordinal, signed
from referee.kit.svg import ALARM, DARK, DEEP, DIM, FADED, INK, LAMP, LAND, LINE, LIT, box, group, name_text, path, text

PANEL_WIDTH = 408


def panel(
    board: VeneziaBoard,
    seen: VeneziaObservation,
    was: VeneziaObservation,
    scene: Scene | None,
    seat: Seat,
    height: float,
) -> str:
    """Draw all that a seat has; with few seats, in larger cards with more room between."""
    has, had, width, over = seen.seats[seat], was.seats[seat], PANEL_WIDTH, seen.phase is Phase.OVER
    place = has.rank
    active = seat == seen.seat or (seen.phase is Phase.PLAN and not has.committed)
    winner = over and place == 1
    you = seat == seen.viewer
    remarks = [] if scene is None else [f"seat {seat}{', you' if you else ''}"]
    remarks += ["first"] * (seat == seen.first_seat)
    remarks += ["to act"] * active + [ordinal(place)] * over
    rim = SEAT_COLOURS[seat] if active else GOLD if winner else LINE
    gap = min(20, (height - 209) / 9)
    parts = [
        box(0, 0, width, height, LIT if active or winner else LAND, rim, 2.5 if active or winner else 1),
        box(12, 0, width - 24, 5, SEAT_COLOURS[seat], "none", 0, 2),
        pigeon(34, 30, seat, 1.15),
        name_text(62, 28, f"Seat {seat}{' (you)' if you else ''}" if scene is None else scene.bots[seat], 18, 142),
        text(62, 49, " · ".join(remarks), 15, GOLD if active or winner else FADED, fit=142),
        text(width - 14, 34, has.score, 26, GOLD, "end", bold=True, fit=54),
    ]
    if has.score != had.score:
        parts.append(brackets(width - 78, 9, 72, 50))
        parts.append(text(width - 14, 53, signed(has.score - had.score), 17, LAMP, "end", bold=True, fit=62))
    else:
        parts.append(text(width - 14, 53, "points", 15, FADED, "end"))
    if has.home is not None:
        parts += [house(224, 24, seat), sign(board.place_names[has.home], 242, 29, 86)]
    if scene is not None and scene.clocks is not None:
        parts.append(text(212, 54, f"{clock(scene.clocks[seat])} left", 15, FADED, fit=110))
    y = 76 + gap
    then = _numbers(was, seat)
    for x, room, (words, count) in zip(
        (6, 84, 172, 230, 306), (50, 63, 34, 51, 74), _numbers(seen, seat).items(), strict=True
    ):
        parts.append(text(x + 20, y + 5, count, 17, INK, "end", bold=True, fit=24))
        parts.append(text(x + 23, y + 5, words, 15, FADED, fit=room))
        if count != then[words]:
            parts.append(brackets(x - 2, y - 12, room + 26, 24))
    y += 16 + gap
    row = min(34, 21 + gap)
    for at, card in enumerate(CARDS):
        where = (14 + (width - 22) / 4 * (at % 4), y + (row + 3) * (at // 4))
        parts.append(_action_card(seen, seat, card, *where, (width - 22) / 4 - 6, row))
    y += 2 * row + 9 + gap
    parts.append(_plan(board, seen, seat, y, min(height - y - 8, 140)))
    if _on_cards(has) != _on_cards(had):
        parts.append(brackets(10, y - 3, width - 20, min(height - y - 8, 140) + 6))
    return "".join(parts)


def _on_cards(has: SeatView) -> tuple[object, ...]:
    """Return what everybody may see of a plan."""
    return has.committed, has.first, has.first_count, has.action, has.piles, has.pile_places


def _numbers(seen: VeneziaObservation, seat: Seat) -> dict[str, int]:
    has = seen.seats[seat]
    numbers = {"supply": has.supply, "reserve": has.reserve, "nest": has.nest}
    return numbers | {"Piazza": on_piazza(seen, seat), "cemetery": has.cemetery}


def is_cancelled(seen: VeneziaObservation, seat: Seat) -> bool:
    """Return whether the seat's action card was turned up, but another seat's or nobody's is executed (Z7.1)."""
    has = seen.seats[seat]
    if has.action is None or has.action is ActionCard.NONE or seat in seen.waiting:
        return False
    return has.discard[CARDS.index(has.action)] != seen.round


def _action_card(
    seen: VeneziaObservation, seat: Seat, card: ActionCard, x: float, y: float, width: float, height: float
) -> str:
    """Draw an action card: in the hand, to be executed in this round, cancelled, or executed with its round."""
    has = seen.seats[seat]
    when, name, middle = has.discard[CARDS.index(card)], CARD_NAMES[card], y + height / 2 + 5
    if when:
        words = text(x + 5, middle, name, 14, FADED, fit=width - 31)
        return (
            box(x, y, width, height, "none", LINE, 1, 4)
            + words
            + text(x + width - 4, middle, f"R{when}", 14, ALARM, "end", bold=True, fit=24)
        )
    if has.action is card and is_cancelled(seen, seat):
        line = path(f"M{x + 4:g} {y + height / 2:g}h{width - 8:g}", stroke=ALARM, thick=2)
        frame = box(x, y, width, height, "none", ALARM, 1.5, 4, stroke_dasharray="4 3")
        return frame + text(x + width / 2, middle, name, 14.5, FADED, "middle", fit=width - 8) + line
    fill, rim, ink = (GOLD, GOLD, DARK) if has.action is card else (DEEP, DIM, INK)
    return box(x, y, width, height, fill, rim, 1, 4) + text(
        x + width / 2, middle, name, 14.5, ink, "middle", fit=width - 8
    )


def _plan(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat, y: float, height: float) -> str:
    """Draw the plan of a seat, as far as the observer may know it."""
    has, own = seen.seats[seat], seen.plan if seat == seen.viewer else None
    width = PANEL_WIDTH - 28
    if seen.phase is Phase.HOME or (own is None and seen.phase is Phase.PLAN):
        words = "no plan yet" if seen.phase is Phase.HOME else "plan is made" if has.committed else "planning in secret"
        made = has.committed and seen.phase is Phase.PLAN
        frame = box(14, y, width, height, DEEP, DIM if made else LINE, 1, 6, stroke_dasharray="none" if made else "5 5")
        return frame + text(14 + width / 2, y + height / 2 + 5, words, 16, INK if made else FADED, "middle")
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
        else Shown("action", CARD_NAMES[plan.action], None, "down"),
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
        name = "" if action is None else CARD_NAMES[action]
        shown.append(Shown("action", name, None, "down" if has.action is None else "up"))
    slots = has.pile_places or (() if own is None else own.slots)
    for at, count in enumerate(has.piles):
        name = _on_card(board, slots[at]) if at < len(slots) else ""
        now = placing and seen.slot == at + 1
        shown.append(
            Shown(str(at + 1), name, None, "up") if has.pile_places else Shown(str(at + 1), name, count, "down", now)
        )
    return shown
