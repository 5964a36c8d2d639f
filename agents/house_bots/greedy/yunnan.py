"""A policy for Yunnan: values Merchants, progress and money in victory points, and takes the largest gain.

It plans a travel turn as a whole: of all ways to distribute the Merchants with the border passes, it takes the best.
The worth of a progress is its addition to the best plan, and its gains in later turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, cast

from referee.game import Action, Setup
from referee.games.yunnan import actions as act
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.names import OUTER, Building, Phase, Place, Province, Structure
from referee.games.yunnan.observation import ColourView, YunnanObservation
from referee.games.yunnan.routes import routes_of

# Estimates, tuned in matches against earlier versions. A point is a victory point, and so is a Yuan of income (Y10.1);
# "turns" are the expected turns after this one.

STAYING = 0.5
"""The present worth of a Merchant's place outside Pu'er in a later turn; it may be displaced or recalled."""
STAYING_TURNS = 2.8
"""The maximum number of turns for which that counts."""
POST_STAYING = 0.7
"""The present worth of a Post in a later turn; its route may be cut."""
GIFT = 2.7
"""Points for a gift within reach; rivals who travel later may take it first."""
LATER = {Building.SCHOOL: 4.4, Building.CUSTOMS: 1.1, Building.HORSE: 4.1, Building.DRAGON: 2.8, Building.YARD: 0.9}
"""Points from a progress in each later turn, besides its present gain."""
LAST_YUAN = 1 / 3
"""Points for a Yuan that no later auction can spend (section 6)."""
PRICE = 8
"""The assumed cost of a progress in the next auction."""
MAX_BIDS = 2
"""The number of bids in the next auction for which it keeps money: keeping more loses the race to the final points."""
BANK_SHARE = 0.5
"""The assumed further bids of rivals who have not passed, as a share of their money."""
MAX_RIVAL_BIDS = 15
"""The assumed maximum of those bids for each rival."""
EARNED = 0.4
"""The assumed share of an income that a seat converts into points; a low one favours investment for longer."""
GROWTH = 3.7
"""The growth of a colour's income per turn."""
GIFTS_IN_TURN = 3.0
"""The number of gifts taken per turn."""
SISTER = 5.0
"""Points for a bid that the other colour of the same seat outbids."""
LEADING = 0.1
"""Points of harm for each point of the victim's seat."""

Counts = tuple[int, ...]
"""A number for each province."""
Table = tuple[tuple[float, ...], ...]
"""For each province, the worth of its Merchants by their number."""


class Own(NamedTuple):
    """The data that determine a colour's best journeys."""

    unmoved: Counts
    """Merchants that can make a journey."""
    fixed: Counts
    """Merchants that have made their journey."""
    posts: Counts
    bridges: int
    horse: int
    passes: int


class View(NamedTuple):
    """The data for a decision."""

    setup: Setup
    seen: YunnanObservation
    actions: Sequence[Action]
    board: YunnanBoard
    colour: int
    me: ColourView
    turns: float


def choose(setup: Setup, seen: YunnanObservation, actions: Sequence[Action]) -> list[Action]:
    """Return the actions to play in order, of which the first is legal.

    Args:
        setup: the terms of the match.
        seen: the observation of the seat to act.
        actions: its legal actions.
    """
    if len(actions) == 1 or seen.acting_colour is None:
        return [actions[0]]
    board, colour = cast("YunnanBoard", setup.board), seen.acting_colour
    view = View(setup, seen, actions, board, colour, seen.colours[colour], turns_left(setup, seen, board))
    return _DECISIONS[seen.phase](view)


# --- the length of the match ---------------------------------------------------------------------------------


def turns_left(setup: Setup, seen: YunnanObservation, board: YunnanBoard) -> float:
    """Estimate the number of turns after this one (Y11.1)."""
    two = setup.seats == 2
    gifts = sum(province.gifts for province in seen.provinces) - board.end_gifts[two]
    turns = min(float(seen.turn_limit - seen.turn), gifts / GIFTS_IN_TURN)
    for seat, has in enumerate(seen.seats):
        colours = [colour for colour in seen.colours if colour.owner == seat]
        income: float = sum([_rough_income(colour, board) for colour in colours])
        points, after = has.vp + EARNED * income, 0.0
        while points < board.end_vp[two] and after < turns:
            income += GROWTH * len(colours)
            gain = EARNED * income
            after += min(1.0, (board.end_vp[two] - points) / gain)
            points += gain
        turns = min(turns, after)
    return round(2 * max(0.0, turns)) / 2  # steps of a half: plans are cached for each


