"""Scores and places (RULES.md, sections 2 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.games.yunnan.board import YunnanBoard
from referee.games.yunnan.routes import Reach
from referee.games.yunnan.table import Table


class Earnings(NamedTuple):
    """The parts of a colour's income, in Yuan (Y8)."""

    merchants: int
    """The income from its Merchants."""
    posts: int
    """The income from its connected Posts."""
    transport: int
    """The cost of transport to unconnected Merchants."""

    @property
    def income(self) -> int:
        """The income after the cost of transport."""
        return self.merchants + self.posts - self.transport


def earnings(board: YunnanBoard, reach: Reach, merchants: Sequence[int], posts: Sequence[int]) -> Earnings:
    """Return the earnings of a colour with Merchants and Posts in these provinces (Y8)."""
    connected, gaps = reach
    sold, from_posts, transport = 0, 0, 0
    for province, count in enumerate(merchants):
        if count:
            sold += count * board.merchant_value[province]
            if not connected >> province & 1:
                transport += count * gaps[province] * board.transport_cost
    for province, count in enumerate(posts):
        if count and connected >> province & 1:
            from_posts += count * board.post_value[province]
    return Earnings(sold, from_posts, transport)


def income(table: Table, colour: int) -> int:
    """Return the income of a colour from its Merchants and connected Posts, less the cost of transport (Y8)."""
    return earnings(table.board, table.reach(colour), table.merchants[colour], table.posts[colour]).income


def tea(table: Table) -> list[int]:
    """Return the total income of all colours in each province, before the cost of transport (Y6.1)."""
    board = table.board
    total = [0] * len(table.gifts)
    for colour in range(table.colours):
        posts = table.posts[colour]
        connected = table.reach(colour).connected if any(posts) else 0  # only Posts need a route (Y6.1)
        for province, count in enumerate(table.merchants[colour]):
            total[province] += count * board.merchant_value[province]
            if connected >> province & 1:
                total[province] += posts[province] * board.post_value[province]
    return total


def scores(table: Table) -> list[int]:
    """Return the final score that each seat would have if the match ended now (RULES.md, section 6)."""
    board = table.board
    totals = list(table.vp)
    money = [0] * table.setup.seats
    for colour, seat in enumerate(table.owner):
        money[seat] += table.money[colour]
        totals[seat] += (
            board.gift_vp * table.gifts_taken[colour]
            + board.passes_vp[table.passes[colour] - board.first_passes]
            + board.influence_vp[table.influence[colour]]
            + board.teahouse_vp[table.teahouses(colour)]
        )
    return [total + coins // board.yuan_per_vp for total, coins in zip(totals, money, strict=True)]  # Y12.6, R36


def ranks(table: Table) -> list[int]:
    """Return the place of each seat by score, then influence, then travel order (section 6); no ties remain."""
    return ranks_of(table, scores(table))


def ranks_of(table: Table, points: Sequence[int]) -> list[int]:
    """Return the place of each seat as `ranks` does, given the scores."""
    results = [[score, 0, -table.colours] for score in points]  # below all places on the track
    for colour, seat in enumerate(table.owner):
        results[seat][1] += table.influence[colour]  # R34
        results[seat][2] = max(results[seat][2], -table.travel_order.index(colour))
    return [1 + sum([other > own for other in results]) for own in results]


def end_is_reached(table: Table) -> bool:
    """Return whether a seat's points or the number of gifts left ends the match with this turn (Y11.1, Y12.5)."""
    board = table.board
    two = table.setup.seats == 2
    return max(table.vp) >= board.end_vp[two] or sum(table.gifts) <= board.end_gifts[two]


def ends_after_turn(table: Table) -> bool:
    """Return whether the match ends after this turn's conversions (Y11.1)."""
    return end_is_reached(table) or table.turn >= table.turn_limit
