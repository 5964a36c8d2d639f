"""Valparaíso's policy of `greedy`, in positions that it does not come to by itself."""

from __future__ import annotations

import hashlib

import pytest
from house_bots.greedy.valparaiso import choose
from house_bots.greedy.valparaiso_estimates import FACTORS, NAMES, Estimates, factors, measured

from referee.game import label
from referee.games.valparaiso import GAME
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import do, goods, place
from referee.kit.chance import LiveChance
from referee.playout import play_row
from referee.registry import shipped_board
from tests.cases import mostly_long


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


def test_each_measured_factor_is_of_an_estimate_and_what_was_not_measured_is_as_it_was() -> None:
    assert FACTORS.keys() <= set(GAME.seat_counts)
    for seats in GAME.seat_counts:
        known = FACTORS.get(seats, {})
        assert dict(zip(NAMES, factors(seats), strict=True)) == {**dict.fromkeys(NAMES, 1.0), **known}


def test_greedy_plays_with_the_estimates_measured_at_its_number_of_seats() -> None:
    assert measured(2).pace == pytest.approx(1.3 * Estimates().pace)
    assert measured(2) is measured(2)


MATCHES: dict[str, tuple[int, int, dict[str, object], str]] = {
    "2 seats": (2, 1, {}, "52dffea4b4be9a02"),
    "3 seats": (3, 1, {}, "295b3723c5bc70d0"),
    "4 seats": (4, 1, {}, "8560e9f239d8fcbe"),
    "5 seats": (5, 1, {}, "33893aadedc12ff1"),
    "expert": (2, 4, {"expert_timer": True}, "48f86f1a5a8a0f19"),
    "options": (3, 3, {"return_rule": "one_only", "river_toll": True, "refill_rule": "strict"}, "bcaef68337a2588a"),
}
"""By name: seats, seed, options, and the digest of all answers of the policy in the match."""


@pytest.mark.parametrize("name", mostly_long(list(MATCHES), 1))
def test_the_policy_plays_recorded_matches_again(name: str) -> None:
    seats, seed, options, digest = MATCHES[name]
    state = GAME.start(GAME.setup(seats, options, shipped_board(GAME)), chance := LiveChance(seed))
    answers = hashlib.sha256()
    while not state.is_over():
        seat = state.seats_to_act()[0]
        seen = state.observation(seat)
        assert isinstance(seen, ValparaisoObservation)
        row = choose(state.setup, seen, state.legal_actions(seat))
        answers.update(f"{' '.join(map(label, row))}\n".encode())
        play_row(state, seat, row, chance)
    assert answers.hexdigest()[:16] == digest, "the policy's play has changed; if that is intended, record it anew"
