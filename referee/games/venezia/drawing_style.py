"""The pieces of Venezia, as SVG elements (`referee/kit/svg.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.game import Seat
from referee.kit.scene import brackets
from referee.kit.svg import (
    DARK,
    DEEP,
    DIM,
    FADED,
    INK,
    LINE,
    SMALLEST,
    box,
    circle,
    cut,
    figure,
    group,
    path,
    piece,
    pieces,
    printable,
    text,
    width_of,
)

WATER, RIPPLE = "#11303a", "#2a5560"
GOLD, STONE, STONE_TOO, BRICK = "#d9b25f", "#d8cfba", "#cec4ac", "#8f4a35"
TOURIST, HUNTER, GREY, RAPTOR, DANGER = "#f0821e", "#000000", "#9aa0a4", "#ef8468", "#8c2f22"

SEAT_COLOURS = ("#68bdf4", "#f3e266", "#d87ab4", "#22a67a")
"""The seats' colours, after Okabe and Ito, for colour-blind people; each pigeon also carries its seat's number."""

SQUARE = 43
"""The width of a square of the Piazza."""
_PIGEON = "M-18 5l8-7q4-8 13-8q1-6 7-6q5 0 6 5l5 2l-5 2q1 17-13 17q-9 0-12-5l-9 4z"


def pieces_of(seats: int) -> str:
    """Define the seats' pieces and the neutral ones, which the functions below place."""
    drawn = {}
    for seat, fill in [*enumerate(SEAT_COLOURS[:seats]), ("grey", GREY)]:
        bird = path(_PIGEON, fill, DARK, 2, paint_order="stroke", stroke_linejoin="round")
        drawn[f"ve-bird-{seat}"] = bird + circle(10.5, -10.5, 1.3, DARK)
        drawn[f"ve-pigeon-{seat}"] = drawn[f"ve-bird-{seat}"] + figure(1.5, 7.4, seat, 16, DARK)
        drawn[f"ve-house-{seat}"] = path(
            "M-13-1l13-11l13 11h-4v12h-18v-12z", fill, DARK, 1.5, paint_order="stroke"
        ) + figure(0, 8.5, seat, 14, DARK)
        drawn[f"ve-flag-{seat}"] = (
            path("M-11-12v25", stroke=INK, thick=2.5)
            + path("M-10-12h24l-5 8l5 8h-24z", fill, DARK, paint_order="stroke")
            + figure(-1, 1, seat, 14, DARK)
        )
    # Grey pigeons belong to no seat: they have neither number nor home nor majority.
    for kind in ("pigeon", "house", "flag"):
        del drawn[f"ve-{kind}-grey"]
    drawn["ve-square"] = box(0, 0, SQUARE, SQUARE, "none", "none", 0, 0)
    drawn["ve-tourist"] = (
        box(-17, -17, 34, 34, TOURIST, "#7a3b05", 1.5, 9)
        + path("M-5-9a5 5 0 1 1 10 0a5 5 0 1 1-10 0M-9 12v-7q0-7 7-7h4q7 0 7 7v7z", DARK)
        + path("M-5 2h10v6h-10z", TOURIST)
        + circle(0, 5, 1.8, DARK)
    )
    drawn["ve-hunter"] = (
        circle(0, 0, 18, HUNTER, INK, 1.5)
        + path("M-11-5h14l-2-6h-10zM-8-3h8v3q0 3-4 3t-4-3zM-11 11q0-7 7-7t7 7z", INK)
        + path("M3 10l6-13", stroke=INK, thick=1.8)
        + circle(9.5, -5, 4, "none", INK, 1.5)
    )
    return pieces(drawn)


def pigeon(x: float, y: float, seat: Seat, scale: float = 1, opacity: float = 1) -> str:
    """Draw a pigeon, about 38 wide and 28 high, with its seat's number."""
    return piece(f"ve-pigeon-{seat}", x, y, scale, opacity)


def bird(x: float, y: float, seat: Seat | None, scale: float = 1) -> str:
    """Draw a pigeon without a number, in grey if it belongs to no seat."""
    return piece(f"ve-bird-{'grey' if seat is None else seat}", x, y, scale)


def tourist(x: float, y: float, scale: float = 1) -> str:
    """Draw an orange tourist with a camera, 34 wide and high."""
    return piece("ve-tourist", x, y, scale)


def hunter(x: float, y: float, scale: float = 1) -> str:
    """Draw a black hunter with a hat and a net, 36 wide and high."""
    return piece("ve-hunter", x, y, scale)


def house(x: float, y: float, seat: Seat) -> str:
    """Draw the home marker of a seat, 26 wide and 24 high."""
    return piece(f"ve-house-{seat}", x, y)


def flag(x: float, y: float, seat: Seat) -> str:
    """Draw the flag that marks a seat's majority, 24 wide and 24 high."""
    return piece(f"ve-flag-{seat}", x, y)


