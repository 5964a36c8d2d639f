"""The names of goods, ports, cards and phases, each in the order of the data (RULES.md, section 1)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """The kinds of goods; WILD stands for any kind in a set (C4.2)."""

    ALCOHOL = 0
    WEAPONS = 1
    ART = 2
    CARS = 3
    CIGARS = 4
    IVORY = 5
    JEWELS = 6
    GOLD = 7
    URANIUM = 8
    WILD = 9


class Port(IntEnum):
    """The ports, in the order of the data."""

    ROTTERDAM = 0
    NEW_YORK = 1
    HONG_KONG = 2
    CAPE_TOWN = 3
    RIO = 4
    BOMBAY = 5
    PANAMA = 6
    TANGER = 7


class Destination(IntEnum):
    """The destinations of ships: the two places of Macao, then the ports."""

    CASINO = 0
    BLACK_MARKET = 1
    ROTTERDAM = 2
    NEW_YORK = 3
    HONG_KONG = 4
    CAPE_TOWN = 5
    RIO = 6
    BOMBAY = 7
    PANAMA = 8
    TANGER = 9


class Card(IntEnum):
    """The victory cards, in the order of the data."""

    CARGO_SHIP = 0
    WAREHOUSE = 1
    SYNDICATE = 2
    VILLA = 3
    YACHT = 4
    DIVE_BAR = 5
    NIGHT_CLUB = 6
    SHOW_BUSINESS = 7
    PAPARAZZI = 8
    MILITIA = 9
    CRONIES = 10
    BANK = 11
    PRINCIPALITY = 12


KINDS = tuple(Kind)[:9]
"""The nine real kinds, without the wild."""
SMUGGLER_CARDS = (Card.CARGO_SHIP, Card.WAREHOUSE, Card.SYNDICATE)
"""The cards with a power; a seat may own at most two of each (C4.6)."""


class Phase(IntEnum):
    """The current activity of the seat to act."""

    P1 = 0
    """Resolving ships."""
    P2 = 1
    """Smuggling."""
    P2_DIFF = 2
    """Putting together a set of different kinds."""
    P2_DISCARD = 3
    """Discarding goods for which there is no storage."""
    P3 = 4
    """Sending ships."""
    STAKE = 5
    """Choosing the height of a stack."""
    OVER = 6
    """The match is over."""


class Purpose(IntEnum):
    """The purpose of the stack whose height is being chosen."""

    RAISE = 0
    """To keep a ship in its port (C3.4)."""
    SEND = 1
    """To send a ship to a port (C6.3)."""


class PendingStake(NamedTuple):
    """A stack whose height is being chosen."""

    purpose: Purpose
    port: Port
    min: int
    max: int
