"""The cards of Valparaíso and the slots of a plan, as SVG elements."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from referee.games.valparaiso.board import ACTION_CARDS, ValparaisoBoard, level_of
from referee.games.valparaiso.drawing_style import coin, cube, points
from referee.games.valparaiso.drawing_words import name_of
from referee.games.valparaiso.names import Card, Colour, Effect, Good
from referee.kit.svg import BRASS, DARK, DEEP, DIM, FADED, INK, LINE, PARCHMENT, STEEL, box, group, path, short, text

_BARK = "#5d5646"
_LEVELS = {"A": BRASS, "B1": STEEL, "B2": "#c48ae0"}


def _lines(words: str, width: float, size: float, most: int = 2) -> list[str]:
    """Break words into lines of a width as far as possible, and never into more than `most`."""
    found = textwrap.wrap(words, max(8, int(width / size / 0.6)))
    return found if len(found) <= most else [*found[: most - 1], " ".join(found[most - 1 :])]


def achievement(width: float, height: float, card: Card, board: ValparaisoBoard) -> str:
    """Draw an achievement card that lies at the sea: its name and points, and below what it does."""
    kind = board.cards[card]
    main, other = name_of(board, kind.main, brief=False), kind.alternatives[0]
    parts = [
        box(0, 0, width, height, PARCHMENT, DARK, 1, 5),
        box(0, 0, 5, height, _LEVELS[level_of(card)], "none", 0, 2),
        text(10, 16, card.name, 14, DARK, bold=True),
        points(width - 24, 12, kind.vp),
    ]
    for row, line in enumerate(_lines(main, width - 14, 11)):
        parts.append(text(10, 34 + 12.5 * row, line, 11.5, DARK, bold=True, fit=width - 14))
    if other is not None:
        parts.append(path(f"M10 52.5h{width - 16}", stroke="#a2977a"))
        for row, line in enumerate(_lines(name_of(board, other, brief=False), width - 14, 10.5)):
            parts.append(text(10, 65 + 12 * row, line, 11, "#4a4436", fit=width - 14))
    return "".join(parts)


def action_cards(
    planned: Sequence[Card], board: ValparaisoBoard, colour: Colour, width: float, height: float, *, brief: bool
) -> str:
    """Draw the action cards that all seats have, each with the seat's alternative; those that lie in its plan are struck out.

    In brief, they are in one line, without what they do.
    """
    columns = len(ACTION_CARDS) if brief else 4
    step, parts = (width + 5) / columns, []
    for at, card in enumerate(ACTION_CARDS):
        inside = [
            box(0, 0, step - 5, height, "none", LINE, 1, 4),
            text(5, height / 2 + 5, card.name, 13.5, bold=True, fit=20),
        ]
        if not brief:
            main = name_of(board, board.cards[card].main, brief=True)
            inside.append(text(29, height / 2 + 5, main, 13.5, fit=step - 57))
        if card in planned:
            inside.append(path(f"M3 {height / 2:g}H{step - 8:g}", stroke=INK, thick=1.5))
        other = board.cards[card].alternatives[colour]
        if symbol := _symbol(board, other):
            inside.append(group(step - 16, height / 2, symbol))
        elif other is not None:
            inside.append(text(step - 8, height / 2 + 4, name_of(board, other, brief=True), 12, FADED, "end", fit=22))
        where = (step * (at % columns), (height + 4) * (at // columns))
        parts.append(group(*where, "".join(inside), opacity=0.4 if card in planned else 1))
    return "".join(parts)


def owned_cards(cards: Sequence[Card], board: ValparaisoBoard, colour: Colour, width: float, height: float) -> str:
    """Draw the achievement cards of a seat: as many words for each as there is room for."""
    count, rows = len(cards), max(2, int(height // 20))
    if not count:
        return text(0, 14, "no achievement cards", 14, DIM)
    columns = -(-count // rows)
    if columns > 3:  # then their names and points are all
        columns = max(8, -(-count // rows))
    step = (width + 5) / columns
    parts = []
    for at, card in enumerate(cards):
        kind, room, brief = board.cards[card], step - 5, columns > 1
        effects = [
            name_of(board, effect, brief=brief)
            for effect in (kind.main, kind.alternatives[colour])
            if effect is not None
        ]
        inside = [
            box(0, 0, room, 18, DEEP, LINE, 1, 4),
            text(5, 14, card.name, 13.5, bold=True, fit=room * 0.53 - 5),
        ]
        if columns > 3:
            inside.append(text(room - 4, 13, short(kind.vp), 12, BRASS, "end", bold=True, fit=room * 0.47 - 5))
        else:
            inside.append(points(50, 9, kind.vp, 9.5))
            words = " / ".join(effects[: 2 if columns < 3 else 1])
            inside.append(text(72, 13, words, 13.5, FADED, fit=room - 76))
        parts.append(group(step * (at % columns), 20 * (at // columns), "".join(inside)))
    return "".join(parts)


class Slot(NamedTuple):
    """A slot of a plan, with what lies in it as far as it may be known."""

    label: str
    price: int
    """The surcharge in pesos."""
    card: Card | None = None
    colour: Colour = Colour.RED
    """Of the owner: it says what the alternative action is."""
    hidden: bool = False
    """Whether the others do not know it."""
    shut: bool = False
    """Whether no card can be put there."""


_PLAIN: dict[Effect | None, Good] = {
    Effect.TAKE_SILVER: Good.SILVER,
    Effect.TAKE_COPPER: Good.COPPER,
    Effect.TAKE_WHEAT: Good.WHEAT,
}


def _symbol(board: ValparaisoBoard, effect: Effect | None) -> str:
    """Draw the symbol of an alternative action that has one: a cube, or pesos."""
    if effect is Effect.GAIN5:
        return coin(0, 0, board.effects[effect].gain.money, 7)
    return cube(0, 0, _PLAIN[effect], 13) if effect in _PLAIN else ""


def plan_slot(width: float, height: float, slot: Slot, board: ValparaisoBoard) -> str:
    """Draw a slot of a plan: its number and surcharge, and the card, light if it is turned up."""
    card = slot.card
    price = f"+{short(slot.price)}p" if slot.price else ""
    if card is None:
        words = f"{board.slot_houses} houses" if slot.shut else "–"
        return (
            box(0, 0, width, height, "none", LINE, 1, 5, stroke_dasharray="4 4")
            + text(5, 14, slot.label, 12.5, DIM, fit=width * 0.6)
            + text(width - 5, 14, price, 12.5, DIM, "end", fit=width / 2 - 6)
            + text(width / 2, height / 2 + 12, words, 13, DIM, "middle", fit=width - 8)
        )
    kind = board.cards[card]
    fill, ink, faint = (DEEP, INK, FADED) if slot.hidden else (PARCHMENT, DARK, _BARK)
    extra = height - 48
    other = kind.alternatives[slot.colour]
    parts = [
        box(0, 0, width, height, fill, DIM if slot.hidden else DARK, 1, 5),
        text(5, 14, slot.label, 12.5, faint, fit=width * 0.6),
        text(width - 5, 14, price, 12.5, faint, "end", bold=True, fit=width / 2 - 6),
        text(5, 30 + extra / 5, card.name, 15, ink, bold=True),
        text(5, 44 + extra / 3, name_of(board, kind.main, brief=True), 13.5, ink, fit=width - 10),
    ]
    if symbol := _symbol(board, other):
        parts.append(group(width - 12, 25 + extra / 5, symbol))
    return "".join(parts)
