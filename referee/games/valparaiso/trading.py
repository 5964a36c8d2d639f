"""Trade in the villages (RULES.md, V4.7)."""

from __future__ import annotations

from referee.game import Seat
from referee.games.valparaiso import holdings
from referee.games.valparaiso.board import TileType
from referee.games.valparaiso.names import Location
from referee.games.valparaiso.table import Table


def _villages(table: Table) -> tuple[Location, ...]:
    return tuple(village for village in table.side.markets if table.merchants[table.seat][village])


def can_trade(table: Table, money: int) -> bool:
    """Return whether the current seat has a merchant in a village with a market (V4.7)."""
    return bool(_villages(table))


def begin(table: Table) -> None:
    """Mark as unresolved all villages where the current seat can trade."""
    table.villages = _villages(table)


def tile(table: Table, village: Location) -> TileType:
    """Return the type of a market's bottom tile."""
    return table.board.tiles[table.tiles(village)[0]]


def _creditors(table: Table, village: Location) -> list[Seat]:
    """Return the recipients of the fee, with one entry for each opposing merchant and station (V4.7a)."""
    # A station counts like a merchant, even if its owner has no merchant there (V5.3).
    found = table.houses_of_others(table.seat, village)
    for seat in range(table.setup.seats):
        if seat != table.seat:
            found += [seat] * table.merchants[seat][village]
    return found


def most(table: Table, village: Location) -> int:
    """Return the maximum number of uses of a tile: one per merchant and station, up to the tile's own limit (V4.7a)."""
    seat = table.seat
    return min(tile(table, village).most, table.merchants[seat][village] + table.houses_of(seat, village))


def trade_problem(table: Table, village: Location, times: int) -> tuple[str, str] | None:
    """Return the reason why a tile cannot be used `times` times (0 at a choice tile), and the rule; None if it can."""
    used = tile(table, village)
    fee = len(_creditors(table, village)) * table.board.fee
    money = table.money[table.seat] - fee
    if money < 0:
        return f"the fee in {village.name} is {fee} pesos, and there are {table.money[table.seat]}", "V4.7a"
    if used.choose:
        if times:
            return f"the tile in {village.name} has a choice of goods: trade 0 times, then take", "V4.7c"
        if money < used.pay.money:
            return f"the fee and the tile in {village.name} cost {fee + used.pay.money} pesos", "V4.7c"
        return None
    if not 1 <= times <= most(table, village):
        return f"the tile in {village.name} can be used 1 to {most(table, village)} times, not {times}", "V4.7a"
    # Pesos were compared above, after the fee, because the gain from a tile cannot pay for the tile (R27).
    if money < times * used.pay.money or not holdings.can_pay(table, table.seat, used.pay._replace(money=0), times):
        return f"there is not enough for {times} times after the fee of {fee} pesos", "V4.7b"
    return None


def pay_fee(table: Table, village: Location) -> None:
    """Pay the owners of all opposing merchants and stations (V4.7a)."""
    holdings.pay_seats(table, table.seat, _creditors(table, village), table.board.fee)


def resolve(table: Table, village: Location) -> None:
    """Move the tiles of a village along after a trade or a skip (V4.7e)."""
    # The used tile goes on the reserve before another leaves it (V4.7e), so it comes back if the reserve is empty.
    used, *rest = table.tiles(village)
    fresh, *reserve = (*table.reserve, used)
    table.markets[village - Location.M1] = (*rest, fresh)
    table.reserve = tuple(reserve)
    table.villages = tuple(other for other in table.villages if other is not village)
