"""The cards of Valparaíso and the slots of a plan, as SVG elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.games.valparaiso.board import ACTION_CARDS, CardType, ValparaisoBoard, level_of
from referee.games.valparaiso.drawing_style import cube, points
from referee.games.valparaiso.drawing_words import name_of
from referee.games.valparaiso.names import Card, Colour, Effect, Good
from referee.games.valparaiso.spots import spot_of
from referee.kit.svg import (
    BRASS,
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LINE,
    PARCHMENT,
    SMALLEST,
    STEEL,
    box,
    element,
    figure,
    group,
    number,
    path,
    piece,
    short,
    spot,
    text,
    width_of,
    wrapped,
)

_LEVELS = {"A": BRASS, "B1": STEEL, "B2": "#c48ae0"}


def achievement(width: float, height: float, card: Card, board: ValparaisoBoard) -> str:
    """Draw an achievement card in the sea: its name, points and main action; below, its alternative in brief."""
    kind = board.cards[card]
    # An achievement card has one alternative for all colours.
    other, room = kind.alternatives[0], width - 12
    parts = [
        box(0, 0, width, height, PARCHMENT, DARK, 1, 5),
        box(0, 0, 5, height, _LEVELS[level_of(card)], "none", 0, 2),
        text(9, 17, card.name, 14, DARK, bold=True),
        points(width - 22, 12, kind.vp),
    ]
    lines = wrapped(name_of(board, kind.main, brief=False), SMALLEST, room)
    if len(lines) > 2:  # a third one would cross the line above the alternative
        lines = wrapped(name_of(board, kind.main, brief=True), SMALLEST, room)
    for row, line in enumerate(lines):
        parts.append(text(9, 36 + 15.5 * row, line, SMALLEST, DARK, fit=room))
    if other is not None:
        parts.append(path(f"M9 58h{width - 14}", stroke="#a2977a"))
        parts.append(text(9, 74, name_of(board, other, brief=True), SMALLEST, "#4a4436", fit=room))
    return "".join(parts)


def action_cards(
    planned: Sequence[Card],
    board: ValparaisoBoard,
    colour: Colour,
    width: float,
    height: float,
    columns: int,
    *,
    is_own: bool,
) -> str:
    """Draw the action cards of a seat, each with the seat's alternative action; cards in its plan are struck out.

    If all cards are on one line, there is no room for their main actions. The observer's own cards are spots.
    """
    step, middle, parts = (width + 5) / columns, height / 2, []
    for at, card in enumerate(ACTION_CARDS):
        done = card in planned
        x, y = step * (at % columns), (height + 4) * (at // columns)
        inside = [
            box(x, y, step - 5, height, "none", LINE, 1, 4),
            text(x + 3, y + middle + 5, card.name, SMALLEST, bold=True),
        ]
        if columns < len(ACTION_CARDS):
            main = name_of(board, board.cards[card].main, brief=True)
            inside.append(text(x + 27, y + middle + 5, main, SMALLEST, fit=step - 52))
        if done:
            inside.append(path(f"M{number(x + 3)} {number(y + middle)}h{number(step - 11)}", stroke=INK, thick=1.5))
        other = board.cards[card].alternatives[colour]
        if symbol := _symbol(board, other, x + step - 14.5, y + middle):
            inside.append(symbol)
        elif other is not None:
            inside.append(
                text(x + step - 8, y + middle + 5, name_of(board, other, brief=True), SMALLEST, FADED, "end", fit=20)
            )
        drawn = element("g", "".join(inside), opacity=0.4) if done else "".join(inside)
        parts.append(spot(spot_of("card", card), drawn) if is_own else drawn)
    return "".join(parts)


def owned_cards(
    cards: Sequence[Card], board: ValparaisoBoard, colour: Colour, width: float, height: float, *, is_own: bool
) -> str:
    """Draw the achievement cards of a seat, each with as many words as fit; the observer can click their own cards."""
    if not cards:
        return text(0, 15, "no achievement cards", SMALLEST, DIM)
    rows = max(1, int(height // 22))
    columns = -(-len(cards) // rows)
    bare = columns > 2
    if bare:  # then there is room for names and points only
        columns = max(6, columns)
    step = (width + 5) / columns
    parts = []
    for at, card in enumerate(cards):
        kind, room = board.cards[card], step - 5
        inside = [
            box(0, 0, room, 20, DEEP, LINE, 1, 4),
            text(4, 15, card.name, SMALLEST, bold=True, fit=room * 0.6 - 4),
        ]
        if bare:
            inside.append(text(room - 4, 15, short(kind.vp), SMALLEST, BRASS, "end", bold=True, fit=room * 0.4 - 4))
        else:
            words = _effects(board, kind, colour, room - 82)
            inside += [points(56, 10, kind.vp), text(79, 15, words, SMALLEST, FADED, fit=room - 82)]
        drawn = "".join(inside)
        if is_own:
            drawn = spot(spot_of("card", card), drawn)
        parts.append(group(step * (at % columns), 22 * (at // columns), drawn))
    return "".join(parts)


def _effects(board: ValparaisoBoard, kind: CardType, colour: Colour, width: float) -> str:
    """Describe the actions of a card in as many words as fit."""
    effects = [effect for effect in (kind.main, kind.alternatives[colour]) if effect is not None]
    fitting = (
        words
        for brief in (False, True)
        if width_of(words := " / ".join(name_of(board, effect, brief=brief) for effect in effects)) * SMALLEST <= width
    )
    return next(fitting, name_of(board, kind.main, brief=True))


class Slot(NamedTuple):
    """A slot of a plan with its card, as far as the observer may know it."""

    label: str
    price: int
    """The surcharge in pesos."""
    card: Card | None = None
    colour: Colour = Colour.RED
    """The owner's colour, which determines the alternative action."""
    hidden: bool = False
    """True if the card is hidden from the others."""
    shut: bool = False
    """True if the slot is closed to cards."""


