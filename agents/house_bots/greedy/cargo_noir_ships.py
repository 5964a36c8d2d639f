"""The ships of the greedy policy in Cargo Noir: destinations, stakes, swaps, and denials in the final turn.

The worth of a stake is the worth of the port's goods for this seat, times the probability that no rival outbids it.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from house_bots.greedy.cargo_noir_sets import hand_of, hand_with, pile
from house_bots.greedy.cargo_noir_worth import Worth, Worths, coins_worth
from referee.game import Seat
from referee.games.cargo_noir.names import Destination
from referee.games.cargo_noir.scoring import score
from referee.games.cargo_noir.table import Table

# Estimates, tuned in matches against earlier versions.

RIVAL_COIN: Final = 2.0
"""The assumed worth of a coin to a rival, in points."""
ATTACK: Final = 0.9
"""The share of an outbid rival's loss that counts as a gain, before it is divided by the number of rivals."""
STAKE_STEPS: Final = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20)
"""The stakes to compare, in coins above the lowest legal stake."""
BID_ODDS: Final = -1.4
"""The logarithm of the odds that a rival outbids a stake, before the four adjustments below."""
BID_GAIN: Final = 0.17
"""The amount added to the log odds of being outbid for each point that the rival would gain from the port's goods."""
BID_SLACK: Final = 0.3
"""The amount added to the log odds of being outbid for each coin that the rival has beyond the stake.

At most MAX_SLACK coins count.
"""
MAX_SLACK: Final = 6
"""The maximum number of coins beyond a stake for which `BID_SLACK` is added."""
BID_STAKE: Final = 0.23
"""The amount subtracted from the log odds of being outbid for each coin of the stake."""
BID_RIVALS: Final = 0.55
"""The amount subtracted from the log odds of being outbid for each rival.

The more rivals there are, the less likely each of them is to bid.
"""

_CASINO: Final = 0
_BLACK_MARKET: Final = 1
assert (_CASINO, _BLACK_MARKET) == (Destination.CASINO, Destination.BLACK_MARKET)  # noqa: S101 see `cargo_noir_sets`


# --- swaps and draws ---------------------------------------------------------------------------------------


def best_swap(worth: Worth, goods: list[int], market: list[int]) -> tuple[float, int, int]:
    """Return the best swap at the Black Market (C2.5): its gain, the kind given and the kind taken."""
    hand = hand_of(goods)
    now = worth.of(hand)
    best, give_best, take_best = -math.inf, 0, 0
    tried: set[int] = set()
    for give in range(10):
        if not goods[give]:
            continue
        for take in range(10):
            if give == take or not market[take]:
                continue
            # Swaps between piles of the same sizes lead to the same hand.
            alike = 4 * (1000 * goods[give] + goods[take]) + 2 * (give == 9) + (take == 9)
            if alike in tried:
                continue
            tried.add(alike)
            gain = worth.of(hand + _change(goods, give, -1) + _change(goods, take, 1)) - now
            if gain >= best:
                best, give_best, take_best = gain, give, take
    return best, give_best, take_best


def _change(goods: list[int], kind: int, by: int) -> int:
    """Return the change in a hand when the number of tokens of a kind changes."""
    if kind == 9:
        return by
    return pile(goods[kind] + by) - pile(goods[kind])


def draw_gain(worth: Worth, goods: list[int], table: Table) -> float:
    """Return the average worth of a token drawn from the bag (C5.1)."""
    bag = table.bag if any(table.bag) else table.discard  # the next draw mixes the discard pile in (C5.1)
    hand, tokens, total = hand_of(goods), 0, 0.0
    for kind in range(10):
        count = bag[kind]
        if count:
            tokens += count
            total += count * worth.of(hand + _change(goods, kind, 1))
    return total / tokens - worth.of(hand) if tokens else 0.0


# --- stakes --------------------------------------------------------------------------------------------------


