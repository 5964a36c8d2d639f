"""The movement of merchants on roads and rivers (RULES.md, V4.4 and V4.10)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from referee.game import IllegalAction, Seat
from referee.games.valparaiso import holdings
from referee.games.valparaiso.board import is_market
from referee.games.valparaiso.names import Effect, Location
from referee.games.valparaiso.table import Table

# A constant, because looking up a member of an enum is slow on the hot path.
_MOVE_PLUS: Final = Effect.MOVE_PLUS


def _tolls(table: Table, seat: Seat, end: Location) -> list[Seat]:
    """Return the seats that receive a toll for a step onto a location: the opposing owners of customs houses (V5.2)."""
    return [] if is_market(end) else table.houses_of_others(seat, end)


def _is_counted(table: Table, seat: Seat, end: Location) -> bool:
    """Return whether a step onto a location counts: a step onto the seat's own customs house does not (V4.4)."""
    return is_market(end) or not table.houses_of(seat, end)


def _can_step(table: Table, path: tuple[Location, ...], steps: int, end: Location, money: int) -> bool:
    """Return whether a merchant of the current seat can step onto a neighbouring location; see `step_problem`."""
    # The checks of `step_problem`, without its messages, because every list of steps calls this function.
    if end in path:
        return False
    price = 0
    if _is_counted(table, table.seat, end):
        if steps >= len(table.board.move_costs):
            return False
        price = _price(table, steps)
    return money >= price and money >= price + len(_tolls(table, table.seat, end)) * table.board.toll


def _price(table: Table, steps: int) -> int:
    """Return the price of the next counted step after this number of counted steps."""
    board = table.board
    costs = board.move_plus_costs if table.effect is _MOVE_PLUS else board.move_costs
    # The board gives the totals for one, two and three steps; a merchant pays step by step (R17).
    return costs[steps] - (costs[steps - 1] if steps else 0)


def step_problem(
    table: Table, path: tuple[Location, ...], steps: int, end: Location, money: int
) -> tuple[str, str] | None:
    """Return the reason why a merchant of the current seat cannot step onto a location.

    Args:
        table: the table.
        path: the locations that the merchant has visited.
        steps: the number of its counted steps.
        end: its next location.
        money: the number of the seat's pesos.

    Returns:
        The reason and the number of the rule; None if the merchant can take the step.
    """
    seat = table.seat
    if end not in table.side.neighbours[path[-1]]:
        return f"no road joins {path[-1].name} and {end.name}", "V4.4"
    if end in path:
        return f"the merchant has been in {end.name}", "V4.4"
    price = len(_tolls(table, seat, end)) * table.board.toll
    # A step onto the seat's own customs house is possible even after three counted ones (R18).
    if _is_counted(table, seat, end):
        if steps >= len(table.board.move_costs):
            return "a merchant makes at most three counted steps", "V4.4"
        price += _price(table, steps)
    if money < price:
        return f"the step costs {price} pesos, and there are {money}", "V4.4"
    return None


def is_path(table: Table, path: tuple[Location, ...]) -> bool:
    """Return whether a path follows roads for at least one step."""
    return len(path) >= 2 and all(end in table.side.neighbours[start] for start, end in pairwise(path))


def counted_steps(table: Table, path: tuple[Location, ...]) -> int:
    """Return the number of counted steps that the current seat makes along a path (V4.4)."""
    return sum(_is_counted(table, table.seat, end) for end in path[1:])


def ends(table: Table, path: tuple[Location, ...], steps: int, money: int) -> list[Location]:
    """Return the locations to which a merchant can step at the end of a path, with these pesos."""
    return [end for end in table.side.neighbours[path[-1]] if _can_step(table, path, steps, end, money)]


def can_move(table: Table, money: int) -> bool:
    """Return whether at least one first step is legal with these pesos; the first counted step is free (V4.4)."""
    merchants = table.merchants[table.seat]
    for start in table.side.locations:
        if merchants[start]:
            for end in table.side.neighbours[start]:
                if _can_step(table, (start,), 0, end, money):
                    return True
    return False


def begin_move(table: Table) -> None:
    """Allow one move to each merchant of the current seat."""
    # Numbers suffice, because merchants of a seat at one location are interchangeable.
    table.unmoved = tuple(table.merchants[table.seat])


def step(table: Table, end: Location) -> None:
    """Make a step with the merchant at the end of the path, and pay the price and the tolls of the step."""
    seat, start = table.seat, table.path[-1]
    holdings.pay_seats(table, seat, _tolls(table, seat, end), table.board.toll)
    if _is_counted(table, seat, end):
        table.money[seat] -= _price(table, table.steps)
        table.steps += 1
    table.merchants[seat][start] -= 1
    table.merchants[seat][end] += 1
    table.path = (*table.path, end)


def river_problem(table: Table, start: Location, end: Location, money: int) -> tuple[str, str] | None:
    """Return the reason why a merchant cannot be relocated with these pesos, and the rule; None if it can."""
    at_river = table.side.river_locations
    if start not in at_river or end not in at_river or start is end:
        return f"{start.name} and {end.name} are not two locations at a river", "V4.10"
    price = len(_river_tolls(table, end)) * table.board.toll
    if money < price:
        return f"the toll in {end.name} is {price} pesos, and there are {money}", "V4.10"
    return None


def _river_tolls(table: Table, end: Location) -> list[Seat]:
    return _tolls(table, table.seat, end) if table.setup.options["river_toll"] else []


def river_ends(table: Table, start: Location, money: int) -> list[Location]:
    """Return the possible destinations of a merchant on a river, with these pesos."""
    return [end for end in table.side.river_locations if river_problem(table, start, end, money) is None]


def at_rivers(table: Table, merchants: Iterable[int]) -> tuple[int, ...]:
    """Return the number of merchants by location, with 0 for each location that is not on a river."""
    at_river = table.side.river_locations
    return tuple(count if location in at_river else 0 for location, count in zip(Location, merchants, strict=True))


def can_use_river(table: Table, money: int) -> bool:
    """Return whether at least one merchant can be relocated with these pesos (V4.10)."""
    merchants = at_rivers(table, table.merchants[table.seat])
    return any(count and river_ends(table, start, money) for start, count in zip(Location, merchants, strict=True))


def begin_river(table: Table) -> None:
    """Allow one relocation to each merchant that is now on a river."""
    # A merchant that reaches a river later may not go on from there (V4.10).
    table.unmoved = at_rivers(table, table.merchants[table.seat])


def relocate(table: Table, start: Location, end: Location) -> None:
    """Relocate a merchant along the rivers."""
    seat = table.seat
    holdings.pay_seats(table, seat, _river_tolls(table, end), table.board.toll)
    table.merchants[seat][start] -= 1
    table.merchants[seat][end] += 1


def take_from_unmoved(table: Table, start: Location) -> None:
    """Mark a merchant as moved.

    Raises:
        IllegalAction: if no unmoved merchant is left at `start`; the table is then unchanged.
    """
    if not table.unmoved[start]:
        raise IllegalAction(f"this seat has no unmoved merchant in {start.name}", "V4.4")
    table.unmoved = (*table.unmoved[:start], table.unmoved[start] - 1, *table.unmoved[start + 1 :])
