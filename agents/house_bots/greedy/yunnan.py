"""A policy for Yunnan that values Merchants, progress and money in victory points and takes the largest gain.

It plans a travel turn as a whole: of all ways to distribute the Merchants with the border passes, it takes the best.
The value of a progress is the number of points that it adds to the best plan, plus its gains in later turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from typing_extensions import override

from house_bots.greedy.yunnan_journeys import MOST, NONE, Ways, packed, ways_of
from house_bots.greedy.yunnan_outlook import Prospect, View, standing, structures, yuan
from house_bots.greedy.yunnan_travel import displace, travel
from referee.game import Action, Chance, Observation, RolloutPolicy, Seat, Setup, State
from referee.games.yunnan import actions as act
from referee.games.yunnan import rules, scoring
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.names import Building, Phase, Place, Province, Structure
from referee.games.yunnan.observation import YunnanObservation
from referee.games.yunnan.observing import restore
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.table import NOBODY, Table

# Estimates, tuned in matches against earlier versions. A point is a victory point, and so is a Yuan of income (Y10.1);
# "turns" are the expected turns after this one.

PRICE: Final = 8
"""The assumed cost of a progress in the next auction."""
MAX_BIDS: Final = 2
"""The maximum number of bids in the next auction for which money is kept. Keeping more loses the race to the end of the match."""
BANK_SHARE: Final = 0.5
"""The assumed further bids of rivals who have not passed, as a share of their money."""
MAX_RIVAL_BIDS: Final = 15
"""The assumed maximum of each rival's further bids, in Yuan."""
SISTER: Final = 5.0
"""The cost of outbidding the other colour of the same seat, in points."""


_STEPS: Final = 1 << 16
"""The number of different values that an error in an estimate may have."""


class GreedyPolicy(RolloutPolicy):
    """The policy of `greedy`, for every seat and any position; nothing in this game is hidden."""

    def __init__(self, setup: Setup, doubt: float = 0.0) -> None:
        """Prepare for matches with a setup.

        Args:
            setup: the terms of the match.
            doubt: the largest error in a colour's estimate of a building, in points; if it is 0, nothing is drawn at
                random. A rollout draws once, and each turn, colour and building has its own error. Therefore, rollouts
                with the same chance differ only in the actions played.
        """
        self._ways = ways_of(cast("YunnanBoard", setup.board).bridge_sites)
        self._doubt = doubt
        self._chance: Chance | None = None
        self._drawn = 0

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        table = cast("Table", state)
        if not self._doubt or table.phase is not Phase.AUCTION:
            return row_in(table, self._ways)
        if chance is not self._chance:
            self._chance = chance
            self._drawn = chance.stream("policy").below(1 << 30)
        return [place_merchant(View(table, self._ways), self._errors(table))]

    def _errors(self, table: Table) -> list[float]:
        number = self._drawn + (table.turn * table.colours + table.acting_colour) * len(table.bids)
        found: list[float] = []
        # A hash replaces draws, so that an error depends only on the turn, the colour and the building, not on earlier actions.
        for building in range(len(table.bids)):
            mixed = (number + building) * 0x9E3779B1 & 0xFFFFFFFF
            mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
            found.append(self._doubt * (2 * (mixed >> 16) / _STEPS - 1))
        return found


