"""The names in the rules, each in the order of the data (RULES.md, section 1)."""

from __future__ import annotations

from enum import IntEnum


class Colour(IntEnum):
    """The colours of the sets of pieces. With 3 to 5 seats, a seat and its colour have the same number."""

    RED = 0
    BLUE = 1
    GREEN = 2
    YELLOW = 3
    VIOLET = 4


class Province(IntEnum):
    """The provinces along the Tea-Horse Road, from the market outwards (RULES.md, 1.1)."""

    PUE = 0
    YUN = 1
    SIC = 2
    QAM = 3
    TIB = 4
    QIN = 5


class Place(IntEnum):
    """The personal reserve, or an outer province with the same number as in `Province`."""

    RESERVE = 0
    YUN = 1
    SIC = 2
    QAM = 3
    TIB = 4
    QIN = 5


class Building(IntEnum):
    """The progress buildings (RULES.md, 1.3)."""

    SCHOOL = 0
    CUSTOMS = 1
    HORSE = 2
    DRAGON = 3
    YARD = 4


class Space(IntEnum):
    """The spaces of the bank."""

    LEFT = 0
    RIGHT = 1


class Structure(IntEnum):
    """The structures from the Construction Yard."""

    POST = 0
    BRIDGE = 1
    TEAHOUSE = 2


class Site(IntEnum):
    """The sites for bridges (RULES.md, 1.2)."""

    B0 = 0
    B1 = 1
    B2 = 2
    B3 = 3


class Phase(IntEnum):
    """The open decision."""

    AUCTION = 0
    """Placing a Merchant, or passing (Y2)."""
    YARD = 1
    """Choosing a structure (Y4.5)."""
    TRAVEL = 2
    """Moving and building (Y5)."""
    DISPLACE = 3
    """Displacing a Merchant, or none (Y5.5)."""
    CONVERT = 4
    """Converting income into victory points (Y10)."""
    OVER = 5
    """The match is over."""


OUTER = tuple(Province)[1:]
"""The provinces outside Pu'er."""
