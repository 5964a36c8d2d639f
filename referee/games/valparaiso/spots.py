"""The spots in a picture to which the actions refer (`Game.spots`)."""

from __future__ import annotations

from enum import IntEnum

from referee.game import Action
from referee.games.valparaiso import actions as act
from referee.games.valparaiso.names import Location

MAYOR = "slot:mayor"
"""The spot of the mayor's slot in the seat's own plan."""


def spots(action: Action) -> tuple[str, ...]:
    """Return the spots to which an action refers, on the map or in the seat's panel; a start comes before its end."""
    match action:
        case act.PlaceMerchant(place) | act.Step(place) | act.Trade(place) | act.Skip(place) | act.Recall(place):
            return (spot_of("location", place),)
        case act.Start(start, end) | act.River(start, end):
            return spot_of("location", start), spot_of("location", end)
        case act.Place(card) | act.Scrap(card):
            return (spot_of("card", card),)
        case act.Mayor(card):
            return MAYOR, spot_of("card", card)
        case act.UseMayor():
            return (MAYOR,)
        case act.Use(slot):
            return (slot_spot(slot),)
        case act.Build(location, space):
            return (site_spot(location, space),)
        case act.BuildForGood(location, space, good):
            return site_spot(location, space), spot_of("warehouse", good)
        case act.SellFor(good) | act.Give(good) | act.Buy(good) | act.Bonus(good):
            return (spot_of("warehouse", good),)
        case act.Sell(store, good):
            return (spot_of(store.name.lower(), good),)
        case act.Sail(sector):
            return (spot_of("sector", sector),)
        case act.Acquire(slot):
            return (spot_of("sea", slot),)
    return ()


def slot_spot(slot: int) -> str:
    """Return the spot of a slot in the seat's own plan; slots count from 1."""
    return f"slot:{slot}"


def site_spot(location: Location, space: int) -> str:
    """Return the spot of a building space; in Valparaíso's row only the next free space has a spot, as number 0."""
    return f"{spot_of('site', location)}:{space}"


def spot_of(kind: str, name: IntEnum) -> str:
    """Return the spot of something that the rules name, such as `location:m1`."""
    return f"{kind}:{name.name.lower()}"
