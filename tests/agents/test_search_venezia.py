"""Venezia's recipe for the search: its candidates are playable, and its estimate is fair."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from house_bots.greedy.venezia import GreedyPolicy, choose
from house_bots.search.venezia import RECIPE
from house_bots.search.venezia_value import FEATURES, features

from referee.game import Seat, label
from referee.games.venezia.names import Phase, Place, Step
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.state import VeneziaState
from referee.games.venezia.tests.table import place
from referee.kit.chance import FastChance, LiveChance
from referee.registry import find, shipped_board
from tests.cases import mostly_long
from tests.tables import random_setup

GAME = find("venezia")


def greedy_states(seed: int, share: float = 0.2) -> Iterator[tuple[VeneziaState, Seat]]:
    """States with a seat to act, of a match of greedy with random options and a share of random actions."""
    dice, chance, policy = random.Random(seed), LiveChance(seed), GreedyPolicy()
    state = GAME.start(random_setup(GAME, dice), chance)
    assert isinstance(state, VeneziaState)
    while not state.is_over():
        seat = dice.choice(state.seats_to_act())
        yield state, seat
        row = policy.row(state, seat, chance)
        action = dice.choice(state.legal_actions(seat)) if dice.random() < share else row[0]
        state.apply(seat, action, chance)


@pytest.mark.parametrize("seed", mostly_long(range(4)))
def test_the_first_candidate_is_greedys_row_and_all_begin_legally_and_differ(seed: int) -> None:
    for state, seat in greedy_states(seed):
        before, legal, seen = state.to_json(), state.legal_actions(seat), state.observation(seat)
        assert isinstance(seen, VeneziaObservation)
        rows = RECIPE(state.setup).candidates(state, seat)
        assert list(rows[0]) == list(choose(state.setup, seen, legal))
        assert all(row[0] in legal for row in rows)
        assert len({tuple(row) for row in rows}) == len(rows)
        assert state.to_json() == before


@pytest.mark.parametrize("seed", mostly_long(range(4)))
def test_candidates_depend_only_on_what_the_seat_may_know(seed: int) -> None:
    for state, seat in greedy_states(seed):
        other = GAME.sample(state.setup, state.observation(seat), FastChance(seed), undone=True)
        recipe = RECIPE(state.setup)
        assert [list(row) for row in recipe.candidates(state, seat)] == [
            list(row) for row in recipe.candidates(other, seat)
        ]


def test_whole_plans_are_compared_and_each_can_be_played() -> None:
    cards: set[str] = set()
    for state, seat in greedy_states(3, 0.0):
        if state.phase is Phase.PLAN and state.plans[seat].step is Step.FIRST:
            plans = [row for row in RECIPE(state.setup).candidates(state, seat) if len(row) > 2]
            assert len(plans) > 3
            for plan in plans:
                copy = state.clone()
                for action in plan:
                    cards.add(label(action))
                    copy.apply(seat, action, LiveChance(0))
                assert copy.plans[seat].step is Step.COMMITTED or copy.phase is not Phase.PLAN
    assert len([card for card in cards if card.startswith("card(")]) > 6


def test_the_estimate_counts_the_score_and_is_the_score_at_the_end() -> None:
    setup = GAME.setup(3, {}, shipped_board(GAME))
    state = GAME.start(setup, LiveChance(1))
    recipe, chance = RECIPE(setup), LiveChance(1)
    assert isinstance(state, VeneziaState)
    before = recipe.value(state)
    state.score[1] += 6
    assert recipe.value(state) == pytest.approx([before[0], before[1] + 6, before[2]])
    state.score[1] -= 6
    while not state.is_over():
        seat = state.seats_to_act()[0]
        state.apply(seat, recipe.policy.row(state, seat, chance)[0], chance)
    assert recipe.value(state) == [float(points) for points in state.score]


def test_features_are_the_holdings_of_each_seat() -> None:
    state = place(
        phase="PLAN",
        loc={"can": [1, 3], "cas": [7, 0], "sgm": [2, 0]},
        piazza={"a1": 1},
        reserve=[9, 8],
        cemetery=[0, 4],
        round=4,
        discard={0: {"fam": 2, "feh": 3}},
        supply=[21, 24],
    )
    assert [dict(zip(FEATURES, numbers, strict=True)) for numbers in features(state)] == [
        {"held": 3, "lead": 2, "reserve": 9, "piazza": 0, "cemetery": 0, "hand": 6, "supply": 21, "island": 1},
        {"held": 6, "lead": -2, "reserve": 8, "piazza": 1, "cemetery": 4, "hand": 8, "supply": 24, "island": 0},
    ]


def agreement(seed: int, policy: GreedyPolicy | None) -> tuple[int, int]:
    """How many piles of rivals, of how many, samples in a match of greedy lay where they are."""
    right = piles = 0
    for state, seat in greedy_states(seed, 0.0):
        seen = state.observation(seat)
        sample = GAME.sample(state.setup, seen, FastChance(seed), policy)
        assert isinstance(sample, VeneziaState)
        assert sample.problems() == []
        assert sample.observation(seat) == seen
        if state.phase not in (Phase.PLAN, Phase.HOME):
            for plan, drawn in zip(state.plans, sample.plans, strict=True):
                if plan is not state.plans[seat]:
                    right += sum(map(Place.__eq__, plan.slots, drawn.slots))
                    piles += len(plan.slots)
    return right, piles


@pytest.mark.long
def test_samples_with_a_policy_lay_piles_where_it_would() -> None:
    guessed = [agreement(seed, GreedyPolicy()) for seed in range(6)]
    drawn = [agreement(seed, None) for seed in range(6)]
    piles = sum(number for _, number in guessed)
    assert sum(right for right, _ in guessed) > 0.4 * piles
    assert sum(right for right, _ in drawn) < 0.25 * piles


def test_samples_with_a_policy_plan_to_the_end_for_whoever_has_committed() -> None:
    state = GAME.start(GAME.setup(3, {}, shipped_board(GAME)), LiveChance(1))
    assert isinstance(state, VeneziaState)
    chance, policy = LiveChance(1), GreedyPolicy()
    for seat in (0, 1, 2):
        state.apply(seat, state.legal_actions(seat)[0], chance)
    for action in policy.row(state, 1, chance):
        state.apply(1, action, chance)
    sample = GAME.sample(state.setup, state.observation(0), FastChance(1), policy)
    assert isinstance(sample, VeneziaState)
    assert sample.plans == state.plans
    assert sample.observation(0) == state.observation(0)
