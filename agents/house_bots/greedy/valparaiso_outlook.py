"""The states that a card can lead to, and the value of a state, for Valparaíso's policy.

Worth is counted in victory points: those already gained, and the expected ones for money, goods, cards, houses and
places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

from house_bots.greedy.valparaiso_estimates import EFFECTS, Estimates, measured
from referee.game import Action, Chance, Seat
from referee.games.valparaiso import actions as act
from referee.games.valparaiso import cards as deck
from referee.games.valparaiso import holdings, legal, planning, rules, scoring
from referee.games.valparaiso.board import (
    ACTION_CARDS,
    OUTER,
    SLOTS_OF_A_SECTOR,
    is_market,
    level_of,
)
from referee.games.valparaiso.names import Card, Effect, Good, Location, Phase, Sector, Store
from referee.games.valparaiso.table import NO_PLAN, NONE, Plan, Table

LOADS, SPREADS = 3, 6  # maximum numbers of ways to load the ship, and to move merchants, that are tried
_LEVEL_A = frozenset(card for card in Card if level_of(card) == "A")
_USE: Final = Phase.USE
_M1: Final = int(Location.M1)
_TRANSFER: Final = Effect.TRANSFER
_BUILD: Final = Effect.BUILD
_H: Final = Sector.H
_NO_CHANCE = cast("Chance", None)  # a turn needs no chance

Row = tuple[Action, ...]
Variant = tuple[Table, Row]
"""A reachable state, and the choices that lead to it."""
Spread = tuple[tuple[int, ...], int, tuple[tuple[Location, ...], ...]]
"""Merchants by location after a move, the cost of the move, and its paths."""


class View:
    """The data for a decision, with a cache of intermediate results."""

    def __init__(
        self,
        table: Table,
        seat: Seat,
        actions: Sequence[Action],
        loads: int = LOADS,
        spreads: int = SPREADS,
        estimates: Estimates | None = None,
    ) -> None:
        """Prepare a decision.

        Args:
            table: the table, which the view changes: it becomes the seat's turn, and all that the seat may not know is
                removed.
            seat: the seat to act.
            actions: its legal actions.
            loads: the number of ways to load the ship that are tried.
            spreads: the number of ways to move merchants that are tried.
            estimates: the estimates; None for those of `greedy`.
        """
        setup, phase = table.setup, table.phase
        estimates = estimates or measured(setup.seats)
        self.board = board = table.board
        self.side = table.side
        self.seat = seat
        self.phase = phase
        self.plan = table.plans[seat]
        self.actions = actions
        self.colour = table.colours[seat]
        self.stock = table.warehouse[seat]
        self.estimates = estimates
        self.numbers = estimates.numbers(board)
        self.most_loads = loads
        self.most_spreads = spreads
        others = [other for other in range(setup.seats) if other != seat]
        merchants = [0] * len(Location)
        traders = [0] * len(Location)
        for other in others:
            # Before the cards are used, plans are secret, so any rival may trade.
            trades = phase < _USE or may_trade(table, other)
            for at, number in enumerate(table.merchants[other]):
                merchants[at] += number
                traders[at] += number * trades
        houses = [0] * len(Location)
        for site, owner in table.houses.items():
            houses[site[0]] += owner != seat
        self.fees = [board.fee * (merchants[at] + houses[at]) for at in range(len(Location))]
        self.tolls = [0 if is_market(at) else board.toll * houses[at] for at in Location]
        self.river_tolls = self.tolls if setup.options["river_toll"] else [0] * len(Location)
        self.contest = [estimates.contest * number for number in traders]
        self.shelter = setup.options["return_rule"] == "shelter"
        # The rounds after this one, if the leading seat keeps the pace.
        self.left = max(0.0, min((board.end_vp - max(table.vp)) / estimates.pace - 1, table.last_round - table.round))
        self.rival = max([scoring.final(table, other)[0] for other in others])
        self.counted: dict[object, list[int]] = {}
        self.ways: dict[object, dict[Location, tuple[int, tuple[Location, ...]]]] = {}
        self.spreads: dict[object, list[Spread]] = {}
        self.cargoes: dict[object, float] = {}
        self.revenues: dict[object, float] = {}
        self.stays: dict[object, list[int]] = {}
        self.table = table
        if phase is Phase.PLAN or phase is Phase.BONUS:
            left = [[table.left_in_plan(seat, store, good) for good in Good] for store in Store]
            table.money[seat] = table.money_in_plan(seat)
            table.warehouse[seat], table.hold[seat] = left
        table.seat = seat
        table.deck = ()
        table.plans = [NO_PLAN] * setup.seats
        table.plans[seat] = Plan(ACTION_CARDS)  # a search never reaches the end of a round
        if phase < _USE:
            table.phase = _USE

    def houses(self, table: Table) -> list[int]:
        """Return the number of the seat's houses in each village."""
        key = tuple(table.houses)
        if key not in self.counted:
            self.counted[key] = [table.houses_of(self.seat, at) for at in Location]
        return self.counted[key]


