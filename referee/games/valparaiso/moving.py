"""Merchants on roads and rivers (RULES.md, V4.4 and V4.10)."""

from __future__ import annotations

from collections.abc import Iterable

from referee.game import IllegalAction, Seat
from referee.games.valparaiso import holdings
from referee.games.valparaiso.board import is_market
from referee.games.valparaiso.names import Effect, Location
from referee.games.valparaiso.table import Table

_MOVE_PLUS_COSTS = (0, 0, 3)


def _tolls(table: Table, seat: Seat, end: Location) -> list[Seat]:
    """To whom a step onto a location is paid for: the opposing owners of customs houses there (V5.2)."""
    return [] if is_market(end) else table.houses_of_others(seat, end)


def _is_counted(table: Table, seat: Seat, end: Location) -> bool:
    """Whether a step onto a location is counted: not onto an own customs house (V4.4)."""
    return is_market(end) or not table.houses_of(seat, end)


def _price(table: Table, steps: int) -> int:
    """What the next counted step costs after so many."""
    costs = _MOVE_PLUS_COSTS if table.effect is Effect.MOVE_PLUS else table.board.move_costs
    return costs[steps] - (costs[steps - 1] if steps else 0)


def step_problem(table: Table, path: tuple[Location, ...], steps: int, end: Location) -> tuple[str, str] | None:
    """Why a merchant of the seat on turn that has come along a path cannot go on to a location, and the rule; None if it can."""
    seat = table.seat
    if end not in table.side.neighbours[path[-1]]:
        return f"no road joins {path[-1].name} and {end.name}", "V4.4"
    if end in path:
        return f"the merchant has been in {end.name}", "V4.4"
    price = len(_tolls(table, seat, end)) * table.board.toll
    if _is_counted(table, seat, end):
        if steps >= len(table.board.move_costs):
            return "a merchant makes at most three counted steps", "V4.4"
        price += _price(table, steps)
    if table.money[seat] < price:
        return f"the step costs {price} pesos, and there are {table.money[seat]}", "V4.4"
    return None


def ends(table: Table, path: tuple[Location, ...], steps: int) -> list[Location]:
    """Where a merchant that has come along a path may go on to."""
    return [end for end in table.side.neighbours[path[-1]] if step_problem(table, path, steps, end) is None]


def can_move(table: Table) -> bool:
    """Whether at least one first step is legal; a first counted step is free (V4.4)."""
    merchants = table.merchants[table.seat]
    return any(merchants[start] and ends(table, (start,), 0) for start in table.side.locations)


def begin_move(table: Table) -> None:
    """All merchants may move once."""
    table.unmoved = tuple(table.merchants[table.seat])


def step(table: Table, end: Location) -> None:
    """Makes a step with the merchant in motion, or with the one whose path is its start."""
    seat, start = table.seat, table.path[-1]
    holdings.pay_seats(table, seat, _tolls(table, seat, end), table.board.toll)
    if _is_counted(table, seat, end):
        table.money[seat] -= _price(table, table.steps)
        table.steps += 1
    table.merchants[seat][start] -= 1
    table.merchants[seat][end] += 1
    table.path = (*table.path, end)


def river_problem(table: Table, start: Location, end: Location) -> tuple[str, str] | None:
    """Why no merchant can be relocated so, and the rule; None if one can."""
    at_river = table.side.river_locations
    if start not in at_river or end not in at_river or start is end:
        return f"{start.name} and {end.name} are not two locations at a river", "V4.10"
    price = len(_river_tolls(table, end)) * table.board.toll
    if table.money[table.seat] < price:
        return f"the toll in {end.name} is {price} pesos, and there are {table.money[table.seat]}", "V4.10"
    return None


def _river_tolls(table: Table, end: Location) -> list[Seat]:
    return _tolls(table, table.seat, end) if table.setup.options["river_toll"] else []


def river_ends(table: Table, start: Location) -> list[Location]:
    """Where a merchant at a river may be relocated to."""
    return [end for end in table.side.river_locations if river_problem(table, start, end) is None]


def at_rivers(table: Table, merchants: Iterable[int]) -> tuple[int, ...]:
    """Of so many merchants by location, those at a river."""
    at_river = table.side.river_locations
    return tuple(count if location in at_river else 0 for location, count in zip(Location, merchants, strict=True))


def can_use_river(table: Table) -> bool:
    """Whether at least one merchant can be relocated (V4.10)."""
    merchants = at_rivers(table, table.merchants[table.seat])
    return any(count and river_ends(table, start) for start, count in zip(Location, merchants, strict=True))


def begin_river(table: Table) -> None:
    """All merchants that stand at a river now may be relocated once."""
    table.unmoved = at_rivers(table, table.merchants[table.seat])


def relocate(table: Table, start: Location, end: Location) -> None:
    """Relocates a merchant along the rivers."""
    seat = table.seat
    holdings.pay_seats(table, seat, _river_tolls(table, end), table.board.toll)
    table.merchants[seat][start] -= 1
    table.merchants[seat][end] += 1


def take_from_unmoved(table: Table, start: Location) -> None:
    """Notes that a merchant is moved now.

    Raises:
        IllegalAction: if none is left there; nothing has changed then.
    """
    if not table.unmoved[start]:
        raise IllegalAction(f"there is no own merchant in {start.name} that has not moved", "V4.4")
    table.unmoved = (*table.unmoved[:start], table.unmoved[start] - 1, *table.unmoved[start + 1 :])
