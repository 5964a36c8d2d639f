"""The search in Valparaíso compares greedy's row with other rows, in rollouts to the end of the match.

The other rows are the next best plans and card uses that greedy's search finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from typing_extensions import override

from house_bots.greedy import valparaiso as greedy
from house_bots.greedy.valparaiso_estimates import factors
from house_bots.greedy.valparaiso_outlook import View, worth
from house_bots.search.recipe import TO_THE_END, Recipe, TimeUp
from house_bots.search.valparaiso_policy import ValparaisoPolicy
from referee.game import Action, Seat, Setup, State
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.table import Table

PLANS, USES, WIDTH = 6, 4, 18
"""The maximum numbers of plans and of card uses to compare, and the number of states kept in the search for them."""
LONG_PLANS, LONG_USES, LONG_WIDTH = 14, 8, 36
"""The values of `PLANS`, `USES` and `WIDTH` for a long search."""
LONG_SAMPLES: Final = 30
"""The number of samples that the budget must allow for more rows to be compared (`Recipe.long_samples`)."""
DOUBT: Final = 0.2
"""The largest relative error of an estimate in rollouts.

Without errors, rollouts would differ only in the pile, and a margin in standard errors would be too small.
"""
MARGIN: Final = 1.0
"""The number of standard errors by which a candidate must be better than the first row."""
MIN_SAMPLES: Final = 8
"""The minimum number of samples for replacing the first row; with fewer, standard errors are too uncertain."""


class ValparaisoRecipe(Recipe):
    """The recipe for Valparaíso."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, ValparaisoPolicy(factors(setup.seats), DOUBT))
        self.margin = MARGIN
        self.min_samples = MIN_SAMPLES
        self.long_samples = LONG_SAMPLES
        self.has_secrets = True
        self.win = 4.0

    @override
    def stages(self, state: State) -> int:
        return TO_THE_END

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        view = self._view(state, seat, state.legal_actions(seat))
        rows: list[Sequence[Action]] = [greedy.decide(view)]
        self._add_rows(rows, view, PLANS, USES, WIDTH)
        return rows

    @override
    def more_candidates(self, state: State, seat: Seat, rows: Sequence[Sequence[Action]]) -> list[Sequence[Action]]:
        view = self._view(state, seat, state.legal_actions(seat))
        if len(rows) < (PLANS if view.phase is Phase.PLAN else USES):
            return []  # there were no more
        found = list(rows)
        self._add_rows(found, view, LONG_PLANS, LONG_USES, LONG_WIDTH)
        return found[len(rows) :]

    def _add_rows(self, rows: list[Sequence[Action]], view: View, plans: int, uses: int, width: int) -> None:
        try:
            if view.phase is Phase.PLAN:
                add(rows, greedy.plans(view, width, self._check_time), plans)
            elif view.phase is Phase.USE:
                add(rows, greedy.uses(view, width, self._check_time), uses)
            elif view.phase is Phase.SCRAP or view.phase is Phase.BONUS:
                add(rows, [[action] for action in view.actions], len(view.actions))
        except TimeUp:
            pass  # the rows found so far are enough

    def _check_time(self) -> None:
        if self.is_late():
            raise TimeUp

    @override
    def value(self, state: State) -> list[float]:
        """Return each seat's final points, or the worth of the table for each seat at the start of a round."""
        if state.is_over():
            return [float(score) for score in state.scores()]
        views = [self._view(state, seat, ()) for seat in range(self.setup.seats)]
        return [worth(view, view.table, view.board.open_slots, True, True) for view in views]

    def _view(self, state: State, seat: Seat, legal: Sequence[Action]) -> View:
        return View(cast("Table", state).clone(), seat, legal)  # a copy, because the view changes its table


def add(rows: list[Sequence[Action]], found: Sequence[Sequence[Action]], most: int) -> None:
    """Add the rows of `found` that are new, until there are `most` rows."""
    for row in found:
        if len(rows) >= most:
            return
        if row not in rows:
            rows.append(row)


RECIPE = ValparaisoRecipe
"""The recipe of this game, under the name that the search looks for."""