_PLAIN: dict[Effect | None, Good] = {
    Effect.TAKE_SILVER: Good.SILVER,
    Effect.TAKE_COPPER: Good.COPPER,
    Effect.TAKE_WHEAT: Good.WHEAT,
}


def _symbol(board: ValparaisoBoard, effect: Effect | None, x: float, y: float) -> str:
    """Draw the symbol of an alternative action, if it has one: a cube, or pesos."""
    if effect is Effect.GAIN5:
        return piece("vp-coin", x, y, 0.78) + figure(
            x, y + 4.9, board.effects[effect].gain.money, SMALLEST, DARK, fit=16
        )
    return cube(x, y, _PLAIN[effect]) if effect in _PLAIN else ""


def plan_slot(width: float, height: float, slot: Slot, board: ValparaisoBoard) -> str:
    """Draw a slot of a plan with its card, which is light if face up; an empty slot shows its number and surcharge."""
    card, middle = slot.card, width / 2
    if card is None:
        words = f"{board.slot_houses} houses" if slot.shut else f"+{short(slot.price)}p" if slot.price else ""
        lines = [slot.label, *wrapped(words, SMALLEST, width - 8)]
        top = height / 2 + 5 - 8 * (len(lines) - 1)
        return box(0, 0, width, height, "none", LINE, 1, 5, stroke_dasharray="4 4") + "".join(
            text(middle, top + 16 * row, line, SMALLEST, DIM, "middle", fit=width - 6) for row, line in enumerate(lines)
        )
    fill, ink = (DEEP, INK) if slot.hidden else (PARCHMENT, DARK)
    kind = board.cards[card]
    symbol = _symbol(board, kind.alternatives[slot.colour], width - 12, 13)
    parts = [
        box(0, 0, width, height, fill, DIM if slot.hidden else DARK, 1, 5),
        text(4, 18, card.name, 14.5, ink, bold=True, fit=width - 25 if symbol else width - 8),
        symbol,
    ]
    for row, line in enumerate(wrapped(name_of(board, kind.main, brief=True), SMALLEST, width - 7)):
        parts.append(text(4, 38 + 16 * row, line, SMALLEST, ink, fit=width - 7))
    return "".join(parts)
