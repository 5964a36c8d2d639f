"""The value of Merchants, progress and money in Yunnan, in victory points, based on a colour's journeys now and later."""

from __future__ import annotations

from typing import Final

from house_bots.greedy.yunnan_journeys import BITS, Own, Scale, Ways, packed
from referee.game import Action
from referee.games.yunnan import actions as act
from referee.games.yunnan.names import Building, Province, Structure
from referee.games.yunnan.table import NOBODY, Table

# Estimates, tuned in matches against earlier versions. A point is a victory point, and so is a Yuan of income (Y10.1);
# "turns" are the expected turns after this one.

STAYING: Final = 0.5
"""The worth of a Merchant outside Pu'er in each later turn, as a share of its worth now; it may be displaced or recalled."""
STAYING_TURNS: Final = 2.8
"""The maximum number of later turns in which `STAYING` counts."""
POST_STAYING: Final = 0.7
"""The worth of a Post in each later turn, as a share of its worth now; its route may be cut."""
GIFT: Final = 2.7
"""Points for a gift within reach."""
LATER: Final = (4.4, 1.1, 4.1, 2.8, 0.9)
"""The points that one progress yields in each later turn, in addition to its gain in this turn, by building."""
LAST_YUAN: Final = 1 / 3
"""Points for a Yuan that no later auction can spend (section 6)."""
EARNED: Final = 0.4
"""The assumed share of an income that a seat converts into points; a low share favours investment for longer."""
GROWTH: Final = 3.7
"""The assumed growth of a colour's income per turn."""
GIFTS_IN_TURN: Final = 3.0
"""The assumed number of gifts taken per turn."""


class View:
    """The data for a decision by the colour that is to act."""

    def __init__(self, table: Table, ways: Ways) -> None:
        self.table = table
        self.board = table.board
        self.ways = ways
        self.colour = table.acting_colour
        self.seat = table.owner[self.colour]
        self.turns = turns_left(table)
        """The expected number of turns after this one."""
        self.committed = table.committed()
        """The sum of each colour's bids."""


# --- the length of the match ---------------------------------------------------------------------------------


def turns_left(table: Table) -> float:
    """Estimate the number of turns after this one (Y11.1)."""
    board, two = table.board, table.setup.seats == 2
    gifts = sum(table.gifts) - board.end_gifts[two]
    turns = min(float(table.turn_limit - table.turn), gifts / GIFTS_IN_TURN)
    end = board.end_vp[two]
    for seat in range(table.setup.seats):
        income, colours = 0.0, 0
        for colour, owner in enumerate(table.owner):
            if owner == seat:
                income += _rough_income(table, colour)
                colours += 1
        turns = min(turns, _turns_to(end, table.vp[seat], income, GROWTH * colours, turns))
    return round(2 * max(0.0, turns)) / 2  # in steps of a half, because the estimate is rough


def _turns_to(end: int, vp: int, income: float, growth: float, most: float) -> float:
    """Return the number of turns until a seat with this income reaches `end` points; about `most` if it takes longer."""
    points, turns = vp + EARNED * income, 0.0
    while points < end and turns < most:
        income += growth
        gain = EARNED * income
        turns += min(1.0, (end - points) / gain)
        points += gain
    return turns


def _rough_income(table: Table, colour: int) -> int:
    """Return a colour's income if its Merchants stay where they are and its reserve is in Pu'er, ignoring routes."""
    merchants, posts, board = table.merchants[colour], table.posts[colour], table.board
    earned = table.reserve[colour] * board.merchant_value[Province.PUE]
    for province, count in enumerate(merchants):
        if count:
            earned += count * board.merchant_value[province]
        if posts[province]:
            earned += posts[province] * board.post_value[province]
    return earned


# --- the worth of journeys (Y5) ------------------------------------------------------------------------------


def scale_of(view: View, influence: int, turns: float) -> Scale:
    """Return the value of Merchants and Posts to a colour with a given influence, if `turns` turns follow this one."""
    board = view.board
    stays, home = STAYING * min(turns, STAYING_TURNS), board.merchant_value[Province.PUE]
    merchants: list[float] = []
    for province, value in enumerate(board.merchant_value):
        worth = value + stays * (value - home)
        for count in range(1 << BITS):
            merchants.append(count * worth)
        if view.table.gifts[province]:
            add_gifts(view, influence, province, merchants)
    posts = [value * (1 + POST_STAYING * turns) for value in board.post_value]
    return Scale(merchants, posts, float(home))


def add_gifts(view: View, influence: int, province: int, merchants: list[float]) -> None:
    """Add the points for a colour's gifts in a province, if no other colour's Merchants move (Y7)."""
    table = view.table
    left = table.gifts[province]
    before: list[int] = []
    behind: list[int] = []
    served_first = True
    for other in table.travel_order:
        there = table.merchants[other][province]
        if other == view.colour:
            served_first = False
        elif table.influence[other] > influence:
            left -= there
        elif table.influence[other] == influence and there:
            (before if served_first else behind).append(there)
    points = 0.0
    for count in range(1, view.board.total_merchants + 1):
        if left >= count:
            served = count
            for there in before:
                served += min(there, count)
            for there in behind:
                served += min(there, count - 1)
            if served <= left:
                points += GIFT
        merchants[province << BITS | count] += points


