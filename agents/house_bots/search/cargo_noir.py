"""The search in Cargo Noir compares whole rows of actions.

Each row is followed by greedy play up to a horizon, where a value made of greedy's own estimates rates the position. A
single action is hard to judge, because a ship needs its stake, and a set needs all its kinds. Therefore, each candidate
is a row that differs from greedy's own by one change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from typing_extensions import override

from house_bots.greedy.cargo_noir import CargoNoirPolicy, best_deals, is_free, plan, ranked_swaps, row_of_fleet, smuggle
from house_bots.greedy.cargo_noir_ships import STAKE_STEPS, Fleet, plan_ships, stake_in
from house_bots.greedy.cargo_noir_worth import Worths
from house_bots.search.cargo_noir_value import Value
from house_bots.search.recipe import Recipe, distinct
from referee.game import Action, Seat, Setup, State
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.names import Destination, Phase
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.table import Table

STAGES: Final = 3
"""The number of turns in a rollout, counting the current one."""
LONG_SAMPLES: Final = 40
"""The number of samples that the budget must allow for rollouts to continue to the end (`Recipe.long_samples`).

Such rollouts do not depend on the value, which misjudges small differences.
"""
MARGIN: Final = 1.5
"""The number of standard errors by which a row must be better than greedy's."""
DEALS: Final = 5
"""The maximum number of sales to compare."""
RAISE_STEPS: Final = (0, 2, 4)
"""The raises to compare, in coins above the lowest legal raise."""
MACAO: Final = (int(Destination.CASINO), int(Destination.BLACK_MARKET))
SWAPS: Final = 4
"""The maximum number of Black Market swaps to compare."""

_P1, _P2, _P2_DIFF, _P2_DISCARD, _P3, _STAKE, _OVER = Phase


class CargoNoirRecipe(Recipe):
    """The recipe for Cargo Noir, for the terms of one match."""

    def __init__(self, setup: Setup) -> None:
        policy = CargoNoirPolicy(setup)
        super().__init__(setup, policy)
        self.margin = MARGIN
        self.long_samples = LONG_SAMPLES
        self._worths = policy.worths
        self._value = Value(policy.worths, setup.seats)

    @override
    def stages(self, state: State) -> int:
        return STAGES

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        table = cast("CargoNoirState", state)
        own = plan(self._worths, table)
        rows: list[list[Action]] = [own]
        if table.phase is _P1:
            # These actions must be played anyway (C2.1), and their coins and goods help with the rest, so nothing is compared.
            if not isinstance(own[0], act.Casino | act.Collect | act.Wait):
                rows += trades(self._worths, table) if table.todo_market else answers(table)
        elif table.phase is _P2:
            rows += [smuggle(deal) for deal in best_deals(self._worths, table, DEALS)]
        elif table.phase is _P3:
            rows += fleets(self._worths, table)
        elif table.phase is _STAKE:
            rows += [[stake] for stake in near_stakes(table)]
        return distinct(rows)

    @override
    def value(self, state: State) -> list[float]:
        return self._value.of(cast("CargoNoirState", state))


# --- phase 1 ---------------------------------------------------------------------------------------------------


def answers(table: Table) -> list[list[Action]]:
    """Return rows that each answer one bid, with a withdrawal or a raise. Greedy answers the other bids afterwards."""
    seat = table.seat
    rows: list[list[Action]] = []
    for port in table.open_ports:
        if port in table.todo_ports:
            rows.append([act.WITHDRAWS[port]])
            lowest = max(table.stacks[port]) + 1
            for step in RAISE_STEPS:
                coins = lowest + step
                if coins <= table.safe[seat] + table.stacks[port][seat]:
                    rows.append([act.RAISES[port], *act.stakes(coins, coins)])
    return rows


def trades(worths: Worths, table: Table) -> list[list[Action]]:
    """Return a draw, and the best swaps according to greedy's estimates."""
    worth = worths.goods(table, table.seat, table.last_turn - table.turn)
    rows: list[list[Action]] = [[act.BM_DRAW]]
    best = ranked_swaps(worth, table.goods[table.seat], table.market)[:SWAPS]
    rows += [[act.BM_SWAPS[give][take]] for _, give, take in best]
    return rows


# --- phase 3 ---------------------------------------------------------------------------------------------------


def fleets(worths: Worths, table: Table) -> list[list[Action]]:
    """Return greedy's fleets with one change: another stake, port or destination in Macao; none in the final turn."""
    seat, turns = table.seat, table.last_turn - table.turn
    if not turns:
        return []
    free = [port for port in table.open_ports if is_free(table, port)]
    fleet = plan_ships(worths, table, table.goods[seat], table.safe[seat], table.ships_home, free)
    coins = table.safe[seat]
    for port in fleet.stakes:
        coins -= fleet.stakes[port]  # the coins that the fleet leaves in the safe
    rows: list[list[Action]] = []
    for port in fleet.stakes:
        rows += _with_another_stake(table, fleet, port, coins)
        rows += [row_of_fleet(_without(fleet.stakes, port), [*fleet.macao, place]) for place in MACAO]
    for place in MACAO:
        if place in fleet.macao:
            others = fleet.macao[:]
            others.remove(place)
            rows.append(row_of_fleet(fleet.stakes, [*others, 1 - place]))  # the other place in Macao
            for port in free:
                stake = 0 if port in fleet.stakes else stake_in(worths, table, port, coins)[1]
                if stake:
                    rows.append(row_of_fleet({**fleet.stakes, port: stake}, others))
    return rows


def _without(stakes: dict[int, int], port: int) -> dict[int, int]:
    return {other: stakes[other] for other in stakes if other != port}


def _with_another_stake(table: Table, fleet: Fleet, port: int, coins: int) -> list[list[Action]]:
    """Return variants of a fleet with another stake in one port, some with coins that the fleet leaves in the safe."""
    stake, lowest = fleet.stakes[port], max(table.board.min_stake, max(table.stacks[port]) + 1)
    rows: list[list[Action]] = []
    for other in (lowest, stake - 1, stake + 1, stake + 3):
        if lowest <= other <= stake + coins:
            rows.append(row_of_fleet({**fleet.stakes, port: other}, fleet.macao))
    return rows


def near_stakes(table: Table) -> list[Action]:
    """Return a few heights to compare for the stack that is being chosen."""
    pending = table.pending_stake
    assert pending is not None  # noqa: S101 the phase STAKE has one
    found: list[Action] = []
    for step in STAKE_STEPS:
        if pending.min + step <= pending.max:
            found += act.stakes(pending.min + step, pending.min + step)
    return found


RECIPE = CargoNoirRecipe
