"""Final points and places (RULES.md, V7)."""

from __future__ import annotations

from referee.game import Seat
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.table import Table


def final(table: Table, seat: Seat) -> tuple[int, int]:
    """Return the victory points and remaining pesos that a seat would have if the match ended now (V7.2)."""
    board = table.board
    goods = sum(table.warehouse[seat]) + sum(table.hold[seat])
    points, rest = divmod(table.money[seat] + goods * board.good_price, board.pesos_per_vp)
    return table.vp[seat] + points + sum([board.cards[card].vp for card in table.owned[seat]]), rest


def scores(table: Table) -> list[int]:
    """Return each seat's victory points on the track or, when the match is over, its final ones."""
    if table.phase is not Phase.OVER:
        return table.vp[:]
    return [final(table, seat)[0] for seat in range(table.setup.seats)]


def ranks(table: Table) -> list[int]:
    """Return each seat's place by final victory points, then remaining pesos, then later turn in the round (V7.3)."""
    order = table.turn_order()
    results = [(*final(table, seat), order.index(seat)) for seat in range(table.setup.seats)]
    return [1 + sum([other > own for other in results]) for own in results]


def match_is_decided(table: Table) -> bool:
    """Return whether the points on the track or an empty slot end the match (V7.1)."""
    return max(table.vp) >= table.board.end_vp or any(card < 0 for card in table.slots)


def match_ends(table: Table) -> bool:
    """Return whether the match ends with this round (V7.1)."""
    return match_is_decided(table) or table.round >= table.last_round
