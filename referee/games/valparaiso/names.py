"""The names in the rules, each in the order of the data (RULES.md, section 1)."""

from __future__ import annotations

from enum import IntEnum


class Good(IntEnum):
    """The goods. Lists of goods by kind have three numbers in this order."""

    SILVER = 0
    """Silver (grey cubes)."""
    COPPER = 1
    """Copper (orange cubes)."""
    WHEAT = 2
    """Wheat (white cubes)."""


class Store(IntEnum):
    """The places where a seat keeps goods."""

    WAREHOUSE = 0
    """The warehouse, which has no limit."""
    HOLD = 1
    """The cargo hold of the ship."""


# Constants, because iterating over an enum is slow on the hot path.
GOODS = tuple(Good)
STORES = tuple(Store)


class Colour(IntEnum):
    """The colours; each has its own alternative actions (RULES.md, section 1.5)."""

    RED = 0
    BLUE = 1
    YELLOW = 2
    GREEN = 3
    BLACK = 4


class Location(IntEnum):
    """The places on land; the small board has no M4 and no Z6. Lists by location have eleven numbers in this order."""

    V = 0
    M1 = 1
    M2 = 2
    M3 = 3
    M4 = 4
    Z1 = 5
    Z2 = 6
    Z3 = 7
    Z4 = 8
    Z5 = 9
    Z6 = 10


class Sector(IntEnum):
    """The sectors of the sea."""

    H = 0
    """The harbour sector, next to Valparaíso."""
    OW = 1
    """The outer west."""
    ON = 2
    """The outer north."""
    OE = 3
    """The outer east."""


class Slot(IntEnum):
    """The spaces for achievement cards, three at each outer sector."""

    OW1 = 0
    OW2 = 1
    OW3 = 2
    ON1 = 3
    ON2 = 4
    ON3 = 5
    OE1 = 6
    OE2 = 7
    OE3 = 8


class PayTo(IntEnum):
    """The target of a compensation (V4.9b)."""

    NONE = 0
    """Nothing is paid."""
    OW = 1
    """The pesos go to the outer west."""
    ON = 2
    """The pesos go to the outer north."""
    OE = 3
    """The pesos go to the outer east."""
    SUPPLY = 4
    """The pesos go to the supply."""


class Card(IntEnum):
    """All possible cards; the board determines which of them are in the game, and what they do (RULES.md, 1.8)."""

    K1 = 0
    K2 = 1
    K3 = 2
    K4 = 3
    K5 = 4
    K6 = 5
    K7 = 6
    K8 = 7
    A1 = 8
    A2 = 9
    A3 = 10
    A4 = 11
    A5 = 12
    A6 = 13
    A7 = 14
    A8 = 15
    A9 = 16
    B11 = 17
    B12 = 18
    B13 = 19
    B14 = 20
    B15 = 21
    B16 = 22
    B17 = 23
    B18 = 24
    B19 = 25
    B21 = 26
    B22 = 27
    B23 = 28
    B24 = 29
    B25 = 30
    B26 = 31
    B27 = 32
    B28 = 33
    B29 = 34


class Tile(IntEnum):
    """The market tiles, five of each letter (RULES.md, section 1.7)."""

    TA1 = 0
    TA2 = 1
    TA3 = 2
    TA4 = 3
    TA5 = 4
    TB1 = 5
    TB2 = 6
    TB3 = 7
    TB4 = 8
    TB5 = 9
    TC1 = 10
    TC2 = 11
    TC3 = 12
    TC4 = 13
    TC5 = 14
    TD1 = 15
    TD2 = 16
    TD3 = 17
    TD4 = 18
    TD5 = 19
    TE1 = 20
    TE2 = 21
    TE3 = 22
    TE4 = 23
    TE5 = 24


class Mode(IntEnum):
    """The ways to use a card (V3.2)."""

    MAIN = 0
    """For the card's main action."""
    ALT = 1
    """For the card's alternative action."""
    NONE = 2
    """Without effect (V3.3)."""


