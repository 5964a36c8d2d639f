"""The scores and places at the end of a match (RULES.md, C8 and section 6)."""

from __future__ import annotations

from referee.game import Seat
from referee.games.cargo_noir.table import Table


def score(table: Table, seat: Seat) -> int:
    """Return the victory points of all of a seat's cards (C8.2)."""
    vp, points = table.board.vp, 0
    for card, count in enumerate(table.cards[seat]):
        points += count * vp[card]
    return points


def highest_card(table: Table, seat: Seat) -> int:
    """Return the victory points of a seat's best single card, or 0 if it has none. They are the tie-break (C8.3)."""
    vp, most = table.board.vp, 0
    for card, count in enumerate(table.cards[seat]):
        if count and vp[card] > most:
            most = vp[card]
    return most


def ranks(table: Table) -> list[int]:
    """Return the place of each seat: by score, then by the best single card; remaining ties share a place (C8.3)."""
    results = [(score(table, seat), highest_card(table, seat)) for seat in range(table.setup.seats)]
    return [1 + sum([other > own for other in results]) for own in results]
