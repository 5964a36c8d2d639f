"""The value of a colour's journeys (Y5), based on the best way to distribute its Merchants with its border passes.

Counts by province are packed into an integer, four bits each, beginning with Pu'er. Therefore, integers are added to
make plans, and known results can be looked up. This allows the search to make many thousands of plans per second.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from referee.games.yunnan.names import Province
from referee.games.yunnan.routes import routes_of

BITS: Final = 4
"""The number of bits of a count; no board has more than 10 Merchants of a colour."""
MOST: Final = (1 << BITS) - 1
"""The highest count that can be packed."""
MANY: Final = 6
"""The number of provinces."""
NONE: Final = -1e9
"""A number of points below the worth of any plan."""
_MAX_SPREADS: Final = 1 << 14

Sites = tuple[tuple[Province, Province], ...]
"""The two provinces that each bridge site joins."""


def packed(counts: list[int]) -> int:
    """Return counts by province as one integer."""
    found = 0
    for province in range(MANY):
        found |= counts[province] << BITS * province
    return found


def one(province: int) -> int:
    """Return the packed counts of one Merchant or Post in a province."""
    return 1 << BITS * province


def present(counts: int) -> int:
    """Return the provinces whose count is not 0, as bits."""
    found = 0
    for province in range(MANY):
        if counts >> BITS * province & MOST:
            found |= 1 << province
    return found


class Own:
    """The data of a colour that determine its best journeys."""

    def __init__(self, unmoved: int, fixed: int, posts: int, bridges: int, horse: int, passes: int) -> None:
        self.unmoved = unmoved
        """The packed counts of Merchants that can still make a journey."""
        self.fixed = fixed
        """The packed counts of Merchants that have already made their journey."""
        self.posts = posts
        """The packed counts of Posts."""
        self.bridges = bridges
        """The sites of the colour's bridges, as bits."""
        self.horse = horse
        self.passes = passes

    def copy(self) -> Own:
        """Return a copy of the data."""
        return Own(self.unmoved, self.fixed, self.posts, self.bridges, self.horse, self.passes)

    def with_merchant(self, province: int, by: int) -> Own:
        """Return the data with `by` more Merchants in a province."""
        other = self.copy()
        other.unmoved += by * one(province)
        return other

    def with_pass(self) -> Own:
        """Return the data with one more border pass."""
        other = self.copy()
        other.passes += 1
        return other

    def with_horse(self) -> Own:
        """Return the data with the Horse one province farther."""
        other = self.copy()
        other.horse += 1
        return other

    def with_post(self, province: int) -> Own:
        """Return the data with one more Post in a province."""
        other = self.copy()
        other.posts += one(province)
        return other

    def with_bridge(self, site: int) -> Own:
        """Return the data with one more Bridge, at the given site."""
        other = self.copy()
        other.bridges |= 1 << site
        return other


class Scale:
    """The worth of a colour's Merchants and Posts."""

    def __init__(self, merchants: list[float], posts: list[float], home: float) -> None:
        self.merchants = merchants
        """Points for a number of Merchants with a route in a province: `merchants[province << BITS | number]`."""
        self.posts = posts
        """Points for a Post with a route, by province."""
        self.home = home
        """Points for a Merchant in Pu'er."""


class Ways:
    """The ways over a map with the given bridge sites. Call `ways_of`, which makes the ways of each map only once."""

    def __init__(self, sites: Sites) -> None:
        routes = routes_of(sites)
        self.site_needs = [int(max(ends)) for ends in sites]
        """For each site, the province that the Horse must have reached."""
        self.distances = routes.distances
        self._ends = [(int(one), int(other)) for one, other in sites]
        self._connected = [
            routes.reach(bridges, provinces).connected
            for bridges in range(1 << len(sites))
            for provinces in range(1 << MANY)
        ]
        self._spreads: dict[int, list[int]] = {}

    def best(self, own: Own, scale: Scale) -> float:
        """Return the points of the best plan."""
        return self._rated(own, scale)[0]

    def best_spread(self, own: Own, scale: Scale) -> int:
        """Return the Merchants that can make a journey in the places of the best plan, as packed counts by province."""
        return self._rated(own, scale)[1]

    def _rated(self, own: Own, scale: Scale) -> tuple[float, int]:
        always, bridges, fixed = present(own.fixed) | present(own.posts), own.bridges, own.fixed
        points, chosen = NONE, own.unmoved
        for spread in self.spreads(own):
            there = always | present(spread)
            connected = self._connected[bridges << MANY | there]
            if there & ~connected & ~1:  # Merchants without a route go home (Y5.10)
                found = _cut_off(spread, fixed, connected, scale)
            else:
                found = _on_routes(spread, fixed, scale.merchants)
            if own.posts:
                found = _with_posts(found, own.posts, connected, scale.posts)
            if found > points:
                points, chosen = found, spread
        return points, chosen

    def spreads(self, own: Own) -> list[int]:
        """Return all distributions of Merchants that the border passes allow, those with the fewest passes first."""
        # Passes have 8 bits of the key, the Horse 3, bridges 4, and the Merchants all bits above them.
        key = ((own.unmoved << 4 | own.bridges) << 3 | own.horse) << 8 | own.passes
        found = self._spreads.get(key)
        if found is None:
            if len(self._spreads) >= _MAX_SPREADS:
                self._spreads.clear()
            found = self._spreads[key] = self._spread(own)
        return found

    def _spread(self, own: Own) -> list[int]:
        found, border, known = [own.unmoved], [own.unmoved], {own.unmoved}
        for _ in range(own.passes):  # each pass takes one Merchant over one border
            reached = []
            for before in border:
                for start, end in self._borders(own):
                    if before >> BITS * start & MOST:
                        spread = before - one(start) + one(end)
                        if spread not in known:
                            known.add(spread)
                            reached.append(spread)
            found += reached
            border = reached
        return found

    def _borders(self, own: Own) -> list[tuple[int, int]]:
        """Return the borders that a colour can cross, in both directions."""
        pairs = [(int(one), int(other)) for one, other in pairwise(Province)]
        pairs += [ends for site, ends in enumerate(self._ends) if own.bridges >> site & 1]
        return [way for near, far in pairs if far <= own.horse for way in ((near, far), (far, near))]


def _on_routes(spread: int, fixed: int, worth: list[float]) -> float:
    """Return the points for Merchants if all of them have a route."""
    counts, points = spread + fixed, 0.0
    for province in range(MANY):
        points += worth[province << BITS | counts & MOST]
        counts >>= BITS
    return points


def _cut_off(spread: int, fixed: int, connected: int, scale: Scale) -> float:
    """Return the points for Merchants if some of them have no route."""
    counts, points, home = spread + fixed, 0.0, 0
    for province in range(MANY):
        if connected >> province & 1:
            points += scale.merchants[province << BITS | counts & MOST]
        else:
            home += counts & MOST
        counts >>= BITS
    return points + home * scale.home


def _with_posts(points: float, posts: int, connected: int, worth: list[float]) -> float:
    """Add the points for the Posts that have a route."""
    for province in range(MANY):
        count = posts & MOST
        if count and connected >> province & 1:
            points += count * worth[province]
        posts >>= BITS
    return points


_MADE: dict[Sites, Ways] = {}


def ways_of(sites: Sites) -> Ways:
    """Return the ways over a map with the given bridge sites, from the cache if they are known."""
    found = _MADE.get(sites)
    if found is None:
        found = _MADE[sites] = Ways(sites)
    return found
