"""The house bot `search`: what it chooses among rows, its options, and that a bot without options has none."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import pytest
from house_bots.search import BadBudget, SearchBot
from house_bots.search.halving import FIRST_SAMPLES, Search
from house_bots.search.recipe import TO_THE_END, Recipe, distinct
from typing_extensions import override

from referee.game import Action, Chance, Game, RolloutPolicy, Seat, State
from referee.games.valparaiso.actions import Place
from referee.games.venezia.actions import First
from referee.games.yunnan import actions as act
from referee.kit.chance import FastChance
from referee.registry import UnknownHouseBot, find, house_bot, house_bots, shipped_board
from tests.tables import Question
from tests.toy.games.sealed import GAME as SEALED
from tests.toy.games.sealed import Sealed


class Uniform(RolloutPolicy):
    """Plays at random."""

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        legal = state.legal_actions(seat)
        return [legal[chance.stream("policy").below(len(legal))]]


class Plain(Recipe):
    """Every legal action, played on at random to the end; the score is the value."""

    @override
    def stages(self, state: State) -> int:
        return TO_THE_END

    @override
    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        return [[action] for action in state.legal_actions(seat)]

    @override
    def value(self, state: State) -> list[float]:
        return list(map(float, state.scores()))


class Counting(Sealed):
    """The toy game, which counts its samples."""

    samples = 0

    @override
    def sample(self, *args: Any, **options: Any) -> State:
        self.samples += 1
        return super().sample(*args, **options)


def searched(seed: int, rollouts: int, *, secrets: bool = True, game: Game = SEALED) -> Search:
    """A search at the first decision of the toy game, after it ran."""
    setup = game.setup(2, {}, shipped_board(SEALED))
    state = game.start(setup, FastChance(seed=1))
    recipe = Plain(setup, Uniform())
    recipe.has_secrets = secrets
    search = Search(game, recipe, state.observation(0), 0, seed)
    search.run(lambda done: done / rollouts)
    return search


def test_the_same_seed_and_rollouts_give_the_same_search() -> None:
    one, other = searched(5, 200), searched(5, 200)
    assert one.differences == other.differences
    assert one.differences != searched(6, 200).differences


def test_a_search_ends_at_its_budget() -> None:
    assert searched(5, 200).rollouts == 200
    assert searched(5, 1).rollouts == 1


def test_all_candidates_are_played_in_the_same_sample() -> None:
    game = Counting()
    search = searched(5, 200, game=game)
    assert game.samples == len(search.differences[0])
    assert sum(map(len, search.differences)) == 200


def test_a_search_compares_as_recorded() -> None:
    """A change of these figures is a change of play."""
    differences = repr([searched(seed, 100).differences for seed in range(3)])
    assert hashlib.sha256(differences.encode()).hexdigest()[:16] == "7d68365f3912bfc6"


def test_the_first_row_is_played_if_nothing_was_compared() -> None:
    setup = SEALED.setup(2, {}, shipped_board(SEALED))
    state = SEALED.start(setup, FastChance(seed=1))
    search = Search(SEALED, Plain(setup, Uniform()), state.observation(0), 0, 1)
    assert search.run(lambda done: 1.0) == search.rows[0]


def test_a_row_that_was_played_in_too_few_samples_does_not_replace_the_first() -> None:
    setup = SEALED.setup(2, {}, shipped_board(SEALED))
    recipe = Plain(setup, Uniform())
    observation = SEALED.start(setup, FastChance(seed=1)).observation(0)
    best = Search(SEALED, recipe, observation, 0, 1).run(lambda done: done / 400)
    recipe.min_samples = 1000
    few = Search(SEALED, recipe, observation, 0, 1)
    assert few.run(lambda done: done / 400) == few.rows[0] != best


@pytest.mark.parametrize("min_samples", [0, 1])
def test_one_sample_is_too_few_for_a_margin_whatever_the_recipe_says(min_samples: int) -> None:
    setup = SEALED.setup(2, {}, shipped_board(SEALED))
    recipe = Plain(setup, Uniform())
    recipe.min_samples = min_samples
    for seed in range(5):
        observation = SEALED.start(setup, FastChance(seed=1)).observation(0)
        search = Search(SEALED, recipe, observation, 0, seed)
        once = len(search.rows)
        assert search.run(lambda done, once=once: float(done >= once)) == search.rows[0]  # type: ignore[misc]
        assert search.rollouts == once


class Short(Plain):
    """Rollouts of one stage, which notes which of them have reached the end of the match."""

    def __init__(self, long_samples: float) -> None:
        super().__init__(SEALED.setup(2, {}, shipped_board(SEALED)), Uniform())
        self.long_samples = long_samples
        self.over: list[bool] = []

    @override
    def stages(self, state: State) -> int:
        return 1

    @override
    def value(self, state: State) -> list[float]:
        self.over.append(state.is_over())
        return super().value(state)


def test_rollouts_are_long_where_the_budget_allows_for_the_samples_of_the_recipe() -> None:
    def run(samples: float, share_of_one: float) -> tuple[Short, Search]:
        recipe = Short(samples)
        search = Search(SEALED, recipe, SEALED.start(recipe.setup, FastChance(seed=1)).observation(0), 0, 1)
        search.run(lambda done: done * share_of_one)
        return recipe, search

    rows = len(run(math.inf, 1.0)[1].rows)
    recipe, search = run(20, 1 / (20 * rows))
    first = FIRST_SAMPLES * rows
    assert not any(recipe.over[:first])
    assert all(recipe.over[first:])
    assert len(search.differences[0]) > FIRST_SAMPLES
    assert (
        sum(map(len, search.differences)) == search.rollouts - first
    )  # shorter rollouts do not count with longer ones
    for recipe, search in (run(20, 1 / (19 * rows)), run(math.inf, 1 / (20 * rows))):
        assert not any(recipe.over)
        assert sum(map(len, search.differences)) == search.rollouts


def test_the_worse_half_of_the_rows_is_dropped_and_the_first_stays() -> None:
    search = searched(5, 400)
    samples = [len(found) for found in search.differences]
    assert samples[0] == max(samples)
    assert min(samples) < max(samples)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("search:seconds=0", "seconds must be a number from 0.001 to 3600, not '0'"),
        ("search:seconds=-1", "seconds must be a number from 0.001 to 3600, not '-1'"),
        ("search:seconds=nan", "seconds must be a number from 0.001 to 3600, not 'nan'"),
        ("search:seconds=inf", "seconds must be a number from 0.001 to 3600, not 'inf'"),
        ("search:seconds=-inf", "seconds must be a number from 0.001 to 3600, not '-inf'"),
        ("search:seconds=1e999", "seconds must be a number from 0.001 to 3600, not '1e999'"),
        ("search:seconds=1e9", "seconds must be a number from 0.001 to 3600, not '1e9'"),
        ("search:seconds=", "seconds must be a number from 0.001 to 3600, not ''"),
        ("search:seconds=a\nb", "seconds must be a number from 0.001 to 3600, not 'a\\nb'"),
        ("search:rollouts=0", "rollouts must be a whole number from 1 to 1000000000, not '0'"),
        ("search:rollouts=-5", "rollouts must be a whole number from 1 to 1000000000, not '-5'"),
        ("search:rollouts=nan", "rollouts must be a whole number from 1 to 1000000000, not 'nan'"),
        ("search:rollouts=inf", "rollouts must be a whole number from 1 to 1000000000, not 'inf'"),
        ("search:rollouts=", "rollouts must be a whole number from 1 to 1000000000, not ''"),
        ("search:rollouts=1000000001", "rollouts must be a whole number from 1 to 1000000000, not '1000000001'"),
        (f"search:rollouts={'9' * 5000}", f"rollouts must be a whole number from 1 to 1000000000, not '{'9' * 5000}'"),
        ("search:rollouts=0.5", "rollouts must be a whole number from 1 to 1000000000, not '0.5'"),
        ("search:seed=-1", "seed must be a whole number from 0 to 4611686018427387904, not '-1'"),
        ("search:seed=", "seed must be a whole number from 0 to 4611686018427387904, not ''"),
        ("search:seed=nan", "seed must be a whole number from 0 to 4611686018427387904, not 'nan'"),
        ("search:seed=1e5", "seed must be a whole number from 0 to 4611686018427387904, not '1e5'"),
        (f"search:seed={2**62 + 1}", f"seed must be a whole number from 0 to 4611686018427387904, not '{2**62 + 1}'"),
        ("search:", "write options as NAME=VALUE, each once, separated by commas, not ''"),
        ("search:seed=1,", "write options as NAME=VALUE, each once, separated by commas, not ''"),
        ("search:depth=3", "there is no option 'depth'; there are: seconds, rollouts, seed"),
        ("search:seconds=1,rollouts=5", "seconds and rollouts exclude each other"),
        ("search:seconds", "write options as NAME=VALUE, each once, separated by commas, not 'seconds'"),
        ("search:seed=1,seed=2", "write options as NAME=VALUE, each once, separated by commas, not 'seed=2'"),
        ("greedy:seed=1", "a seed needs a temperature: without one, nothing is drawn"),
        ("greedy:temperature=-0.1", "temperature must be a number from 0 to 1000, not '-0.1'"),
        ("greedy:temperature=nan", "temperature must be a number from 0 to 1000, not 'nan'"),
        ("greedy:temperature=inf", "temperature must be a number from 0 to 1000, not 'inf'"),
        ("greedy:temperature=1e4", "temperature must be a number from 0 to 1000, not '1e4'"),
        ("greedy:temperature=", "temperature must be a number from 0 to 1000, not ''"),
        ("greedy:temperature=1,seed=x", "seed must be a whole number from 0 to 4611686018427387904, not 'x'"),
        ("greedy:heat=1", "there is no option 'heat'; there are: temperature, seed"),
        ("random:seed=1", "it has no options"),
    ],
)
def test_wrong_options_are_refused_in_one_line(word: str, why: str) -> None:
    with pytest.raises(UnknownHouseBot) as caught:
        house_bot(word)
    assert str(caught.value) == f"house bot {word!r}: {why}"


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        ({"seconds": 0}, "seconds must be a number from 0.001 to 3600, not '0'"),
        ({"seconds": -0.5}, "seconds must be a number from 0.001 to 3600, not '-0.5'"),
        ({"seconds": float("nan")}, "seconds must be a number from 0.001 to 3600, not 'nan'"),
        ({"rollouts": 0}, "rollouts must be a whole number from 1 to 1000000000, not '0'"),
    ],
)
def test_a_bot_that_is_built_on_search_learns_of_a_wrong_budget_in_one_line(budget: dict[str, Any], why: str) -> None:
    game = find("yunnan")
    with pytest.raises(BadBudget) as caught:
        SearchBot(game, game.setup(2, {}, shipped_board(game)), "m", 0, **budget)
    assert str(caught.value) == f"search: {why}"


def test_a_recipe_without_a_value_cannot_be_made() -> None:
    class Half(Recipe):
        stages, candidates = Plain.stages, Plain.candidates

    with pytest.raises(TypeError, match=r"abstract method '?value"):
        Half(SEALED.setup(2, {}, shipped_board(SEALED)), Uniform())  # type: ignore[abstract]


def test_repeated_rows_are_dropped_and_the_others_keep_their_order() -> None:
    one, other, third = (act.MARKETS[place] for place in range(3))
    assert distinct([[one], [other], [one, other], [one], (other,), [third]]) == [[one], [other], [one, other], [third]]


def test_a_game_without_a_recipe_is_not_played() -> None:
    assert not SearchBot.plays(SEALED)


class Clock:
    """A clock that moves on when somebody works."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow(RolloutPolicy):
    """A policy that takes a second for each row, of which a rollout has dozens."""

    def __init__(self, own: RolloutPolicy, clock: Clock) -> None:
        self._own = own
        self._clock = clock

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        self._clock.now += 1
        return self._own.row(state, seat, chance)


