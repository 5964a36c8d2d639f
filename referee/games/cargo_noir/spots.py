"""The spots in a picture to which the actions refer (`Game.spots`)."""

from __future__ import annotations

from enum import IntEnum

from referee.game import Action
from referee.games.cargo_noir import actions as act
from referee.games.cargo_noir.names import Destination


def spots(action: Action) -> tuple[str, ...]:
    """Return the spots to which an action refers: ports, places in Macao, cards on offer, and goods."""
    match action:
        case act.Casino() | act.Send(Destination.CASINO):
            return (spot_of("macao", Destination.CASINO),)
        case act.BmDraw() | act.Send(Destination.BLACK_MARKET):
            return (spot_of("macao", Destination.BLACK_MARKET),)
        case act.BmSwap(give, take):
            return spot_of("good", give), spot_of("market", take)
        case act.Collect(place) | act.Raise(place) | act.Withdraw(place) | act.Wait(place) | act.Send(place):
            return (spot_of("port", place),)
        case act.SellSame(kind) | act.DiffStart(kind) | act.DiffAdd(kind) | act.Discard(kind):
            return (spot_of("good", kind),)
        case act.Buy(card):
            return (spot_of("card", card),)
    return ()


def spot_of(kind: str, name: IntEnum) -> str:
    """Return the spot of something that the rules name, such as `port:new_york`."""
    return f"{kind}:{name.name.lower()}"
