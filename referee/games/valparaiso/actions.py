"""The actions of Valparaíso (RULES.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

from referee.game import Action
from referee.games.valparaiso.board import MAX_AT_ONCE
from referee.games.valparaiso.names import Card, Good, Location, Mode, PayTo, Sector, Slot, Store


@dataclass(frozen=True, slots=True)
class Goods(Action):
    """Take the first goods (S6)."""

    first: Good
    second: Good
    third: Good


@dataclass(frozen=True, slots=True)
class PlaceMerchant(Action):
    """Place the second merchant (S8)."""

    village: Location


@dataclass(frozen=True, slots=True)
class Place(Action):
    """Plan a card for the lowest free slot (V2.2)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Mayor(Action):
    """Plan a card for the mayor's slot, for 5 pesos (V2.3)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Commit(Action):
    """Finish the plan (V2.4)."""


@dataclass(frozen=True, slots=True)
class Close(Action):
    """Finish the plan without declaring that it is finished (V2.8)."""


@dataclass(frozen=True, slots=True)
class Bonus(Action):
    """Take the good that the first finisher gets (V2.8)."""

    good: Good


@dataclass(frozen=True, slots=True)
class UseMayor(Action):
    """Use the card in the mayor's slot (V3.2)."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Use(Action):
    """Use a card in one of the slots (V3.2)."""

    slot: int
    mode: Mode


@dataclass(frozen=True, slots=True)
class Transfer(Action):
    """Set the new contents of the hold (V4.1)."""

    silver: int
    copper: int
    wheat: int


@dataclass(frozen=True, slots=True)
class SellFor(Action):
    """Sell a good for the price that the card names (V4.2)."""

    good: Good


@dataclass(frozen=True, slots=True)
class Start(Action):
    """Make the first step of a merchant's move (V4.4)."""

    start: Location
    end: Location


@dataclass(frozen=True, slots=True)
class Step(Action):
    """Make a further step with the moving merchant (V4.4)."""

    end: Location


@dataclass(frozen=True, slots=True)
class Stop(Action):
    """End a merchant's move, or the use of a tile."""


@dataclass(frozen=True, slots=True)
class River(Action):
    """Relocate a merchant along the rivers (V4.10)."""

    start: Location
    end: Location


@dataclass(frozen=True, slots=True)
class Build(Action):
    """Build a house (V4.5)."""

    location: Location
    space: int


@dataclass(frozen=True, slots=True)
class BuildForGood(Action):
    """Build a house, and pay for it with a good (V4.5)."""

    location: Location
    space: int
    good: Good


@dataclass(frozen=True, slots=True)
class Hire(Action):
    """Hire a merchant for free, instead of building (V4.5)."""


@dataclass(frozen=True, slots=True)
class Trade(Action):
    """Pay the fee in a village, and use its bottom tile (V4.7)."""

    village: Location
    times: int


@dataclass(frozen=True, slots=True)
class Skip(Action):
    """Resolve a village without trading (V4.7)."""

    village: Location


@dataclass(frozen=True, slots=True)
class Take(Action):
    """Take two goods (V4.7c, V4.11)."""

    first: Good
    second: Good


@dataclass(frozen=True, slots=True)
class Give(Action):
    """Give a good in exchange for victory points (V4.11)."""

    good: Good


@dataclass(frozen=True, slots=True)
class GiveTwo(Action):
    """Give two goods in exchange for victory points (V4.11)."""

    first: Good
    second: Good


@dataclass(frozen=True, slots=True)
class Pay(Action):
    """Pay pesos for victory points (V4.11)."""

    times: int


@dataclass(frozen=True, slots=True)
class Buy(Action):
    """Buy a good (V4.11)."""

    good: Good


@dataclass(frozen=True, slots=True)
class Sail(Action):
    """Move the ship (V4.8)."""

    sector: Sector


@dataclass(frozen=True, slots=True)
class Acquire(Action):
    """Acquire an achievement card (V4.9)."""

    slot: Slot
    pay_to: PayTo


@dataclass(frozen=True, slots=True)
class Scrap(Action):
    """Scrap an achievement card for its victory points (V6.3)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Pass(Action):
    """Scrap no card (V6.3)."""


@dataclass(frozen=True, slots=True)
class Recall(Action):
    """Call a merchant back to Valparaíso (V6.5)."""

    location: Location


@dataclass(frozen=True, slots=True)
class Done(Action):
    """End an action, or the return of merchants, early."""


@dataclass(frozen=True, slots=True)
class Sell(Action):
    """Sell a good for 3 pesos (V1.3)."""

    store: Store
    good: Good


# Every action is created once, so that legal lists are looked up, not built.
_GOODS = tuple(Good)
_SPACES = range(4)

PAIRS = tuple(combinations_with_replacement(_GOODS, 2))
"""All pairs of goods, in the order of the rules."""
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
    """Return the `Transfer` action that sets the contents of the hold to these numbers of goods."""
    return Transfer(silver, copper, wheat)
