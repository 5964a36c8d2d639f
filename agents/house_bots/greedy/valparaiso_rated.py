"""The rows that the policy for Valparaíso compares, with their estimates."""

from __future__ import annotations

from collections.abc import Sequence

from house_bots.greedy.valparaiso import WIDTH, WIDTH_IN_USE, decide, rated_plans, rated_set_up, rated_uses, view_of
from referee.game import Action, Setup
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.observation import ValparaisoObservation


def rated_rows(
    setup: Setup, seen: ValparaisoObservation, actions: Sequence[Action]
) -> list[tuple[float, list[Action]]]:
    """Return the row that `choose` returns, and the rows compared with it, each with its estimate in points.

    In the set-up, all choices are compared; for a plan or the use of a card, the search's other results are compared. In other
    phases, only one row is returned. The arguments are the same as in `choose`.
    """
    view = view_of(setup, seen, actions)
    rated: list[tuple[float, list[Action]]] = []
    if view.phase in (Phase.SETUP_GOODS, Phase.SETUP_PLACE):
        rated = rated_set_up(view)
    elif view.phase is Phase.PLAN:
        rated = rated_plans(view, WIDTH)
    elif view.phase is Phase.USE:
        rated = rated_uses(view, WIDTH_IN_USE)
    found: dict[tuple[Action, ...], tuple[float, list[Action]]] = {}
    for points, row in rated:
        if row[0] in actions:
            found.setdefault(tuple(row), (points, row))
    return list(found.values()) or [(0.0, decide(view))]
