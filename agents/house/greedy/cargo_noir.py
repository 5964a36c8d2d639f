"""Plays Cargo Noir: every good, coin and ship is given a worth in victory points, and the best sum is taken.

The worth of goods is what their best sets would fetch now, or what these sets may still grow to; the worth of a stake in
a port is that of its goods for this seat, times the chance that no rival outbids it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from referee.game import Action, Seat, Setup
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.board import CargoNoirBoard
from referee.games.cargo_noir.names import Card, Destination, Kind, Phase, Port
from referee.games.cargo_noir.observation import CargoNoirObservation, PortView, SeatView

# All of these were tuned by matches against earlier versions of this bot, in every seat at every number of seats.
# Points are victory points, turns are those that the seat still has after this one.

SOLD = 1.69
"""Points for a unit of what sets fetch, where it is only foreseen that they will be sold."""
KEPT = 0.95
"""Points for a unit of what the sets in store may grow to."""
GROWING_TURNS = 3.2
"""Turns over which a set is expected to grow."""
MAIN_GROWTH = 0.86
"""Tokens that the largest pile of one kind gains in a turn."""
SECOND_GROWTH = 0.42
"""Tokens that the second pile gains in a turn."""
DIFFERENT_GROWTH = 1.84
"""Kinds that a set of different kinds gains in a turn."""
SHIP_POINTS = 4.4
"""Points that a further ship earns in a turn."""
WAREHOUSE_POINTS = 1.0
"""Points that a further Warehouse earns in a turn."""
SYNDICATE_POINTS = 0.2
"""Points that a further Syndicate earns in a turn."""
NEEDED_COINS = 6
"""Coins that a seat needs for its stakes; further ones are worth less."""
NEEDED_COIN = 5.0
"""Points for a coin among these."""
SPARE_COIN = 1.4
"""Points for a coin beyond them."""
LAST_COIN = 0.8
"""Points for a coin that can only pay a shortage in the final turn (C4.8)."""
ATTACK = 0.58
"""Share of what a rival loses by being outbid that counts as own gain, divided among all rivals."""
STAKE_STEPS = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20)
"""How many coins more than the lowest stake are considered."""
RIVAL_COIN = 1.8
"""Points that a coin is thought to be worth to a rival."""
RIVAL_SHIP = 3.3
"""Points that a rival is thought to make with a ship that goes to Macao."""
BID_ODDS, BID_SURPLUS, BID_GAIN, BID_STAKE, BID_SLACK, BID_CROWD = -2.7, 0.068, 0.114, -0.24, 0.38, 0.7
"""Logarithm of the odds that a rival outbids a stake: a constant, and what is added for each point that this port gives him
beyond his best other choice, for each point that it gives him, for each coin of the stake, for each coin that he has beyond
it, and (subtracted) for each rival beyond two."""
MOST_SLACK = 6
"""Coins beyond the stake that make a difference."""
DENIAL = 0.4
"""Chance that a rival who can pay for it outbids a stake in his final turn, only to deny the goods."""
THREAT = 10
"""Points that a rival may be behind and still be worth denying."""
MOST_SETS = 3
"""Sets of different kinds in one sale; more never pay with the goods that one can have."""
MOST_SALES = 300
"""Sales that are compared; more arise only with very many goods."""
MOST_CREDIT = 1500
"""Credit that is spent well; more arises only on boards with far larger numbers."""
MOST_COPIES = 9
"""Copies of one card that are bought in one turn."""

Goods = tuple[int, ...]
"""Tokens of each kind, as in observations."""
Piles = tuple[int, ...]
"""Tokens of each real kind that is held, the largest number first: kinds are alike, only their numbers matter."""


class Prices(NamedTuple):
    """The printed numbers that the worth of goods depends on."""

    same: tuple[int, ...]
    different: tuple[int, ...]
    ship_cost: int
    ship_points: int


class View(NamedTuple):
    """What a decision looks at."""

    setup: Setup
    seen: CargoNoirObservation
    actions: list[Action]
    board: CargoNoirBoard
    prices: Prices
    me: SeatView
    turns: int
    """Turns that are left after this one."""


def choose(setup: Setup, seen: CargoNoirObservation, actions: list[Action]) -> list[Action]:
    """The actions to play in a row.

    Args:
        setup: what was agreed before the match.
        seen: what the seat to act observes.
        actions: its legal actions.

    Returns:
        At least one action, the first of them legal.
    """
    board = cast("CargoNoirBoard", setup.board)
    ship = Card.CARGO_SHIP
    prices = Prices(board.same, board.different, board.cost[ship], board.vp[ship])
    view = View(setup, seen, actions, board, prices, seen.seats[seen.seat], seen.last_turn - seen.turn)
    plan = _DECISIONS[seen.phase](view)
    return plan if plan and plan[0] in actions else actions[:1]


# --- sets (C4.2, C4.3) ---------------------------------------------------------------------------------


class Lot(NamedTuple):
    """A set that is handed in: of one kind, or one token of each of several."""

    kinds: tuple[int, ...]
    count: int
    wilds: int
    value: int


def piles_of(goods: Sequence[int]) -> Piles:
    """The piles of a holding."""
    return tuple(sorted(filter(None, goods[:9]), reverse=True))


def same_value(count: int, same: tuple[int, ...]) -> int:
    """What tokens of one kind fetch, in as large sets as there are."""
    full, rest = divmod(count, len(same) - 1)
    return full * same[-1] + same[rest]


@lru_cache(maxsize=1 << 16)
def best_sets(piles: Piles, wilds: int, prices: Prices, depth: int = MOST_SETS) -> tuple[int, int, int]:
    """What goods fetch in their best sets; number of piles and of wilds in the first set of different kinds (or 0).

    The table of same sets is convex, so that a set of different kinds takes its tokens from the smallest piles, and all
    wilds go into one set.
    """
    same, different = prices.same, prices.different
    rest = sum(same_value(count, same) for count in piles[1:])
    best = (rest + same_value((piles[0] if piles else 0) + wilds, same), 0, 0)
    for size in range(2, len(piles) + 1) if depth else ():
        left = tuple(sorted((*piles[:-size], *(n - 1 for n in piles[-size:] if n > 1)), reverse=True))
        for used in {0, min(wilds, len(different) - 1 - size)}:
            value = different[size + used] + best_sets(left, wilds - used, prices, depth - 1)[0]
            if value > best[0]:
                best = (value, size, used)
    return best


def split_into_sets(goods: Goods, prices: Prices) -> list[Lot]:
    """The best sets that all goods can be handed in as."""
    lots: list[Lot] = []
    for depth in range(MOST_SETS, -1, -1):
        _, size, used = best_sets(piles_of(goods), goods[Kind.WILD], prices, depth)
        if not size:
            break
        lots.append(_different_lot(_ascending(goods)[:size], used, prices))
        goods = _without(goods, lots[-1])
    while any(goods):
        kind = (_ascending(goods) or [Kind.WILD])[-1]
        lots.append(_same_lot(goods, kind, goods[Kind.WILD], prices))
        goods = _without(goods, lots[-1])
    return lots


def _ascending(goods: Goods) -> list[int]:
    return sorted((kind for kind in range(9) if goods[kind]), key=goods.__getitem__)


def _different_lot(kinds: Iterable[int], wilds: int, prices: Prices) -> Lot:
    chosen = tuple(sorted(kinds))
    return Lot(chosen, 1, wilds, prices.different[len(chosen) + wilds])


def _same_lot(goods: Goods, kind: int, wilds: int, prices: Prices) -> Lot:
    count = min(goods[kind], len(prices.same) - 1)
    used = 0 if kind == Kind.WILD else min(wilds, len(prices.same) - 1 - count)
    return Lot((kind,), count, used, prices.same[count + used])


def _without(goods: Goods, lot: Lot) -> Goods:
    left = list(goods)
    for kind in lot.kinds:
        left[kind] -= lot.count
    left[Kind.WILD] -= lot.wilds
    return tuple(left)


def _sale(lot: Lot) -> list[Action]:
    first, *others = lot.kinds
    if not others:
        return [act.SellSame(Kind(first), lot.count, lot.wilds)]
    return [act.DIFF_STARTS[first], *(act.DIFF_ADDS[kind] for kind in others), act.DIFF_CLOSES[lot.wilds]]


# --- what things are worth ---------------------------------------------------------------------------------


def _between(size: float, row: tuple[int, ...]) -> float:
    """What a set of about this size is worth; beyond half of the largest, tokens count as in the largest.

    Otherwise a set that cannot be completed in time would look as good as one that can.
    """
    half = (len(row) - 1) / 2
    if size > half:
        return _between(half, row) + (size - half) * row[-1] / (len(row) - 1)
    low = int(size)
    return row[low] + (size - low) * (row[low + 1] - row[low])


@lru_cache(maxsize=1 << 12)
def _grown(count: int, growth: float, row: tuple[int, ...]) -> float:
    """What tokens add to a set that will grow by as much anyway."""
    return _between(count + growth, row) - _between(growth, row)


@lru_cache(maxsize=1 << 16)
def kept_worth(piles: Piles, wilds: int, turns: int, prices: Prices) -> float:
    """Points that goods in store are worth, for a seat that can hand them in in one of so many later turns."""
    time = min(turns, GROWING_TURNS)

    def in_same_sets(piles: Piles, wilds: int) -> float:
        main, *others = piles or (0,)
        worth = _grown(main + wilds, MAIN_GROWTH * time, prices.same)
        for place, count in enumerate(others):
            worth += _grown(count, 0.0 if place else SECOND_GROWTH * time, prices.same)
        return worth

    def with_different_set(largest: int) -> float:
        """With a set of one token of each pile, but for the largest ones."""
        left = (*piles[:largest], *(count - 1 for count in piles[largest:] if count > 1))
        kinds = len(piles) - largest
        used = 0 if largest else min(wilds, len(prices.different) - 1 - kinds)
        worth = _grown(kinds + used, DIFFERENT_GROWTH * time, prices.different)
        return worth + in_same_sets(left, wilds - used)

    worth = in_same_sets(piles, wilds)
    for largest in range(min(2, len(piles) - 1)):
        worth = max(worth, with_different_set(largest))
    return KEPT * worth


@lru_cache(maxsize=1 << 16)
def best_store(piles: Piles, wilds: int, storage: int, turns: int, prices: Prices) -> tuple[float, Piles, int]:
    """Points, piles and wilds after the discards (C4.9); each pile in its place, though it may then be empty."""
    wilds = min(wilds, storage)
    room = storage - wilds
    stores = []
    for each in (0, 1):  # the largest piles, or first a token of every kind
        left = room
        store = [0] * len(piles)
        for most in (1, sum(piles)) if each else (sum(piles),):
            for place, count in enumerate(piles):
                more = min(count - store[place], most, left)
                store[place] += more
                left -= more
        stores.append((kept_worth(piles_of(store), wilds, turns, prices), tuple(store), wilds))
    return max(stores)


@lru_cache(maxsize=1 << 16)
def hand_worth(piles: Piles, wilds: int, turns: int, storage: int, ships: int, prices: Prices) -> float:
    """Points that goods are worth just before a phase 2, for a seat that may buy so many more ships."""
    most = len(prices.same) - 1

    def sold(value: int) -> float:
        ship = ships and turns and value >= prices.ship_cost
        return SOLD * value + (max(0.0, ship_worth(turns, prices) - prices.ship_cost) if ship else 0.0)

    everything = sold(best_sets(piles, wilds, prices)[0])
    if not turns:
        return everything
    worths = [everything, best_store(piles, wilds, storage, turns, prices)[0]]
    if piles:
        used = min(wilds, max(0, most - piles[0]))
        main = sold(same_value(piles[0] + used, prices.same))
        worths.append(main + best_store(piles[1:], wilds - used, storage, turns, prices)[0])
        others = sold(best_sets(piles[1:], 0, prices)[0])
        worths.append(others + best_store(piles[:1], wilds, storage, turns, prices)[0])
    return max(worths)


def ship_worth(turns: int, prices: Prices) -> float:
    """Points for a Cargo Ship card."""
    return prices.ship_points + SHIP_POINTS * turns


def coins_worth(coins: int, turns: int) -> float:
    """Points for coins in the safe after phase 3."""
    if turns <= 1:
        return LAST_COIN * coins
    needed = min(coins, NEEDED_COINS)
    return NEEDED_COIN * needed + SPARE_COIN * (coins - needed)


def ships_wanted(seen: CargoNoirObservation, seat: Seat, board: CargoNoirBoard) -> int:
    """How many ships a seat can still buy (C4.6)."""
    ship = Card.CARGO_SHIP
    return min(seen.supply[ship], board.cap[ship] - seen.seats[seat].cards[ship])


def worth_for(view: View, seat: Seat, turns: int, bought: int = 0) -> Callable[[Goods], float]:
    """What goods are worth to a seat that has so many turns left, and buys so many ships before."""
    ships = ships_wanted(view.seen, seat, view.board) - bought
    storage = view.seen.seats[seat].storage

    def worth(goods: Goods) -> float:
        return hand_worth(piles_of(goods), goods[Kind.WILD], turns, storage, ships, view.prices)

    return worth


def together(goods: Goods, more: Goods) -> Goods:
    """Two holdings in one."""
    return tuple(map(int.__add__, goods, more))


# --- phase 1: ships (C2, C3) -----------------------------------------------------------------------------


def resolve_ships(view: View) -> list[Action]:
    """Casino and goods first, so that their coins and goods help with the rest; then the market; outbid ships last."""
    sure: list[Action] = [act.CASINO] * view.seen.todo_casino
    sure += [action for action in view.actions if isinstance(action, act.Collect | act.Wait)]
    return sure or (trade(view) if view.seen.todo_market else answer_bids(view))


def trade(view: View) -> list[Action]:
    """Swaps at the Black Market, or a draw where that promises more: before all swaps, for they gain by what is drawn."""
    goods, shown = view.me.goods, view.seen.market
    worth = worth_for(view, view.seen.seat, view.turns)
    swaps: list[Action] = []
    for _ in range(view.seen.todo_market):
        gain, give, take = best_swap(goods, shown, worth)
        if gain <= draw_gain(goods, view.seen, worth):
            return [act.BM_DRAW]
        swaps.append(act.BM_SWAPS[give][take])
        goods, shown = _swapped(goods, give, take), _swapped(shown, take, give)
    return swaps


def _swapped(goods: Goods, give: int, take: int) -> Goods:
    left = list(goods)
    left[give] -= 1
    left[take] += 1
    return tuple(left)


def best_swap(goods: Goods, shown: Goods, worth: Callable[[Goods], float]) -> tuple[float, int, int]:
    """The best swap (C2.5): its gain, what is given and what is taken."""
    now = worth(goods)
    best = (-math.inf, 0, 0)
    tried = set()
    for give in filter(goods.__getitem__, range(10)):
        for take in filter(shown.__getitem__, range(10)):
            like = (goods[give], give == Kind.WILD, goods[take], take == Kind.WILD)
            if give != take and like not in tried:  # kinds of which equally many are held are alike
                tried.add(like)
                best = max(best, (worth(_swapped(goods, give, take)) - now, give, take))
    return best


def draw_gain(goods: Goods, seen: CargoNoirObservation, worth: Callable[[Goods], float]) -> float:
    """What a random token is worth on average (C5.1)."""
    bag = seen.bag if any(seen.bag) else seen.discard
    tokens = [0] * 10
    gains: dict[tuple[int, bool], float] = {}
    now, total = worth(goods), 0.0
    for kind in filter(bag.__getitem__, range(10)):
        like = (goods[kind], kind == Kind.WILD)
        if like not in gains:
            tokens[kind] = 1
            gains[like] = worth(together(goods, tuple(tokens))) - now
            tokens[kind] = 0
        total += bag[kind] * gains[like]
    return total / max(1, sum(bag))


def answer_bids(view: View) -> list[Action]:
    """Raises where the ship would be sent again if that were allowed, and withdraws elsewhere, for the coins first."""
    outbid = {action.port: action for action in view.actions if isinstance(action, act.Withdraw)}
    own = {port.port: port.stacks[view.seen.seat] for port in view.seen.ports}
    coins = view.me.safe + sum(own[port] for port in outbid)
    stakes: dict[Port, int] = {}
    if view.turns:
        deal = plan_deal(view)
        bought = deal.cards.count(Card.CARGO_SHIP)
        goods = after_discards(view, deal.rest)
        free = [port for port in view.seen.ports if port.port in outbid or not own[port.port]]
        ships = view.me.ships_home + len(outbid) + bought
        stakes = plan_ships(view, goods, coins, ships, free, bought)[0]
    else:
        for denial in denials(view):
            if denial.port in outbid and denial.stake <= coins:
                stakes[denial.port] = denial.stake
                coins -= denial.stake
    plan: list[Action] = [action for port, action in outbid.items() if port not in stakes]
    for port in outbid:
        if port in stakes:
            plan += [act.RAISES[port], act.Stake(stakes[port])]
    return plan


# --- phase 2: smuggling (C4) ---------------------------------------------------------------------------------


class Deal(NamedTuple):
    """What is handed in, bought and left in a phase 2."""

    lots: tuple[Lot, ...]
    cards: tuple[int, ...]
    rest: Goods


class Offer(NamedTuple):
    """A copy of a card that can be bought."""

    card: int
    cost: int
    worth: float


def smuggle(view: View) -> list[Action]:
    """Hands everything in before buying, so that coins pay no more than the shortage (C4.8)."""
    deal = plan_deal(view)
    plan = [action for lot in deal.lots for action in _sale(lot)]
    return [*plan, *(act.BUYS[card] for card in deal.cards), act.END_SMUGGLING]


def plan_deal(view: View) -> Deal:
    """The sale and purchase with the most points, what is kept included."""
    seen, me = view.seen, view.me
    if not view.turns:
        lots = split_into_sets(me.goods, view.prices)
        return Deal(tuple(lots), _last_cards(view, seen.credit + sum(lot.value for lot in lots)), (0,) * 10)
    options = sales(me.goods, view.prices)
    worths, cards = shopping(offers(view), min(MOST_CREDIT, seen.credit + max(value for value, _ in options.values())))
    best, deal = -math.inf, Deal((), (), me.goods)
    for rest, (value, sold) in options.items():
        credit = min(MOST_CREDIT, seen.credit + value)
        store = best_store(piles_of(rest), rest[Kind.WILD], me.storage, view.turns, view.prices)
        if worths[credit] + store[0] > best:
            best, deal = worths[credit] + store[0], Deal(sold, cards[credit], rest)
    return deal


def _last_cards(view: View, credit: int) -> tuple[int, ...]:
    """The cards of the final turn; coins are kept back where denying goods to a rival is worth more."""
    budget = min(MOST_CREDIT, credit + view.me.safe)
    worths, cards = shopping(offers(view), budget)
    best, spend = worths[budget], budget
    worth, coins, ships = 0.0, 0, view.me.ships_home
    own = {port.port for port in view.seen.ports if port.stacks[view.seen.seat]}
    for denial in denials(view):
        blocked = denial.port in own or denial.port in view.seen.banned_ports
        if not blocked and ships and coins + denial.stake <= view.me.safe:
            worth, coins, ships = worth + denial.worth, coins + denial.stake, ships - 1
            rest = max(0, min(budget, credit + view.me.safe - coins))
            if worth + worths[rest] > best:
                best, spend = worth + worths[rest], rest
    return cards[spend]


def sales(goods: Goods, prices: Prices) -> dict[Goods, tuple[int, tuple[Lot, ...]]]:
    """What can be left of goods, each with what the rest fetches and in which sets."""
    found: dict[Goods, tuple[int, tuple[Lot, ...]]] = {goods: (0, ())}
    layer = [goods]
    while layer and len(found) < MOST_SALES:
        following = []
        for before in layer:
            value, lots = found[before]
            for lot in _lots(before, prices):
                rest = _without(before, lot)
                if rest not in found:
                    following.append(rest)
                if value + lot.value > found.get(rest, (-1, ()))[0]:
                    found[rest] = (value + lot.value, (*lots, lot))
        layer = following
    return found


def _lots(goods: Goods, prices: Prices) -> list[Lot]:
    """The sets to think of: whole piles, and the smallest piles for sets of different kinds; with any or all wilds."""
    kinds, wilds = _ascending(goods), goods[Kind.WILD]
    most = len(prices.same) - 1
    lots = [_same_lot(goods, Kind.WILD, 0, prices)] if wilds and not kinds else []
    for place, kind in enumerate(kinds):
        if not place or goods[kind] != goods[kinds[place - 1]]:
            lots += [_same_lot(goods, kind, used, prices) for used in range(min(wilds, most) + 1)]
    for size in range(2, len(kinds) + 1):
        lots += [_different_lot(kinds[:size], used, prices) for used in {0, min(wilds, most - size)}]
    return lots


def offers(view: View) -> tuple[Offer, ...]:
    """The cards that can be had (C4.6), with what they will have been worth in the end."""
    board, owned = view.board, view.me.cards
    powers = {Card.CARGO_SHIP: SHIP_POINTS, Card.WAREHOUSE: WAREHOUSE_POINTS, Card.SYNDICATE: SYNDICATE_POINTS}
    found: list[Offer] = []
    for card in Card:
        copies = min(view.seen.supply[card], board.cap[card] - owned[card], MOST_COPIES)
        found += [Offer(card, board.cost[card], board.vp[card] + powers.get(card, 0.0) * view.turns)] * copies
    return tuple(found)


@lru_cache(maxsize=256)
def shopping(on_offer: tuple[Offer, ...], budget: int) -> tuple[list[float], list[tuple[int, ...]]]:
    """The most that each credit up to a budget can buy, without change (C4.5), and the cards."""
    worths = [0.0] * (budget + 1)
    cards: list[tuple[int, ...]] = [()] * (budget + 1)
    for card, cost, worth in on_offer:
        for credit in range(budget, cost - 1, -1):
            if worths[credit - cost] + worth > worths[credit]:
                worths[credit] = worths[credit - cost] + worth
                cards[credit] = (*cards[credit - cost], card)
    return worths, cards


def close_set(view: View) -> list[Action]:
    """A set of different kinds is planned as a whole; one that somebody else began is closed as soon as it can be."""
    return [action for action in view.actions if isinstance(action, act.DiffClose)][:1]


def discard(view: View) -> list[Action]:
    """Keeps the best store (C4.9)."""
    kept = after_discards(view, view.me.goods)
    return [act.DISCARDS[kind] for kind in Kind for _ in range(view.me.goods[kind] - kept[kind])]


def after_discards(view: View, goods: Goods) -> Goods:
    """What is left of goods when phase 2 ends."""
    _, piles, wilds = best_store(piles_of(goods), goods[Kind.WILD], view.me.storage, view.turns, view.prices)
    left = [0] * 9
    for kind, count in zip(reversed(_ascending(goods)), piles, strict=True):
        left[kind] = count
    return (*left, wilds)


# --- phase 3: sending ships (C6) -------------------------------------------------------------------------------


class Rival(NamedTuple):
    """What somebody else may want of a port."""

    gain: float
    """Points that its goods are worth to him."""
    elsewhere: float
    """Points that he can have for his ship otherwise."""
    coins: int
    last: bool
    """Whether it is his final turn before the ship acts: he can collect nothing any more."""


def send_ships(view: View) -> list[Action]:
    """Ships with stakes first, the others to Macao; in the final turn only to deny goods to rivals."""
    plan: list[Action] = []
    if not view.turns:
        coins, ships = view.me.safe, view.me.ships_home
        for denial in denials(view):
            if ships and denial.stake <= coins and act.SENDS[denial.port + 2] in view.actions:
                plan += [act.SENDS[denial.port + 2], act.Stake(denial.stake)]
                coins, ships = coins - denial.stake, ships - 1
        return plan + [act.SENDS[Destination.CASINO]] * ships
    seen, goods = view.seen, view.me.goods
    free = []
    for port in seen.ports:
        if port.stacks[seen.seat]:
            goods = together(goods, port.goods)
        elif port.port not in seen.banned_ports:
            free.append(port)
    stakes, macao = plan_ships(view, goods, view.me.safe, view.me.ships_home, free)
    for where, stake in stakes.items():
        plan += [act.SENDS[where + 2], act.Stake(stake)]
    return plan + [act.SENDS[dest] for dest in macao]


def plan_ships(
    view: View, goods: Goods, coins: int, ships: int, free: list[PortView], bought: int = 0
) -> tuple[dict[Port, int], list[Destination]]:
    """Where to send ships, each to the best place that is left: stakes in ports, and places in Macao.

    Args:
        view: what the decision looks at.
        goods: what the seat will have when the ships act.
        coins: what can be staked.
        ships: how many ships are to be sent.
        free: the ports that ships can be sent to.
        bought: ships that will be bought before.
    """
    seen, turns = view.seen, view.turns
    worth = worth_for(view, seen.seat, turns - 1, bought)
    rivals = rivals_by_port(view)
    bank = seen.bank if view.setup.options["bank_limited"] else math.inf
    stakes: dict[Port, int] = {}
    macao: list[Destination] = []
    income = 0
    for _ in range(ships):
        now, have = worth(goods), coins_worth(coins, turns)
        market = max(best_swap(goods, seen.market, worth)[0], draw_gain(goods, seen, worth))
        due = int(min(view.board.casino_income, max(0, bank - income)))  # C7.2
        casino = coins_worth(coins + income + due, turns) - coins_worth(coins + income, turns)
        best: tuple[float, int, PortView | None] = (max(market, casino), 0, None)
        for port in free:
            others = [stack for seat, stack in enumerate(port.stacks) if seat != seen.seat]
            highest = max(others)
            lowest = max(view.board.min_stake, highest + 1)  # C6.3
            if lowest > coins:
                continue
            gain = worth(together(goods, port.goods)) - now
            outbid = rivals[port.port][others.index(highest)].gain - RIVAL_COIN * highest if highest else 0.0
            attack = ATTACK * max(0.0, outbid) / len(others)
            for stake in (lowest + step for step in STAKE_STEPS if lowest + step <= coins):
                chance = chance_to_stay(stake, rivals[port.port])
                value = attack + chance * (gain - have + coins_worth(coins - stake, turns))
                if value > best[0]:
                    best = (value, stake, port)
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


def rivals_by_port(view: View) -> dict[Port, list[Rival]]:
    """For each port, what every other seat may want of it, in the order of the seats."""
    seen, seats = view.seen, len(view.seen.seats)
    found: dict[Port, list[Rival]] = {port.port: [] for port in seen.ports}
    for seat, other in enumerate(seen.seats):
        if seat == seen.seat:
            continue
        earlier = (seat - seen.first_seat) % seats < (seen.seat - seen.first_seat) % seats
        worth = worth_for(view, seat, view.turns - 1)
        now = worth(other.goods)
        coins = other.safe + other.casino * view.board.casino_income
        coins += sum(port.stacks[seat] for port in seen.ports if port.stacks[seat] < max(port.stacks))
        gains = {port.port: worth(together(other.goods, port.goods)) - now for port in seen.ports}
        nets = []
        for port in seen.ports:
            price = max(port.stacks) + 1
            nets.append((gains[port.port] - RIVAL_COIN * price if price <= coins else 0.0, port.port))
        nets.sort(reverse=True)
        for port in seen.ports:
            elsewhere = max([RIVAL_SHIP, *(net for net, where in nets[:2] if where != port.port)])
            own = port.stacks[seat] if port.stacks[seat] == max(port.stacks) else 0
            last = earlier and view.turns == 1
            found[port.port].append(Rival(gains[port.port], elsewhere, coins + own, last))
    return found


def chance_to_stay(stake: int, rivals: list[Rival]) -> float:
    """The chance that nobody outbids a stake before the ship acts."""
    chance = 1.0
    for gain, elsewhere, coins, last in rivals:
        slack = min(coins - stake, MOST_SLACK)
        if slack <= 0:
            continue
        if last:
            chance *= 1 - DENIAL
            continue
        surplus = max(-25.0, min(25.0, gain - RIVAL_COIN * (stake + 1) - elsewhere))
        odds = BID_ODDS + BID_SURPLUS * surplus + BID_GAIN * gain + BID_STAKE * stake + BID_SLACK * slack
        chance /= 1 + math.exp(min(50.0, odds - BID_CROWD * (len(rivals) - 2)))
    return chance


# --- the final turn: denying goods (C1.5) ----------------------------------------------------------------------


class Denial(NamedTuple):
    """A port in which a rival could still collect, if he were not outbid."""

    worth: float
    stake: int
    port: Port


def denials(view: View) -> list[Denial]:
    """What can be denied in the final turn to rivals who play later and may end ahead, the best first.

    They are taken to be able to hand in all that they have and collect, and to spend all their coins (C4.8).
    """
    seen, prices = view.seen, view.prices
    if view.setup.options["final_phase3"] == "skip":
        return []
    mine = view.me.score + view.me.safe + best_sets(piles_of(view.me.goods), view.me.goods[Kind.WILD], prices)[0]
    later = (seen.first_seat - seen.seat - 1) % len(seen.seats)
    found: list[Denial] = []
    for seat in ((seen.seat + 1 + place) % len(seen.seats) for place in range(later)):
        other = seen.seats[seat]
        leading = [port for port in seen.ports if port.stacks[seat] and port.stacks[seat] == max(port.stacks)]
        coins = other.safe + other.casino * view.board.casino_income
        coins += sum(port.stacks[seat] for port in seen.ports if port not in leading)
        goods = other.goods
        for port in leading:
            goods = together(goods, port.goods)
        value = best_sets(piles_of(goods), goods[Kind.WILD], prices)[0]
        if other.score + value + coins < mine - THREAT:
            continue
        for port in leading:
            less = tuple(map(int.__sub__, goods, port.goods))
            loss = value - best_sets(piles_of(less), less[Kind.WILD], prices)[0] - port.stacks[seat]
            if loss > port.stacks[seat] + 1:
                found.append(Denial(loss, port.stacks[seat] + 1, port.port))
    return sorted(found, key=lambda denial: (denial.stake - denial.worth, denial.port))


def stake_least(view: View) -> list[Action]:
    """A stake is planned with its ship; one for a ship that somebody else has sent is as low as it can be."""
    return view.actions[:1]


_DECISIONS: dict[Phase, Callable[[View], list[Action]]] = {
    Phase.P1: resolve_ships,
    Phase.P2: smuggle,
    Phase.P2_DIFF: close_set,
    Phase.P2_DISCARD: discard,
    Phase.P3: send_ships,
    Phase.STAKE: stake_least,
    Phase.OVER: stake_least,
}
