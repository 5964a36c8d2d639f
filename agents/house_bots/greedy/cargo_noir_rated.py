"""The rows that the policy for Cargo Noir compares, with their estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, cast

from house_bots.greedy.cargo_noir import (
    best_deals,
    best_fleet,
    is_free,
    plan,
    ranked_swaps,
    row_of_fleet,
    smuggle,
    swaps_in_turn,
    worths_of,
)
from house_bots.greedy.cargo_noir_sets import hand_of
from house_bots.greedy.cargo_noir_ships import best_swap, draw_gain, plan_ships, stake_in
from house_bots.greedy.cargo_noir_worth import Worths
from referee.game import Action, Setup
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Phase
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.games.cargo_noir.observing import restore
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.table import Table

DEALS: Final = 5
"""The maximum number of deals to compare."""


def rated_rows(setup: Setup, seen: CargoNoirObservation, actions: Sequence[Action]) -> list[tuple[float, list[Action]]]:
    """Return the row that `choose` returns, and the rows compared with it, each with its estimate in points.

    A fleet is compared with fleets whose first ship goes to another port, a deal with the next best deals, and a draw with
    all swaps. In other decisions, such as answers to bids and the final turn, only one row is returned. The arguments are
    the same as in `choose`.
    """
    table = CargoNoirState.empty(setup)
    restore(table, seen)
    worths = worths_of(cast("CargoNoirBoard", setup.board))
    row, last = plan(worths, table), table.last_turn == table.turn
    if isinstance(row[0], act.BmDraw | act.BmSwap):
        return rated_trades(worths, table)
    if table.phase is Phase.P2 and not last:
        return [(deal.points, smuggle(deal)) for deal in best_deals(worths, table, DEALS)]
    if table.phase is Phase.P3 and not last:
        return rated_fleets(worths, table)
    return [(0.0, row)]


def rated_trades(worths: Worths, table: Table) -> list[tuple[float, list[Action]]]:
    """Return a draw and the swaps, each paired with its gain.

    Of swaps with the same gain, only the one that `greedy` prefers is returned.
    """
    goods, market = table.goods[table.seat], table.market
    worth = worths.goods(table, table.seat, table.last_turn - table.turn)
    best, give, take = best_swap(worth, goods, market)
    if best == -math.inf:  # there is no swap
        return [(0.0, [act.BM_DRAW])]
    now = worth.of(hand_of(goods))
    found: dict[float, list[Action]] = {best: [act.BM_SWAPS[give][take]]}
    for points, give, take in ranked_swaps(worth, goods, market):
        found.setdefault(points - now, [act.BM_SWAPS[give][take]])
    lead = swaps_in_turn(worths, table)[0]  # infinite if a later swap is impossible
    found[best + (draw_gain(worth, goods, table) if lead == math.inf else lead)] = [act.BM_DRAW]
    return list(found.items())


def rated_fleets(worths: Worths, table: Table) -> list[tuple[float, list[Action]]]:
    """Return the best fleet, and the best fleet for each other port of the first ship.

    Each fleet is paired with the points that its first ship promises.
    """
    best = best_fleet(worths, table)
    rated = [(best.promise, row_of_fleet(best.stakes, best.macao))]
    for port in table.open_ports:
        if table.ships_home and port not in best.stakes and is_free(table, port):
            rated += _fleet_with(worths, table, port)
    return rated


def _fleet_with(worths: Worths, table: Table, port: int) -> list[tuple[float, list[Action]]]:
    """Return the best fleet whose first ship goes to the given port, paired with the points that this ship promises.

    The list is empty if the seat has too few coins.
    """
    seat, coins = table.seat, table.safe[table.seat]
    points, stake = stake_in(worths, table, port, coins)
    if not stake:
        return []
    goods = [have + more for have, more in zip(table.goods[seat], table.port_goods[port], strict=True)]
    free = [other for other in table.open_ports if other != port and is_free(table, other)]
    rest = plan_ships(worths, table, goods, coins - stake, table.ships_home - 1, free)
    return [(points, row_of_fleet({port: stake, **rest.stakes}, rest.macao))]