class Fleet(NamedTuple):
    """The plan for the ships of a turn."""

    stakes: dict[int, int]
    """The stakes by port."""
    macao: list[int]
    """The destinations in Macao of the other ships."""
    promise: float
    """The points that the first ship promises; 0 if there are no ships."""


class PortPlan:
    """A port, the rivals' interest in it, and the chance that a stake is not outbid."""

    def __init__(self, worths: Worths, table: Table, seat: Seat, port: int) -> None:
        row, goods = table.stacks[port], table.port_goods[port]
        turns = table.last_turn - table.turn
        self.port = port
        self.goods = goods
        self.lowest = worths.board.min_stake
        self._gains: list[float] = []
        self._coins: list[int] = []
        highest, leader = 0, -1
        for other in range(len(row)):
            if other == seat:
                continue
            worth, theirs = worths.goods(table, other, turns - 1), table.goods[other]
            self._gains.append(worth.of(hand_with(theirs, goods)) - worth.of(hand_of(theirs)))
            self._coins.append(table.safe[other] + table.casino[other] * worths.board.casino_income + row[other])
            if row[other] > highest:
                highest, leader = row[other], len(self._gains) - 1
        self.lowest = max(self.lowest, highest + 1)  # C6.3
        lost = self._gains[leader] - RIVAL_COIN * highest if highest else 0.0
        self.attack = ATTACK * max(0.0, lost) / len(self._gains)
        self._chances: dict[int, float] = {}

    def chance_to_stay(self, stake: int) -> float:
        """Return the chance that nobody outbids a stake before its ship acts."""
        known = self._chances.get(stake)
        if known is not None:
            return known
        chance, rivals = 1.0, len(self._gains)
        for place in range(rivals):
            coins = self._coins[place]
            if coins > stake:
                slack = min(coins - stake, MAX_SLACK)
                gain = self._gains[place]
                odds = BID_ODDS + BID_GAIN * gain + BID_SLACK * slack - BID_STAKE * stake - BID_RIVALS * rivals
                chance /= 1 + math.exp(min(odds, 50.0))  # with 50, the exponential stays finite
        self._chances[stake] = chance
        return chance


def plan_ships(
    worths: Worths, table: Table, goods: list[int], coins: int, ships: int, ports: list[int], bought: int = 0
) -> Fleet:
    """Plan the ships of the seat on turn one by one, each to the best remaining place.

    Args:
        worths: the values of goods, coins and cards.
        table: the position.
        goods: the seat's goods when it sends the ships.
        coins: the coins in its safe at that time.
        ships: the number of ships to send.
        ports: the possible ports.
        bought: the number of these ships that are still to be bought.
    """
    turns = table.last_turn - table.turn
    worth = worths.goods(table, table.seat, turns - 1, bought)
    free = [PortPlan(worths, table, table.seat, port) for port in ports]
    stakes: dict[int, int] = {}
    macao: list[int] = []
    income, promise = 0, 0.0
    for number in range(ships):
        due = _casino_income(worths, table, income)
        casino = coins_worth(coins + income + due, turns) - coins_worth(coins + income, turns)
        market = max(best_swap(worth, goods, table.market)[0], draw_gain(worth, goods, table))
        points, stake, chosen = max(market, casino), 0, -1
        now = worth.of(hand_of(goods))
        for place in range(len(free)):
            there, coin = best_stake(free[place], worth.of(hand_with(goods, free[place].goods)) - now, coins, turns)
            if there > points:
                points, stake, chosen = there, coin, place
        if chosen >= 0:
            port = free.pop(chosen)
            stakes[port.port] = stake
            coins -= stake
            goods = [have + more for have, more in zip(goods, port.goods, strict=True)]
        elif casino > market:
            macao.append(_CASINO)
            income += due
        else:
            macao.append(_BLACK_MARKET)
        if not number:
            promise = points
    return Fleet(stakes, macao, promise)


