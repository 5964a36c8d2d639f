"""The actions of Yunnan (RULES.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from referee.game import Action
from referee.games.yunnan.names import Building, Colour, Place, Province, Site, Space, Structure


@dataclass(frozen=True, slots=True)
class Bid(Action):
    """Place a Merchant in a progress building (Y2.3)."""

    building: Building
    value: int
    """The value of the space, in Yuan."""
    source: Place
    """The place from which the Merchant comes (Y2.2)."""


@dataclass(frozen=True, slots=True)
class Bank(Action):
    """Place a Merchant in the bank (Y2.6)."""

    space: Space
    source: Place


@dataclass(frozen=True, slots=True)
class Market(Action):
    """Place a Merchant in the market of Pu'er (Y2.7)."""

    source: Place


@dataclass(frozen=True, slots=True)
class Pass(Action):
    """Pass in the auction (Y2.8)."""


@dataclass(frozen=True, slots=True)
class Take(Action):
    """Take a structure in the Construction Yard (Y4.5)."""

    structure: Structure
    to: Place
    """The reserve or, for a Teahouse that is built at once, its province."""


@dataclass(frozen=True, slots=True)
class Move(Action):
    """Make a journey with one Merchant (Y5.3)."""

    start: Province
    end: Province


@dataclass(frozen=True, slots=True)
class BuildPost(Action):
    """Build a Post from the reserve (Y5.6)."""

    province: Province


@dataclass(frozen=True, slots=True)
class BuildBridge(Action):
    """Build a Bridge from the reserve (Y5.7)."""

    site: Site


@dataclass(frozen=True, slots=True)
class BuildTeahouse(Action):
    """Build a Teahouse from the reserve (Y5.8)."""

    province: Province


@dataclass(frozen=True, slots=True)
class Done(Action):
    """End the travel turn (Y5.10)."""


@dataclass(frozen=True, slots=True)
class Displace(Action):
    """Displace another colour's Merchant at the end of a journey (Y5.5)."""

    colour: Colour


@dataclass(frozen=True, slots=True)
class NoDisplace(Action):
    """Displace nobody at the end of a journey (Y5.5)."""


@dataclass(frozen=True, slots=True)
class Convert(Action):
    """Convert income into victory points (Y10.1)."""

    points: int


# Every action is created once, so that legal lists are looked up, not built.
PASS = Pass()
DONE = Done()
NO_DISPLACE = NoDisplace()
BANKS = tuple(tuple(Bank(space, source) for source in Place) for space in Space)
MARKETS = tuple(Market(source) for source in Place)
TAKES = tuple(Take(structure, Place.RESERVE) for structure in Structure)
TAKES_TO = tuple(Take(Structure.TEAHOUSE, place) for place in Place)
MOVES = tuple(tuple(Move(start, end) for end in Province) for start in Province)
BUILD_POSTS = tuple(BuildPost(province) for province in Province)
BUILD_BRIDGES = tuple(BuildBridge(site) for site in Site)
BUILD_TEAHOUSES = tuple(BuildTeahouse(province) for province in Province)
DISPLACES = tuple(Displace(colour) for colour in Colour)
_CONVERTS = [Convert(points) for points in range(201)]


@cache
def bids(values: tuple[int, ...]) -> tuple[tuple[tuple[Bid, ...], ...], ...]:
    """Return the `Bid` actions for spaces with these values, by building, space and source."""
    return tuple(
        tuple(tuple(Bid(building, value, place) for place in Place) for value in values) for building in Building
    )


def converts(income: int) -> list[Convert]:
    """Return the `Convert` actions for 0 to `income` points."""
    # An income has no limit (R24).
    while len(_CONVERTS) <= income:
        _CONVERTS.append(Convert(len(_CONVERTS)))
    return _CONVERTS[: income + 1]
