"""The numbers printed on the components, read from `board.toml` and checked (RULES.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from referee.game import Board
from referee.games.yunnan.names import OUTER, Province, Site
from referee.kit.document import Document, by_name

MAX_VALUE = 50
MAX_MERCHANTS = 10
MAX_STRUCTURES = 3
"""This constant and those above it limit a board, so that no file can make a match endless or its lists huge."""
_MOST = 10_000
_PROVINCES = by_name(Province)


@dataclass(frozen=True, slots=True)
class YunnanBoard(Board):
    """The numbers printed on the components of Yunnan. Money is in Yuan; lists by province are in road order."""

    province_names: tuple[str, ...]
    """The name of each province."""
    merchant_value: tuple[int, ...]
    """The income from a Merchant, by province."""
    post_value: tuple[int, ...]
    """The income from a connected Post, by province."""
    gifts: tuple[int, ...]
    """The number of gifts at the start, by province."""
    teahouse_space: tuple[bool, ...]
    """For each province, True if a Teahouse can be built there."""
    province_places: tuple[tuple[int, int], ...]
    """The position (x, y) of each province in a drawing."""
    bridge_sites: tuple[tuple[Province, Province], ...]
    """For each site, the two provinces that it joins, beginning with the one nearer to Pu'er."""
    site_places: tuple[tuple[int, int], ...]
    """The position (x, y) of each site in a drawing."""
    bid_spaces: tuple[int, ...]
    """The values of the spaces of each progress building, in ascending order."""
    small_spaces: int
    """The number of small spaces, which have the lowest values and can be outbid."""
    bank: tuple[tuple[int, int, int], ...]
    """The bank's payments, as rows of (lowest total of all bids, left payment, right payment)."""
    start_merchants: int
    """The number of Merchants in the personal reserve at the start."""
    total_merchants: int
    """The number of Merchants that each colour has."""
    structures_each: int
    """The number of structures of each kind that each colour has."""
    start_money: tuple[int, ...]
    """The money of a colour at the start, by its position in the first auction order."""
    first_passes: int
    """The border-pass level at the start."""
    passes_vp: tuple[int, ...]
    """The victory points at the end, by border-pass level, beginning with `first_passes`."""
    influence_vp: tuple[int, ...]
    """The victory points at the end, by number of dragon heads."""
    teahouse_vp: tuple[int, ...]
    """The victory points at the end, by number of Teahouses on the map."""
    immune_influence: int
    """The number of dragon heads that protects a colour from the inspector."""
    gift_vp: int
    """The victory points for a gift."""
    yuan_per_vp: int
    """The amount of money that is worth one victory point at the end."""
    transport_cost: int
    """The cost of transport for each Merchant and each gap on the way to it."""
    end_vp: tuple[int, int]
    """The number of victory points that ends the match, with 3 to 5 seats and with 2 seats."""
    end_gifts: tuple[int, int]
    """The number of remaining gifts that ends the match, with 3 to 5 seats and with 2 seats."""
    debt_rate: tuple[int, ...]
    """The number of victory points that a missing Yuan costs, by turn from turn 1."""
    debt_rate_after: int
    """The number of victory points that a missing Yuan costs in all turns after those of `debt_rate`."""

    @property
    def max_passes(self) -> int:
        """The highest border-pass level."""
        return self.first_passes + len(self.passes_vp) - 1

    @property
    def max_influence(self) -> int:
        """The maximum number of dragon heads."""
        return len(self.influence_vp) - 1

    def bank_payment(self, total: int) -> tuple[int, int]:
        """Return the bank's left and right payments for this total of all bids (Y3.2)."""
        _, left, right = next(row for row in reversed(self.bank) if row[0] <= total)
        return left, right

    def debt(self, turn: int) -> int:
        """Return the victory points that a missing Yuan costs in a turn (Y13.3)."""
        return self.debt_rate[turn - 1] if turn <= len(self.debt_rate) else self.debt_rate_after


