"""The policy for Valparaíso's rollouts. It plans with a narrow search, then uses the cards in the planned order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, cast

from typing_extensions import override

from house_bots.greedy import valparaiso as greedy
from house_bots.greedy.valparaiso_estimates import NAMES, Estimates
from house_bots.greedy.valparaiso_outlook import View, outcomes, played, variants, worth
from referee.game import Action, Chance, RolloutPolicy, Seat, State, Stream
from referee.games.valparaiso import actions as act
from referee.games.valparaiso import cards as deck
from referee.games.valparaiso.board import PURE_GAINS
from referee.games.valparaiso.names import Effect, Mode, Phase
from referee.games.valparaiso.table import Table

WIDTH, LOADS, SPREADS = 1, 2, 3
"""The numbers of states kept, of ways to load the ship, and of ways to move merchants in the search for a plan."""
STEPS: Final = 1 << 10
"""The number of equally spaced values that an error may take, from the smallest to the largest."""
_PLAN: Final = Phase.PLAN
_USE: Final = Phase.USE
_TRADE: Final = Effect.TRADE
_OVERSEAS: Final = Effect.OVERSEAS
_MODES = (Mode.MAIN, Mode.ALT, Mode.NONE)
_SET_UP = (Phase.SETUP_GOODS, Phase.SETUP_PLACE)


class ValparaisoPolicy(RolloutPolicy):
    """A fast policy for all seats. If the doubt is not 0, each seat has its own estimates in each rollout."""

    def __init__(self, factors: Sequence[float] = (), doubt: float = 0.0) -> None:
        """Make a policy.

        Args:
            factors: a factor for each of the estimates, in the order of `NAMES`; empty to leave them unchanged.
            doubt: the largest relative error of an estimate; if it is 0, nothing is drawn.
        """
        self._factors = list(factors) or [1.0] * len(NAMES)
        self._doubt = doubt
        self._certain = Estimates(self._factors)
        self._chance: Chance | None = None
        self._drawn: list[Estimates] = []

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        legal = state.legal_actions(seat)
        if len(legal) == 1:
            return legal
        estimates = self._doubted(state, chance)[seat] if self._doubt else self._certain
        view = View(cast("Table", state).clone(), seat, legal, LOADS, SPREADS, estimates)
        phase = view.phase
        if phase is _USE:
            return use_next(view)
        if phase is _PLAN:
            return greedy.plans(view, WIDTH)[0]
        if phase in _SET_UP:
            return set_up(view)
        if phase is Phase.BONUS:
            return greedy.bonus(view)
        if phase is Phase.SCRAP:
            return greedy.scrap(view)
        if phase is Phase.RETURN:
            return greedy.recall(view)
        return go_on(view)

    def _doubted(self, state: State, chance: Chance) -> list[Estimates]:
        """Return each seat's estimates in a rollout, drawn at the rollout's first decision."""
        if chance is not self._chance:  # each rollout has its own chance object
            self._chance = chance
            stream = chance.stream("policy")
            self._drawn = [drawn(self._factors, self._doubt, stream) for _ in range(state.setup.seats)]
        return self._drawn


def drawn(factors: Sequence[float], doubt: float, stream: Stream) -> Estimates:
    """Return estimates, each with a relative error of at most `doubt`."""
    return Estimates([factor * (1 + doubt * (2 * stream.below(STEPS) / (STEPS - 1) - 1)) for factor in factors])


def set_up(view: View) -> list[Action]:
    """Return the set-up choice that leads to the best table for a turn."""
    free = view.board.open_slots
    return [max(view.actions, key=lambda action: worth(view, greedy.with_choice(view, action), free, True, True))]


def use_next(view: View) -> list[Action]:
    """Return the use of the first planned card, with the mode and choices that seem best; the mayor's card comes last."""
    plan, table, seat, board = view.plan, view.table, view.seat, view.board
    slotted = len(plan.cards)
    card, *others = [*plan.cards, *([] if plan.mayor is None else [plan.mayor])]
    mains = [board.cards[other].main for other in others]
    can_trade, can_ship = _TRADE in mains, _OVERSEAS in mains
    best, row = -math.inf, list[Action]()
    for mode in _MODES:
        effect = deck.effect_of(table, seat, card, mode)
        ends = [] if effect is None else variants(view, table, effect)
        # Not using a card is legal only without a pure gain (V3.3).
        if mode is Mode.NONE and deck.effect_of(table, seat, card, Mode.ALT) not in PURE_GAINS:
            ends = [(table, ())]
        for end, choices in ends:
            points = worth(view, end, len(others), can_trade, can_ship)
            if points > best:
                best, row = points, greedy.used(0, mode, choices, slotted)
    return row


def go_on(view: View) -> list[Action]:
    """Return the best continuation of an action in progress: one choice if it has had an effect, otherwise all choices."""
    table = view.table
    found = [] if table.begun or table.phase is Phase.STEP else outcomes(view, table)
    if not found:
        found = [played(view, table, action) for action in view.actions if not isinstance(action, act.Sell)]
    best, chosen = -math.inf, found[0][1]
    for end, row in found:
        points = worth(view, end, 1, True, True)
        if points > best:
            best, chosen = points, row
    return list(chosen)
