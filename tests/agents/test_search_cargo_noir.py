"""The recipe of the house bot `search` in Cargo Noir."""

import pytest
from house_bots.search import SearchBot
from house_bots.search.cargo_noir import CargoNoirRecipe
from house_bots.search.halving import Search

from referee.game import label
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.chance import FastChance
from referee.playout import play_row, rollout
from referee.registry import find, shipped_board

GAME = find("cargo_noir")


def positions(seats: int) -> list[CargoNoirState]:
    """Return the positions of a match of greedy before each row."""
    setup = GAME.setup(seats, {}, shipped_board(GAME))
    chance = FastChance(seed=seats)
    state = GAME.start(setup, chance)
    policy, found = CargoNoirRecipe(setup).policy, []
    assert isinstance(state, CargoNoirState)
    while not state.is_over():
        found.append(state.clone())
        seat = state.seat
        play_row(state, seat, policy.row(state, seat, chance), chance)
    return found


@pytest.mark.parametrize("seats", range(2, 6))
def test_candidates_are_whole_rows_and_the_first_is_that_of_greedy(seats: int) -> None:
    """After a row, no stake is still to be chosen and no set to be finished."""
    several = 0
    for state in positions(seats):
        recipe, chance = CargoNoirRecipe(state.setup), FastChance(seed=0)
        rows = recipe.candidates(state, state.seat)
        assert rows[0] == recipe.policy.row(state, state.seat, chance)
        assert len({tuple(row) for row in rows}) == len(rows)
        several += len(rows) > 1
        for row in rows:
            after = state.clone()
            for place, action in enumerate(row):
                if place and label(action) == "end_smuggling":
                    break  # phase 2 ends by itself if nothing can be done any more
                after.apply(state.seat, action, FastChance(seed=0))
            assert after.phase.name not in ("STAKE", "P2_DIFF")
    assert several > 20


@pytest.mark.parametrize("seats", range(2, 6))
def test_the_value_at_the_end_is_the_score_and_before_it_an_estimate_for_every_seat(seats: int) -> None:
    state = positions(seats)[30]
    recipe = CargoNoirRecipe(state.setup)
    rollout(state, recipe.policy, FastChance(seed=0), state.stage() + 1)
    assert len(recipe.value(state)) == seats
    rollout(state, recipe.policy, FastChance(seed=0))
    assert recipe.value(state) == state.scores()


def test_goods_coins_and_ships_have_a_positive_value() -> None:
    """The search would otherwise not know what stakes and stores bring."""
    state = next(state for state in positions(2) if state.turn == 6 and sum(state.goods[state.seat]) > 2)
    recipe, seat = CargoNoirRecipe(state.setup), state.seat
    before = recipe.value(state)[seat]
    richer, larger, poorer = state.clone(), state.clone(), state.clone()
    richer.safe[seat] += 3
    larger.cards[seat][0] += 1
    poorer.goods[seat] = [0] * 10
    assert recipe.value(richer)[seat] > before
    assert recipe.value(larger)[seat] > before
    assert recipe.value(poorer)[seat] < before


def test_the_search_finishes_and_can_leave_the_row_of_greedy() -> None:
    departures = 0
    for number, state in enumerate(positions(2)[20:40]):
        search = Search(GAME, CargoNoirRecipe(state.setup), state.observation(state.seat), state.seat, number)
        row = search.run(lambda rollouts: rollouts / 60)
        assert row[0] in state.legal_actions(state.seat)
        departures += row != search.rows[0]
    assert departures
    assert SearchBot.plays(GAME)
