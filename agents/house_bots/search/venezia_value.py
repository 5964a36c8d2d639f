"""An estimate of each seat's final points in Venezia, from its position at the beginning of a round.

The numbers are in `venezia.toml`; `bench/values_venezia.py` fits them.
"""

from __future__ import annotations

from house_bots.search.values import read_values
from referee.games.venezia.names import DISTRICTS, Place
from referee.games.venezia.scoring import majority
from referee.games.venezia.table import NONE, Table

FEATURES = ("held", "lead", "reserve", "piazza", "cemetery", "hand", "supply", "island")
"""The features of a seat.

They are the points for the majorities held, the pigeons ahead in the districts, the pigeons by place, the action cards,
and a lead in San Giorgio.
"""
ROWS = ("left1", "left2", "left3")
"""The rows of weights, by the number of remaining rounds; the last row also applies to more rounds."""
MOST_LEFT = len(ROWS)
_LEAD = 4  # a larger lead in a district counts as this much
_SGM = int(Place.SGM)
_DISTRICTS = len(DISTRICTS)


def features(table: Table) -> list[list[float]]:
    """Return the features of each seat, in the order of `FEATURES`."""
    seats = len(table.score)
    found = [_holdings(table, seat) for seat in range(seats)]
    board = table.board
    for place in range(_DISTRICTS):
        pigeons = table.loc[place]
        holder = majority(pigeons)
        if holder != NONE:
            is_enemy = place in table.home and table.home[holder] != place
            found[holder][0] += board.enemy_home_points if is_enemy else board.majority_points
        for seat in range(seats):
            most = max([pigeons[other] for other in range(seats) if other != seat])
            found[seat][1] += max(-_LEAD, min(_LEAD, pigeons[seat] - most))
    island = majority(table.loc[_SGM])
    if island != NONE:
        found[island][7] = 1.0
    return found


def _holdings(table: Table, seat: int) -> list[float]:
    return [
        0.0,
        0.0,
        float(table.reserve[seat] + table.nest[seat]),
        float(table.on_piazza(seat)),
        float(table.cemetery[seat]),
        float(table.discard[seat].count(0)),
        float(table.supply[seat]),
        0.0,
    ]


class Value:
    """Estimates of the final points, for a given number of seats."""

    def __init__(self, seats: int) -> None:
        self._weights: list[list[float]] = read_values("venezia", seats, FEATURES, ROWS)

    def estimate(self, table: Table, left: int) -> list[float]:
        """Return the points of each seat at the end of the match, if `left` rounds are still to be played."""
        if left < 1:
            return [float(points) for points in table.score]
        weights = self._weights[min(left, MOST_LEFT) - 1]
        found: list[float] = []
        for points, numbers in zip(table.score, features(table), strict=True):
            total = float(points)
            for index in range(len(weights)):
                total += weights[index] * numbers[index]
            found.append(total)
        return found
