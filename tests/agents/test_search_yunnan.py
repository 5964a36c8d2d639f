"""The recipe of the search in Yunnan, and the policy of its rollouts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from house_bots.greedy.yunnan import GreedyPolicy
from house_bots.search.halving import Search
from house_bots.search.yunnan import YunnanRecipe

from referee.game import Setup, State
from referee.games.yunnan import GAME
from referee.games.yunnan.actions import Convert
from referee.kit.chance import FastChance, ScriptedChance
from referee.playout import rollout
from referee.registry import shipped_board


def setup_of(seats: int) -> Setup:
    return GAME.setup(seats, {}, shipped_board(GAME))


def opened(setup: Setup, seed: int, decisions: int = 4) -> State:
    """Return a match after some random decisions."""
    chance = FastChance(seed=seed)
    state = GAME.start(setup, chance)
    for _ in range(decisions):
        seat = state.seats_to_act()[0]
        actions = state.legal_actions(seat)
        state.apply(seat, actions[chance.below(len(actions))], chance)
    return state


def positions(setup: Setup) -> Iterator[State]:
    for seed in range(3):
        chance = FastChance(seed=seed)
        state = opened(setup, seed)
        greedy = GreedyPolicy(setup)
        while not state.is_over():
            yield state
            seat = state.seats_to_act()[0]
            state.apply(seat, greedy.row(state, seat, chance)[0], chance)


@pytest.mark.parametrize("seats", [2, 5])
def test_greedys_row_is_the_first_candidate_and_all_others_begin_with_another_legal_action(seats: int) -> None:
    setup = setup_of(seats)
    recipe, greedy, nothing = YunnanRecipe(setup), GreedyPolicy(setup), ScriptedChance()
    for state in positions(setup):
        seat = state.seats_to_act()[0]
        first, *others = recipe.candidates(state, seat)
        legal = state.legal_actions(seat)
        assert list(first) == list(greedy.row(state, seat, nothing))
        assert list(first) not in [list(other) for other in others]
        if isinstance(legal[0], Convert):
            assert len(others) <= 11
            assert {other[0] for other in [first, *others]} >= {legal[0], legal[-1]}
        else:
            assert {other[0] for other in [first, *others]} == set(legal)


def test_without_doubt_nothing_is_drawn() -> None:
    setup = setup_of(3)
    state = opened(setup, 1)
    rollout(state, GreedyPolicy(setup), ScriptedChance())
    assert state.is_over()


def test_with_doubt_rollouts_differ_by_their_chance() -> None:
    setup = setup_of(2)
    policy = GreedyPolicy(setup, 1.0)

    def end(seed: int) -> list[int]:
        state = opened(setup, 1)
        rollout(state, policy, FastChance(seed=seed))
        return state.scores()

    ends = [end(seed) for seed in range(12)]
    assert len(set(map(tuple, ends))) > 1
    assert [end(seed) for seed in range(12)] == ends


def test_with_the_same_chance_a_colour_errs_the_same_whatever_was_played_before() -> None:
    setup = setup_of(4)
    policy = GreedyPolicy(setup, 3.0)
    states = [state.clone() for state in positions(setup)][:60]
    once = FastChance(seed=5)
    going_on = [policy.row(state, state.seats_to_act()[0], once) for state in states]
    afresh = [policy.row(state, state.seats_to_act()[0], FastChance(seed=5)) for state in states]
    assert going_on == afresh


def test_a_search_with_few_rollouts_does_better_than_greedy() -> None:
    setup = GAME.setup(2, {"turn_limit": 2}, shipped_board(GAME))
    recipe, greedy, chance = YunnanRecipe(setup), GreedyPolicy(setup), FastChance(seed=0)

    def lead(rollouts: int) -> int:
        state = opened(setup, 3)
        while not state.is_over():
            seat = state.seats_to_act()[0]
            row = greedy.row(state, seat, chance)
            if seat == 0 and rollouts:
                search = Search(GAME, recipe, state.observation(seat), seat, seed=1)
                row = search.run(lambda played: played / rollouts)
            for action in row:
                state.apply(seat, action, chance)
        one, other = state.scores()
        return one - other

    assert lead(60) > lead(0)