def _casino_income(worths: Worths, table: Table, income: int) -> int:
    """Return the income of another ship at the Casino, if other ships have already brought `income` (C7.2)."""
    due = worths.board.casino_income
    if table.setup.options["bank_limited"]:
        due = min(due, table.bank - income)
    return max(0, due)


def best_stake(port: PortPlan, gain: float, coins: int, turns: int) -> tuple[float, int]:
    """Return the points and the height of the best stake in a port; -inf and 0 if there are too few coins.

    Args:
        port: the port.
        gain: the worth of its goods for the seat.
        coins: the coins in its safe.
        turns: the number of turns after this one.
    """
    have = coins_worth(coins, turns)
    best, best_coins = -math.inf, 0
    for step in STAKE_STEPS:
        stake = port.lowest + step
        if stake > coins:
            break
        points = port.attack + port.chance_to_stay(stake) * (gain - have + coins_worth(coins - stake, turns))
        if points > best:
            best, best_coins = points, stake
    return best, best_coins


def pending_stake(worths: Worths, table: Table) -> int:
    """Return the best height for the stack that the seat on turn is choosing."""
    pending = table.pending_stake
    assert pending is not None  # noqa: S101 the phase STAKE has one
    if table.last_turn == table.turn:  # nothing can be collected any more
        return pending.min
    return stake_in(worths, table, pending.port, pending.max)[1]


def stake_in(worths: Worths, table: Table, port: int, coins: int) -> tuple[float, int]:
    """Return the points and the height of the best stake of the seat on turn in a port; -inf and 0 if there are too few coins."""
    goods, turns = table.goods[table.seat], table.last_turn - table.turn
    worth = worths.goods(table, table.seat, turns - 1)
    gain = worth.of(hand_with(goods, table.port_goods[port])) - worth.of(hand_of(goods))
    return best_stake(PortPlan(worths, table, table.seat, port), gain, coins, turns)


# --- the final turn: denying goods (C1.5) ----------------------------------------------------------------------


class Denial(NamedTuple):
    """A ship that takes goods away from a rival."""

    loss: int
    """The rival's loss."""
    stake: int
    """The stake that causes the rival's loss."""
    port: int


def denials(worths: Worths, table: Table) -> list[Denial]:
    """Return the possible denials against rivals who play later in the final turn and may end ahead, the best first.

    Everybody is assumed to hand in all goods that they have or collect, and to spend all coins (C4.8).
    """
    if table.setup.options["final_phase3"] == "skip":
        return []
    found: list[Denial] = []
    sets, seat, seats = worths.sets, table.seat, table.setup.seats
    mine = score(table, seat) + table.safe[seat] + sets.value_of_all(hand_of(table.goods[seat]))
    # Only seats that play later in this turn can still collect.
    for step in range(1, (table.first_seat - seat - 1) % seats + 1):
        found += _denials_to(worths, table, (seat + step) % seats, mine)
    return sorted(found, key=_net_cost)


def _denials_to(worths: Worths, table: Table, seat: Seat, mine: int) -> list[Denial]:
    """Return the possible denials against one rival, if it may end ahead of `mine` points."""
    found: list[Denial] = []
    leading: list[int] = []
    goods = table.goods[seat]
    coins = table.safe[seat] + table.casino[seat] * worths.board.casino_income
    for port in table.open_ports:
        stack = table.stacks[port][seat]
        if stack and stack == max(table.stacks[port]):
            leading.append(port)
            goods = [have + more for have, more in zip(goods, table.port_goods[port], strict=True)]
    value = worths.sets.value_of_all(hand_of(goods))
    if score(table, seat) + value + coins >= mine:
        for port in leading:
            stack = table.stacks[port][seat]
            left = [have - less for have, less in zip(goods, table.port_goods[port], strict=True)]
            loss = value - stack - worths.sets.value_of_all(hand_of(left))
            if loss > stack + 1:
                found.append(Denial(loss, stack + 1, port))
    return found


def _net_cost(denial: Denial) -> int:
    return denial.stake - denial.loss