def _rough_income(has: ColourView, board: YunnanBoard) -> int:
    """Return a colour's income with its Merchants where they are, and those in the reserve in Pu'er."""
    earned = sum(map(int.__mul__, has.merchants, board.merchant_value))
    earned += sum(map(int.__mul__, has.posts, board.post_value))
    return earned + has.reserve * board.merchant_value[Province.PUE]


# --- journeys (Y5) -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 10)
def spreads(unmoved: Counts, edges: tuple[tuple[int, int], ...], passes: int) -> dict[Counts, int]:
    """Return all ways to distribute Merchants with at most `passes` border passes, each with its number of passes."""
    found, border = {unmoved: 0}, [unmoved]
    for used in range(1, passes + 1):
        reached = []
        for before in border:
            for start, end in edges:
                if before[start]:
                    after = list(before)
                    after[start] -= 1
                    after[end] += 1
                    spread = tuple(after)
                    if spread not in found:
                        found[spread] = used
                        reached.append(spread)
        border = reached
    return found


@lru_cache(maxsize=1 << 10)
def edges_of(sites: tuple[tuple[Province, Province], ...], bridges: int, horse: int) -> tuple[tuple[int, int], ...]:
    """Return the borders that a colour can cross, in both directions."""
    pairs = [(int(one), int(other)) for one, other in pairwise(Province)]
    pairs += [(int(one), int(other)) for site, (one, other) in enumerate(sites) if bridges >> site & 1]
    return tuple(way for one, other in pairs if other <= horse for way in ((one, other), (other, one)))


class Scale(NamedTuple):
    """The worth of a colour's Merchants and Posts."""

    sites: tuple[tuple[Province, Province], ...]
    merchant: tuple[float, ...]
    """Points for a Merchant with a route, by province."""
    post: tuple[float, ...]
    """Points for a Post with a route, by province."""
    gifts: Table
    """Points for the gifts within reach."""


def scale_of(view: View, influence: int) -> Scale:
    """Return the worth of Merchants and Posts for a colour with this influence."""
    board, turns = view.board, view.turns
    stays, home = STAYING * min(turns, STAYING_TURNS), board.merchant_value[Province.PUE]
    return Scale(
        board.bridge_sites,
        tuple([value + stays * (value - home) for value in board.merchant_value]),
        tuple([value * (1 + POST_STAYING * turns) for value in board.post_value]),
        gifts_for(view, influence),
    )


def gifts_for(view: View, influence: int) -> Table:
    """Return the points for a colour's gifts if the others stay where they are (Y7)."""
    seen = view.seen
    others = [seen.colours[colour] for colour in seen.travel_order]
    place = [int(colour) for colour in seen.travel_order].index(view.colour)
    before = [other for other in others[:place] if other.influence == influence]
    behind = [other for other in others[place + 1 :] if other.influence == influence]
    above = [other for other in others[:place] + others[place + 1 :] if other.influence > influence]
    table = []
    for province, has in enumerate(seen.provinces):
        left = has.gifts - sum([other.merchants[province] for other in above])
        points, row = 0.0, [0.0]
        for count in range(1, view.board.total_merchants + 1):
            if left >= count:
                served = sum([min(other.merchants[province], count) for other in before])
                served += sum([min(other.merchants[province], count - 1) for other in behind])
                points += GIFT if served + count <= left else 0
            row.append(points)
        table.append(tuple(row))
    return tuple(table)


@lru_cache(maxsize=1 << 14)
def best(own: Own, scale: Scale) -> float:
    """Return the points of the best plan."""
    return max(rated(own, scale).values())


