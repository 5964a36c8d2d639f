"""A policy for Cargo Noir that values goods, coins and ships in victory points and maximises the total.

It plans in every position, even in the middle of a set or a stake. Nothing is secret except the order of the bag, which
no table contains, so the policy reads the table itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from typing_extensions import override

from house_bots.greedy.cargo_noir_sets import Goods, Lot, ascending, ascending_wilds, hand_of, without
from house_bots.greedy.cargo_noir_ships import Fleet, best_swap, denials, draw_gain, pending_stake, plan_ships
from house_bots.greedy.cargo_noir_worth import MAX_CREDIT, Worth, Worths, stored
from referee.game import Action, Chance, RolloutPolicy, Seat, Setup, State
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card, Destination, Kind, Phase
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.games.cargo_noir.observing import restore
from referee.games.cargo_noir.state import CargoNoirState
from referee.games.cargo_noir.table import Table

_P1, _P2, _P2_DIFF, _P2_DISCARD, _P3, _STAKE, _OVER = Phase


class CargoNoirPolicy(RolloutPolicy):
    """The rollout policy for Cargo Noir, which caches the values on a board."""

    __slots__ = ("worths",)

    def __init__(self, setup: Setup) -> None:
        """Prepare an empty cache for the board of a match."""
        self.worths: Worths = Worths(cast("CargoNoirBoard", setup.board))

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        return plan(self.worths, cast("CargoNoirState", state))


def choose(setup: Setup, seen: CargoNoirObservation, actions: Sequence[Action]) -> list[Action]:
    """Return the actions to play in order, the first of which is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    table = CargoNoirState.empty(setup)
    restore(table, seen)
    return plan(worths_of(cast("CargoNoirBoard", setup.board)), table)


@lru_cache(maxsize=4)
def worths_of(board: CargoNoirBoard) -> Worths:
    """Return the values of goods, coins and cards on a board."""
    return Worths(board)


def plan(worths: Worths, table: Table) -> list[Action]:
    """Return the actions that the seat on turn plays in order, the first of which is legal."""
    phase = table.phase
    if phase is _P1:
        return _resolve_ships(worths, table)
    if phase is _P2:
        return smuggle(plan_deal(worths, table, tuple(table.goods[table.seat]), table.credit))
    if phase is _P2_DIFF:
        return _finish_set(worths, table)
    if phase is _P2_DISCARD:
        return _discard(table)
    if phase is _P3:
        return _send_ships(worths, table)
    coins = pending_stake(worths, table)
    return list(act.stakes(coins, coins))


# --- phase 1: resolving ships (C2, C3) ---------------------------------------------------------------------


def _resolve_ships(worths: Worths, table: Table) -> list[Action]:
    """Resolve the Casino and collect first, because coins and goods help with the rest; then trade; answer bids last."""
    collects: list[Action] = []
    waits: list[Action] = []
    for port in table.open_ports:
        if port in table.todo_ports:
            row = table.stacks[port]
            own = row[table.seat]
            if sum(row) == own:
                collects.append(act.COLLECTS[port])
            elif max(row) == own:
                waits.append(act.WAITS[port])
    casinos: list[Action] = [act.CASINO] * table.todo_casino
    sure = casinos + collects + waits
    return sure or (_trade(worths, table) if table.todo_market else _answer_bids(worths, table))


def _trade(worths: Worths, table: Table) -> list[Action]:
    """Draw as long as a draw promises more than the best swap; then swap, using the drawn goods as well."""
    lead, swaps = swaps_in_turn(worths, table)
    return [act.BM_DRAW] if lead >= 0 else swaps


def swaps_in_turn(worths: Worths, table: Table) -> tuple[float, list[Action]]:
    """Return the best swaps, in order, and the largest lead of a draw over any of them.

    The swaps end where a draw promises more than the next one.
    """
    goods, market = table.goods[table.seat], table.market
    worth = worths.goods(table, table.seat, table.last_turn - table.turn)
    lead = -math.inf
    swaps: list[Action] = []
    for _ in range(table.todo_market):
        gain, give, take = best_swap(worth, goods, market)
        lead = max(lead, draw_gain(worth, goods, table) - gain)
        if lead >= 0:
            break
        swaps.append(act.BM_SWAPS[give][take])
        goods, market = swapped(goods, give, take), swapped(market, take, give)
    return lead, swaps


def ranked_swaps(worth: Worth, goods: list[int], market: list[int]) -> list[tuple[float, int, int]]:
    """Return the Black Market swaps, best first, as (worth of the goods afterwards, kind given, kind taken)."""
    found: list[tuple[float, int, int]] = []
    for give in range(10):
        for take in range(10):
            if give != take and goods[give] and market[take]:
                found.append((-worth.of(hand_of(swapped(goods, give, take))), give, take))
    found.sort()
    return [(-points, give, take) for points, give, take in found]


