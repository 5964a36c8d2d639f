"""Valparaíso's part of the search: the best plans and uses of greedy's own search, compared by rollouts to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from typing_extensions import override

from house_bots.greedy import valparaiso as greedy
from house_bots.greedy.valparaiso_outlook import View, worth
from house_bots.search.recipe import TO_THE_END, Recipe
from house_bots.search.valparaiso_policy import ValparaisoPolicy
from referee.game import Action, Seat, Setup, State
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.table import Table

PLANS, USES = 6, 4
"""The numbers of plans, and of uses of a card, that are compared."""
WIDTH = 18
"""The number of states that the search for them continues with."""


class ValparaisoRecipe(Recipe):
    """The search in Valparaíso. Nearly all is public, so few rollouts tell a lot, and each goes on to the end."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, ValparaisoPolicy())
        self.has_secrets = True
        self.win = 4.0

    @override
    def stages(self, state: State) -> int:
        return TO_THE_END

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        view = view_of(state, seat, state.legal_actions(seat))
        rows: list[Sequence[Action]] = [greedy.decide(view)]
        if view.phase is Phase.PLAN:
            add(rows, greedy.plans(view, WIDTH), PLANS)
        elif view.phase is Phase.USE:
            add(rows, greedy.uses(view, WIDTH), USES)
        elif view.phase is Phase.SCRAP or view.phase is Phase.BONUS:
            add(rows, [[action] for action in view.actions], len(view.actions))
        return rows

    @override
    def value(self, state: State) -> list[float]:
        """Return the final points, or greedy's worth of the table for each seat at the start of a round."""
        if state.is_over():
            return [float(score) for score in state.scores()]
        views = [view_of(state, seat, ()) for seat in range(self.setup.seats)]
        return [worth(view, view.table, view.board.open_slots, True, True) for view in views]


def view_of(state: State, seat: Seat, legal: Sequence[Action]) -> View:
    """Return greedy's data for a decision of a seat."""
    return View(cast("Table", state).clone(), seat, legal)


def add(rows: list[Sequence[Action]], found: Sequence[Sequence[Action]], most: int) -> None:
    """Add rows that are not there yet, until there are `most`."""
    for row in found:
        if len(rows) >= most:
            return
        if row not in rows:
            rows.append(row)


RECIPE = ValparaisoRecipe
