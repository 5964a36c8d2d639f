"""The house bot `greedy` with a temperature: varied matches, which a seed repeats."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib import import_module
from itertools import islice

import pytest

from referee.game import Game, State, label
from referee.kit.chance import FastChance
from referee.playout import play_row
from referee.registry import find, games, house_bot, house_bots, shipped_board
from tests.cases import mostly_long
from tests.tables import Question

DECISIONS = {"valparaiso": 14}
"""The decisions of a test in games whose greedy is slow; 60 in others."""
GAMES = [name for name, game in games().items() if house_bots()["greedy"].plays(game)]


def begun(game: Game) -> State:
    setup = game.setup(2, {}, shipped_board(game))
    return game.start(setup, FastChance(seed=1))


def match_rows(state: State, game: Game, word: str, match_id: str = "m") -> Iterator[str]:
    """Play a match between equal bots to its end, in place; yield the labels of their rows."""
    chance = FastChance(seed=2)
    bots = [house_bot(word)(game, state.setup, match_id, seat) for seat in range(2)]
    while not state.is_over():
        seat = state.seats_to_act()[0]
        row = bots[seat].choose(Question(state.observation(seat), state.legal_actions(seat)))
        assert not isinstance(row, int)
        yield " ".join(map(label, row))
        play_row(state, seat, row, chance)


def rows(name: str, word: str, match_id: str = "m") -> list[str]:
    """Play the beginning of a match between equal bots; return the labels of their rows."""
    game = find(name)
    return list(islice(match_rows(begun(game), game, word, match_id), DECISIONS.get(name, 60)))


def decisions(name: str, share: float) -> Iterator[tuple[State, Question]]:
    """Decisions among several actions, of a match of greedy with a share of random actions."""
    game = find(name)
    state, chance, dice = begun(game), FastChance(seed=3), random.Random(4)
    choose, left = import_module(f"house_bots.greedy.{name}").choose, DECISIONS.get(name, 60)
    while not state.is_over() and left:
        seat, left = state.seats_to_act()[0], left - 1
        question = Question(state.observation(seat), state.legal_actions(seat))
        if len(question.actions) > 1:
            yield state, question
        row = choose(state.setup, *question[:2])
        play_row(state, seat, [dice.choice(question.actions)] if dice.random() < share else row, chance)


@pytest.mark.parametrize("name", GAMES)
def test_a_temperature_of_0_changes_nothing(name: str) -> None:
    assert rows(name, "greedy:temperature=0") == rows(name, "greedy") == rows(name, "greedy", "another")


@pytest.mark.parametrize("name", GAMES)
def test_a_seed_repeats_a_match_and_another_varies_it(name: str) -> None:
    once = rows(name, "greedy:temperature=2,seed=7")
    assert once == rows(name, "greedy:temperature=2,seed=7", "another match")
    assert once != rows(name, "greedy:temperature=2,seed=8")
    assert once != rows(name, "greedy")


@pytest.mark.parametrize("name", GAMES)
def test_without_a_seed_the_match_determines_the_play(name: str) -> None:
    once = rows(name, "greedy:temperature=2", "a match")
    assert once == rows(name, "greedy:temperature=2", "a match")
    assert once != rows(name, "greedy:temperature=2", "another")


@pytest.mark.parametrize("name", GAMES)
def test_with_a_small_temperature_every_decision_is_greedys_or_looks_as_good(name: str) -> None:
    game = find(name)
    cold = house_bot("greedy:temperature=1e-9")(game, begun(game).setup, "m", 0)
    choose = import_module(f"house_bots.greedy.{name}").choose
    rated_rows = import_module(f"house_bots.greedy.{name}_rated").rated_rows
    for state, question in decisions(name, 0.0):
        row = cold.choose(question)
        assert not isinstance(row, int)
        rated = {tuple(other): points for points, other in rated_rows(state.setup, *question[:2])}
        assert row == choose(state.setup, *question[:2]) or rated[tuple(row)] == pytest.approx(max(rated.values()))


@pytest.mark.parametrize("name", mostly_long(GAMES))
def test_every_row_begins_with_a_legal_action_and_a_hot_bot_plays_each(name: str) -> None:
    game, several = find(name), 0
    hot = house_bot("greedy:temperature=1000,seed=1")(game, begun(game).setup, "m", 0)
    rated_rows = import_module(f"house_bots.greedy.{name}_rated").rated_rows
    for state, question in decisions(name, 0.3):
        rated = rated_rows(state.setup, *question[:2])
        assert all(row[0] in question.actions for _, row in rated)
        if 1 < len(rated) < 5 and several < 3:
            several += 1
            drawn = {tuple(hot.choose(question)) for _ in range(60)}  # type: ignore[arg-type]
            assert drawn == {tuple(row) for _, row in rated}
    assert several


@pytest.mark.parametrize("name", GAMES)
def test_a_hot_match_is_played_to_its_end(name: str) -> None:
    game = find(name)
    state = begun(game)
    assert list(match_rows(state, game, "greedy:temperature=1000,seed=3"))
    assert state.is_over()