def swapped(goods: list[int], give: int, take: int) -> list[int]:
    """Return the goods after one token of a kind has been exchanged for one of another kind."""
    left = goods[:]
    left[give] -= 1
    left[take] += 1
    return left


def _answer_bids(worths: Worths, table: Table) -> list[Action]:
    """Withdraw ships that would not be sent to the same port again, which frees their coins; then raise for the others.

    In the final turn, all ships withdraw, because no ship in a port can collect any more, and coins can buy cards (C4.8).
    """
    seat = table.seat
    outbid = [port for port in table.open_ports if port in table.todo_ports]
    stakes: dict[int, int] = {}
    if table.last_turn > table.turn:
        deal = plan_deal(worths, table, tuple(table.goods[seat]), table.credit)
        bought = deal.cards.count(Card.CARGO_SHIP)
        # This plans as if all outbid ships were at home with their coins; a ship whose port is chosen again raises there.
        free = [port for port in table.open_ports if port in outbid or is_free(table, port)]
        coins = table.safe[seat]
        for port in outbid:
            coins += table.stacks[port][seat]
        goods = list(_after_discards(table, deal.rest))
        stakes = plan_ships(worths, table, goods, coins, table.ships_home + len(outbid) + bought, free, bought).stakes
    rows: list[Action] = [act.WITHDRAWS[port] for port in outbid if port not in stakes]
    for port in stakes:
        if port in outbid:
            rows += [act.RAISES[port], *act.stakes(stakes[port], stakes[port])]
    return rows


# --- phase 2: smuggling (C4) ---------------------------------------------------------------------------------


class Deal(NamedTuple):
    """A plan for phase 2: the sets to hand in, the cards to buy, the goods that remain, and the expected points."""

    points: float
    lots: list[Lot]
    cards: list[int]
    rest: Goods


def smuggle(deal: Deal) -> list[Action]:
    """Return the actions of a deal.

    All sets are handed in before any card is bought, so that coins pay only for the shortage (C4.8).
    """
    row: list[Action] = []
    for lot in deal.lots:
        first = lot.kinds[0]
        if len(lot.kinds) > 1:
            row.append(act.DIFF_STARTS[first])
            row += [act.DIFF_ADDS[kind] for kind in lot.kinds[1:]]
            row.append(act.DIFF_CLOSES[lot.wilds])
        else:
            row.append(act.SELLS[first][lot.each][lot.wilds])
    row += [act.BUYS[card] for card in deal.cards]
    row.append(act.END_SMUGGLING)
    return row


def plan_deal(worths: Worths, table: Table, goods: Goods, credit: int) -> Deal:
    """Find the sale and the purchase that together give the most points, including those for the goods kept.

    Args:
        worths: the values of goods, coins and cards.
        table: the position.
        goods: the goods of the seat on turn.
        credit: the value that this seat has handed in and not spent.
    """
    turns = table.last_turn - table.turn
    # Goods are worth nothing after the final turn (C8.1), so all are sold.
    if not turns:
        lots = worths.sets.split(goods)
        for lot in lots:
            credit += lot.value
        return Deal(float(credit), lots, _last_cards(worths, table, credit), (0,) * 10)
    return _sell(worths, table, goods, credit, 1)[0]


def best_deals(worths: Worths, table: Table, most: int) -> list[Deal]:
    """Return at most `most` of the best deals for the seat on turn, the best first; none in the final turn."""
    if table.last_turn == table.turn:
        return []
    return _sell(worths, table, tuple(table.goods[table.seat]), table.credit, most)


def _sell(worths: Worths, table: Table, goods: Goods, credit: int, most: int) -> list[Deal]:
    """Return at most `most` deals: the best sales, each with the best purchase."""
    sales = worths.sets.sales(hand_of(goods))
    value = 0
    for sale in sales:
        value = max(value, sale.value)
    shopping = worths.shopping(table, min(MAX_CREDIT, credit + value))
    worth = worths.goods(table, table.seat, table.last_turn - table.turn)
    ranked: list[tuple[float, int]] = []
    best, chosen = -1.0, 0
    for place, sale in enumerate(sales):
        points = shopping.worths[min(MAX_CREDIT, credit + sale.value)] + worth.of_store(sale.hand)
        if points > best:
            best, chosen = points, place
        if most > 1:
            ranked.append((-points, place))
    if most == 1:
        ranked.append((-best, chosen))
    ranked.sort()
    kinds, deals = ascending(goods), [Deal(0.0, [], [], goods)][:0]
    for points, place in ranked[:most]:
        sale = sales[place]
        lots = [_of_kinds(lot, kinds) for lot in sale.lots]
        rest = goods
        for lot in lots:
            rest = without(rest, lot)
        deals.append(Deal(-points, lots, shopping.cards(min(MAX_CREDIT, credit + sale.value)), rest))
    return deals