def may_trade(table: Table, seat: Seat) -> bool:
    """Return whether a seat can trade with a remaining card of its plan."""
    plan = table.plans[seat]
    for card in (*plan.cards, *([] if plan.mayor is None else [plan.mayor])):
        printed = table.board.cards[card]
        if printed.main is Effect.TRADE or printed.alternatives[table.colours[seat]] is Effect.TRADE_PAY5:
            return True
    return False


# --- the effects of cards (V4) ------------------------------------------------------------------------------------


def variants(view: View, table: Table, effect: Effect) -> list[Variant]:
    """Return the promising states that an action can lead to."""
    found: list[Variant] = []
    for start, sales in [(table, ()), *sold_before(view, table, effect)]:
        if deck.is_executable(start, effect, 0):
            begun = start.clone()
            deck.begin(begun, effect)
            if begun.phase is _USE:
                found.append((begun, sales))
            elif sales:
                found += [(end, (*sales, *row)) for end, row in outcomes(view, begun)]
            else:
                found += outcomes(view, begun)
    return found


def sold_before(view: View, table: Table, effect: Effect) -> list[Variant]:
    """Return sales that make an action possible or better (V1.3); a hold that is full again earns its point again (V4.1)."""
    hold, goods = table.hold[view.seat], table.warehouse[view.seat]
    if effect is _TRANSFER and table.hold_is_full(view.seat) and not table.hold_was_full:
        return [sold(view, table, Store.HOLD, good) for good in Good if hold[good]]
    missing = view.board.house_price - table.money[view.seat]
    if effect is _BUILD and 0 < missing <= sum(goods) * view.board.good_price:
        row: Row = ()
        while table.money[view.seat] < view.board.house_price:
            table, sale = sold(view, table, Store.WAREHOUSE, max(Good, key=table.warehouse[view.seat].__getitem__))
            row += sale
        return [(table, row)]
    return []


def sold(view: View, table: Table, store: Store, good: Good) -> Variant:
    """Return the state after the sale of a good, and the action that sells it."""
    after = table.clone()
    holdings.sell(after, view.seat, store, good)
    return after, (act.SALES[store][good],)


def outcomes(view: View, table: Table) -> list[Variant]:
    """Return the continuations of the action in progress."""
    if table.phase in _OUTCOMES:
        return _OUTCOMES[table.phase](view, table)
    return [played(view, table, action) for action in legal.legal_actions(table, view.seat)]


def played(view: View, table: Table, *row: Action) -> Variant:
    """Return the state after a row of choices, and the row."""
    after = table.clone()
    for action in row:
        rules.apply(after, view.seat, action, _NO_CHANCE)
    return after, row


def voyages(view: View, table: Table) -> list[Variant]:
    """Return voyages to the harbour and to sectors that demand the goods in the hold (V4.8), or to the first outer sector."""
    hold, board = table.hold[view.seat], view.board
    sectors = [sector for sector in OUTER if hold[board.sector_goods[sector - 1]] >= board.overseas_goods]
    goals = [Sector.H, *sectors] if sectors or table.ship[view.seat] else [*OUTER[:1]]
    return [played(view, table, act.SAILS[sector]) for sector in goals if sector is not table.ship[view.seat]]


def loads(view: View, table: Table) -> list[Variant]:
    """Return ways to fill the hold with the goods in greatest demand (V4.1)."""
    warehouse, hold = table.stores(view.seat)
    total = [warehouse[0] + hold[0], warehouse[1] + hold[1], warehouse[2] + hold[2]]
    size = min(view.board.hold, sum(total))
    found: list[tuple[float, tuple[int, int, int]]] = []
    for silver in range(min(size, total[0]) + 1):
        for copper in range(max(0, size - silver - total[2]), min(size - silver, total[1]) + 1):
            wheat = size - silver - copper
            if silver != hold[0] or copper != hold[1] or wheat != hold[2]:
                rest = (
                    _stock(view, total[0] - silver) + _stock(view, total[1] - copper) + _stock(view, total[2] - wheat)
                )
                found.append((cargo(view, table, [silver, copper, wheat]) + rest, (silver, copper, wheat)))
    best = sorted(found, reverse=True)[: view.most_loads if sum(hold) < view.board.hold - 1 else 2]
    return [played(view, table, act.transfer(*load)) for _, load in best]