def read_board(document: Document) -> YunnanBoard:
    """Read the tables of `board.toml`, and note in `document` all contradictions within them or with the rules."""
    provinces = document.table("provinces")
    names, merchants, posts, gifts, teahouses, places = [], [], [], [], [], []
    for province in Province:
        table = provinces.board_table(province.name.lower())
        names.append(table.text("name"))
        merchants.append(table.integer("merchant", 1, MAX_VALUE))
        posts.append(table.integer("post", 0, MAX_VALUE))
        gifts.append(table.integer("gifts", 0, 100))
        teahouses.append(table.boolean("teahouse"))
        places.append(table.drawing_place())
        if province is Province.PUE and (posts[-1] or gifts[-1] or teahouses[-1]):
            provinces.note("pue", "must have post = 0, gifts = 0 and teahouse = false (Y5.6, Y1.6, Y5.8)")

    sites = document.table("bridge_sites")
    ends, site_places = [], []
    for site in Site:
        table = sites.board_table(site.name.lower())
        joined = table.choices("ends", _PROVINCES)
        if len(joined) != 2:
            table.note("ends", "must name two provinces")
            # Reading goes on with two stand-in provinces, so that all mistakes are noted at once.
            joined = [Province.YUN, Province.QAM]
        near, far = min(joined), max(joined)
        if near not in OUTER or far - near < 2:  # the road already joins neighbours (1.2)
            table.note("ends", "must join two provinces that are not neighbours on the road, and not Pu'er")
        ends.append((near, far))
        site_places.append(table.drawing_place())
    if len(set(ends)) < len(ends):
        document.note("bridge_sites", "must not have two sites that join the same provinces")

    bids = document.board_table("bids")
    spaces = bids.integers("spaces", 1, 1000, 5)
    if any(one >= other for one, other in pairwise(spaces)):
        bids.note("spaces", "must be ascending")

    pieces = document.board_table("pieces")
    total_merchants = pieces.integer("total_merchants", 1, MAX_MERCHANTS)
    structures_each = pieces.integer("structures_each", 0, MAX_STRUCTURES)

    levels = document.board_table("levels")
    teahouse_vp = levels.integers("teahouse_vp", 0, _MOST, structures_each + 1)

    scoring = document.board_table("scoring")
    transport_cost = scoring.integer("transport_cost", 0, MAX_VALUE)
    if any(value < transport_cost * (place - 1) for place, value in enumerate(merchants)):
        scoring.note("transport_cost", "must not make a Merchant cost more than it earns (R20)")

    end = document.board_table("end")
    end_gifts = (end.integer("gifts", 0, 1000), end.integer("two_seats_gifts", 0, 1000))
    if sum(gifts) <= max(end_gifts):
        end.note("", f"would end every match at once: at the start there are {sum(gifts)} gifts (Y11.1)")

    expert = document.board_table("expert")
    return YunnanBoard(
        province_names=tuple(names),
        merchant_value=tuple(merchants),
        post_value=tuple(posts),
        gifts=tuple(gifts),
        teahouse_space=tuple(teahouses),
        province_places=tuple(places),
        bridge_sites=tuple(ends),
        site_places=tuple(site_places),
        bid_spaces=tuple(spaces),
        small_spaces=bids.integer("small", 0, 5),
        bank=_payments(document.board_table("bank")),
        start_merchants=pieces.integer("start_merchants", 1, total_merchants),
        total_merchants=total_merchants,
        structures_each=structures_each,
        start_money=tuple(pieces.integers("start_money", 0, _MOST, 5)),
        first_passes=levels.integer("first_passes", 0, 100),
        passes_vp=_levels(levels, "passes_vp"),
        influence_vp=_levels(levels, "influence_vp"),
        teahouse_vp=tuple(teahouse_vp),
        immune_influence=levels.integer("immune_influence", 0, 100),
        gift_vp=scoring.integer("gift_vp", 0, _MOST),
        yuan_per_vp=scoring.integer("yuan_per_vp", 1, _MOST),
        transport_cost=transport_cost,
        end_vp=(end.integer("vp", 1, _MOST), end.integer("two_seats_vp", 1, _MOST)),
        end_gifts=end_gifts,
        debt_rate=tuple(expert.integers("debt_rate", 0, _MOST)),
        debt_rate_after=expert.integer("debt_rate_after", 0, _MOST),
    )


def _levels(table: Document, key: str) -> tuple[int, ...]:
    values = table.integers(key, 0, _MOST)
    if not 1 <= len(values) <= 20 and table.has(key):
        table.note(key, f"must have 1 to 20 levels, not {len(values)}")
    return tuple(values[:20]) or (0,)


def _payments(table: Document) -> tuple[tuple[int, int, int], ...]:
    rows = table.raw("payments", None)
    if (
        not rows
        or not isinstance(rows, list)
        or not all(
            isinstance(row, list) and len(row) == 3 and all(type(value) is int and 0 <= value <= _MOST for value in row)
            for row in rows
        )
    ):
        table.note("payments", f"must be a list of [lowest total, left, right], each from 0 to {_MOST}")
        rows = []
    found = [(row[0], row[1], row[2]) for row in rows] or [(0, 0, 0)]
    if found[0][0] != 0 or any(one[0] >= other[0] for one, other in pairwise(found)):
        table.note("payments", "must begin with a lowest total of 0 and ascend")
        found = [(0, 0, 0)]
    if any(left < right for _, left, right in found):
        table.note("payments", "must not pay less on the left than on the right (Y3.2)")
    return tuple(found)
