"""Payments and gains: pesos, goods in the warehouse, victory points (RULES.md, V1)."""

from __future__ import annotations

from referee.game import Seat
from referee.games.valparaiso.board import Amount
from referee.games.valparaiso.names import Good, Source
from referee.games.valparaiso.table import Table

_SILVER, _COPPER, _WHEAT = Good


def can_pay(table: Table, seat: Seat, amount: Amount, times: int = 1) -> bool:
    """Return whether a seat can pay an amount `times` times (V1.1)."""
    return table.money[seat] >= times * amount.money and has_goods(table, seat, amount, times)


def has_goods(table: Table, seat: Seat, amount: Amount, times: int = 1) -> bool:
    """Return whether a seat's warehouse contains the goods of an amount `times` times."""
    silver, copper, wheat = amount.goods
    has = table.warehouse[seat]
    return has[0] >= times * silver and has[1] >= times * copper and has[2] >= times * wheat


def exchange(
    table: Table, seat: Seat, pay: Amount, gain: Amount, times: int = 1, source: Source = Source.CARDS
) -> None:
    """Pay one amount to the supply and gain another, `times` times; `source` is where victory points come from."""
    table.money[seat] += times * (gain.money - pay.money)
    has = table.warehouse[seat]
    for good, (gained, paid) in enumerate(zip(gain.goods, pay.goods, strict=True)):
        has[good] += times * (gained - paid)
    if gain.vp:
        score(table, seat, source, times * gain.vp)


def score(table: Table, seat: Seat, source: Source, points: int) -> None:
    """Move a seat forward on the track of victory points, and record the source of the points."""
    table.vp[seat] += points
    earned = list(table.earned[seat])
    earned[source] += points
    table.earned[seat] = tuple(earned)


def goods_of(*goods: Good) -> Amount:
    """Return these goods as an amount."""
    return Amount(goods=(goods.count(_SILVER), goods.count(_COPPER), goods.count(_WHEAT)))


def pay_seats(table: Table, seat: Seat, owners: list[Seat], pesos: int) -> None:
    """Pay each owner a number of pesos, once for each time that the owner is listed (V1.1, I6)."""
    for owner in owners:
        table.money[seat] -= pesos
        table.money[owner] += pesos


def sell(table: Table, seat: Seat, store: int, good: int) -> None:
    """Sell a good to the supply, as a seat may do at any time (V1.3)."""
    table.stores(seat)[store][good] -= 1
    table.money[seat] += table.board.good_price
