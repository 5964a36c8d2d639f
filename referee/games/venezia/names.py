"""The names in the rules, each in the order of the data (RULES.md, section 1)."""

from __future__ import annotations

from enum import IntEnum


class Place(IntEnum):
    """The seven districts, then the island of San Giorgio Maggiore."""

    CAN = 0
    CAS = 1
    DOR = 2
    GIU = 3
    MAR = 4
    POL = 5
    CRO = 6
    SGM = 7


class FirstCard(IntEnum):
    """The first card of a plan (Z2.2)."""

    FEINT = 0
    PIAZZA = 1


class ActionCard(IntEnum):
    """The action cards, after NONE, which stands for no card."""

    NONE = 0
    FAM = 1
    """Familientreffen, family meeting (Z8.1)."""
    FEH = 2
    """Fehde, feud (Z8.2)."""
    UEB = 3
    """Feindliche Uebernahme, hostile takeover (Z8.3)."""
    GIF = 4
    """Gift im Futter, poisoned food (Z8.4)."""
    RAU = 5
    """Raubvogel, bird of prey (Z8.5)."""
    MIC = 6
    """San Michele (Z8.6)."""
    SAU = 7
    """Saeuberungsaktion, purge (Z8.7)."""
    WEI = 8
    """Weisung aus dem Vatikan, instructions from the Vatican (Z8.8)."""


class Step(IntEnum):
    """The progress of a seat's plan (Z2)."""

    FIRST = 0
    """Choosing the first card."""
    ACTION = 1
    """Choosing an action card, or none."""
    DISTRICTS = 2
    """Choosing district cards."""
    COUNT = 3
    """Laying pigeons on the cards."""
    COMMITTED = 4
    """The plan is finished."""


class Phase(IntEnum):
    """The open decision (RULES.md, section 5)."""

    HOME = 0
    """Choosing a home (Z1.4)."""
    PLAN = 1
    """Planning, which all seats do at once (Z2)."""
    FEINT = 2
    """Moving pigeons from the Feint onto district cards (Z3.2)."""
    PLACE = 3
    """Placing pigeons on the Piazza (Z3.3)."""
    MOVE = 4
    """Moving pigeons on the Piazza (Z5)."""
    CHAIN = 5
    """Continuing a chain of jumps with one pigeon (Z5.4)."""
    FAMILY = 6
    """Choosing the district of the family meeting (Z8.1)."""
    REINFORCE = 7
    """Reinforcing the home (Z7.3)."""
    FEHDE = 8
    """Removing a pigeon from one district (Z8.2)."""
    TAKEOVER = 9
    """Choosing a district to take over (Z8.3)."""
    FROM_RESERVE = 10
    """Choosing how many of the replacing pigeons come from the reserve (Z8.3)."""
    POISON = 11
    """Poisoning pigeons on the Piazza (Z8.4)."""
    RAPTOR = 12
    """Placing the bird of prey (Z8.5)."""
    PURGE = 13
    """Choosing a colour and a district to purge (Z8.7)."""
    GREY = 14
    """Adding or moving grey pigeons (Z8.8)."""
    RECOVER = 15
    """Taking an executed card back (Z10.3)."""
    MICHELE = 16
    """Taking pigeons back from the cemetery (Z10.4)."""
    OVER = 17
    """The match is over."""


DISTRICTS = tuple(Place)[:7]
"""The seven districts, without San Giorgio Maggiore."""
CARDS = tuple(ActionCard)[1:]
"""The eight action cards."""
COLUMNS = 10


class Square(IntEnum):
    """The squares of the Piazza: rows A to H from the top, columns 1 to 10 from the left."""

    A1 = 0
    A2 = 1
    A3 = 2
    A4 = 3
    A5 = 4
    A6 = 5
    A7 = 6
    A8 = 7
    A9 = 8
    A10 = 9
    B1 = 10
    B2 = 11
    B3 = 12
    B4 = 13
    B5 = 14
    B6 = 15
    B7 = 16
    B8 = 17
    B9 = 18
    B10 = 19
    C1 = 20
    C2 = 21
    C3 = 22
    C4 = 23
    C5 = 24
    C6 = 25
    C7 = 26
    C8 = 27
    C9 = 28
    C10 = 29
    D1 = 30
    D2 = 31
    D3 = 32
    D4 = 33
    D5 = 34
    D6 = 35
    D7 = 36
    D8 = 37
    D9 = 38
    D10 = 39
    E1 = 40
    E2 = 41
    E3 = 42
    E4 = 43
    E5 = 44
    E6 = 45
    E7 = 46
    E8 = 47
    E9 = 48
    E10 = 49
    F1 = 50
    F2 = 51
    F3 = 52
    F4 = 53
    F5 = 54
    F6 = 55
    F7 = 56
    F8 = 57
    F9 = 58
    F10 = 59
    G1 = 60
    G2 = 61
    G3 = 62
    G4 = 63
    G5 = 64
    G6 = 65
    G7 = 66
    G8 = 67
    G9 = 68
    G10 = 69
    H1 = 70
    H2 = 71
    H3 = 72
    H4 = 73
    H5 = 74
    H6 = 75
    H7 = 76
    H8 = 77
    H9 = 78
    H10 = 79
