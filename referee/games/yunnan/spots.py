"""The spots in a picture to which the actions refer (`Game.spots`)."""

from __future__ import annotations

from enum import IntEnum

from referee.game import Action
from referee.games.yunnan import actions as act
from referee.games.yunnan.names import Building, Place, Province, Structure


def spots(action: Action) -> tuple[str, ...]:
    """Return the spots to which an action refers.

    If a Merchant is placed, its target comes before its origin; on a journey, the start comes before the end.
    """
    match action:
        case act.Bid(building, value, source):
            return bid_spot(building, value), *_source(source)
        case act.Bank(space, source):
            return spot_of("bank", space), *_source(source)
        case act.Market(source):
            return spot_of("province", Province.PUE), *_source(source)
        case act.Take(structure, Place.RESERVE) if structure is not Structure.TEAHOUSE:
            return (spot_of("supply", structure),)
        case act.Take(structure, Place.RESERVE):
            return spot_of("supply", structure), spot_of("reserve", structure)
        case act.Take(structure, place):
            return spot_of("supply", structure), spot_of("province", place)
        case act.Move(start, end):
            return spot_of("province", start), spot_of("province", end)
        case act.BuildPost(province):
            return spot_of("reserve", Structure.POST), spot_of("province", province)
        case act.BuildTeahouse(province):
            return spot_of("reserve", Structure.TEAHOUSE), spot_of("province", province)
        case act.BuildBridge(site):
            return spot_of("reserve", Structure.BRIDGE), spot_of("site", site)
        case act.Displace(colour):
            return (spot_of("merchant", colour),)
    return ()


def _source(source: Place) -> tuple[str, ...]:
    """Return the spot of a Merchant's origin; there is none for the reserve, which leaves no choice (Y2.2)."""
    return () if source is Place.RESERVE else (spot_of("province", source),)


def bid_spot(building: Building, value: int) -> str:
    """Return the spot of the space with this value in a building."""
    return f"{spot_of('bid', building)}:{value}"


def spot_of(kind: str, name: IntEnum) -> str:
    """Return the spot of something that the rules name, such as `province:tib`."""
    return f"{kind}:{name.name.lower()}"