def _of_kinds(lot: Lot, kinds: list[int]) -> Lot:
    """Return a set with its real kinds.

    In `lot`, each kind is an index in `kinds`, a list that begins with the kind of the smallest pile.
    """
    named = [kinds[place] if place < len(kinds) else place for place in lot.kinds]
    return Lot(tuple(sorted(named)), lot.each, lot.wilds, lot.value)


def _finish_set(worths: Worths, table: Table) -> list[Action]:
    """Find the best way to finish a set of different kinds: a large set from the smallest piles that can be added."""
    goods, chosen = tuple(table.goods[table.seat]), table.diff_kinds
    higher = [kind for kind in ascending(goods) if kind > chosen[-1]]
    most = len(worths.board.different) - 1
    best = -1.0
    row: list[Action] = []
    for more in range(len(higher), max(0, 2 - len(chosen)) - 1, -1):
        added = sorted(higher[:more])
        for used in ascending_wilds(min(goods[Kind.WILD], most - len(chosen) - more)):
            lot = worths.sets.different_set([*chosen, *added], used)
            deal = plan_deal(worths, table, without(goods, lot), table.credit + lot.value)
            if deal.points > best:
                best = deal.points
                adds: list[Action] = [act.DIFF_ADDS[kind] for kind in added]
                row = [*adds, act.DIFF_CLOSES[used], *smuggle(deal)]
    return row


def _last_cards(worths: Worths, table: Table, credit: int) -> list[int]:
    """Choose the cards of the final turn. Hold back coins if denying goods to a rival is worth more."""
    safe, ships = table.safe[table.seat], table.ships_home
    shopping = worths.shopping(table, min(MAX_CREDIT, credit + safe))
    reserved, denied = 0, 0
    budget = chosen = min(MAX_CREDIT, credit + safe)
    best = shopping.worths[budget]
    for loss, stake, port in denials(worths, table):
        if ships and is_free(table, port) and reserved + stake <= safe:
            ships, reserved, denied = ships - 1, reserved + stake, denied + loss
            budget = min(MAX_CREDIT, credit + safe - reserved)
            if denied + shopping.worths[budget] > best:
                best, chosen = denied + shopping.worths[budget], budget
    return shopping.cards(chosen)


def _discard(table: Table) -> list[Action]:
    """Discard goods so that the best stock remains (C4.9)."""
    goods = tuple(table.goods[table.seat])
    remaining = _after_discards(table, goods)
    row: list[Action] = []
    for kind in range(10):
        row += [act.DISCARDS[kind]] * (goods[kind] - remaining[kind])
    return row


def _after_discards(table: Table, goods: Goods) -> Goods:
    """Return the goods that the seat on turn has left at the end of phase 2."""
    piles, wilds = stored(hand_of(goods), table.storage(table.seat))
    left = [0] * 10
    left[Kind.WILD] = wilds
    kinds = ascending(goods)
    for place in range(len(piles)):
        left[kinds[-1 - place]] = piles[place]
    return tuple(left)


# --- phase 3: sending ships (C6) -------------------------------------------------------------------------------


def is_free(table: Table, port: int) -> bool:
    """Return whether the seat on turn may send a ship to a port (C3.1, C3.5), if it has the coins."""
    return not table.stacks[port][table.seat] and port not in table.banned_ports


def _send_ships(worths: Worths, table: Table) -> list[Action]:
    """Send ships with stakes to ports, then the others to Macao.

    In the final turn, stakes only serve to deny goods to rivals.
    """
    if table.last_turn > table.turn:
        fleet = best_fleet(worths, table)
        return row_of_fleet(fleet.stakes, fleet.macao)
    coins, ships = table.safe[table.seat], table.ships_home
    stakes: dict[int, int] = {}
    for _, stake, port in denials(worths, table):
        if is_free(table, port) and port not in stakes and stake <= coins and len(stakes) < ships:
            stakes[port] = stake
            coins -= stake
    return row_of_fleet(stakes, [int(Destination.CASINO)] * (ships - len(stakes)))


def best_fleet(worths: Worths, table: Table) -> Fleet:
    """Return the best fleet before the final turn."""
    seat, free = table.seat, [port for port in table.open_ports if is_free(table, port)]
    return plan_ships(worths, table, table.goods[seat], table.safe[seat], table.ships_home, free)


def row_of_fleet(stakes: dict[int, int], macao: list[int]) -> list[Action]:
    """Return the actions that send ships with stakes to ports, then others to Macao."""
    row: list[Action] = []
    for port in stakes:
        row += [act.SENDS[port + 2], *act.stakes(stakes[port], stakes[port])]
    row += [act.SENDS[place] for place in macao]
    return row
