"""The actions of Cargo Noir (RULES.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from referee.game import Action
from referee.games.cargo_noir.names import Card, Destination, Kind, Port


@dataclass(frozen=True, slots=True)
class Casino(Action):
    """Resolve a ship at the Casino (C2.4)."""


@dataclass(frozen=True, slots=True)
class BmDraw(Action):
    """Resolve a ship at the Black Market by drawing from the bag (C2.5b)."""


@dataclass(frozen=True, slots=True)
class BmSwap(Action):
    """Resolve a ship at the Black Market by swapping goods (C2.5a)."""

    give: Kind
    """The kind of good that the seat gives."""
    take: Kind
    """The kind of good that the seat takes."""


@dataclass(frozen=True, slots=True)
class Collect(Action):
    """Pay the stack, and take all goods in the port (C3.2)."""

    port: Port


@dataclass(frozen=True, slots=True)
class Raise(Action):
    """Stay in the port with a higher stack (C3.4)."""

    port: Port


@dataclass(frozen=True, slots=True)
class Withdraw(Action):
    """Take the ship, and all coins of its stack, back from the port (C3.5)."""

    port: Port


@dataclass(frozen=True, slots=True)
class Wait(Action):
    """Leave a ship where it is, because its stack is the highest in the port but not the only one (C3.7)."""

    port: Port


@dataclass(frozen=True, slots=True)
class Stake(Action):
    """Set the height of a stack (C3.4, C6.3)."""

    coins: int
    """The new height of the whole stack, in coins."""


@dataclass(frozen=True, slots=True)
class SellSame(Action):
    """Hand in a set of goods of one kind (C4.2)."""

    kind: Kind
    n: int
    """The number of tokens of that kind."""
    wilds: int
    """The number of wild tokens that are added to that kind."""


@dataclass(frozen=True, slots=True)
class DiffStart(Action):
    """Begin a set of different kinds with its lowest kind (C4.2)."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class DiffAdd(Action):
    """Add another kind to a set of different kinds, in ascending order (C4.2)."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class DiffClose(Action):
    """Hand in the set of different kinds (C4.2)."""

    wilds: int
    """The number of wild tokens that are added to the set."""


@dataclass(frozen=True, slots=True)
class Buy(Action):
    """Buy a victory card (C4.5)."""

    card: Card


@dataclass(frozen=True, slots=True)
class EndSmuggling(Action):
    """End phase 2 (C4.10)."""


@dataclass(frozen=True, slots=True)
class Discard(Action):
    """Discard a good for which there is no storage (C4.9)."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Send(Action):
    """Send a ship from home (C6.1)."""

    dest: Destination


# Every action is created once, and legal lists are put together from these.
CASINO = Casino()
BM_DRAW = BmDraw()
END_SMUGGLING = EndSmuggling()
BM_SWAPS = tuple(tuple(BmSwap(give, take) for take in Kind) for give in Kind)
COLLECTS = tuple(Collect(port) for port in Port)
RAISES = tuple(Raise(port) for port in Port)
WITHDRAWS = tuple(Withdraw(port) for port in Port)
WAITS = tuple(Wait(port) for port in Port)
STAKES = [Stake(coins) for coins in range(201)]
SELLS = tuple(tuple(tuple(SellSame(kind, n, wilds) for wilds in range(10)) for n in range(10)) for kind in Kind)
DIFF_STARTS = tuple(DiffStart(kind) for kind in Kind)
DIFF_ADDS = tuple(DiffAdd(kind) for kind in Kind)
DIFF_CLOSES = tuple(DiffClose(wilds) for wilds in range(10))
BUYS = tuple(Buy(card) for card in Card)
DISCARDS = tuple(Discard(kind) for kind in Kind)
SENDS = tuple(Send(dest) for dest in Destination)


def stakes(low: int, high: int) -> list[Stake]:
    """Return the `Stake` actions from `low` to `high` coins."""
    # With an unlimited bank, a stack may be higher than the number of coins in the game (C7.2).
    while len(STAKES) <= high:
        STAKES.append(Stake(len(STAKES)))
    return STAKES[low : high + 1]
