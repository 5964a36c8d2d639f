"""Venezia's policy of `greedy`: whole matches as recorded, positions that it does not come to by itself, and secrecy."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

import pytest
from house_bots.greedy.venezia import GreedyPolicy, choose

from referee.game import Action, Seat, label
from referee.games.venezia.names import Phase, Step
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.tests.table import place
from referee.kit.chance import FastChance, LiveChance
from referee.playout import play_row, rollout
from referee.registry import find, shipped_board
from tests.tables import random_setup

GAME = find("venezia")
VARIANTS = {
    "end_rule": "open",
    "tourists": 3,
    "hunters": 2,
    "campanile": False,
    "vatican_feud_sgm": True,
    "births_rule": "per_tourist",
    "jump_over_danger": True,
    "capture_diagonal": False,
    "home_sgm": "forbidden",
}


def chosen(state: VeneziaState, seat: Seat) -> list[Action]:
    seen = state.observation(seat)
    assert isinstance(seen, VeneziaObservation)
    return list(choose(state.setup, seen, state.legal_actions(seat)))


def rows_of_a_match(seats: int, seed: int, options: dict[str, object]) -> Iterator[str]:
    setup, chance = GAME.setup(seats, options, shipped_board(GAME)), LiveChance(seed)
    state = GAME.start(setup, chance)
    assert isinstance(state, VeneziaState)
    while not state.is_over():
        seat = state.seats_to_act()[0]
        row = chosen(state, seat)
        yield " ".join(map(label, row))
        play_row(state, seat, row, chance)


RECORDED = [
    (2, {}, "5df96abdca682d1f"),
    (3, {}, "5dca0f186e6a0349"),
    (4, {}, "3b27b2db579dc87e"),
    (2, VARIANTS, "d9316798aca7e42e"),
    (3, VARIANTS, "36a3b94bac7e5bf7"),
    (4, VARIANTS, "ba3491a58c29824d"),
]
"""The digests of all rows in eight matches; with two and four seats from the version that read observations instead of states."""


@pytest.mark.parametrize(("seats", "options", "digest"), RECORDED)
def test_whole_matches_are_played_as_recorded(seats: int, options: dict[str, object], digest: str) -> None:
    matches = "\n\n".join("\n".join(rows_of_a_match(seats, seed, options)) for seed in range(8))
    assert hashlib.sha256(matches.encode()).hexdigest()[:16] == digest


def mixed_states(seed: int) -> Iterator[tuple[VeneziaState, Seat]]:
    """States with a seat to act, of a match with random options, a third of which is random actions."""
    dice, chance = random.Random(seed), LiveChance(seed)
    state = GAME.start(random_setup(GAME, dice), chance)
    assert isinstance(state, VeneziaState)
    while not state.is_over():
        seat = dice.choice(state.seats_to_act())
        yield state, seat
        row = chosen(state, seat)
        cut = dice.randrange(3)
        play_row(state, seat, row[: cut or None] if cut < 2 else [dice.choice(state.legal_actions(seat))], chance)


@pytest.mark.parametrize("seed", range(6))
def test_every_row_depends_only_on_what_the_seat_may_know(seed: int) -> None:
    policy, chance = GreedyPolicy(), FastChance(seed)
    for state, seat in mixed_states(seed):
        row = chosen(state, seat)
        assert row[0] in state.legal_actions(seat)
        other = GAME.sample(state.setup, state.observation(seat), chance)
        assert list(policy.row(state, seat, chance)) == row == list(policy.row(other, seat, chance))


@pytest.mark.parametrize("seed", range(6))
def test_every_plan_is_planned_to_its_end_from_every_step(seed: int) -> None:
    for state, seat in mixed_states(seed):
        if state.phase is Phase.PLAN:
            copy = state.clone()
            for action in chosen(state, seat):
                assert copy.plans[seat].step is not Step.COMMITTED
                copy.apply(seat, action, LiveChance(0))
            assert copy.plans[seat].step is Step.COMMITTED or copy.phase is not Phase.PLAN


@pytest.mark.parametrize("seed", range(4))
def test_a_row_goes_on_wherever_it_is_cut_while_a_plan_is_made(seed: int) -> None:
    for state, seat in mixed_states(seed):
        if state.phase is Phase.PLAN and state.plans[seat].step is Step.FIRST:
            row, copy = chosen(state, seat), state.clone()
            labels = [label(action) for action in row]
            for at, action in enumerate(row[:-1]):
                copy.apply(seat, action, LiveChance(0))
                assert sorted(map(label, chosen(copy, seat))) == sorted(labels[at + 1 :])


def test_a_chain_goes_on_to_a_tourist() -> None:
    state = place(phase="CHAIN", seat=0, piazza={"b4": 0, "b3": 1, "c5": 1}, chain=["b2", "b4"], tourists=["d6", "h1"])
    assert [label(action) for action in chosen(state, 0)] == ["jump(b4,d6)"]


def test_a_rollout_goes_to_the_end_from_any_state() -> None:
    for state, _ in mixed_states(1):
        copy = state.clone()
        rollout(copy, GreedyPolicy(), FastChance(1))
        assert copy.is_over()