def rated(own: Own, scale: Scale) -> dict[Counts, float]:
    """Return all ways to distribute the Merchants that can make a journey, each with its points."""
    rows = [
        [count * worth + gift for count, gift in enumerate(gifts)][fixed:]
        for worth, gifts, fixed in zip(scale.merchant, scale.gifts, own.fixed, strict=True)
    ]
    at_pue, at_yun, at_sic, at_qam, at_tib, at_qin = rows
    reach = routes_of(scale.sites).reach
    always = sum([1 << province for province in Province if own.fixed[province] or own.posts[province]])
    built = [(1 << province, count * scale.post[province]) for province, count in enumerate(own.posts) if count]
    found: dict[Counts, float] = {}
    for spread in spreads(own.unmoved, edges_of(scale.sites, own.bridges, own.horse), own.passes):
        pue, yun, sic, qam, tib, qin = spread
        present = always | (yun and 2) | (sic and 4) | (qam and 8) | (tib and 16) | (qin and 32)
        connected = reach(own.bridges, present).connected
        if present & ~connected & ~1:  # Merchants without a route go home (Y5.10)
            points, home = 0.0, 0
            for province, row in enumerate(rows):
                if province == Province.PUE or connected >> province & 1:
                    points += row[spread[province]]
                else:
                    home += spread[province] + own.fixed[province]
            points += home * scale.merchant[Province.PUE]
        else:
            points = at_pue[pue] + at_yun[yun] + at_sic[sic] + at_qam[qam] + at_tib[tib] + at_qin[qin]
        for bit, post in built:
            if connected & bit:
                points += post
        found[spread] = points
    return found


def changed(counts: Counts, province: int, by: int) -> Counts:
    """Return counts with another number in one province."""
    return (*counts[:province], counts[province] + by, *counts[province + 1 :])


# --- the worth of progress (1.3) -----------------------------------------------------------------------------


def standing(view: View) -> tuple[Own, int]:
    """Return a colour and its influence before its travel turn if it wins all bids, with the whole reserve in Pu'er."""
    me = view.me
    won = {bid.building for bid in view.seen.bids if bid.colour == view.colour}
    free = changed(me.merchants, Province.PUE, me.reserve + (Building.SCHOOL in won))
    horse, passes = me.horse + (Building.HORSE in won), me.passes + (Building.CUSTOMS in won)
    own = Own(free, (0,) * len(Province), me.posts, bits(me.bridges), horse, passes)
    return own, me.influence + (Building.DRAGON in won)


def bits(members: Sequence[int]) -> int:
    """Return a set as an integer with one bit per member, as in `Routes`."""
    return sum([1 << member for member in members])


def progress(view: View, own: Own, influence: int) -> dict[Building, float]:
    """Return the points for one more progress in each building that has one to offer."""
    board, me = view.board, view.me
    scale = scale_of(view, influence)
    now = best(own, scale)
    found: dict[Building, float] = {}
    if me.general:
        found[Building.SCHOOL] = best(own._replace(unmoved=changed(own.unmoved, Province.PUE, 1)), scale) - now
    if own.passes < board.max_passes:
        level = own.passes - board.first_passes
        step = board.passes_vp[level + 1] - board.passes_vp[level]
        found[Building.CUSTOMS] = best(own._replace(passes=own.passes + 1), scale) - now + step
    if own.horse < Province.QIN:
        found[Building.HORSE] = best(own._replace(horse=own.horse + 1), scale) - now
    if influence < board.max_influence:
        step = board.influence_vp[influence + 1] - board.influence_vp[influence]
        found[Building.DRAGON] = best(own, scale_of(view, influence + 1)) - now + step
    if any(me.struct_general):
        found[Building.YARD] = max(structures(view, own, scale).values())
    return {building: points + LATER[building] * view.turns for building, points in found.items()}


def structures(view: View, own: Own, scale: Scale) -> dict[Action, float]:
    """Return the points for each structure that the Yard offers a colour."""
    has, now = view.me.struct_general, best(own, scale)
    found: dict[Action, float] = {}
    for kind, extended in ((Structure.POST, with_post), (Structure.BRIDGE, with_bridge)):
        if has[kind]:
            points = [best(other, scale) for other in extended(own, scale).values()]
            found[act.TAKES[kind]] = max(points, default=now) - now
    if has[Structure.TEAHOUSE]:
        site, vp = teahouse_site(view, own.horse), view.board.teahouse_vp
        taken = len(vp) - 1 - has[Structure.TEAHOUSE]
        if site:
            found[act.TAKES_TO[site]] = float(vp[taken + 1] - vp[taken])
        else:
            found[act.TAKES[Structure.TEAHOUSE]] = 0.0
    return found


