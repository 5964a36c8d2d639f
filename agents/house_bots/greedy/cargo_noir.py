"""A policy for Cargo Noir that values goods, coins and ships in victory points and takes the best sum.

The worth of goods is the value of their best sets, now or after some growth. The worth of a stake is the worth of the
port's goods for this seat, times the probability that no rival outbids it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from house_bots.greedy.cargo_noir_sets import (
    Goods,
    Lot,
    Piles,
    Prices,
    ascending,
    best_sets,
    different_set,
    piles_of,
    same_set,
    split_into_sets,
    swapped,
    together,
    without,
)
from referee.game import Action, Seat, Setup
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card, Destination, Kind, Phase, Port
from referee.games.cargo_noir.observation import CargoNoirObservation, PortView, SeatView

# Estimates, tuned in matches against earlier versions. A point is a victory point; a unit is the unit of a set's value
# (C4.3); "turns" are a seat's remaining turns after this one.

SOLD = 1.7
"""Points for a unit that will be handed in soon; more than a card yields, because early cards improve later turns."""
KEPT = 1.08
"""Points for a unit of the value that stored sets may grow to."""
GROWING_TURNS = 2.5
"""The largest number of turns over which a set is expected to grow."""
MAIN_GROWTH = 0.57
"""Tokens that the largest pile of one kind gains in a turn."""
OTHER_GROWTH = 0.29
"""Tokens that any other pile gains in a turn."""
DIFFERENT_GROWTH = 2.35
"""Tokens that a set of different kinds gains in a turn."""
SHIP_POINTS = 3.9
"""Points that another ship gains in a turn."""
WAREHOUSE_POINTS = 1.0
"""Points that another Warehouse gains in a turn."""
NEEDED_COINS = 8
"""Coins that a seat should have for its stakes."""
NEEDED_COIN = 4.8
"""Points for each of these coins."""
SPARE_COIN = 1.1
"""Points for each coin beyond NEEDED_COINS."""
LAST_COIN = 0.65
"""Points for a coin that can only cover a shortage in the final turn (C4.8)."""
RIVAL_COIN = 2.0
"""The assumed worth of a coin to a rival, in points."""
ATTACK = 0.9
"""The share of an outbid rival's loss that counts as own gain, before division by the number of rivals."""
STAKE_STEPS = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20)
"""The possible stakes, in coins above the lowest legal one."""
BID_ODDS = -1.4
"""Logarithm of the odds that a rival outbids a stake, before the next four terms."""
BID_GAIN = 0.17
"""Added for each point that the rival would gain from the port's goods."""
BID_SLACK = 0.3
"""Added for each coin that the rival has beyond the stake, for at most MAX_SLACK coins."""
MAX_SLACK = 6
"""The maximum number of coins beyond a stake that count."""
BID_STAKE = 0.23
"""Subtracted for each coin of the stake."""
BID_CROWD = 0.55
"""Subtracted for each rival: the more rivals, the less likely each of them is to bid."""

# Bounds that keep decisions fast on any board; with the shipped board they change little or nothing.

MAX_SALES = 100
"""The approximate maximum number of sales to compare."""
MAX_CREDIT = 500
"""The maximum credit that is spent well."""
MAX_COPIES = 6
"""The maximum number of copies of one card bought in one turn."""


class View(NamedTuple):
    """Everything that a decision depends on."""

    setup: Setup
    seen: CargoNoirObservation
    actions: Sequence[Action]
    board: CargoNoirBoard
    prices: Prices
    me: SeatView
    turns: int


