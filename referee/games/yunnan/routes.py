"""Ways over the map: distances, connected routes and gaps (RULES.md, section 2).

A set of provinces, or of a colour's bridges, is an integer with one bit per member.
Each result is computed once for a set of bridges and a set of provinces with presence, and cached: there are at most
16 times 64 pairs of such sets.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from referee.games.yunnan.names import Province

_MANY = len(Province)


class Reach(NamedTuple):
    """The consequences of a colour's presence in its provinces."""

    connected: int
    """The provinces with a connected route from Pu'er, as bits (Y5.10)."""
    gaps: tuple[int, ...]
    """For each province, the minimum number of provinces without presence on a way from Pu'er (Y8.2)."""


class Routes:
    """The ways over a map with these bridge sites. Use `routes_of`, which makes each map only once."""

    def __init__(self, sites: tuple[tuple[Province, Province], ...]) -> None:
        self.site_needs = tuple(max(ends) for ends in sites)
        """For each site, the province that the Horse must have reached (Y5.7)."""
        self._sites = sites
        self.distances = [self._distances(bridges) for bridges in range(1 << len(sites))]
        """`distances[bridges][start][end]`: the number of borders to cross on a journey in one direction (Y5.4)."""
        self._reaches: dict[tuple[int, int], Reach] = {}

    def reach(self, bridges: int, present: int) -> Reach:
        """Return the reach of a colour with these bridges and presence in these provinces."""
        found = self._reaches.get((bridges, present))
        if found is None:
            found = self._reaches[bridges, present] = self._reach(bridges, present)
        return found

    def _neighbours(self, bridges: int) -> list[list[int]]:
        edges = [(province, province + 1) for province in range(len(Province) - 1)]
        edges += [(int(one), int(other)) for site, (one, other) in enumerate(self._sites) if bridges >> site & 1]
        found: list[list[int]] = [[] for _ in Province]
        for one, other in edges:
            found[one].append(other)
            found[other].append(one)
        return found

    def _distances(self, bridges: int) -> list[list[int]]:
        neighbours = self._neighbours(bridges)
        table = []
        for start in Province:
            outwards = [0] * len(Province)
            # A journey keeps its direction (Y5.4), so it stays between its ends: a Horse that has reached the farther one has
            # reached every province on the way.
            for end in range(start + 1, len(Province)):
                outwards[end] = 1 + min(outwards[via] for via in neighbours[end] if start <= via < end)
            for end in range(start - 1, -1, -1):
                outwards[end] = 1 + min(outwards[via] for via in neighbours[end] if end < via <= start)
            table.append(outwards)
        return table

    def _reach(self, bridges: int, present: int) -> Reach:
        neighbours = self._neighbours(bridges)
        gaps = [0] + [_MANY] * (len(Province) - 1)
        waiting = [0]
        # A province is visited again if a shorter way to it is found; with six provinces that is fast enough.
        while waiting:
            here = waiting.pop()
            cost = gaps[here] + (0 if here == Province.PUE or present >> here & 1 else 1)  # R40
            for there in neighbours[here]:
                if cost < gaps[there]:
                    gaps[there] = cost
                    waiting.append(there)
        connected = 1
        for province in Province:
            if present >> province & 1 and gaps[province] == 0:
                connected |= 1 << province
        return Reach(connected, tuple(gaps))


@cache
def routes_of(sites: tuple[tuple[Province, Province], ...]) -> Routes:
    """Return the ways over a map whose bridge sites join these provinces."""
    return Routes(sites)