def raptor(x: float, y: float, scale: float = 1) -> str:
    """Draw the bird of prey, 34 wide and 18 high."""
    return group(
        x,
        y,
        path(
            "M0-6q3 0 3 3q7-7 15-5q-4 3-5 7q-5-1-9 3l2 7h-12l2-7q-4-4-9-3q-1-4-5-7q8-2 15 5q0-3 3-3z",
            HUNTER,
            RAPTOR,
            1.8,
        ),
        scale,
    )


def grave(x: float, y: float) -> str:
    """Draw the cross of a grave, 14 wide and 20 high."""
    return path(f"M{x - 2} {y - 10}h4v5h5v4h-5v11h-4v-11h-5v-4h5z", DIM)


def tower(x: float, y: float, size: float) -> str:
    """Draw the Campanile, which fills its square."""
    parts = (
        box(-22, -22, 44, 44, BRICK, "#4b2519", 1, 3),
        path("M0-20l8 12h-16z", "#5f8f7a"),
        path("M-8-8h16v7h-16z", STONE),
        path("M-5-8v7M0-8v7M5-8v7", stroke=BRICK, thick=1.5),
        path("M-6-1h12v21h-12z", "#c0694b"),
        path("M-2 2v16M2 2v16", stroke=BRICK, thick=1.5),
    )
    return group(x, y, "".join(parts), size / 46)


def cross(x: float, y: float, seat: Seat) -> str:
    """Draw a pigeon that has just gone, faint and crossed out."""
    strokes = path("M-14-14L14 14M14-14L-14 14", stroke=RAPTOR, thick=4, stroke_linecap="round")
    return pigeon(x, y + 2, seat, 1, 0.4) + group(x, y, strokes)


def flock(pigeons: Sequence[int], before: Sequence[int], y: float, leads: Seat | None) -> str:
    """Draw the pigeons of each seat, two seats to a row, with a line under those of the leading seat.

    A seat without pigeons is faint, and changes are marked.
    """
    parts = []
    for seat, count in enumerate(pigeons):
        left, middle = 14 + 68 * (seat % 2), y + 14 + 34 * (seat // 2)
        parts.append(pigeon(left + 16, middle, seat, 0.9, 1 if count else 0.3))
        if count:
            parts.append(text(left + 37, middle + 6, count, 18, bold=True, fit=28))
        if seat == leads:
            parts.append(path(f"M{left + 36} {middle + 11}h{12 if count < 10 else 24}", stroke=GOLD, thick=3))
        if count != before[seat]:
            parts.append(brackets(left - 5, middle - 16, 66, 31))
    return "".join(parts)


# --- cards ----------------------------------------------------------------------------------------


class PlanCard(NamedTuple):
    """A card of a plan as it is drawn."""

    label: str
    name: str
    """The name of the card; empty if the observer does not know it."""
    pigeons: int | None = None
    """The number of pigeons on the card; None if no number is drawn."""
    face: str = "up"
    """The side that shows: `up`, `down`, or `none` if there is no card."""
    now: bool = False
    """True if the card is part of the open decision."""


def plan_card(seat: Seat, width: float, height: float, card: PlanCard) -> str:
    """Draw a card of a plan as one line, light if it is face up and dark if it is face down."""
    up, there = card.face == "up", card.face != "none"
    fill, ink, faint = (STONE, DARK, "#5d5646") if up else (DEEP, INK, FADED)
    rim, thick = (GOLD, 3) if card.now else (DIM if there else LINE, 1)
    dashes = {} if there else {"stroke_dasharray": "5 5"}
    middle, left = height / 2, 9 + width_of(card.label) * SMALLEST
    room = width - left - 10 - (44 if card.pigeons is not None else 0)
    name = card.name or ("?" if there else "…" if card.now else "none")
    parts = [
        box(0, 0, width, height, fill, rim, thick, 5, **dashes),
        text(5, middle + 5, card.label, SMALLEST, faint, fit=width - 10),
        text(left, middle + 5, cut(name, SMALLEST, room, bold=False), SMALLEST, ink if there else DIM, fit=room),
    ]
    if card.pigeons is not None:
        parts.append(bird(width - 34, middle + 1, seat, 0.5))
        parts.append(text(width - 5, middle + 5, card.pigeons, 14, ink, "end", bold=True, fit=22))
    return "".join(parts)


def halved(name: str, width: int) -> list[str]:
    """Split a name longer than `width` letters into two lines, near the middle; return the line or lines."""
    words = printable(name)
    spaces = [at for at, letter in enumerate(words) if letter == " "]
    if len(words) <= width or not spaces:
        return [words]
    at = min(spaces, key=lambda at: max(at, len(words) - at))  # the longer half decides
    return [words[:at], words[at + 1 :]]