def choose(setup: Setup, seen: Observation, actions: Sequence[Action]) -> Sequence[Action]:
    """Return the actions to play in order, the first of which is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    if len(actions) == 1:
        return [actions[0]]
    table = YunnanState.empty(setup)
    restore(table, cast("YunnanObservation", seen))
    return row_in(table, ways_of(table.board.bridge_sites))


def row_in(table: Table, ways: Ways) -> list[Action]:
    """Return the actions that the colour to act plays, in order."""
    phase, view = int(table.phase), View(table, ways)
    if phase == Phase.AUCTION:
        return [place_merchant(view)]
    if phase == Phase.YARD:
        return [take_structure(view)]
    if phase == Phase.TRAVEL:
        return travel(view)
    if phase == Phase.DISPLACE:
        return [displace(view)]
    return [convert(view)]


# --- phase 1: auction and yard (Y2 to Y4) --------------------------------------------------------------------


class Gain:
    """A bid, as a building and a space, and the points that it gains."""

    def __init__(self, building: int, space: int, points: float) -> None:
        self.building = building
        self.space = space
        self.points = points


def place_merchant(view: View, doubts: Sequence[float] = ()) -> Action:
    """Choose the bid with the largest gain, or the bank if it promises more; otherwise, choose the market or a pass.

    Args:
        view: the decision.
        doubts: points to add to the worth of each building; empty for none.
    """
    sources = rules.sources(view.table, view.colour)
    if not sources or view.table.banked >> view.colour & 1:
        return without_bid(view)
    auction = Auction(view, sources, doubts)
    if auction.bank > 0:
        return auction.banking()
    wanted = best_of(auction.gains)
    return without_bid(view) if wanted is None or wanted.points <= 0 else auction.bidding(wanted)


def without_bid(view: View) -> Action:
    """Return the action that sends a Merchant from the reserve to the market; a pass if the reserve is empty."""
    return act.MARKETS[Place.RESERVE] if view.table.reserve[view.colour] else act.PASS


class Auction:
    """The bids and the bank for a colour that has a Merchant to place."""

    def __init__(self, view: View, sources: list[int], doubts: Sequence[float]) -> None:
        """Rate the choices; for the doubts, see `place_merchant`."""
        table = view.table
        own, influence = standing(view)
        with_all = Prospect(view, own, influence, view.turns)
        self.source = cheapest(with_all, sources)
        left = with_all.without_merchant(self.source)
        lost = with_all.now - left.now
        self.spaces = view.board.bid_spaces
        self.gains = bids(view, left, lost)
        for gain in self.gains if doubts else []:
            gain.points += doubts[gain.building]
        self.space = 0
        """The free space of the bank."""
        self.bank = NONE
        """The points that the bank gains beyond those of all bids that it excludes; NONE if the bank is closed."""
        # A colour with bids does not use the bank, which would take all its Merchants out of the buildings (Y2.6).
        if not view.committed[view.colour] and NOBODY in table.bank:
            self.space = table.bank.index(NOBODY)
            payment = view.board.bank_payment(expected_total(view))[self.space]
            self.bank = payment * yuan(view.turns) - lost - max(0.0, promised(view, self.gains))

    def bidding(self, gain: Gain) -> Action:
        """Return the action that makes a bid."""
        return act.bids(self.spaces)[gain.building][gain.space][self.source]

    def banking(self) -> Action:
        """Return the action that places a Merchant in the bank."""
        return act.BANKS[self.space][self.source]


def cheapest(prospect: Prospect, sources: list[int]) -> int:
    """Return the source whose Merchant is worth least."""
    chosen, most = sources[0], NONE
    for source in sources if len(sources) > 1 else []:
        points = prospect.best(prospect.own.with_merchant(source, -1))
        if points > most:
            chosen, most = source, points
    return chosen


def best_of(gains: list[Gain]) -> Gain | None:
    """Return the bid with the largest gain, or None if there are no bids."""
    chosen, most = None, NONE
    for gain in gains:
        if gain.points > most:
            chosen, most = gain, gain.points
    return chosen


def bids(view: View, left: Prospect, lost: float) -> list[Gain]:
    """Return the gain of each legal bid.

    Args:
        view: the decision.
        left: the bidding colour's prospect without the Merchant that makes the bid.
        lost: the points that the Merchant would be worth elsewhere.
    """
    table, colour, values = view.table, view.colour, view.board.bid_spaces
    most = rules.limit(table, colour)
    found: list[Gain] = []
    for building in range(len(table.bids)):
        spaces = rules.open_spaces(table, colour, building, most)
        if spaces:
            worth = left.worth(building)
            for space in spaces:
                found.append(Gain(building, space, worth - price(view, building, values[space]) - lost))
    return found


def price(view: View, building: int, value: int) -> float:
    """Return the cost of a bid in points: for its Yuan, its debt (Y13.3), and outbidding the seat's other colour."""
    board, table, colour = view.board, view.table, view.colour
    missing = max(0, min(value, view.committed[colour] + value - table.money[colour]))
    points = (value - missing) * yuan(view.turns)
    if missing:
        points += missing * board.debt(table.turn)
    row = table.bids[building]
    for space in range(board.small_spaces):
        if row[space] != NOBODY and board.bid_spaces[space] < value and table.owner[row[space]] == view.seat:
            points += SISTER
    return points