def with_post(own: Own, scale: Scale) -> dict[Action, Own]:
    """Return a colour with one more Post, in each of its two farthest provinces; others are seldom better."""
    places = range(max(Province.YUN, own.horse - 1), own.horse + 1)
    return {act.BUILD_POSTS[place]: own._replace(posts=changed(own.posts, place, 1)) for place in places}


def with_bridge(own: Own, scale: Scale) -> dict[Action, Own]:
    """Return a colour with one more Bridge, for each site where it can build one."""
    return {
        act.BUILD_BRIDGES[site]: own._replace(bridges=own.bridges | 1 << site)
        for site, ends in enumerate(scale.sites)
        if max(ends) <= own.horse and not own.bridges >> site & 1
    }


def teahouse_site(view: View, horse: int) -> int:
    """Return the best province for a Teahouse: far from Pu'er, where the inspector goes (Y6.1); 0 if there is none."""
    spaces, provinces = view.board.teahouse_space, view.seen.provinces
    return max([0, *(p for p in range(1, horse + 1) if spaces[p] and provinces[p].teahouse is None)])


def yuan(turns: float) -> float:
    """Return the worth of a Yuan in points: in a later auction it saves one of income, which can be converted."""
    return LAST_YUAN + (1 - LAST_YUAN) * min(1.0, turns)


# --- phase 1: auction and yard (Y2 to Y4) --------------------------------------------------------------------


def place_merchant(view: View) -> list[Action]:
    """Choose the bid with the largest gain, or the bank if it promises more; else the market or a pass."""
    own, influence = standing(view)
    scale = scale_of(view, influence)
    sources = [action.source for action in view.actions if isinstance(action, act.Market)]
    left = {place: own._replace(unmoved=changed(own.unmoved, place, -1)) for place in sources}
    source = max(sources, key=lambda place: best(left[place], scale))
    lost = best(own, scale) - best(left[source], scale)
    bids = [bid for bid in view.actions if isinstance(bid, act.Bid) and bid.source == source]
    worth = progress(view, left[source], influence) if bids else {}
    gains = {bid: worth[bid.building] - price(view, bid) - lost for bid in bids}
    banks = [bank for bank in view.actions if isinstance(bank, act.Bank) and bank.source == source]
    if banks and not view.me.committed:
        payment = view.board.bank_payment(expected_total(view))[banks[0].space]
        if payment * yuan(view.turns) - lost > max(0.0, promised(view, gains)):
            return [banks[0]]
    wanted = max(bids, key=lambda bid: gains[bid], default=None)
    if wanted and gains[wanted] > 0:
        return [wanted]
    return [act.MARKETS[Place.RESERVE] if view.me.reserve else act.PASS]


def price(view: View, bid: act.Bid) -> float:
    """Return the cost of a bid in points: its Yuan, and in the expert game its debt (Y13.3)."""
    board, seen, me = view.board, view.seen, view.me
    missing = max(0, min(bid.value, me.committed + bid.value - me.money))
    points = (bid.value - missing) * yuan(view.turns) + missing * board.debt(seen.turn)
    small = board.bid_spaces[: board.small_spaces]
    for other in seen.bids:
        if other.building == bid.building and other.value in small and other.value < bid.value:
            points += SISTER * (seen.colours[other.colour].owner == me.owner)
    return points


def promised(view: View, gains: dict[act.Bid, float]) -> float:
    """Return the total gain of the best bids that a colour can pay for and has Merchants for."""
    total, money, merchants = 0.0, view.me.money - view.me.committed, view.me.reserve
    buildings: set[Building] = set()
    for bid in sorted(gains, key=lambda bid: -gains[bid]):
        if gains[bid] <= 0 or not merchants:
            break
        if bid.building not in buildings and bid.value <= money:
            buildings.add(bid.building)
            total, money, merchants = total + gains[bid], money - bid.value, merchants - 1
    return total