def slow_bot(clock: Clock, *, rollouts: int | None = None) -> tuple[SearchBot, Question]:
    """A bot in Yunnan whose time passes in rollouts alone, and its first decision, for which it has five seconds."""
    game = find("yunnan")
    setup = game.setup(2, {}, shipped_board(game))
    state = game.start(setup, FastChance(seed=1))
    seat = state.seats_to_act()[0]

    def slow(recipe: Recipe) -> Recipe:
        recipe.policy = Slow(recipe.policy, clock)
        return recipe

    bot = SearchBot(game, setup, "m", seat, seconds=3600, rollouts=rollouts, change=slow, clock=clock)
    return bot, Question(state.observation(seat), state.legal_actions(seat), budget=10.0, bank=3600.0)


def test_a_rollout_is_cut_when_the_time_is_over() -> None:
    bot, question = slow_bot(clock := Clock())
    row = bot.choose(question)
    assert clock.now == 5
    assert bot.last is not None
    assert (row, bot.last.rollouts) == (bot.last.rows[0], 0)


def test_with_a_number_of_rollouts_none_is_cut() -> None:
    bot, question = slow_bot(clock := Clock(), rollouts=3)
    bot.choose(question)
    assert clock.now > 20
    assert bot.last is not None
    assert bot.last.rollouts == 3