def promised(view: View, gains: list[Gain]) -> float:
    """Return the total gain of the best bids that a colour can pay for and has Merchants for."""
    table, values = view.table, view.board.bid_spaces
    total, money = 0.0, table.money[view.colour] - view.committed[view.colour]
    for _ in range(table.reserve[view.colour]):
        gains = [gain for gain in gains if values[gain.space] <= money]
        wanted = best_of(gains)
        if wanted is None or wanted.points <= 0:
            break
        total, money = total + wanted.points, money - values[wanted.space]
        gains = [gain for gain in gains if gain.building != wanted.building]
    return total


def expected_total(view: View) -> int:
    """Estimate the total of all bids at the end of the auction (Y3.1)."""
    table, committed = view.table, view.committed
    total = sum(committed)
    for colour in range(table.colours):
        if colour != view.colour and not (table.passed | table.banked) >> colour & 1:
            total += min(MAX_RIVAL_BIDS, int(BANK_SHARE * max(0, table.money[colour] - committed[colour])))
    return total


def take_structure(view: View) -> Action:
    """Choose the structure with the largest present worth."""
    chosen: Action = act.TAKES[Structure.POST]
    most = NONE
    for take, points in yard(view):
        if points > most:
            chosen, most = take, points
    return chosen


def yard(view: View) -> list[tuple[Action, float]]:
    """Return the present worth of each structure in the Yard."""
    own, influence = standing(view)
    own.unmoved = packed(view.table.merchants[view.colour])
    return structures(Prospect(view, own, influence, view.turns))


# --- phase 2f: conversion (Y10) ------------------------------------------------------------------------------


def convert(view: View) -> Action:
    """Convert the income, except for the money that a possible next auction needs."""
    table, board, mine, income = view.table, view.board, view.seat, view.table.income[view.colour]
    two = table.setup.seats == 2
    end = board.end_vp[two]
    pending = [0] * table.setup.seats
    for colour, owner in enumerate(table.owner):
        pending[owner] += table.income[colour]
    rivals = [seat for seat in range(table.setup.seats) if seat != mine]
    over = table.turn >= table.turn_limit or sum(table.gifts) <= board.end_gifts[two] or table.vp[mine] >= end
    if over or max([table.vp[seat] + pending[seat] for seat in rivals]) >= end:
        return act.converts(income)[income]
    points = max(0, min(income, income + table.money[view.colour] - needed(view)))
    if table.vp[mine] + pending[mine] >= end:
        final = [score + pending[seat] for seat, score in enumerate(scoring.scores(table))]
        wins = final[mine] > max([final[seat] for seat in rivals])
        points = income if wins else min(points, end - 1 - table.vp[mine])
    return act.converts(income)[points]


def needed(view: View) -> int:
    """Return the amount of money that will probably be well spent in the next auction."""
    table = view.table
    own, influence = standing(view)
    left = Prospect(view, own, influence, max(0.0, view.turns - 1))
    lost = 0.0
    if own.unmoved & MOST:
        with_all, left = left, left.without_merchant(Province.PUE)
        lost = with_all.now - left.now
    wanted = 0
    for building in range(len(Building)):
        if not rules.is_exhausted(table, view.colour, building):
            wanted += left.worth(building) - lost > PRICE * yuan(left.turns)
    return PRICE * min(MAX_BIDS, wanted)