class Effect(IntEnum):
    """The actions on cards (RULES.md, V4 and section 1.8)."""

    TRANSFER = 0
    """Action 1: load and unload goods."""
    SELL10 = 1
    """Action 2: sell a good for 10 pesos."""
    HIRE = 2
    """Action 3: hire a merchant for one good of each kind."""
    MOVE = 3
    """Action 4: move merchants."""
    BUILD = 4
    """Action 5: build a house."""
    TRADE = 5
    """Action 6: trade in the villages."""
    SAIL = 6
    """Action 7: move the ship."""
    OVERSEAS = 7
    """Action 8: acquire an achievement card."""
    MOVE_PLUS = 8
    """Move merchants as in action 4, but with two free steps and a third for 3 pesos."""
    RIVER = 9
    """Relocate merchants along the rivers."""
    TRADE_PAY5 = 10
    """Pay 5 pesos, then trade as in action 6."""
    TWO_DIFF = 11
    """Take two different goods."""
    GOOD5_VP = 12
    """Give 5 pesos and a good for a victory point."""
    SELL15 = 13
    """Sell a good for 15 pesos."""
    GAIN10 = 14
    """Take 10 pesos."""
    TWO_GOODS_VP = 15
    """Give two goods for a victory point."""
    BUILD_GOOD = 16
    """Build a house as in action 5, but for a good instead of pesos."""
    ONE_EACH = 17
    """Take one good of each kind."""
    BUY3 = 18
    """Buy up to three goods for 2 pesos each."""
    VP1 = 19
    """Gain a victory point."""
    HIRE5 = 20
    """Hire a merchant as in action 3, but for 5 pesos."""
    GAIN15 = 21
    """Take 15 pesos."""
    PAY10_VP = 22
    """Pay 10 pesos for a victory point, up to three times."""
    ONE_EACH_VP = 23
    """Give one good of each kind for two victory points."""
    TWO_ANY = 24
    """Take any two goods."""
    FREE_BUILD_HIRE = 25
    """Build a house or hire a merchant, as in actions 5 and 3, but for free."""
    TAKE_SILVER = 26
    """Take a silver."""
    TAKE_COPPER = 27
    """Take a copper."""
    TAKE_WHEAT = 28
    """Take a wheat."""
    GAIN5 = 29
    """Take 5 pesos."""


class Source(IntEnum):
    """The sources of victory points on the track."""

    HOLD = 0
    """A full hold (V4.1)."""
    CITY = 1
    """Houses in Valparaíso (V4.5)."""
    VILLAGES = 2
    """Houses in villages (V4.5)."""
    LAST_HOUSE = 3
    """The last house (V4.5)."""
    MARKET = 4
    """Market tiles (V4.7)."""
    CARDS = 5
    """The actions of cards (V4.2, V4.11)."""
    REVENUE = 6
    """The revenue of houses in Valparaíso (V6.1)."""
    SCRAP = 7
    """Scrapped cards (V6.3)."""


class Phase(IntEnum):
    """The open decision (RULES.md, section 5)."""

    SETUP_GOODS = 0
    """Choosing the first goods (S6)."""
    SETUP_PLACE = 1
    """Placing the second merchant (S8)."""
    PLAN = 2
    """Planning, which all seats do at once (V2)."""
    BONUS = 3
    """Choosing the first finisher's good (V2.8)."""
    USE = 4
    """Choosing a card to use (V3.2)."""
    TRANSFER = 5
    """Loading and unloading (V4.1)."""
    SELL_FOR = 6
    """Choosing the good to sell (V4.2)."""
    MOVE = 7
    """Choosing a merchant to move (V4.4)."""
    STEP = 8
    """Continuing the move of a merchant (V4.4)."""
    RIVER = 9
    """Relocating merchants (V4.10)."""
    BUILD = 10
    """Choosing a building space (V4.5)."""
    BUILD_GOOD = 11
    """Choosing a building space, and the good that pays for the house (V4.5)."""
    BUILD_OR_HIRE = 12
    """Choosing a building space, or hiring a merchant instead (V4.5)."""
    TRADE = 13
    """Choosing a village to trade in (V4.7)."""
    EXCHANGE = 14
    """Choosing goods at a market tile (V4.7c)."""
    SAIL = 15
    """Choosing a sector (V4.8)."""
    ACQUIRE = 16
    """Choosing an achievement card (V4.9)."""
    TAKE = 17
    """Taking two goods (V4.11)."""
    GIVE = 18
    """Giving a good (V4.11)."""
    GIVE_TWO = 19
    """Giving two goods (V4.11)."""
    PAY = 20
    """Paying for victory points (V4.11)."""
    BUY = 21
    """Buying goods (V4.11)."""
    SCRAP = 22
    """Scrapping an achievement card (V6.3)."""
    RETURN = 23
    """Calling merchants back to Valparaíso (V6.5)."""
    OVER = 24
    """The match is over."""
