"""Yunnan's policy of `greedy`: it plays as it always has, move by move, and as a policy of rollouts it plays the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from house_bots.greedy.yunnan import GreedyPolicy, choose

from referee.game import Action, Setup, State, label
from referee.games.yunnan import GAME
from referee.kit.chance import FastChance
from referee.registry import shipped_board
from tests.cases import mostly_long

NONE = FastChance(seed=0)
RECORDED = {
    (2, ""): "9acc6653f08bfb02",
    (2, "expert"): "c9d82c91814fe734",
    (2, "pass_moves_reserve_to_market"): "462b0875c89c42da",
    (3, ""): "a4ca81499b260b86",
    (3, "expert"): "7f85439fdda14acb",
    (3, "pass_moves_reserve_to_market"): "e00618249cde8daf",
    (4, ""): "a0316da9c21d4653",
    (4, "expert"): "e3181dd9719afb38",
    (4, "pass_moves_reserve_to_market"): "e7e604527451359e",
    (5, ""): "4f90f74119853046",
    (5, "expert"): "f51ec80b14ab4656",
    (5, "pass_moves_reserve_to_market"): "ff4d7ee13e5491d4",
}
"""For seats and an option that is on: the start of the SHA-256 of greedy's rows in `matches`."""


def setup_of(seats: int, option: str) -> Setup:
    return GAME.setup(seats, {option: True} if option else {}, shipped_board(GAME))


def matches(setup: Setup) -> Iterator[tuple[State, list[Action]]]:
    """Play six matches; yield each position with greedy's row.

    Some matches have random moves among greedy's, and some rows are broken off, so there are positions in the middle
    of rows, and such as greedy does not come to by itself.
    """
    for seed in range(6):
        chance = FastChance(seed=seed)
        state, mix = GAME.start(setup, chance), chance.stream("mix")
        while not state.is_over():
            seat = state.seats_to_act()[0]
            actions = state.legal_actions(seat)
            row = list(choose(setup, state.observation(seat), actions))
            yield state, row
            if seed % 3 and mix.below(8) == 0:
                row = [actions[mix.below(len(actions))]]
            elif mix.below(4) == 0:
                row = row[:1]
            for action in row:
                state.apply(seat, action, chance)


@pytest.mark.parametrize(("seats", "option"), mostly_long(RECORDED, 4))
def test_greedy_plays_as_recorded(seats: int, option: str) -> None:
    rows = hashlib.sha256()
    for _, row in matches(setup_of(seats, option)):
        rows.update((" ".join(map(label, row)) + "\n").encode())
    assert rows.hexdigest()[:16] == RECORDED[seats, option]


@pytest.mark.parametrize("seats", GAME.seat_counts)
def test_the_policy_plays_greedys_rows_and_changes_nothing(seats: int) -> None:
    setup = setup_of(seats, "")
    policy = GreedyPolicy(setup)
    for state, row in matches(setup):
        seat, before = state.seats_to_act()[0], state.to_json()
        assert list(policy.row(state, seat, NONE)) == row
        assert state.to_json() == before
        sample = GAME.sample(setup, state.observation(seat), NONE)
        assert list(policy.row(sample, seat, NONE)) == row


def test_the_policy_answers_where_others_played_at_random() -> None:
    setup = setup_of(3, "expert")
    policy = GreedyPolicy(setup)
    for seed in range(4):
        chance = FastChance(seed=seed)
        state = GAME.start(setup, chance)
        while not state.is_over():
            seat = state.seats_to_act()[0]
            actions = state.legal_actions(seat)
            whole = state.clone()
            for action in policy.row(state, seat, chance):
                whole.apply(seat, action, chance)  # raises IllegalAction
            state.apply(seat, actions[chance.stream("mix").below(len(actions))], chance)
