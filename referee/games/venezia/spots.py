"""The spots in a picture to which the actions refer (`Game.spots`)."""

from __future__ import annotations

from enum import IntEnum

from referee.game import Action
from referee.games.venezia import actions as act
from referee.games.venezia.names import ActionCard

GREYS = "greys"
"""The spot of the grey pigeons at the side."""


def spots(action: Action) -> tuple[str, ...]:
    """Return the spots to which an action refers, such as squares or a seat's panel; a start comes before its end."""
    match action:
        case act.Card(ActionCard.NONE) | act.Recover(ActionCard.NONE):
            return ()
        case act.Card(card) | act.Recover(card):
            return (spot_of("card", card),)
        case act.Home(place) | act.District(place) | act.Family(place) | act.Takeover(place) | act.Raptor(place):
            return (spot_of("place", place),)
        case act.PlacePigeon(square) | act.Poison(square):
            return (spot_of("square", square),)
        case act.Walk(start, end) | act.Jump(start, end):
            return spot_of("square", start), spot_of("square", end)
        case act.Fehde(seat):
            return (seat_spot(seat),)
        case act.Purge(district, seat):
            return spot_of("place", district), seat_spot(seat)
        case act.GreyAdd(district):
            return GREYS, spot_of("place", district)
        case act.GreyMove(start, end):
            return spot_of("place", start), spot_of("place", end)
    return ()


def seat_spot(seat: int) -> str:
    """Return the spot of a seat's panel."""
    return f"seat:{seat}"


def spot_of(kind: str, name: IntEnum) -> str:
    """Return the spot of something that the rules name, such as `square:a1`."""
    return f"{kind}:{name.name.lower()}"
