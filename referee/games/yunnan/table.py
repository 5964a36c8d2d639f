"""What lies on the table, and whose turn it is (RULES.md, section 2). Plain data: `rules.py` changes it."""

from __future__ import annotations

from typing import Self, cast

from typing_extensions import override

from referee.game import Seat, Setup, State
from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.names import Building, Phase, Province, Space, Structure
from referee.games.yunnan.routes import Reach, routes_of

NOBODY = -1
"""Stands for the absence of a colour (or province)."""


class Table(State):
    """The data of a match. Lists are by colour unless they say otherwise; sets of colours and sites are integers with their bits."""

    __slots__ = (
        "acting_colour",
        "auction_order",
        "bank",
        "banked",
        "bids",
        "board",
        "bridges",
        "colours",
        "general",
        "gifts",
        "gifts_taken",
        "horse",
        "income",
        "influence",
        "last_bank_pay",
        "last_banned",
        "last_inspector",
        "last_total",
        "merchants",
        "money",
        "owner",
        "passed",
        "passes",
        "passes_left",
        "pending_displace",
        "phase",
        "posts",
        "reserve",
        "routes",
        "struct_general",
        "struct_reserve",
        "teahouse",
        "travel_order",
        "turn",
        "turn_limit",
        "unmoved",
        "vp",
    )

    def __init__(self, setup: Setup) -> None:
        """Make an empty table; `rules.set_up` lays it out."""
        self.setup = setup
        self.board = cast("YunnanBoard", setup.board)
        self.routes = routes_of(self.board.bridge_sites)
        self.turn_limit = cast("int", setup.options["turn_limit"])
        colours = self.colours = number_of_colours(setup.seats)
        self.owner: tuple[Seat, ...] = tuple(colour % setup.seats for colour in range(colours))  # Y12.1
        self.turn = 1
        self.phase = Phase.AUCTION
        self.acting_colour = 0
        """The colour whose decision is open."""
        self.auction_order = list(range(colours))
        self.travel_order = self.auction_order[::-1]
        self.passed = 0
        self.banked = 0
        self.bids = [[NOBODY] * len(self.board.bid_spaces) for _ in Building]
        """The colour on each space, by building and space."""
        self.bank = [NOBODY] * len(Space)
        self.money = [0] * colours
        self.vp = [0] * setup.seats
        """The score track, by seat."""
        self.passes = [self.board.first_passes] * colours
        self.horse = [int(Province.YUN)] * colours
        self.influence = [0] * colours
        self.general = [0] * colours
        self.reserve = [0] * colours
        self.merchants = [[0] * len(Province) for _ in range(colours)]
        self.struct_general = [[0] * len(Structure) for _ in range(colours)]
        self.struct_reserve = [[0] * len(Structure) for _ in range(colours)]
        self.posts = [[0] * len(Province) for _ in range(colours)]
        self.bridges = [0] * colours
        self.teahouse = [NOBODY] * len(Province)
        """The owner of the teahouse, by province."""
        self.gifts = [0] * len(Province)
        """By province."""
        self.gifts_taken = [0] * colours
        self.unmoved = [0] * len(Province)
        """Merchants of the travelling colour that have not journeyed in this turn, by province."""
        self.passes_left = 0
        self.pending_displace = NOBODY
        """The province where a displacement is to be decided."""
        self.income = [0] * colours
        self.last_total = 0
        self.last_bank_pay = (0, 0)
        self.last_inspector = NOBODY
        self.last_banned = NOBODY

    # what can be derived (section 2)

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
        """Return the provinces where a colour has a Merchant or Post, as bits."""
        found = 0
        bit = 1
        for merchants, posts in zip(self.merchants[colour], self.posts[colour], strict=True):
            if merchants or posts:
                found |= bit
            bit <<= 1
        return found

    def reach(self, colour: int) -> Reach:
        """Return the provinces that a colour has a connected route to, and the gaps on the ways to the others."""
        return self.routes.reach(self.bridges[colour], self.presence(colour))

    def teahouses(self, colour: int) -> int:
        """Return how many Teahouses of a colour are on the map."""
        return self.teahouse.count(colour)

    @override
    def clone(self) -> Self:
        new = type(self).__new__(type(self))
        new.setup = self.setup
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


def number_of_colours(seats: int) -> int:
    """Return how many colours are in play: two seats play four (Y12.1)."""
    return 4 if seats == 2 else seats
