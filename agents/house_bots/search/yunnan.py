"""The search in Yunnan compares every action with greedy's row, in rollouts to the end of the match.

Nothing is hidden and nothing is drawn, so greedy's rollouts of a candidate would all be the same. A small doubt about
the value of a bid makes them differ, so that a candidate must be good whatever the seat and its rivals bid later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from mypy_extensions import mypyc_attr
from typing_extensions import override

from house_bots.greedy.yunnan import GreedyPolicy
from house_bots.search.recipe import TO_THE_END, Recipe
from referee.game import Action, Seat, Setup, State
from referee.games.yunnan import actions as act
from referee.games.yunnan.names import Phase
from referee.games.yunnan.table import Table
from referee.kit.chance import FastChance

DOUBT = 1.0
"""The largest error in a colour's estimate of a building in rollouts, in points.

With 0, all rollouts of a candidate are the same, so more time finds nothing more; with 3, `search` won fewer first
places against `greedy` (11 of 15 at three seats instead of all 15).
"""
MARGIN = 0.5
"""The number of standard errors by which a candidate must be better than greedy's row."""
CONVERSIONS: Final = 10
"""The number of steps from converting nothing to converting everything; finer steps would differ too little to be told apart."""


@mypyc_attr(native_class=False)
class YunnanRecipe(Recipe):
    """The recipe for Yunnan, for one setup."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, GreedyPolicy(setup, DOUBT))
        self.margin = MARGIN
        self._greedy = GreedyPolicy(setup)

    @override
    def stages(self, state: State) -> int:
        """Return `TO_THE_END`, because a match is short and its end needs no estimate."""
        return TO_THE_END

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        greedy = self._greedy.row(state, seat, FastChance(seed=0))
        return _rows_of(cast("Table", state), greedy, state.legal_actions(seat))

    @override
    def value(self, state: State) -> list[float]:
        """Return the final scores."""
        return [float(score) for score in state.scores()]


def _rows_of(table: Table, greedy: Sequence[Action], legal: list[Action]) -> list[Sequence[Action]]:
    """Return greedy's row, and then each other action that is worth comparing with it."""
    if table.phase is Phase.CONVERT:
        legal = _conversions(table.income[table.acting_colour])
    rows: list[Sequence[Action]] = [greedy]
    for action in legal:
        if len(greedy) > 1 or action != greedy[0]:
            rows.append([action])
    return rows


def _conversions(income: int) -> list[Action]:
    """Return conversions from nothing to everything, evenly spread."""
    every = act.converts(income)
    return [every[points] for points in sorted({income * step // CONVERSIONS for step in range(CONVERSIONS + 1)})]


RECIPE = YunnanRecipe
"""The recipe of this game, under the name that the search looks for."""
