"""The recipe for Venezia. Rollouts of `greedy` to the end of the round compare whole plans and single actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from typing_extensions import override

from house_bots.greedy.venezia import GreedyPolicy, make_plan
from house_bots.greedy.venezia_outlook import View
from house_bots.search.recipe import Recipe, distinct
from house_bots.search.venezia_value import Value
from referee.game import Action, Seat, Setup, State
from referee.games.venezia import actions as act
from referee.games.venezia.names import Phase, Place, Step
from referee.games.venezia.state import VeneziaState
from referee.kit.chance import FastChance

PLANS = 16
"""The number of plans to compare that are made with random likings for places."""
LIKING = (0.0, 0.0, 1.0, 2.5)
"""The possible likings for a place, in points; each of the `PLANS` plans draws one for each place."""

LONG_SAMPLES = 100
"""The number of samples that the budget must allow for rollouts to end with the next round (`Recipe.long_samples`)."""


class VeneziaRecipe(Recipe):
    """The recipe for Venezia."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, GreedyPolicy())
        self.margin = 0.5
        self.long_samples = LONG_SAMPLES
        self.long_stages = 2
        self.has_secrets = True
        self._value = Value(setup.seats)

    @override
    def stages(self, state: State) -> int:
        return 1

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        table = cast("VeneziaState", state)
        rows: list[Sequence[Action]] = [self.policy.row(table, seat, FastChance(0))]
        if table.phase is Phase.PLAN and table.plans[seat].step <= Step.ACTION:
            rows += plans(table, seat, rows[0], self.is_late)
        rows += [[action] for action in table.legal_actions(seat) if action != rows[0][0]]
        return distinct(rows)

    @override
    def value(self, state: State) -> list[float]:
        table = cast("VeneziaState", state)
        return self._value.estimate(table, 0 if state.is_over() else table.last_round - table.round + 1)


def plans(
    table: VeneziaState, seat: Seat, row: Sequence[Action], is_late: Callable[[], bool]
) -> list[Sequence[Action]]:
    """Return variants of a plan: with each action card, and, until the time is over, with random likings for places."""
    found: list[Sequence[Action]] = []
    for at in range(len(row)):
        if isinstance(row[at], act.Card):
            cards = [act.PLANNED_CARDS[0], *[act.PLANNED_CARDS[card] for card in table.hand(seat)]]
            found += [[*row[:at], card, *row[at + 1 :]] for card in cards]
    # The draws are seeded, so that the same decision has the same candidates.
    draw = FastChance(table.round).stream("likings")
    for _ in range(PLANS):
        if is_late():
            break
        likings = [LIKING[draw.below(len(LIKING))] for _ in Place]
        found.append(make_plan(View(table, seat), likings))
    return found


RECIPE = VeneziaRecipe
