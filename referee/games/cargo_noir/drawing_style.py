"""The pieces of Cargo Noir, as SVG elements (`referee/kit/svg.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import SMUGGLER_CARDS, Card, Kind
from referee.games.cargo_noir.spots import spot_of
from referee.kit.svg import (
    BRASS,
    DARK,
    DIM,
    LAMP,
    PARCHMENT,
    SEAT_COLOURS,
    SMALLEST,
    STEEL,
    box,
    element,
    figure,
    path,
    piece,
    pieces,
    short,
    spot,
    text,
)

# Colour and pictogram of each kind of goods; a pictogram fits a box from -10 to 10.
_GOODS = {
    Kind.ALCOHOL: ("#7fb56b", "M-2-10h4v6q4 2 4 6v7q0 1-1 1h-10q-1 0-1-1v-7q0-4 4-6zM-6 3v4h12v-4z"),
    Kind.WEAPONS: ("#93a3bd", "M-10-6h19v5h-8q0 4-4 4h-1l-2 6h-6l3-9q-1-2-1-6zM-2-1v2q2 0 2-2z"),
    Kind.ART: ("#c79ad6", "M-10-8h20v17h-20zM-7-5v11h14v-11zM-6 5l4-6 3 4 2-2 3 4z"),
    Kind.CARS: ("#e2604d", "M-10 3v-4l4-1 3-5h7l3 5 3 1v4h-2a2.8 2.8 0 1 1-5 0h-6a2.8 2.8 0 1 1-5 0zM-3-2h7l-1-3h-4z"),
    Kind.CIGARS: ("#b98255", "M-10 7l9-9 4 4-9 9zM0-3l5-5 4 4-5 5zM7-10q-3-1-1 1q2 1 4 0z"),
    Kind.IVORY: ("#efe6cf", "M-9-9q1 10 7 12t12-1q-3 7-10 7t-10-6t-1-12z"),
    Kind.JEWELS: ("#55c6da", "M-6-8h12l4 6h-20zM-10 0h5l4 8zM-3 0h6l-3 9zM10 0h-5l-4 8z"),
    Kind.GOLD: ("#ecbc3b", "M-3-8h6l2 7h-10zM-8 1h6l2 7h-10zM2 1h6l2 7h-10z"),
    Kind.URANIUM: (
        "#b9e04c",
        "M-4.8-8.3A9.6 9.6 0 0 1 4.8-8.3L1.7-2.9A3.4 3.4 0 0 0-1.7-2.9z"
        "M9.6 0A9.6 9.6 0 0 1 4.8 8.3L1.7 2.9A3.4 3.4 0 0 0 3.4 0z"
        "M-4.8 8.3A9.6 9.6 0 0 1-9.6 0L-3.4 0A3.4 3.4 0 0 0-1.7 2.9zM-2 0a2 2 0 0 0 4 0a2 2 0 0 0-4 0z",
    ),
    Kind.WILD: (DARK, "M0-9.5l2.6 6 6.4.5-4.9 4.2 1.5 6.3-5.6-3.4-5.6 3.4 1.5-6.3-4.9-4.2 6.4-.5z"),
}


def pieces_of(seats: int) -> str:
    """Define the seats' ships, the tokens and the piles of coins, which the functions below place."""
    outline = "M-18-2h36q-2 9-7 12.5h-23q-5-3.5-6-12.5zM-11-3v-5h11v5zM4-3v-9h5v9z"
    drawn = {
        f"cn-ship-{seat}": path(outline, SEAT_COLOURS[seat], DARK, 1.5, paint_order="stroke")
        + figure(0, 9, seat, 15, DARK)
        for seat in range(seats)
    }
    for kind, (fill, pictogram) in _GOODS.items():
        rim, thick = (BRASS, 2) if kind is Kind.WILD else (DARK, 1)
        drawn[f"cn-{kind.name.lower()}"] = box(-12, -12, 24, 24, fill, rim, thick, 5) + path(
            pictogram, rim, fill_rule="evenodd", transform="scale(.9)"
        )
    for height in range(1, _PILE + 1):
        drawn[f"cn-coins-{height}"] = "".join(
            element("ellipse", cy=-4 - 3 * level, rx=12, ry=4, fill=BRASS, stroke="#5d4413") for level in range(height)
        )
    return pieces(drawn)


_PILE = 7
"""The maximum height of a drawn pile, in coins."""


def ship(x: float, y: float, seat: int, scale: float = 1, *, waiting: bool = False, opacity: float = 1) -> str:
    """Draw a ship of a seat, 36 wide and 24 high, with the seat's number; a lamp marks a ship to be resolved."""
    drawn = piece(f"cn-ship-{seat}", x, y, scale, opacity)
    if waiting:
        for radius, dim in ((8, 0.3), (4, 1)):
            drawn += element("circle", cx=x + 15 * scale, cy=y - 9 * scale, r=radius * scale, fill=LAMP, opacity=dim)
    return drawn


def coins(x: float, y: float, height: int) -> str:
    """Draw a pile of coins with its base at `y`; more than seven coins are drawn as seven."""
    return piece(f"cn-coins-{min(height, _PILE)}", x, y)


def token(x: float, y: float, kind: Kind, size: float = 24, opacity: float = 1) -> str:
    """Draw a token with the colour and pictogram of its kind."""
    return piece(f"cn-{kind.name.lower()}", x, y, size / 24, opacity)


def cargo(goods: Sequence[int], spaces: int, x: float, y: float, step: float, most: int, spot_kind: str = "") -> str:
    """Draw the goods on a row of spaces: token by token, or as counts if there are more than `most` spaces or goods.

    The names of the goods' spots begin with `spot_kind`; if it is empty, the goods are not spots.
    """
    if max(spaces, sum(goods)) > most:
        return counted(goods, x, y - 7, 5, step * most / 5, 21.5, spot_kind)
    tokens = [kind for kind in Kind for _ in range(goods[kind])]
    size = step * 0.88
    parts = [
        _as_spot(spot_kind, kind, token(x + size / 2 + step * place, y, kind, size))
        for place, kind in enumerate(tokens)
    ]
    for place in range(len(tokens), spaces):
        parts.append(box(x + step * place + 3, y - size / 2 + 3, size - 6, size - 6, "none", DIM, 1, 4))
    return "".join(parts)


def counted(goods: Sequence[int], x: float, y: float, columns: int, step: float, line: float, spot_kind: str) -> str:
    """Draw a table of the kinds of goods that are present, with their counts."""
    parts = []
    for place, kind in enumerate([kind for kind in Kind if goods[kind]]):
        left, middle = x + step * (place % columns), y + line * (place // columns)
        parts.append(_as_spot(spot_kind, kind, token(left + 10, middle, kind, 20)))
        parts.append(text(left + 22.5, middle + 4.5, short(goods[kind]), SMALLEST, bold=True, fit=step - 23))
    return "".join(parts)


def _as_spot(spot_kind: str, kind: Kind, drawn: str) -> str:
    return spot(spot_of(spot_kind, kind), drawn) if spot_kind else drawn


def card_colour(board: CargoNoirBoard, card: Card) -> str:
    """Return the colour of a card, by its group: Smuggler cards, unique cards or common cards."""
    return STEEL if card in SMUGGLER_CARDS else BRASS if board.copies[card] == 1 else PARCHMENT