# --- the worth of progress (1.3) -----------------------------------------------------------------------------


def standing(view: View) -> tuple[Own, int]:
    """Return a colour's data and influence before its travel turn.

    They assume that the colour wins all its bids and has its whole reserve in Pu'er.
    """
    table, colour = view.table, view.colour
    won = [int(colour in row) for row in table.bids]
    own = Own(
        packed(table.merchants[colour]) + table.reserve[colour] + won[Building.SCHOOL],
        0,
        packed(table.posts[colour]),
        table.bridges[colour],
        table.horse[colour] + won[Building.HORSE],
        table.passes[colour] + won[Building.CUSTOMS],
    )
    return own, table.influence[colour] + won[Building.DRAGON]


class Prospect:
    """A colour before its travel turn, used to estimate the value of progress."""

    def __init__(self, view: View, own: Own, influence: int, turns: float) -> None:
        self.view = view
        self.own = own
        self.influence = influence
        self.turns = turns
        """The expected number of turns after this one."""
        self.scale = scale_of(view, influence, turns)
        self.now = view.ways.best(own, self.scale)
        """The points of the best journeys."""

    def best(self, own: Own) -> float:
        """Return the points of the best journeys of a colour with these data."""
        return self.view.ways.best(own, self.scale)

    def without_merchant(self, place: int) -> Prospect:
        """Return the prospect of the colour after it has taken a Merchant from a province to place it in a building."""
        return Prospect(self.view, self.own.with_merchant(place, -1), self.influence, self.turns)

    def worth(self, building: int) -> float:
        """Return the points for one more progress in a building where the colour can still progress."""
        return self._present_worth(building) + LATER[building] * self.turns

    def _present_worth(self, building: int) -> float:
        own, board = self.own, self.view.board
        if building == Building.SCHOOL:
            return self.best(own.with_merchant(Province.PUE, 1)) - self.now
        if building == Building.CUSTOMS:
            level = own.passes - board.first_passes
            return self.best(own.with_pass()) - self.now + (board.passes_vp[level + 1] - board.passes_vp[level])
        if building == Building.HORSE:
            return self.best(own.with_horse()) - self.now
        if building == Building.DRAGON:
            scale = scale_of(self.view, self.influence + 1, self.turns)
            step = board.influence_vp[self.influence + 1] - board.influence_vp[self.influence]
            return self.view.ways.best(own, scale) - self.now + step
        return max([points for _, points in structures(self)])


def structures(prospect: Prospect) -> list[tuple[Action, float]]:
    """Return the points for each structure that the Yard offers a colour."""
    view, own, now = prospect.view, prospect.own, prospect.now
    has = view.table.struct_general[view.colour]
    found: list[tuple[Action, float]] = []
    if has[Structure.POST]:
        points = [prospect.best(own.with_post(place)) for place in post_places(own)]
        found.append((act.TAKES[Structure.POST], max(points) - now))
    if has[Structure.BRIDGE]:
        points = [prospect.best(own.with_bridge(site)) for site in bridge_sites(view.ways, own)]
        found.append((act.TAKES[Structure.BRIDGE], (max(points) if points else now) - now))
    if has[Structure.TEAHOUSE]:
        site, vp = teahouse_site(view, own.horse), view.board.teahouse_vp
        taken = len(vp) - 1 - has[Structure.TEAHOUSE]
        if site:
            found.append((act.TAKES_TO[site], float(vp[taken + 1] - vp[taken])))
        else:
            found.append((act.TAKES[Structure.TEAHOUSE], 0.0))
    return found


def post_places(own: Own) -> list[int]:
    """Return a colour's two farthest provinces, where it builds Posts; other provinces are seldom better."""
    return [place for place in (own.horse - 1, own.horse) if place]


def bridge_sites(ways: Ways, own: Own) -> list[int]:
    """Return the sites where a colour can build a Bridge."""
    return [site for site, needed in enumerate(ways.site_needs) if needed <= own.horse and not own.bridges >> site & 1]


def teahouse_site(view: View, horse: int) -> int:
    """Return the best province for a Teahouse: far from Pu'er, because the inspector goes far (Y6.1); 0 for none."""
    for province in range(horse, 0, -1):
        if view.board.teahouse_space[province] and view.table.teahouse[province] == NOBODY:
            return province
    return 0


def yuan(turns: float) -> float:
    """Return the value of a Yuan in points. In a later auction, it saves a Yuan of income, which can be converted."""
    return LAST_YUAN + (1 - LAST_YUAN) * min(1.0, turns)
