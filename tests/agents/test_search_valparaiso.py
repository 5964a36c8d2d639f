"""Valparaíso's policy for rollouts, in positions that greedy does not come to by itself, and what it looks at."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from house_bots.greedy.valparaiso import choose
from house_bots.search.valparaiso import RECIPE
from house_bots.search.valparaiso_policy import ValparaisoPolicy

from referee.game import Action, label
from referee.games.valparaiso import GAME
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.state import ValparaisoState
from referee.games.valparaiso.tests.table import do, goods, place
from referee.kit.chance import FastChance
from referee.playout import play_row, rollout
from referee.registry import shipped_board
from tests.cases import mostly_long
from tests.tables import random_setup


def row_of(state: ValparaisoState) -> list[str]:
    return labels(ValparaisoPolicy().row(state, state.seat, FastChance(1)))


def labels(row: Sequence[Action]) -> list[str]:
    return [label(action) for action in row]


def greedy_row(state: ValparaisoState) -> list[str]:
    seen = state.observation(state.seat)
    assert isinstance(seen, ValparaisoObservation)
    return labels(choose(state.setup, seen, state.legal_actions(state.seat)))


def moving() -> ValparaisoState:
    """One merchant has moved to a village without a market; another can go on to a market for nothing."""
    state = place(cards=["k4", "k6"], warehouse=[goods(3, 3, 3), {}], money=[20, 20], rows={"merchants": {0: {"v": 3}}})
    return do(state, "use(1,main)", "start(v,z1)", "stop")


def test_a_move_that_has_begun_goes_on_with_the_next_merchant() -> None:
    assert greedy_row(moving()) == ["done"]
    assert row_of(moving())[0].startswith("start(v,")


@pytest.mark.parametrize("seed", mostly_long(range(12), 4))
def test_every_answer_is_legal_and_the_same_in_another_sample_with_the_same_observation(seed: int) -> None:
    dice, chance, policy = random.Random(seed), FastChance(seed), ValparaisoPolicy()
    setup = random_setup(GAME, dice)
    state = GAME.start(setup, chance)
    for _ in range(150):
        if state.is_over():
            break
        seat = dice.choice(state.seats_to_act())
        before = state.to_json()
        row = policy.row(state, seat, chance)
        assert state.to_json() == before
        assert row[0] in state.legal_actions(seat)
        other = GAME.sample(setup, state.observation(seat), FastChance(seed + 1))
        assert labels(policy.row(other, seat, chance)) == labels(row)
        most = dice.choice((1, 1, len(row)))  # the others go on in the middle of a row
        played = row[:most] if dice.random() < 0.8 else [dice.choice(state.legal_actions(seat))]
        play_row(state, seat, played, chance)


def test_with_a_doubt_rollouts_differ_and_those_of_the_same_chance_do_not() -> None:
    setup = GAME.setup(2, {}, shipped_board(GAME))
    start, policy = GAME.start(setup, FastChance(3)), ValparaisoPolicy(doubt=0.3)

    def ends(seeds: Sequence[int]) -> set[str]:
        found = set()
        for seed in seeds:
            state = start.clone()
            rollout(state, policy, FastChance(seed))
            found.add(str(state.to_json()))
        return found

    assert len(ends([1, 2, 3, 4])) > 1
    assert len(ends([1, 1])) == 1


def test_the_first_candidate_is_greedys_row_and_all_are_different_and_can_be_played() -> None:
    phases = set()
    chance = FastChance(3)
    setup = GAME.setup(2, {}, shipped_board(GAME))
    recipe, state = RECIPE(setup), GAME.start(setup, chance)
    assert isinstance(state, ValparaisoState)
    while not state.is_over() and state.round < 3:
        seat = state.seats_to_act()[0]
        rows = [labels(row) for row in recipe.candidates(state, seat)]
        seen = state.observation(seat)
        assert isinstance(seen, ValparaisoObservation)
        assert rows[0] == labels(choose(setup, seen, state.legal_actions(seat)))
        assert len({tuple(row) for row in rows}) == len(rows)
        for row in rows:
            tried = state.clone()
            for text in row:
                tried.apply(seat, GAME.parse_action(text), chance)
        if len(rows) > 1:
            phases.add(state.phase.name)
        for action in recipe.policy.row(state, seat, chance):
            state.apply(seat, action, chance)
    assert {"PLAN", "USE"} <= phases


def test_the_value_of_a_finished_match_is_the_score_and_before_it_grows_with_the_points() -> None:
    state = place(phase="PLAN", vp=[3, 5])
    low = RECIPE(state.setup).value(state)
    high = RECIPE(state.setup).value(place(phase="PLAN", vp=[4, 5]))
    assert high[0] > low[0]
    over = place(phase="OVER", vp=[30, 5])
    assert RECIPE(over.setup).value(over) == over.scores()
