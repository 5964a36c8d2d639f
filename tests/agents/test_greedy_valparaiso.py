"""Valparaíso's policy of `greedy`, in positions that it does not come to by itself."""

from __future__ import annotations

from house_bots.greedy.valparaiso import choose

from referee.game import label
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import do, goods, place


def chosen(state: ValparaisoState) -> list[str]:
    seen = state.observation(state.seat)
    assert isinstance(seen, ValparaisoObservation)
    return [label(action) for action in choose(state.setup, seen, state.legal_actions(state.seat))]


def test_a_full_hold_beside_an_empty_warehouse_is_unloaded_in_part() -> None:
    state = place(cards=["k1"], hold=[goods(2, 3, 1), {}])
    [transfer] = chosen(do(state, "use(1,main)"))
    do(state, transfer)
    assert 0 < sum(state.warehouse[0]) < 6


def test_without_a_peso_for_the_second_step_a_merchant_goes_one_step() -> None:
    state = place(cards=["k4"], money=[0, 20], rows={"merchants": {0: {"v": 2}}})
    [step] = chosen(do(state, "use(1,main)"))
    assert step in ("start(v,z1)", "start(v,z2)", "start(v,z3)")
