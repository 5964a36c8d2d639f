"""The travel turn of the policy for Yunnan (Y5): buildings, journeys and displacements, planned as a whole."""

from __future__ import annotations

from typing import Final

from house_bots.greedy.yunnan_journeys import BITS, MOST, NONE, Own, Scale, Ways, packed
from house_bots.greedy.yunnan_outlook import View, bridge_sites, post_places, scale_of, teahouse_site
from referee.game import Action
from referee.games.yunnan import actions as act
from referee.games.yunnan import scoring
from referee.games.yunnan.names import Province, Structure
from referee.games.yunnan.table import Table

LEADING: Final = 0.1
"""The harm attributed to a displacement for each point of the victim's seat."""


class Journeys:
    """The plan of a travel turn: the actions so far, and the resulting Merchants of all colours."""

    def __init__(self, view: View) -> None:
        table = view.table
        self.view = view
        self.plan: list[Action] = []
        self.merchants = [row[:] for row in table.merchants]
        influence = table.influence[view.colour]
        self.weaker = [
            colour
            for colour in range(table.colours)
            if table.influence[colour] < influence and table.owner[colour] != view.seat
        ]
        """The colours that this colour can displace (Y5.5)."""

    def targets(self, province: int) -> list[int]:
        """Return the colours that can be displaced in a province."""
        return [colour for colour in self.weaker if province and self.merchants[colour][province]]

    def move(self, start: int, end: int) -> None:
        """Plan a journey, and the displacement after it if there is one."""
        self.plan.append(act.MOVES[start][end])
        if self.targets(end):
            self.displace(end)

    def displace(self, province: int) -> None:
        """Plan to displace the Merchant whose owner suffers most."""
        targets = self.targets(province)
        victim = targets[0]
        if len(targets) > 1:
            victim = max(targets, key=lambda colour: self.harm(colour, province))
        self.merchants[victim][province] -= 1
        self.merchants[victim][province - 1] += 1
        self.plan.append(act.DISPLACES[victim])

    def harm(self, victim: int, province: int) -> float:
        """Return the harm of a displacement: the victim's lost income, plus a share of its seat's score."""
        table, now = self.view.table, self.merchants[victim]
        after = now[:]
        after[province] -= 1
        after[province - 1] += 1  # a displaced Merchant goes one province back (Y5.5)
        lost = earned(table, victim, now) - earned(table, victim, after)
        return lost + LEADING * scoring.scores(table)[table.owner[victim]]


def earned(table: Table, colour: int, merchants: list[int]) -> int:
    """Return a colour's income with Merchants in these provinces (Y8)."""
    posts, there = table.posts[colour], 0
    for province, count in enumerate(merchants):
        if count or posts[province]:
            there |= 1 << province
    reach = table.routes.reach(table.bridges[colour], there)
    return scoring.earnings(table.board, reach, merchants, posts).income


def travel(view: View) -> list[Action]:
    """Build, make the journeys of the best plan, and use the remaining border passes to displace."""
    table, colour = view.table, view.colour
    unmoved = packed(table.unmoved)
    fixed, posts = packed(table.merchants[colour]) - unmoved, packed(table.posts[colour])
    own = Own(unmoved, fixed, posts, table.bridges[colour], table.horse[colour], table.passes_left)
    scale = scale_of(view, table.influence[colour], view.turns)
    journeys = Journeys(view)
    # The journeys are planned with the new structures, because a Bridge shortens journeys, and a Post connects provinces.
    own = build(view, own, scale, journeys.plan)
    distances = view.ways.distances[own.bridges]
    chosen = view.ways.best_spread(own, scale)
    left, stay = own.passes, [0] * len(Province)
    for start, end in matched(own.unmoved, chosen, distances, own.passes):
        if start == end:
            stay[start] += 1
        else:
            left -= distances[start][end]
            journeys.move(start, end)
    swap(journeys, stay, left)
    return [*journeys.plan, act.DONE]


def build(view: View, own: Own, scale: Scale, plan: list[Action]) -> Own:
    """Plan to build each structure of the reserve in its best place; return the colour's data with these structures."""
    ways, reserve = view.ways, view.table.struct_reserve[view.colour]
    for _ in range(reserve[Structure.BRIDGE]):
        sites = bridge_sites(ways, own)
        chosen = first_best(ways, scale, [own, *[own.with_bridge(site) for site in sites]])
        if chosen:
            plan.append(act.BUILD_BRIDGES[sites[chosen - 1]])
            own = own.with_bridge(sites[chosen - 1])
    for _ in range(reserve[Structure.POST]):
        places = post_places(own)
        chosen = first_best(ways, scale, [own, *[own.with_post(place) for place in places]])
        if chosen:
            plan.append(act.BUILD_POSTS[places[chosen - 1]])
            own = own.with_post(places[chosen - 1])
    site = teahouse_site(view, own.horse)
    if reserve[Structure.TEAHOUSE] and site:
        plan.append(act.BUILD_TEAHOUSES[site])
    return own


def first_best(ways: Ways, scale: Scale, owns: list[Own]) -> int:
    """Return the index of the data with the best journeys, or the first such index if there are several."""
    chosen, most = 0, NONE
    for index, own in enumerate(owns):
        points = ways.best(own, scale)
        if points > most:
            chosen, most = index, points
    return chosen


def matched(starts: int, ends: int, distances: list[list[int]], passes: int) -> list[tuple[int, int]]:
    """Return journeys and stays that turn one distribution into another.

    If possible, the Merchants keep their order, because then the largest number of journeys can displace a Merchant.
    """
    before, after = farthest_first(starts), farthest_first(ends)
    needed = 0
    for at, start in enumerate(before):
        needed += distances[start][after[at]]
    if needed > passes:
        after = _search(before, after, distances, passes) or before  # if they cannot be matched, all Merchants stay
    return [(start, after[at]) for at, start in enumerate(before)]


def farthest_first(counts: int) -> list[int]:
    """Return the province of each Merchant, the farthest from Pu'er first."""
    return [province for province in range(len(Province) - 1, -1, -1) for _ in range(counts >> BITS * province & MOST)]


def _search(before: list[int], after: list[int], distances: list[list[int]], passes: int) -> list[int] | None:
    """Return ends for the starts such that the journeys take at most `passes` in total; None if that is impossible."""
    if not before:
        return []
    row = distances[before[0]]
    for end in sorted(sorted(set(after)), key=lambda end: row[end]):
        if row[end] <= passes:
            rest = after[:]
            rest.remove(end)
            found = _search(before[1:], rest, distances, passes - row[end])
            if found is not None:
                return [end, *found]
    return None


def swap(journeys: Journeys, stay: list[int], left: int) -> None:
    """Plan to swap Merchants of neighbouring provinces as long as that displaces somebody (section 10, E11)."""
    # The two Merchants change places, so the distribution stays the best one.
    for far in range(len(Province) - 1, 0, -1):
        near = far - 1
        while left >= 2 and stay[near] and stay[far] and (journeys.targets(near) or journeys.targets(far)):
            journeys.move(near, far)
            journeys.move(far, near)
            stay[near] -= 1
            stay[far] -= 1
            left -= 2


def displace(view: View) -> Action:
    """Displace the Merchant whose owner suffers most."""
    journeys = Journeys(view)
    journeys.displace(view.table.pending_displace)
    return journeys.plan[0]