def expected_total(view: View) -> int:
    """Return the total of all bids at the end of the auction (Y3.1)."""
    seen = view.seen
    total = sum([bid.value for bid in seen.bids])
    for colour, has in enumerate(seen.colours):
        if colour != view.colour and colour not in seen.passed and colour not in seen.banked:
            total += min(MAX_RIVAL_BIDS, int(BANK_SHARE * max(0, has.money - has.committed)))
    return total


def take_structure(view: View) -> list[Action]:
    """Choose the structure with the largest present worth."""
    own, influence = standing(view)
    found = structures(view, own._replace(unmoved=view.me.merchants), scale_of(view, influence))
    return [max(found, key=lambda take: found[take])]


# --- phase 2a: travel (Y5) -----------------------------------------------------------------------------------


class Journeys:
    """The plan of a travel turn: the actions so far, and the resulting Merchants of all colours."""

    def __init__(self, view: View) -> None:
        seen, me = view.seen, view.me
        self.view = view
        self.plan: list[Action] = []
        self.merchants = [list(colour.merchants) for colour in seen.colours]
        self.weaker = [
            colour for colour, has in enumerate(seen.colours) if has.influence < me.influence and has.owner != me.owner
        ]
        """The colours that it can displace (Y5.5)."""

    def targets(self, province: int) -> list[int]:
        """Return the colours that can be displaced in a province."""
        return [colour for colour in self.weaker if province and self.merchants[colour][province]]

    def move(self, start: int, end: int) -> None:
        """Plan a journey, and the displacement after it."""
        self.plan.append(act.MOVES[start][end])
        if self.targets(end):
            self.displace(end)

    def displace(self, province: int) -> None:
        """Plan to displace the Merchant whose owner suffers most."""
        victim = max(self.targets(province), key=lambda colour: self.harm(colour, province))
        self.merchants[victim][province] -= 1
        self.merchants[victim][province - 1] += 1
        self.plan.append(act.DISPLACES[victim])

    def harm(self, victim: int, province: int) -> float:
        """Return the harm of a displacement: the victim's lost income, and a part of its seat's score."""
        board, seen = self.view.board, self.view.seen
        has, now = seen.colours[victim], self.merchants[victim]
        after = now[:]
        after[province] -= 1
        after[province - 1] += 1
        return earned(board, has, now) - earned(board, has, after) + LEADING * seen.seats[has.owner].score


def earned(board: YunnanBoard, has: ColourView, merchants: Sequence[int]) -> int:
    """Return a colour's income with Merchants in these provinces (Y8)."""
    present = bits([province for province in Province if merchants[province] or has.posts[province]])
    connected, gaps = routes_of(board.bridge_sites).reach(bits(has.bridges), present)
    total = 0
    for province in Province:
        total += merchants[province] * board.merchant_value[province]
        if connected >> province & 1:
            total += has.posts[province] * board.post_value[province]
        else:
            total -= merchants[province] * gaps[province] * board.transport_cost
    return total


def travel(view: View) -> list[Action]:
    """Build, make the journeys of the best plan, and use the remaining border passes to displace."""
    me, seen = view.me, view.seen
    fixed = tuple(map(int.__sub__, me.merchants, seen.unmoved))
    own = Own(seen.unmoved, fixed, me.posts, bits(me.bridges), int(me.horse), seen.passes_left)
    scale = scale_of(view, me.influence)
    journeys = Journeys(view)
    own = build(view, own, scale, journeys.plan)
    ways = routes_of(scale.sites).distances[own.bridges]
    points = rated(own, scale)
    chosen = max(points, key=lambda spread: points[spread])
    left, stay = own.passes, [0] * len(Province)
    for start, end in matched(own.unmoved, chosen, ways, own.passes):
        if start == end:
            stay[start] += 1
        else:
            left -= ways[start][end]
            journeys.move(start, end)
    swap(journeys, stay, left)
    return [*journeys.plan, act.DONE]


def build(view: View, own: Own, scale: Scale, plan: list[Action]) -> Own:
    """Plan to build from the reserve, each structure in its best place; return the colour with it."""
    posts, bridges, teahouses = view.me.struct_reserve
    for count, extended in ((bridges, with_bridge), (posts, with_post)):
        for _ in range(count):
            points, chosen = best(own, scale), None
            for building, other in extended(own, scale).items():
                if best(other, scale) > points:
                    points, chosen = best(other, scale), (building, other)
            if chosen:
                plan.append(chosen[0])
                own = chosen[1]
    site = teahouse_site(view, own.horse)
    if teahouses and site:
        plan.append(act.BUILD_TEAHOUSES[site])
    return own


