"""The table and the colour to act (RULES.md, section 2). It is plain data, which `rules.py` changes."""

from __future__ import annotations

from typing import Final, Self, cast

from typing_extensions import override

from referee.game import Seat, Setup, State
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.names import Building, Phase, Province, Space, Structure
from referee.games.yunnan.routes import Reach, Routes, routes_of

NOBODY = -1
"""The number that stands for no colour or no province."""
# Constants, because looking up an enum or its member is slow on the hot path.
_BUILDINGS: Final = len(Building)
_SPACES: Final = len(Space)
_PROVINCES: Final = len(Province)
_STRUCTURES: Final = len(Structure)
_YUNNAN: Final = int(Province.YUN)


class Table(State):
    """All data of a match; `empty` and `clone` create it.

    Lists are by colour unless stated otherwise; sets of colours and of sites are integers with one bit per member.
    """

    board: YunnanBoard
    """The numbers printed on the components of the game."""
    routes: Routes
    """The ways over the map of this board."""
    turn_limit: int
    """The turn after which the match ends in any case (Y11.1)."""
    colours: int
    """The number of colours in play."""
    owner: tuple[Seat, ...]
    """The seat that plays each colour (Y12.1)."""
    turn: int
    """The number of this turn, from 1."""
    phase: Phase
    """The open decision."""
    acting_colour: int
    """The colour to act; meaningless when the match is over."""
    auction_order: list[int]
    """The colours, in the order in which they act in the auction."""
    travel_order: list[int]
    """The colours, in the order in which they travel."""
    passed: int
    """The colours that have passed in this auction, as bits."""
    banked: int
    """The colours that have used the bank in this auction, as bits."""
    bids: list[list[int]]
    """The colour on each space of the progress buildings, by building and space, or NOBODY."""
    bank: list[int]
    """The colour on each space of the bank, or NOBODY."""
    money: list[int]
    """The number of Yuan that each colour has."""
    vp: list[int]
    """The victory points on the score track, by seat."""
    converted: list[int]
    """The income converted into victory points since the match or the position began, by seat (Y10.1)."""
    debts: list[int]
    """The victory points paid for missing Yuan since the match or the position began, by seat (Y13.3)."""
    passes: list[int]
    """The border-pass level of each colour."""
    horse: list[int]
    """The province of each colour's Horse."""
    influence: list[int]
    """The number of dragon heads that each colour has."""
    general: list[int]
    """The number of each colour's Merchants in the general supply."""
    reserve: list[int]
    """The number of each colour's Merchants in its personal reserve."""
    merchants: list[list[int]]
    """The number of Merchants, by colour and province; those in Pu'er are in its market."""
    struct_general: list[list[int]]
    """The number of structures that are not yet taken, by colour and kind."""
    struct_reserve: list[list[int]]
    """The number of structures that are taken but not built yet, by colour and kind."""
    posts: list[list[int]]
    """The number of Posts, by colour and province."""
    bridges: list[int]
    """The sites of each colour's bridges, as bits."""
    teahouse: list[int]
    """The owner of the Teahouse in each province, or NOBODY."""
    gifts: list[int]
    """The number of gifts left, by province."""
    gifts_taken: list[int]
    """The number of gifts that each colour has taken."""
    unmoved: list[int]
    """The number of the travelling colour's Merchants that have not journeyed in this turn, by province."""
    passes_left: int
    """The number of border passes that the travelling colour may still use."""
    pending_displace: int
    """The province where a displacement is to be decided, or NOBODY."""
    income: list[int]
    """The number of Yuan that each colour still has to convert in this turn (Y8, Y10)."""
    last_total: int
    """The total of all bids when the bank last paid (Y3.1)."""
    last_bank_pay: tuple[int, int]
    """The bank's last payments, left and right; 0 for an empty space."""
    last_inspector: int
    """The province that the inspector last visited, or NOBODY (Y6.1)."""
    last_banned: int
    """The colour whose Merchant the inspector last banned, or NOBODY (Y6.3)."""

    __slots__ = tuple(__annotations__)

    @classmethod
    def empty(cls, setup: Setup) -> Self:
        """Return an empty table, on which `rules.set_up` lays out the pieces."""
        new = cls(setup)
        new.board = cast("YunnanBoard", setup.board)
        new.routes = routes_of(new.board.bridge_sites)
        new.turn_limit = cast("int", setup.options["turn_limit"])
        colours = new.colours = number_of_colours(setup.seats)
        new.owner = tuple(colour % setup.seats for colour in range(colours))  # Y12.1
        new.turn = 1
        new.phase = Phase.AUCTION
        new.acting_colour = 0
        new.auction_order = list(range(colours))
        new.travel_order = new.auction_order[::-1]
        new.passed = 0
        new.banked = 0
        new.bids = [[NOBODY] * len(new.board.bid_spaces) for _ in range(_BUILDINGS)]
        new.bank = [NOBODY] * _SPACES
        new.money = [0] * colours
        new.vp = [0] * setup.seats
        new.converted = [0] * setup.seats
        new.debts = [0] * setup.seats
        new.passes = [new.board.first_passes] * colours
        new.horse = [_YUNNAN] * colours
        new.influence = [0] * colours
        new.general = [0] * colours
        new.reserve = [0] * colours
        new.merchants = [[0] * _PROVINCES for _ in range(colours)]
        new.struct_general = [[0] * _STRUCTURES for _ in range(colours)]
        new.struct_reserve = [[0] * _STRUCTURES for _ in range(colours)]
        new.posts = [[0] * _PROVINCES for _ in range(colours)]
        new.bridges = [0] * colours
        new.teahouse = [NOBODY] * _PROVINCES
        new.gifts = [0] * _PROVINCES
        new.gifts_taken = [0] * colours
        new.unmoved = [0] * _PROVINCES
        new.passes_left = 0
        new.pending_displace = NOBODY
        new.income = [0] * colours
        new.last_total = 0
        new.last_bank_pay = (0, 0)
        new.last_inspector = NOBODY
        new.last_banned = NOBODY
        return new

    @override
    def clone(self) -> Self:
        new = type(self)(self.setup)
        new.board = self.board
        new.routes = self.routes
        new.turn_limit = self.turn_limit
        new.colours = self.colours
        new.owner = self.owner
        new.turn = self.turn
        new.phase = self.phase
        new.acting_colour = self.acting_colour
        new.auction_order = self.auction_order[:]
        new.travel_order = self.travel_order[:]
        new.passed = self.passed
        new.banked = self.banked
        new.bids = [row[:] for row in self.bids]
        new.bank = self.bank[:]
        new.money = self.money[:]
        new.vp = self.vp[:]
        new.converted = self.converted[:]
        new.debts = self.debts[:]
        new.passes = self.passes[:]
        new.horse = self.horse[:]
        new.influence = self.influence[:]
        new.general = self.general[:]
        new.reserve = self.reserve[:]
        new.merchants = [row[:] for row in self.merchants]
        new.struct_general = [row[:] for row in self.struct_general]
        new.struct_reserve = [row[:] for row in self.struct_reserve]
        new.posts = [row[:] for row in self.posts]
        new.bridges = self.bridges[:]
        new.teahouse = self.teahouse[:]
        new.gifts = self.gifts[:]
        new.gifts_taken = self.gifts_taken[:]
        new.unmoved = self.unmoved[:]
        new.passes_left = self.passes_left
        new.pending_displace = self.pending_displace
        new.income = self.income[:]
        new.last_total = self.last_total
        new.last_bank_pay = self.last_bank_pay
        new.last_inspector = self.last_inspector
        new.last_banned = self.last_banned
        return new

    def committed(self) -> list[int]:
        """Return the sum of each colour's bids."""
        sums = [0] * self.colours
        values = self.board.bid_spaces
        for row in self.bids:
            for space, colour in enumerate(row):
                if colour >= 0:
                    sums[colour] += values[space]
        return sums

    def presence(self, colour: int) -> int:
        """Return the provinces where a colour has a Merchant or a Post, as bits."""
        found = 0
        bit = 1
        for merchants, posts in zip(self.merchants[colour], self.posts[colour], strict=True):
            if merchants or posts:
                found |= bit
            bit <<= 1
        return found

    def reach(self, colour: int) -> Reach:
        """Return the provinces to which a colour has a connected route, and the gaps on the ways to the others."""
        return self.routes.reach(self.bridges[colour], self.presence(colour))

    def teahouses(self, colour: int) -> int:
        """Return the number of a colour's Teahouses on the map."""
        return self.teahouse.count(colour)


def number_of_colours(seats: int) -> int:
    """Return the number of colours in play, which is four with two seats (Y12.1)."""
    return 4 if seats == 2 else seats