def choose(setup: Setup, seen: CargoNoirObservation, actions: Sequence[Action]) -> list[Action]:
    """Return the actions to play in order, of which the first is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    board, ship = cast("CargoNoirBoard", setup.board), Card.CARGO_SHIP
    prices = Prices(board.same, board.different, board.cost[ship], board.vp[ship])
    view = View(setup, seen, actions, board, prices, seen.seats[seen.seat], seen.last_turn - seen.turn)
    decide = _DECISIONS.get(seen.phase)
    plan = decide(view) if decide else []
    # Stakes and sets are planned with the action before them. In a position in the middle of one, take the first legal action.
    return plan if plan and plan[0] in actions else [actions[0]]


# --- the worth of things -----------------------------------------------------------------------------------


def _between(size: float, row: tuple[int, ...]) -> float:
    """Interpolate the worth of a set of this size; each token beyond half of the largest set adds an average share of it."""
    half = (len(row) - 1) / 2
    low = int(min(size, half))
    return row[low] + (min(size, half) - low) * (row[low + 1] - row[low]) + max(0, size - half) * row[-1] / (2 * half)


@lru_cache(maxsize=1 << 12)
def _grown(count: int, growth: float, row: tuple[int, ...]) -> float:
    """Return the addition of tokens to a set that grows by `growth` other tokens."""
    return _between(count + growth, row) - _between(growth, row)


@lru_cache(maxsize=1 << 16)
def store_worth(piles: Piles, wilds: int, turns: int, prices: Prices) -> float:
    """Return the points for goods in store, with `turns` turns left to hand them in."""

    def in_same_sets(piles: Piles, wilds: int) -> float:
        main, *others = piles or (0,)
        worth = _grown(main + wilds, MAIN_GROWTH * time, prices.same)
        return worth + sum(_grown(count, OTHER_GROWTH * time, prices.same) for count in others)

    time = min(turns, GROWING_TURNS)
    used = min(wilds, len(prices.different) - 1 - len(piles))
    different = _grown(len(piles) + used, DIFFERENT_GROWTH * time, prices.different)
    others = tuple(count - 1 for count in piles if count > 1)
    return KEPT * max(in_same_sets(piles, wilds), different + in_same_sets(others, wilds - used))


@lru_cache(maxsize=1 << 16)
def store(piles: Piles, wilds: int, storage: int) -> tuple[Piles, int]:
    """Return the goods that remain when phase 2 ends (C4.9): wilds, then the largest piles."""
    wilds = min(wilds, storage)
    room, kept = storage - wilds, []
    for count in piles:
        kept.append(min(count, room))
        room -= kept[-1]
    return tuple(filter(None, kept)), wilds


@lru_cache(maxsize=1 << 16)
def hand_worth(piles: Piles, wilds: int, turns: int, storage: int, ships: int, prices: Prices) -> float:
    """Return the points for goods just before phase 2: all sold, all kept, or the largest pile sold, whichever is best.

    `ships` is the number of ships that the seat may still buy.
    """

    def sold(value: int) -> float:
        ship = ships > 0 and value >= prices.ship_cost
        return SOLD * value + (max(0.0, prices.ship_points + SHIP_POINTS * turns - prices.ship_cost) if ship else 0.0)

    everything = sold(best_sets(piles, wilds, prices)[0])
    if not turns:
        return everything
    largest = sold(best_sets(piles[:1], wilds, prices)[0]) + store_worth(*store(piles[1:], 0, storage), turns, prices)
    return max(everything, largest, store_worth(*store(piles, wilds, storage), turns, prices))


def worth_for(view: View, seat: Seat, turns: int, bought: int = 0) -> Callable[[Goods], float]:
    """Return a function that values a seat's goods just before a phase 2 with `turns` turns after it.

    It assumes that the seat has bought `bought` more ships by then.
    """
    ship, has = Card.CARGO_SHIP, view.seen.seats[seat]
    ships = min(view.seen.supply[ship], view.board.cap[ship] - has.cards[ship]) - bought

    def worth(goods: Goods) -> float:
        return hand_worth(piles_of(goods), goods[Kind.WILD], turns, has.storage, ships, view.prices)

    return worth


def coins_worth(coins: int, turns: int) -> float:
    """Return the points for coins in the safe after phase 3."""
    if turns <= 1:
        return LAST_COIN * coins
    needed = min(coins, NEEDED_COINS)
    return NEEDED_COIN * needed + SPARE_COIN * (coins - needed)


def best_swap(goods: Goods, shown: Goods, worth: Callable[[Goods], float]) -> tuple[float, int, int]:
    """Return the best swap at the Black Market (C2.5): its gain, the kind given and the kind taken."""
    now = worth(goods)
    best = (-math.inf, 0, 0)
    tried = set()
    for give in filter(goods.__getitem__, range(10)):
        for take in filter(shown.__getitem__, range(10)):
            alike = (goods[give], give == Kind.WILD, goods[take], take == Kind.WILD)
            if give != take and alike not in tried:
                tried.add(alike)
                best = max(best, (worth(swapped(goods, give, take)) - now, give, take))
    return best


def draw_gain(goods: Goods, seen: CargoNoirObservation, worth: Callable[[Goods], float]) -> float:
    """Return the average worth of a token drawn from the bag (C5.1)."""
    bag = seen.bag if any(seen.bag) else seen.discard
    total = sum(bag[kind] * worth(swapped(goods, -1, kind)) for kind in filter(bag.__getitem__, range(10)))
    return total / sum(bag) - worth(goods) if any(bag) else 0.0


# --- phase 1: resolving ships (C2, C3) ---------------------------------------------------------------------


def resolve_ships(view: View) -> list[Action]:
    """Resolve the Casino and collect first, because coins and goods help with the rest; then trade; answer bids last."""
    sure: list[Action] = [act.CASINO] * view.seen.todo_casino
    sure += [action for action in view.actions if isinstance(action, act.Collect | act.Wait)]
    return sure or (trade(view) if view.seen.todo_market else answer_bids(view))


def trade(view: View) -> list[Action]:
    """Draw as long as that promises more than the best swap; then swap with the drawn goods."""
    goods, shown = view.me.goods, view.seen.market
    worth = worth_for(view, view.seen.seat, view.turns)
    swaps: list[Action] = []
    for _ in range(view.seen.todo_market):
        gain, give, take = best_swap(goods, shown, worth)
        if gain <= draw_gain(goods, view.seen, worth):
            return [act.BM_DRAW]
        swaps.append(act.BM_SWAPS[give][take])
        goods, shown = swapped(goods, give, take), swapped(shown, take, give)
    return swaps


def answer_bids(view: View) -> list[Action]:
    """Withdraw ships that would not be sent to the same port again, first because of their coins; raise for the others.

    In the final turn no ship in a port can collect any more, and coins can buy cards (C4.8): all ships withdraw.
    """
    outbid = {action.port: action for action in view.actions if isinstance(action, act.Withdraw)}
    stakes: dict[Port, int] = {}
    if view.turns:
        seen, deal = view.seen, plan_deal(view)
        bought, closed = deal.cards.count(Card.CARGO_SHIP), _closed_ports(seen)
        own = {port.port: port.stacks[seen.seat] for port in seen.ports}
        free = [port for port in seen.ports if port.port in outbid or port.port not in closed]
        coins = view.me.safe + sum(own[port] for port in outbid)
        goods = after_discards(view, deal.rest)
        stakes = plan_ships(view, goods, coins, view.me.ships_home + len(outbid) + bought, free, bought)[0]
    plan: list[Action] = [action for port, action in outbid.items() if port not in stakes]
    for port in filter(stakes.__contains__, outbid):
        plan += [act.RAISES[port], act.Stake(stakes[port])]
    return plan


# --- phase 2: smuggling (C4) ---------------------------------------------------------------------------------


class Deal(NamedTuple):
    """The sets to hand in, the cards to buy, and the remaining goods."""

    lots: tuple[Lot, ...]
    cards: tuple[int, ...]
    rest: Goods


def smuggle(view: View) -> list[Action]:
    """Hand everything in before buying, so that coins pay no more than the shortage (C4.8)."""
    deal = plan_deal(view)
    plan: list[Action] = []
    for lot in deal.lots:
        first, *others = lot.kinds
        if others:
            plan += [act.DIFF_STARTS[first], *(act.DIFF_ADDS[kind] for kind in others), act.DIFF_CLOSES[lot.wilds]]
        else:
            plan.append(act.SELLS[first][lot.each][lot.wilds])
    return [*plan, *(act.BUYS[card] for card in deal.cards), act.END_SMUGGLING]


def plan_deal(view: View) -> Deal:
    """Find the sale and the purchase that make the most points, including the goods kept."""
    seen, goods, prices = view.seen, view.me.goods, view.prices
    if not view.turns:
        lots = split_into_sets(goods, prices)
        return Deal(tuple(lots), last_cards(view, seen.credit + sum(lot.value for lot in lots)), (0,) * 10)
    options = sales(goods, prices)
    worths, cards = shopping(offers(view), min(MAX_CREDIT, seen.credit + max(value for value, _ in options.values())))
    best, deal = -math.inf, Deal((), (), goods)
    for rest, (value, lots_sold) in options.items():
        credit = min(MAX_CREDIT, seen.credit + value)
        kept = store(piles_of(rest), rest[Kind.WILD], view.me.storage)
        points = worths[credit] + store_worth(*kept, view.turns, prices)
        if points > best:
            best, deal = points, Deal(lots_sold, cards[credit], rest)
    return deal


def sales(goods: Goods, prices: Prices) -> dict[Goods, tuple[int, tuple[Lot, ...]]]:
    """List possible sales: map the goods that remain to the value and the sets of the goods sold.

    A set is a whole pile, or one of each kind from the smallest piles; it has no wilds, or as many as possible.
    """
    found: dict[Goods, tuple[int, tuple[Lot, ...]]] = {goods: (0, ())}
    queue = [goods]
    for before in queue:  # it grows meanwhile
        kinds, wilds = ascending(before), before[Kind.WILD]
        unlike = {before[kind]: kind for kind in kinds or [Kind.WILD][:wilds]}  # piles of a size are alike
        lots = [same_set(before, kind, prices, used) for kind in unlike.values() for used in {False, wilds > 0}]
        for size in range(2, len(kinds) + 1):
            lots += [different_set(kinds[:size], used, prices) for used in {0, min(wilds, len(prices.same) - 1 - size)}]
        value, sold = found[before]
        for lot in lots:
            rest = without(before, lot)
            if rest not in found:
                queue.append(rest)
            if value + lot.value > found.get(rest, (-1, ()))[0]:
                found[rest] = (value + lot.value, (*sold, lot))
        if len(found) > MAX_SALES:
            break
    return found


def offers(view: View) -> tuple[tuple[int, int, float], ...]:
    """Return card, cost and worth of every copy for sale (C4.6)."""
    board, found = view.board, []
    powers = {Card.CARGO_SHIP: SHIP_POINTS, Card.WAREHOUSE: WAREHOUSE_POINTS}
    for card in Card:
        copies = min(view.seen.supply[card], board.cap[card] - view.me.cards[card], MAX_COPIES)
        found += [(int(card), board.cost[card], board.vp[card] + powers.get(card, 0.0) * view.turns)] * copies
    return tuple(found)


@lru_cache(maxsize=256)
def shopping(on_offer: tuple[tuple[int, int, float], ...], most: int) -> tuple[list[float], list[tuple[int, ...]]]:
    """Return, for each credit up to `most`, the maximum points that it can buy, and the cards. Change is lost (C4.5)."""
    worths = [0.0] * (most + 1)
    cards: list[tuple[int, ...]] = [()] * (most + 1)
    for card, cost, worth in on_offer:
        for credit in range(most, cost - 1, -1):
            if worths[credit - cost] + worth > worths[credit]:
                worths[credit] = worths[credit - cost] + worth
                cards[credit] = (*cards[credit - cost], card)
    return worths, cards


def last_cards(view: View, credit: int) -> tuple[int, ...]:
    """Choose the cards of the final turn. Keep coins back if denying goods to a rival is worth more."""
    safe, ships, closed = view.me.safe, view.me.ships_home, _closed_ports(view.seen)
    worths, cards = shopping(offers(view), min(MAX_CREDIT, credit + safe))
    kept, denied = 0, 0
    best, bought = worths[-1], cards[-1]
    for loss, stake, port in denials(view):
        if ships and port not in closed and kept + stake <= safe:
            ships, kept, denied = ships - 1, kept + stake, denied + loss
            budget = min(MAX_CREDIT, credit + safe - kept)
            if denied + worths[budget] > best:
                best, bought = denied + worths[budget], cards[budget]
    return bought


def discard(view: View) -> list[Action]:
    """Keep the best store (C4.9)."""
    kept = after_discards(view, view.me.goods)
    return [act.DISCARDS[kind] for kind in Kind for _ in range(view.me.goods[kind] - kept[kind])]


def after_discards(view: View, goods: Goods) -> Goods:
    """Return the goods that remain when phase 2 ends."""
    piles, wilds = store(piles_of(goods), goods[Kind.WILD], view.me.storage)
    left = dict(zip(reversed(ascending(goods)), piles, strict=False))
    return (*(left.get(kind, 0) for kind in range(9)), wilds)


# --- phase 3: sending ships (C6) -------------------------------------------------------------------------------


def _closed_ports(seen: CargoNoirObservation) -> set[Port]:
    """Return the ports that the seat cannot send a ship to (C3.1, C3.5)."""
    return {*seen.banned_ports, *(port.port for port in seen.ports if port.stacks[seen.seat])}


def send_ships(view: View) -> list[Action]:
    """Send the ships with stakes first, then those to Macao; in the final turn only deny goods to rivals."""
    me, closed = view.me, _closed_ports(view.seen)
    if view.turns:
        free = [port for port in view.seen.ports if port.port not in closed]
        stakes, macao = plan_ships(view, me.goods, me.safe, me.ships_home, free)
    else:
        stakes = {}
        for _, stake, where in denials(view):
            if where not in closed and stake + sum(stakes.values()) <= me.safe and len(stakes) < me.ships_home:
                stakes[where] = stake
        macao = [Destination.CASINO] * (me.ships_home - len(stakes))
    plan: list[Action] = []
    for where, stake in stakes.items():
        plan += [act.SENDS[where + 2], act.Stake(stake)]
    return plan + [act.SENDS[dest] for dest in macao]


def plan_ships(
    view: View, goods: Goods, coins: int, ships: int, free: list[PortView], bought: int = 0
) -> tuple[dict[Port, int], list[Destination]]:
    """Plan the ships one by one, each to the best remaining place.

    Args:
        view: the decision.
        goods: the seat's goods by then.
        coins: the coins in its safe by then.
        ships: the number of ships to send.
        free: the possible ports.
        bought: the number of these ships that are still to be bought.

    Returns:
        The stakes by port, and the places in Macao for the other ships.
    """
    seen, turns = view.seen, view.turns
    worth = worth_for(view, seen.seat, turns - 1, bought)
    rivals = {port.port: rivals_for(view, port) for port in free}
    bank = seen.bank if view.setup.options["bank_limited"] else math.inf
    stakes: dict[Port, int] = {}
    macao: list[Destination] = []
    income = 0
    for _ in range(ships):
        now, have = worth(goods), coins_worth(coins, turns)
        due = int(max(0, min(view.board.casino_income, bank - income)))  # C7.2
        casino = coins_worth(coins + income + due, turns) - coins_worth(coins + income, turns)
        market = max(best_swap(goods, seen.market, worth)[0], draw_gain(goods, seen, worth))
        best: tuple[float, int, PortView | None] = (max(market, casino), 0, None)
        for port in free:
            others = [stack for seat, stack in enumerate(port.stacks) if seat != seen.seat]
            highest = max(others)
            lowest = max(view.board.min_stake, highest + 1)  # C6.3
            gain = worth(together(goods, port.goods)) - now
            lost = rivals[port.port][others.index(highest)][0] - RIVAL_COIN * highest if highest else 0.0
            attack = ATTACK * max(0.0, lost) / len(others)
            for stake in (lowest + step for step in STAKE_STEPS if lowest + step <= coins):
                chance = chance_to_stay(stake, rivals[port.port])
                points = attack + chance * (gain - have + coins_worth(coins - stake, turns))
                if points > best[0]:
                    best = (points, stake, port)
        _, stake, chosen = best
        if chosen:
            stakes[chosen.port] = stake
            coins -= stake
            goods = together(goods, chosen.goods)
            free = [port for port in free if port is not chosen]
        elif casino > market:
            macao.append(Destination.CASINO)
            income += due
        else:
            macao.append(Destination.BLACK_MARKET)
    return stakes, macao


def rivals_for(view: View, port: PortView) -> list[tuple[float, int]]:
    """Return, for each other seat in order, the worth of a port's goods and the coins that it can stake."""
    seen, found = view.seen, []
    for seat, other in enumerate(seen.seats):
        if seat != seen.seat:
            worth = worth_for(view, seat, view.turns - 1)
            gain = worth(together(other.goods, port.goods)) - worth(other.goods)
            found.append((gain, other.safe + other.casino * view.board.casino_income + port.stacks[seat]))
    return found