def matched(starts: Counts, ends: Counts, ways: Sequence[Sequence[int]], passes: int) -> list[tuple[int, int]]:
    """Return journeys and stays that turn one distribution into another.

    If possible, each Merchant follows the one before it. Then as many journeys as possible end where a Merchant may be
    displaced.
    """
    before = [int(province) for province in reversed(Province) for _ in range(starts[province])]
    after = [int(province) for province in reversed(Province) for _ in range(ends[province])]
    pairs = list(zip(before, after, strict=True))
    if sum([ways[start][end] for start, end in pairs]) <= passes:
        return pairs
    return _search(before, after, ways, passes) or list(zip(before, before, strict=True))


def _search(
    before: list[int], after: list[int], ways: Sequence[Sequence[int]], passes: int
) -> list[tuple[int, int]] | None:
    if not before:
        return []
    start, *others = before
    for end in sorted(set(after), key=lambda end: ways[start][end]):
        if ways[start][end] <= passes:
            rest = after[:]
            rest.remove(end)
            found = _search(others, rest, ways, passes - ways[start][end])
            if found is not None:
                return [(start, end), *found]
    return None


def swap(journeys: Journeys, stay: list[int], left: int) -> None:
    """Plan to swap Merchants of neighbouring provinces as long as that displaces somebody (section 10, E11)."""
    for far in reversed(OUTER):
        near = far - 1
        while left >= 2 and stay[near] and stay[far] and (journeys.targets(near) or journeys.targets(far)):
            journeys.move(near, far)
            journeys.move(far, near)
            stay[near] -= 1
            stay[far] -= 1
            left -= 2


def displace(view: View) -> list[Action]:
    """Displace the Merchant whose owner suffers most."""
    journeys = Journeys(view)
    journeys.displace(cast("int", view.seen.pending_displace))
    return journeys.plan


# --- phase 2f: conversion (Y10) ------------------------------------------------------------------------------


def convert(view: View) -> list[Action]:
    """Keep the money for the next auction, if there may be one."""
    seen, me, board = view.seen, view.me, view.board
    two = len(seen.seats) == 2
    end, mine = board.end_vp[two], seen.seats[me.owner]
    pending = [sum([has.income for has in seen.colours if has.owner == seat]) for seat in range(len(seen.seats))]
    rivals = [seat for seat in range(len(seen.seats)) if seat != me.owner]
    gifts = sum([province.gifts for province in seen.provinces])
    over = seen.turn >= seen.turn_limit or gifts <= board.end_gifts[two] or mine.vp >= end
    if over or any(seen.seats[seat].vp + pending[seat] >= end for seat in rivals):
        return [act.converts(me.income)[-1]]
    points = max(0, min(me.income, me.income + me.money - needed(view)))
    if mine.vp + pending[me.owner] >= end:
        final = [has.score + more for has, more in zip(seen.seats, pending, strict=True)]
        wins = final[me.owner] > max([final[seat] for seat in rivals])
        points = me.income if wins else min(points, end - 1 - mine.vp)
    return [act.converts(me.income)[points]]


def needed(view: View) -> int:
    """Return the money that is probably well spent in the next auction."""
    after = view._replace(turns=max(0.0, view.turns - 1))
    own, influence = standing(view)
    scale = scale_of(after, influence)
    free = own.unmoved[Province.PUE] > 0
    left = own._replace(unmoved=changed(own.unmoved, Province.PUE, -1)) if free else own
    lost = best(own, scale) - best(left, scale)
    found = progress(after, left, influence).values()
    return PRICE * min(MAX_BIDS, sum([points - lost > PRICE * yuan(after.turns) for points in found]))


_DECISIONS: dict[Phase, Callable[[View], list[Action]]] = {
    Phase.AUCTION: place_merchant,
    Phase.YARD: take_structure,
    Phase.TRAVEL: travel,
    Phase.DISPLACE: displace,
    Phase.CONVERT: convert,
}
