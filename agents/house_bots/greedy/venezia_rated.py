"""The rows that the policy for Venezia compares, with their estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from house_bots.greedy.venezia import CARD_PHASES, best_piles, gains_at_home, has_card, row, row_of_plan, spare_pigeons
from house_bots.greedy.venezia_cards import rated_cards, rated_uses
from house_bots.greedy.venezia_outlook import View
from referee.game import Action, Seat, Setup
from referee.games.venezia import actions as act
from referee.games.venezia.names import Phase, Place
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.observing import restore
from referee.games.venezia.state import VeneziaState

SHUNNED = -1000.0
"""The liking for a place that a plan must not use, in points."""


def rated_rows(
    setup: Setup, seen: VeneziaObservation, actions: Sequence[Action]
) -> list[tuple[float, Sequence[Action]]]:
    """Return the row that `choose` returns, and the rows compared with it, each with its estimate in points.

    A plan is compared with the best plan without each of its places, and with every other action card. The uses of a card
    that needs one choice are compared, and so are reinforcements. In other phases, only one row is returned. The arguments
    are the same as in `choose`.
    """
    state, seat = VeneziaState.empty(setup), cast("Seat", seen.viewer)
    restore(state, seen)
    view, phase = View(state, seat), state.phase
    rated: list[tuple[float, list[Action]]] = []
    if phase is Phase.PLAN:
        rated = rated_plans(view)
    elif phase is Phase.REINFORCE and view.left:
        rated = rated_reinforcements(view)
    elif phase in CARD_PHASES:
        rated = rated_uses(view, CARD_PHASES[phase])
    return [(points, found) for points, found in rated] or [(0.0, row(state, seat))]


def rated_plans(view: View) -> list[tuple[float, list[Action]]]:
    """Return the best plan, the best one without each of its places, and the best one with each other card.

    Each plan is paired with its points.
    """
    plan = view.table.plans[view.seat]
    gain, pigeons, placed = best_piles(view, plan, ())
    rated = [(gain, row_of_plan(view, pigeons, placed, None))]
    for place in Place:
        if pigeons[place] and place not in plan.chosen:
            likings = [0.0] * len(Place)
            likings[place] = SHUNNED
            less, others, more = best_piles(view, plan, likings)
            rated.append((less, row_of_plan(view, others, more, None)))
    if has_card(view, plan):
        cards = rated_cards(view, pigeons, spare_pigeons(view, pigeons, placed))
        most = max([promise for promise, _ in cards])
        for promise, card in cards:
            if promise < most:
                rated.append((gain + promise - most, row_of_plan(view, pigeons, placed, card)))
    return rated


def rated_reinforcements(view: View) -> list[tuple[float, list[Action]]]:
    """Return the useful reinforcements, each paired with its gain in points over leaving the pigeons in the reserve."""
    gains = gains_at_home(view)
    return [
        (gain - view.in_reserve * count, [act.REINFORCES[count]])
        for count, gain in zip(gains.counts, gains.gains_of, strict=True)
    ]
