"""The rows that the policy for Yunnan compares, with their estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from house_bots.greedy.yunnan import Auction, row_in, without_bid, yard
from house_bots.greedy.yunnan_journeys import NONE, ways_of
from house_bots.greedy.yunnan_outlook import View
from referee.game import Action, Observation, Setup
from referee.games.yunnan import rules
from referee.games.yunnan.names import Phase
from referee.games.yunnan.observation import YunnanObservation
from referee.games.yunnan.observing import restore
from referee.games.yunnan.state import YunnanState


def rated_rows(setup: Setup, seen: Observation, actions: Sequence[Action]) -> list[tuple[float, list[Action]]]:
    """Return the row that `choose` returns, and the rows compared with it, each with its estimate in points.

    In the auction, these are all bids, the bank, and the market or a pass; in the Yard, the structures. In other phases,
    only one row is returned. The arguments are the same as in `choose`.
    """
    table = YunnanState.empty(setup)
    restore(table, cast("YunnanObservation", seen))
    view = View(table, ways_of(table.board.bridge_sites))
    if table.phase is Phase.AUCTION:
        return rated_bids(view)
    if table.phase is Phase.YARD:
        return [(points, [take]) for take, points in yard(view)]
    return [(0.0, row_in(table, view.ways))]


def rated_bids(view: View) -> list[tuple[float, list[Action]]]:
    """Return each bid, the bank, and the market or a pass, each paired with its points."""
    rated: list[tuple[float, list[Action]]] = [(0.0, [without_bid(view)])]
    sources = rules.sources(view.table, view.colour)
    if not sources or view.table.banked >> view.colour & 1:
        return rated
    auction = Auction(view, sources, ())
    rated += [(gain.points, [auction.bidding(gain)]) for gain in auction.gains]
    if auction.bank > NONE:
        rated.append((max([points for points, _ in rated]) + auction.bank, [auction.banking()]))
    return rated
