"""The panel of a seat in a picture of Venezia: its holdings, the known part of its plan, and the latest changes."""

from __future__ import annotations

from collections.abc import Sequence

from referee.game import Seat
from referee.games.venezia.board import VeneziaBoard
from referee.games.venezia.drawing_style import GOLD, SEAT_COLOURS, PlanCard, house, pigeon, plan_card
from referee.games.venezia.drawing_words import CARD_NAMES, next_score, on_piazza
from referee.games.venezia.names import CARDS, ActionCard, Phase, Place, Step
from referee.games.venezia.observation import PlanView, SeatView, VeneziaObservation
from referee.games.venezia.spots import seat_spot, spot_of
from referee.kit.scene import brackets, ordinal, signed
from referee.kit.svg import (
    ALARM,
    DARK,
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
    cut,
    group,
    name_text,
    number,
    path,
    spot,
    text,
    width_of,
)

_BRIEF = {ActionCard.RAU: "Bird", ActionCard.MIC: "Michele"}
"""Shorter names of action cards, for small spaces."""


def panel(
    board: VeneziaBoard,
    seen: VeneziaObservation,
    was: VeneziaObservation,
    seat: Seat,
    name: str,
    width: float,
    height: float,
) -> str:
    """Draw the holdings of a seat in a box of this size."""
    has, had, over = seen.seats[seat], was.seats[seat], seen.phase is Phase.OVER
    active = seat == seen.seat or (seen.phase is Phase.PLAN and not has.committed)
    winner = over and has.rank == 1
    lit = active or winner
    remarks = ["you"] * (seat == seen.viewer) + ["to act"] * active + [ordinal(has.rank)] * over
    rim = SEAT_COLOURS[seat] if active else GOLD if winner else LINE
    gap = min(20, (height - 216) / 9)
    parts = [
        box(
            *(0, 0, width, height, LIT if lit else LAND, rim, 2.5 if lit else 1),
            data_spot=seat_spot(seat),
        ),
        box(12, 0, width - 24, 5, SEAT_COLOURS[seat], "none", 0, 2),
        pigeon(34, 32, seat, 1.15),
        name_text(60, 29, name, 17, width - 136 - 44 * (has.score != had.score)),
        text(60, 49, " · ".join(remarks), SMALLEST, GOLD if lit else FADED, fit=width - 249),
        text(width - 14, 31, has.score, 25, GOLD, "end", bold=True, fit=54),
        text(width - 14, 49, "points" if over else f"+{next_score(board, seen, seat)} next", SMALLEST, FADED, "end"),
    ]
    if has.score != had.score:
        parts.append(brackets(width - 70, 8, 62, 46))
        parts.append(text(width - 76, 29, signed(has.score - had.score), 17, LAMP, "end", bold=True, fit=42))
    if has.home is not None:
        home = cut(board.place_names[has.home], SMALLEST, 87, bold=False)
        parts += [house(width - 178, 43, seat), text(width - 162, 49, home, SMALLEST)]
    y = 64 + gap
    then = _numbers(was, seat)
    for x, room, (words, count) in zip(
        (10, 75, 143, 189, 249), (54, 60, 38, 52, 74), _numbers(seen, seat).items(), strict=True
    ):
        parts.append(text(x + room / 2, y + 11, count, 17, INK, "middle", bold=True, fit=room))
        parts.append(text(x + room / 2, y + 28, words, SMALLEST, FADED, "middle", fit=room + 4))
        if count != then[words]:
            parts.append(brackets(x + room / 2 - 20, y - 5, 40, 21))
    y += 37 + gap
    row = min(32, 21 + gap)
    for at in (0, 4):
        parts.append(_hand(seen, seat, CARDS[at : at + 4], 14, y, width - 28, row))
        y += row + 4
    y += 2 + gap
    plan_height = min(height - y - 8, 110)
    parts.append(_plan(board, seen, seat, y, width - 28, plan_height))
    if _on_cards(has) != _on_cards(had):
        parts.append(brackets(10, y - 3, width - 20, plan_height + 6))
    return "".join(parts)


def _on_cards(has: SeatView) -> tuple[object, ...]:
    """Return the public part of a plan."""
    return has.committed, has.first, has.first_count, has.action, has.piles, has.pile_places


def _numbers(seen: VeneziaObservation, seat: Seat) -> dict[str, int]:
    has = seen.seats[seat]
    numbers = {"supply": has.supply, "reserve": has.reserve, "nest": has.nest}
    return numbers | {"Piazza": on_piazza(seen, seat), "cemetery": has.cemetery}


def is_cancelled(seen: VeneziaObservation, seat: Seat) -> bool:
    """Return whether the seat's action card was turned up, but is executed by another seat or by nobody (Z7.1)."""
    has = seen.seats[seat]
    if has.action is None or has.action is ActionCard.NONE or seat in seen.waiting:
        return False
    # The discard pile records the round of an executed card, and the card's seat no longer waits.
    return has.discard[CARDS.index(has.action)] != seen.round


def _hand(
    seen: VeneziaObservation, seat: Seat, cards: Sequence[ActionCard], x: float, y: float, width: float, height: float
) -> str:
    """Draw action cards in a row, each as wide as its name needs."""
    names = [_BRIEF.get(card, CARD_NAMES[card]) for card in cards]
    needed = [width_of(name) * SMALLEST + 20 for name in names]
    spare = (width - sum(needed) - 5 * (len(cards) - 1)) / len(cards)
    parts = []
    for card, name, room in zip(cards, names, needed, strict=True):
        drawn = _action_card(seen, seat, card, name, room + spare, height)
        parts.append(group(x, y, spot(spot_of("card", card), drawn) if seat == seen.viewer else drawn))
        x += room + spare + 5
    return "".join(parts)


