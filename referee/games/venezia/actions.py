"""The actions of Venezia (RULES.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from referee.game import Action
from referee.games.venezia.board import MAX_PIGEONS
from referee.games.venezia.names import ActionCard, FirstCard, Place, Square


@dataclass(frozen=True, slots=True)
class Home(Action):
    """Choose a home (Z1.4)."""

    place: Place


@dataclass(frozen=True, slots=True)
class First(Action):
    """Choose the first card of the plan (Z2.2)."""

    card: FirstCard


@dataclass(frozen=True, slots=True)
class Card(Action):
    """Choose an action card for the plan, or none (Z2.3)."""

    card: ActionCard


@dataclass(frozen=True, slots=True)
class District(Action):
    """Choose a district card for the plan (Z2.4)."""

    place: Place


@dataclass(frozen=True, slots=True)
class Count(Action):
    """Lay pigeons on the next card of the plan (Z2.5)."""

    pigeons: int


@dataclass(frozen=True, slots=True)
class Feint(Action):
    """Move pigeons from the Feint onto the current district card (Z3.2)."""

    pigeons: int


@dataclass(frozen=True, slots=True)
class PlacePigeon(Action):
    """Place a pigeon on the Piazza (Z3.3)."""

    square: Square


@dataclass(frozen=True, slots=True)
class Walk(Action):
    """Walk with a pigeon (Z5.2)."""

    start: Square
    end: Square


@dataclass(frozen=True, slots=True)
class Jump(Action):
    """Jump with a pigeon (Z5.3)."""

    start: Square
    end: Square


@dataclass(frozen=True, slots=True)
class Stop(Action):
    """End a chain of jumps (Z5.4)."""


@dataclass(frozen=True, slots=True)
class Done(Action):
    """End the choice of district cards, the placing, the moving or the poisoning."""


@dataclass(frozen=True, slots=True)
class Family(Action):
    """Choose the district of the family meeting (Z8.1)."""

    district: Place


@dataclass(frozen=True, slots=True)
class Reinforce(Action):
    """Move pigeons from the nest to the home (Z7.3)."""

    pigeons: int


@dataclass(frozen=True, slots=True)
class Fehde(Action):
    """Remove an opponent's pigeon from the current district (Z8.2)."""

    seat: int


@dataclass(frozen=True, slots=True)
class Skip(Action):
    """Remove no pigeon from the current district (Z8.2)."""


@dataclass(frozen=True, slots=True)
class Takeover(Action):
    """Choose a district to take over (Z8.3)."""

    district: Place


@dataclass(frozen=True, slots=True)
class FromReserve(Action):
    """Choose how many of the replacing pigeons come from the reserve (Z8.3)."""

    pigeons: int


@dataclass(frozen=True, slots=True)
class Poison(Action):
    """Remove a pigeon from the Piazza (Z8.4)."""

    square: Square


@dataclass(frozen=True, slots=True)
class Raptor(Action):
    """Place the bird of prey (Z8.5)."""

    place: Place


@dataclass(frozen=True, slots=True)
class Purge(Action):
    """Remove all pigeons of a colour from a district (Z8.7)."""

    district: Place
    seat: int


@dataclass(frozen=True, slots=True)
class GreyAdd(Action):
    """Put a grey pigeon from the side into a district (Z8.8)."""

    district: Place


@dataclass(frozen=True, slots=True)
class GreyMove(Action):
    """Move a grey pigeon (Z8.8)."""

    start: Place
    end: Place


@dataclass(frozen=True, slots=True)
class Recover(Action):
    """Take an executed action card, or none, back into the hand (Z10.3)."""

    card: ActionCard


@dataclass(frozen=True, slots=True)
class Michele(Action):
    """Move the seat's pigeons from the cemetery to the reserve (Z10.4)."""

    pigeons: int


# Every action is created once, so that legal lists are looked up, not built.
_NUMBERS = range(MAX_PIGEONS + 1)
DONE = Done()
STOP = Stop()
SKIP = Skip()
HOMES = tuple(Home(place) for place in Place)
FIRSTS = tuple(First(card) for card in FirstCard)
PLANNED_CARDS = tuple(Card(card) for card in ActionCard)
PLANNED_DISTRICTS = tuple(District(place) for place in Place)
COUNTS = tuple(Count(pigeons) for pigeons in _NUMBERS)
FEINTS = tuple(Feint(pigeons) for pigeons in _NUMBERS)
PLACES = tuple(PlacePigeon(square) for square in Square)
FAMILIES = tuple(Family(place) for place in Place)
REINFORCES = tuple(Reinforce(pigeons) for pigeons in _NUMBERS)
FEHDES = tuple(Fehde(seat) for seat in range(4))
TAKEOVERS = tuple(Takeover(place) for place in Place)
FROM_RESERVES = tuple(FromReserve(pigeons) for pigeons in _NUMBERS)
POISONS = tuple(Poison(square) for square in Square)
RAPTORS = tuple(Raptor(place) for place in Place)
PURGES = tuple(tuple(Purge(place, seat) for seat in range(4)) for place in Place)
GREY_ADDS = tuple(GreyAdd(place) for place in Place)
GREY_MOVES = tuple(tuple(GreyMove(start, end) for end in Place) for start in Place)
RECOVERS = tuple(Recover(card) for card in ActionCard)
MICHELES = tuple(Michele(pigeons) for pigeons in _NUMBERS)


@cache
def walk(start: int, end: int) -> Walk:
    """Return the `Walk` action from one square to another."""
    return Walk(Square(start), Square(end))


@cache
def jump(start: int, end: int) -> Jump:
    """Return the `Jump` action from one square to another."""
    return Jump(Square(start), Square(end))