def _stock(view: View, goods: int) -> float:
    return view.estimates.goods[goods if goods < 7 else 7]


def purchases(view: View, table: Table) -> list[Variant]:
    """Return purchases of as many goods as possible: all of one kind, or all but one (V4.11)."""
    price = view.board.effects[Effect.BUY3].pay.money
    number = min(table.left, table.money[view.seat] // price) if price else table.left
    end = (act.DONE,) if number < table.left else ()
    if not number:
        return []
    rows = [[*[act.BUYS[many]] * (number - 1), act.BUYS[one], *end] for many in Good for one in Good]
    return [played(view, table, *row) for row in rows]


# --- merchants (V4.4, V4.10) -----------------------------------------------------------------------------------------


def ways(view: View, table: Table, start: Location) -> dict[Location, tuple[int, tuple[Location, ...]]]:
    """Return the cost and the cheapest path to each location that a merchant can reach."""
    houses = view.houses(table)
    key = (start, table.effect, tuple(houses))
    if key not in view.ways:
        found: dict[Location, tuple[int, tuple[Location, ...]]] = {}
        if table.effect is Effect.RIVER:
            rivers = view.side.river_locations if start in view.side.river_locations else ()
            found = {end: (view.river_tolls[end], (start, end)) for end in rivers if end is not start}
            open_ways: list[tuple[int, int, tuple[Location, ...]]] = []
        else:
            plus = table.effect is Effect.MOVE_PLUS
            costs = view.board.move_plus_costs if plus else view.board.move_costs
            open_ways = [(0, 0, (start,))]
        for tolls, steps, path in open_ways:
            for end in view.side.neighbours[path[-1]]:
                counted = steps + (is_market(end) or not houses[end])
                if end not in path and counted <= len(costs):
                    toll = tolls + view.tolls[end]
                    cost = toll + (costs[counted - 1] if counted else 0)
                    if end not in found or cost < found[end][0]:
                        found[end] = (cost, (*path, end))
                    open_ways.append((toll, counted, (*path, end)))
        view.ways[key] = found
    return view.ways[key]


def site_worths(view: View, table: Table) -> dict[Location, float]:
    """Return the value of standing at each location with a free building space."""
    if not table.houses_left[view.seat]:
        return {}
    found = {Location.V: view.estimates.site} if len(table.row) < len(view.side.row) else {}
    for village in view.side.villages:
        free = [
            points for space, points in enumerate(view.side.spaces[village]) if (village, space) not in table.houses
        ]
        if free:
            found[village] = view.estimates.site * (0.5 + max(free))
    return found


def spreads(view: View, table: Table, worths: dict[Location, float]) -> list[Spread]:
    """Return the ways to distribute the merchants over markets and building places, each with its cheapest paths."""
    merchants = table.merchants[view.seat]
    key = (tuple(merchants), tuple(table.houses), table.houses_left[view.seat], len(table.row), table.effect)
    if key not in view.spreads:
        found: dict[tuple[int, ...], tuple[int, tuple[tuple[Location, ...], ...]]] = {(0,) * len(merchants): (0, ())}
        for start in view.side.locations:
            reach = ways(view, table, start) if merchants[start] else {}
            options: list[tuple[Location, int, tuple[tuple[Location, ...], ...]]] = [(start, 0, ())]
            options += [
                (end, cost, (way,))
                for end, (cost, way) in reach.items()
                if is_market(end) or worths.get(end, 0) >= view.estimates.site
            ]
            for _ in range(merchants[start]):
                after: dict[tuple[int, ...], tuple[int, tuple[tuple[Location, ...], ...]]] = {}
                for at, (cost, moved) in found.items():
                    for end, more, way in options:
                        # Outside of markets, a second merchant in a place adds nothing: one is enough to build (V4.5).
                        if not way or is_market(end) or not at[end]:
                            new = (*at[:end], at[end] + 1, *at[end + 1 :])
                            if new not in after or cost + more < after[new][0]:
                                after[new] = (cost + more, moved + way)
                found = after
        view.spreads[key] = [(at, cost, moved) for at, (cost, moved) in found.items() if moved]
    return view.spreads[key]


def moves(view: View, table: Table) -> list[Variant]:
    """Return the most promising ways to distribute the merchants."""
    seat, most = view.seat, sum(table.unmoved)
    worths = site_worths(view, table)
    gains = [
        (at, [gain(view, table, at, number) for number in range(sum(table.merchants[seat]) + 1)])
        for at in view.side.markets
    ]
    rated = []
    one_peso = view.estimates.one_peso
    for spread in spreads(view, table, worths):
        at, cost, _ = spread
        if cost <= table.money[seat]:
            points = max([points for place, points in worths.items() if at[place]], default=0.0) - one_peso * cost
            rated.append((points + sum([gained[at[market]] for market, gained in gains], 0.0), spread))
    rated.sort(key=lambda item: -item[0])
    variants: list[Variant] = []
    for _, (at, cost, paths) in rated[: view.most_spreads]:
        row: list[Action] = []
        for start, end, *rest in paths:
            steps = [*map(act.STEPS.__getitem__, rest), act.STOP]
            row += [act.RIVERS[start][end]] if table.effect is Effect.RIVER else [act.STARTS[start][end], *steps]
        after = table.clone()
        after.phase, after.effect, after.unmoved = Phase.USE, None, ()
        after.merchants[seat] = list(at)
        after.money[seat] -= cost
        variants.append((after, (*row, act.DONE) if len(paths) < most else tuple(row)))
    return variants


# --- trade (V4.7) -------------------------------------------------------------------------------------------------------


def gain(view: View, table: Table, market: Location, merchants: int) -> float:
    """Estimate the gain from using a market's tile with a given number of merchants."""
    number = executions(view, table, market, merchants and merchants + view.houses(table)[market])
    points = number * view.numbers.points[table.markets[market - _M1][0]] - view.estimates.one_peso * view.fees[market]
    return points if points > 0.0 else 0.0


def executions(view: View, table: Table, market: Location, times: int) -> int:
    """Return the number of possible uses of a market's tile after the fee, at most `times`."""
    numbers, tile, seat = view.numbers, int(table.markets[market - _M1][0]), view.seat
    money = table.money[seat] - view.fees[market]
    if money < 0:
        return 0
    number = min(times, numbers.most[tile])
    if numbers.money[tile]:
        number = min(number, money // numbers.money[tile])
    goods = table.warehouse[seat]
    silver, copper, wheat = numbers.goods[tile]
    if silver:
        number = min(number, goods[0] // silver)
    if copper:
        number = min(number, goods[1] // copper)
    if wheat:
        number = min(number, goods[2] // wheat)
    return number


def trades(view: View, table: Table) -> list[Variant]:
    """Return ways to trade, village by village.

    Free tiles come first, and tiles paid for with goods come last. Each tile is used as often as possible. One that
    costs something may also be skipped, and one that costs money may also be used less often.
    """
    tiles = view.board.tiles
    printed = {village: tiles[table.tiles(village)[0]] for village in table.villages}
    village = min(printed, key=lambda village: (any(printed[village].pay.goods), printed[village].pay.money))
    tile, seat = printed[village], view.seat
    times = table.merchants[seat][village] + view.houses(table)[village]
    most = executions(view, table, village, times)
    rows: list[Row] = [(act.SKIPS[village],)] if most < 1 or view.fees[village] or any(tile.pay) else []
    if tile.choose and most > 0:
        last: Row = (act.STOP,) if most < min(times, tile.most) else ()
        rows += [(act.TRADES[village][0], *[act.TAKES[pair]] * most, *last) for pair in legal.choices(tile.choose)]
    else:
        rows += [(act.TRADES[village][number],) for number in range(most, 0, -1) if number == most or tile.pay.money]
    found: list[Variant] = []
    for row in rows:
        after, _ = played(view, table, *row)
        if after.phase is Phase.TRADE:
            found += [(end, (*row, *rest)) for end, rest in trades(view, after)]
        else:
            found.append((after, row))
    return found


_OUTCOMES: dict[Phase, Callable[[View, Table], list[Variant]]] = {
    Phase.SAIL: voyages,
    Phase.TRANSFER: loads,
    Phase.BUY: purchases,
    Phase.MOVE: moves,
    Phase.RIVER: moves,
    Phase.TRADE: trades,
}


# --- the worth of a state --------------------------------------------------------------------------------------------


def use_worth(view: View, card: int) -> float:
    """Return the points for using an achievement card in a round, beyond those for using any card."""
    printed = view.board.cards[Card(card)]
    alternative = printed.alternatives[view.colour]
    most = max(EFFECTS.get(effect, 0.0) for effect in (printed.main, alternative) if effect is not None)
    return view.estimates.used * max(0.0, most - view.estimates.card)


def cargo(view: View, table: Table, hold: list[int]) -> float:
    """Return the points for the cards that the hold can acquire, less the worth of the card uses that this takes."""
    key = (*hold, table.ship[view.seat], *table.slots)
    if key not in view.cargoes:
        board, by, total = view.board, view.estimates, 0.0
        early = any(card in _LEVEL_A for card in table.slots)
        for sector in OUTER:
            triples = hold[board.sector_goods[sector - 1]] // board.overseas_goods
            first = (sector - 1) * SLOTS_OF_A_SECTOR
            found = []
            for card in table.slots[first : first + SLOTS_OF_A_SECTOR] if triples else []:
                if card != NONE:
                    paid = by.one_peso * board.compensation * (early and card not in _LEVEL_A)
                    found.append(
                        by.printed * board.cards[Card(card)].vp
                        + use_worth(view, card) * min(by.uses, view.left)
                        - paid
                        - by.card
                    )
            best = sum(sorted(found)[-triples:], 0.0)
            total += max(0.0, best - by.card * (sector is not table.ship[view.seat]))
        view.cargoes[key] = total
    return view.cargoes[key]


def stay(view: View, table: Table) -> list[int]:
    """Return the number of merchants at each location after the round.

    All may stay in a village with a shelter, but only one in any other village (V6.5).
    """
    merchants, houses = table.merchants[view.seat], view.houses(table)
    key = (*merchants, *houses, *[column[0] for column in table.markets], *table.warehouse[view.seat])
    if key not in view.stays:
        staying, best, most = [0] * len(Location), Location.V, 0.0
        worths = site_worths(view, table)
        for village in view.side.villages:
            if merchants[village]:
                stand = view.estimates.stand + gain(view, table, village, 1) if is_market(village) else 0.0
                points = max(stand, worths.get(village, 0.0) - view.estimates.site / 2)
                if houses[village] and view.shelter:
                    staying[village] = merchants[village] if points > 0 else 0
                elif points > most:
                    best, most = village, points
        staying[best] += best > 0  # 0 is Valparaíso, where nobody stays outside
        staying[0] = sum(merchants) - sum(staying)
        view.stays[key] = staying
    return view.stays[key]


def house_worth(view: View, table: Table) -> float:
    """Return the points for the gains from merchants and houses in a round."""
    seat, houses, by = view.seat, view.houses(table), view.estimates
    merchants = sum(table.merchants[seat])
    key = (merchants, *houses, table.row)
    if key not in view.revenues:
        total = by.merchant * merchants
        for owner, space in zip(table.row, view.side.row, strict=False):
            if owner == seat:
                money, goods, points = space.revenue
                total += by.residence + by.one_peso * money + by.one_good * sum(goods) + points
        for at, number in zip(Location, houses, strict=True):
            total += number * (by.station if is_market(at) else by.customs)
        view.revenues[key] = total + by.slot * (planning.slots(table, seat) > view.board.open_slots)
    return view.revenues[key]


def worth(view: View, table: Table, free: int, can_trade: bool, can_ship: bool) -> float:
    """Return the points for a state of the turn in which `free` cards can still be used."""
    board, seat, left, by = view.board, view.seat, view.left, view.estimates
    goods, hold, money, vp = table.warehouse[seat], table.hold[seat], table.money[seat], table.vp[seat]
    total = by.track * vp + (money + board.good_price * (sum(goods) + sum(hold))) / board.pesos_per_vp
    for card in table.owned[seat]:
        total += by.printed * board.cards[card].vp
    if vp >= board.end_vp and not free:
        return total + (by.win if total > view.rival else -by.win)
    later = min(1.0, left / by.full)
    share = max(later, by.last if free else 0.0)
    if share:
        held = sum([by.goods[count if count < 7 else 7] for count in goods], 0.0) + by.held * sum(hold)
        total += share * (by.peso * min(money, by.pesos) + held)
        next_share = by.next * min(1.0, left)
        total += cargo(view, table, hold) * (by.soon if free and can_ship else next_share)
        at = table.merchants[seat] if free else stay(view, table)
        here = sum([gain(view, table, market, at[market]) for market in view.side.markets if at[market]], 0.0)
        if free and can_trade:
            total += by.soon * here
        else:
            there = 0.0
            if at[0] and not free:
                there = max([gain(view, table, market, at[market] + at[0]) for market in view.side.markets])
            total += next_share * max(0.0, here - by.card, there - 2 * by.card - by.one_peso * at[0])
        if table.ship[seat] is _H:
            total += by.home * later
    if left:
        total += left * house_worth(view, table)
        for card in table.owned[seat]:
            total += use_worth(view, card) * min(by.uses, left)
    return total
