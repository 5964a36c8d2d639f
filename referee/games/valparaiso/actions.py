"""The actions (RULES.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

from referee.game import Action
from referee.games.valparaiso.board import MAX_AT_ONCE
from referee.games.valparaiso.names import Card, Good, Location, Mode, PayTo, Sector, Slot, Store


@dataclass(frozen=True, slots=True)
class Goods(Action):
    """Takes the first goods (S6)."""

    first: Good
    second: Good
    third: Good


@dataclass(frozen=True, slots=True)
class PlaceMerchant(Action):
    """Places the second merchant (S8)."""

    village: Location


@dataclass(frozen=True, slots=True)
class Place(Action):
    """Plans a card for the lowest free slot (V2.2)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Mayor(Action):
    """Plans a card for the mayor's slot, for 5 pesos (V2.3)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Commit(Action):
    """Finishes the plan (V2.4)."""


@dataclass(frozen=True, slots=True)
class Close(Action):
    """Finishes the plan without declaring it (V2.8)."""


@dataclass(frozen=True, slots=True)
class Bonus(Action):
    """Takes the first finisher's good (V2.8)."""

    good: Good


@dataclass(frozen=True, slots=True)
class UseMayor(Action):
    """Uses the card in the mayor's slot (V3.2)."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Use(Action):
    """Uses a card in one of the slots (V3.2)."""

    slot: int
    mode: Mode


@dataclass(frozen=True, slots=True)
class Transfer(Action):
    """Sets the new contents of the hold (V4.1)."""

    silver: int
    copper: int
    wheat: int


@dataclass(frozen=True, slots=True)
class SellFor(Action):
    """Sells a good for the price of the card (V4.2)."""

    good: Good


@dataclass(frozen=True, slots=True)
class Start(Action):
    """Makes the first step with a merchant (V4.4)."""

    start: Location
    end: Location


@dataclass(frozen=True, slots=True)
class Step(Action):
    """Makes a further step with the moving merchant (V4.4)."""

    end: Location


@dataclass(frozen=True, slots=True)
class Stop(Action):
    """Ends the move of a merchant, or the use of a tile."""


@dataclass(frozen=True, slots=True)
class River(Action):
    """Relocates a merchant along the rivers (V4.10)."""

    start: Location
    end: Location


@dataclass(frozen=True, slots=True)
class Build(Action):
    """Builds a house (V4.5)."""

    location: Location
    space: int


@dataclass(frozen=True, slots=True)
class BuildForGood(Action):
    """Builds a house, paid for with a good (V4.5)."""

    location: Location
    space: int
    good: Good


@dataclass(frozen=True, slots=True)
class Hire(Action):
    """Hires a merchant for free, instead of building (V4.5)."""


@dataclass(frozen=True, slots=True)
class Trade(Action):
    """Pays the fee of a village and uses its bottom tile (V4.7)."""

    village: Location
    times: int


@dataclass(frozen=True, slots=True)
class Skip(Action):
    """Resolves a village without trading (V4.7)."""

    village: Location


@dataclass(frozen=True, slots=True)
class Take(Action):
    """Takes two goods (V4.7c, V4.11)."""

    first: Good
    second: Good


@dataclass(frozen=True, slots=True)
class Give(Action):
    """Gives a good for victory points (V4.11)."""

    good: Good


@dataclass(frozen=True, slots=True)
class GiveTwo(Action):
    """Gives two goods for victory points (V4.11)."""

    first: Good
    second: Good


@dataclass(frozen=True, slots=True)
class Pay(Action):
    """Pays pesos for victory points (V4.11)."""

    times: int


@dataclass(frozen=True, slots=True)
class Buy(Action):
    """Buys a good (V4.11)."""

    good: Good


@dataclass(frozen=True, slots=True)
class Sail(Action):
    """Moves the ship (V4.8)."""

    sector: Sector


@dataclass(frozen=True, slots=True)
class Acquire(Action):
    """Acquires an achievement card (V4.9)."""

    slot: Slot
    pay_to: PayTo


@dataclass(frozen=True, slots=True)
class Scrap(Action):
    """Scraps an achievement card for its victory points (V6.3)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Pass(Action):
    """Scraps no card (V6.3)."""


@dataclass(frozen=True, slots=True)
class Recall(Action):
    """Calls a merchant back to Valparaíso (V6.5)."""

    location: Location


@dataclass(frozen=True, slots=True)
class Done(Action):
    """Ends an action or the return early."""


@dataclass(frozen=True, slots=True)
class Sell(Action):
    """Sells a good for 3 pesos (V1.3)."""

    store: Store
    good: Good


# Every action is created once, so that legal lists are looked up, not built.
_GOODS = tuple(Good)
_SPACES = range(4)

PAIRS = tuple(combinations_with_replacement(_GOODS, 2))
"""Two goods, in the order of the rules."""
COMMIT = Commit()
CLOSE = Close()
STOP = Stop()
DONE = Done()
HIRE = Hire()
PASS = Pass()
FIRST_GOODS = tuple(Goods(*goods) for goods in combinations_with_replacement(_GOODS, 3))
PLACED_MERCHANTS = tuple(PlaceMerchant(location) for location in Location)
PLACES = tuple(Place(card) for card in Card)
MAYORS = tuple(Mayor(card) for card in Card)
BONUSES = tuple(Bonus(good) for good in Good)
MAYOR_USES = tuple(UseMayor(mode) for mode in Mode)
USES = tuple(tuple(Use(slot, mode) for mode in Mode) for slot in range(6))
"""The uses of cards, by slot number and mode."""
SALES_FOR = tuple(SellFor(good) for good in Good)
STARTS = tuple(tuple(Start(start, end) for end in Location) for start in Location)
STEPS = tuple(Step(end) for end in Location)
RIVERS = tuple(tuple(River(start, end) for end in Location) for start in Location)
BUILDS = tuple(tuple(Build(location, space) for space in _SPACES) for location in Location)
BUILDS_FOR_GOOD = tuple(
    tuple(tuple(BuildForGood(location, space, good) for good in Good) for space in _SPACES) for location in Location
)
TRADES = tuple(tuple(Trade(village, times) for times in range(MAX_AT_ONCE + 1)) for village in Location)
SKIPS = tuple(Skip(village) for village in Location)
TAKES = {pair: Take(*pair) for pair in PAIRS}
GIVES = tuple(Give(good) for good in Good)
GIVES_TWO = {pair: GiveTwo(*pair) for pair in PAIRS}
PAYS = tuple(Pay(times) for times in range(MAX_AT_ONCE + 1))
BUYS = tuple(Buy(good) for good in Good)
SAILS = tuple(Sail(sector) for sector in Sector)
ACQUIRES = tuple(tuple(Acquire(slot, pay_to) for pay_to in PayTo) for slot in Slot)
SCRAPS = tuple(Scrap(card) for card in Card)
RECALLS = tuple(Recall(location) for location in Location)
SALES = tuple(tuple(Sell(store, good) for good in Good) for store in Store)


@cache
def transfer(silver: int, copper: int, wheat: int) -> Transfer:
    """Return the action that sets the contents of the hold to these numbers of goods."""
    return Transfer(silver, copper, wheat)