def _action_card(seen: VeneziaObservation, seat: Seat, card: ActionCard, name: str, width: float, height: float) -> str:
    """Draw an action card that is in the hand, to be executed this round, cancelled, or executed (with its round)."""
    has, middle = seen.seats[seat], height / 2 + 5
    if when := has.discard[CARDS.index(card)]:
        parts = (
            box(0, 0, width, height, "none", LINE, 1, 4),
            text(4, middle, name, SMALLEST, DIM),
            text(width - 4, middle, when, SMALLEST, ALARM, "end", bold=True),
        )
        return "".join(parts)
    words = text(width / 2, middle, name, SMALLEST, INK, "middle")
    if has.action is card and is_cancelled(seen, seat):
        frame = box(0, 0, width, height, "none", ALARM, 1.5, 4, stroke_dasharray="4 3")
        return frame + words + path(f"M4 {number(height / 2)}h{number(width - 8)}", stroke=ALARM, thick=2)
    if has.action is card:
        words = text(width / 2, middle, name, SMALLEST, DARK, "middle")
        return box(0, 0, width, height, GOLD, GOLD, 1, 4) + words
    return box(0, 0, width, height, DEEP, DIM, 1, 4) + words


def _plan(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat, y: float, width: float, height: float) -> str:
    """Draw the known part of a seat's plan: on the left the first card and the action card, then the district cards."""
    has, own = seen.seats[seat], seen.plan if seat == seen.viewer else None
    if seen.phase is Phase.HOME or (own is None and seen.phase is Phase.PLAN):
        words = "no plan yet" if seen.phase is Phase.HOME else "plan is made" if has.committed else "planning in secret"
        made = has.committed and seen.phase is Phase.PLAN
        dashes = {} if made else {"stroke_dasharray": "5 5"}
        frame = box(14, y, width, height, DEEP, DIM if made else LINE, 1, 6, **dashes)
        return frame + text(14 + width / 2, y + height / 2 + 5, words, 16, INK if made else FADED, "middle")
    planning = own is not None and seen.phase is Phase.PLAN
    cards = _own_cards(board, own) if own is not None and planning else _cards(board, seen, seat, own)
    columns = 1 + -(-max(3, board.district_cards, len(has.piles)) // 3)
    step, row, parts = (width + 5) / columns, min((height + 3) / 3, 30), []
    for at, card in enumerate(cards):
        # The first card and the action card have a column to themselves, so the district cards begin in the next one.
        column, line = (0, at) if at < 2 else divmod(at + 1, 3)
        parts.append(group(14 + step * column, y + row * line, plan_card(seat, step - 5, row - 3, card)))
    return "".join(parts)


def _on_card(board: VeneziaBoard, place: Place) -> str:
    """Return the name of a place, or its short id if a corrected board has many cards."""
    return board.place_names[place] if board.district_cards <= 4 else place.name


def _own_cards(board: VeneziaBoard, plan: PlanView) -> list[PlanCard]:
    """Return the cards of the viewer's own unfinished plan."""
    laying = len(plan.counts) if plan.step is Step.COUNT else -1
    counts = [*plan.counts, *[None] * (1 + len(plan.chosen))]
    choosing = plan.step is Step.FIRST
    first = "" if plan.first is None else plan.first.name.title()
    cards = [
        PlanCard("first", first, counts[0], "down" if first else "none", choosing or laying == 0),
        PlanCard("action", "", None, "none", plan.step is Step.ACTION)
        if plan.action in (None, ActionCard.NONE)
        else PlanCard("action", CARD_NAMES[plan.action], None, "down"),
    ]
    for at, place in enumerate(plan.chosen, 1):
        cards.append(PlanCard(str(at), _on_card(board, place), counts[at], "down", laying == at))
    if plan.step is Step.DISTRICTS:
        cards.append(PlanCard(str(len(plan.chosen) + 1), "", None, "none", now=True))
    return cards


def _cards(board: VeneziaBoard, seen: VeneziaObservation, seat: Seat, own: PlanView | None) -> list[PlanCard]:
    """Return the cards of a seat's plan once all have committed; viewers also see their own face-down cards."""
    has = seen.seats[seat]
    placing = seat == seen.seat and seen.phase in (Phase.FEINT, Phase.PLACE)
    first = has.first if own is None else own.first
    turned = "down" if has.first is None else "up"
    left = has.first_count if placing or has.first is None or has.first_count else None
    cards = [PlanCard("first", "" if first is None else first.name.title(), left, turned, placing and not seen.slot)]
    if not has.card_planned:
        cards.append(PlanCard("action", "", None, "none"))
    else:
        action = has.action if own is None else own.action
        name = "" if action is None else CARD_NAMES[action]
        cards.append(PlanCard("action", name, None, "down" if has.action is None else "up"))
    slots = has.pile_places or (() if own is None else own.slots)
    for at, count in enumerate(has.piles):
        name = _on_card(board, slots[at]) if at < len(slots) else ""
        now = placing and seen.slot == at + 1
        cards.append(
            PlanCard(str(at + 1), name, None, "up")
            if has.pile_places
            else PlanCard(str(at + 1), name, count, "down", now)
        )
    return cards