class Looked(Clock):
    """A clock on which a second passes whenever somebody looks at it."""

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize("game", ["valparaiso", "venezia"])
def test_candidates_are_found_until_the_time_is_over(game: str) -> None:
    """Without that, plans of Valparaíso took 70 ms where 20 were left: the candidates were found whatever the clock said."""
    rules = find(game)
    setup = rules.setup(2, {}, shipped_board(rules))
    state, chance = rules.start(setup, FastChance(seed=1)), FastChance(seed=1)
    greedy = house_bots()["greedy"](rules, setup, "m", 0)
    while len({type(action) for action in state.legal_actions(0)} & {Place, First}) == 0:
        state.apply(actor := state.seats_to_act()[0], state.legal_actions(actor)[0], chance)
    everything = Question(state.observation(0), state.legal_actions(0), budget=1e9, bank=1e9)

    def answered(seconds: float) -> tuple[Sequence[Action], int, float]:
        """The answer, the number of candidates, and the time taken, of which the search may take half."""
        bot = SearchBot(rules, setup, "m", 0, seconds=3600, clock=(clock := Looked()))
        row = bot.choose(everything._replace(budget=seconds))
        assert bot.last is not None
        assert not isinstance(row, int)
        return row, len(bot.last.rows), clock.now

    row, few, took = answered(seconds=4)
    assert row == greedy.choose(everything)
    assert took < 10
    _, more, took = answered(seconds=2000)
    assert few < more
    assert took < 1010