def chance_to_stay(stake: int, rivals: list[tuple[float, int]]) -> float:
    """Return the chance that nobody outbids a stake before its ship acts."""
    chance = 1.0
    for gain, coins in rivals:
        if coins > stake:
            slack = min(coins - stake, MAX_SLACK)
            odds = BID_ODDS + BID_GAIN * gain + BID_SLACK * slack - BID_STAKE * stake - BID_CROWD * len(rivals)
            chance /= 1 + math.exp(min(odds, 50))
    return chance


# --- the final turn: denying goods (C1.5) ----------------------------------------------------------------------


def denials(view: View) -> list[tuple[int, int, Port]]:
    """Return the possible denials to rivals who play later in the final turn and may end ahead.

    Assume that everybody hands in all goods that they have or collect, and spends all coins (C4.8).

    Returns:
        The rival's loss, the stake that causes it and the port, the best first.
    """
    if view.setup.options["final_phase3"] == "skip":
        return []
    seen, prices, found = view.seen, view.prices, []

    def fetched(goods: Goods) -> int:
        return best_sets(piles_of(goods), goods[Kind.WILD], prices)[0]

    mine = view.me.score + view.me.safe + fetched(view.me.goods)
    later = (seen.first_seat - seen.seat - 1) % len(seen.seats)
    for seat, other in ([*enumerate(seen.seats)] * 2)[seen.seat + 1 :][:later]:
        leading = [port for port in seen.ports if port.stacks[seat] and port.stacks[seat] == max(port.stacks)]
        goods, coins = other.goods, other.safe + other.casino * view.board.casino_income
        for port in leading:
            goods = together(goods, port.goods)
        value = fetched(goods)
        if other.score + value + coins >= mine:
            for port in leading:
                stack = port.stacks[seat]
                loss = value - stack - fetched(tuple(map(int.__sub__, goods, port.goods)))
                if loss > stack + 1:
                    found.append((loss, stack + 1, port.port))
    return sorted(found, key=lambda denial: denial[1] - denial[0])


_DECISIONS: dict[Phase, Callable[[View], list[Action]]] = {
    Phase.P1: resolve_ships,
    Phase.P2: smuggle,
    Phase.P2_DISCARD: discard,
    Phase.P3: send_ships,
}
