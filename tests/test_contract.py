"""The contract suite over every registered game and the toy; and that the suite notices what is broken."""

from __future__ import annotations

import os
import random
import time
from typing import NamedTuple, Self

import pytest
from typing_extensions import override

from referee.contract.positions import examine_positions
from referee.contract.suite import BrokenContract, examine_match, unplayed_actions
from referee.game import Action, Chance, Game, IllegalAction, Seat, Setup, State
from referee.kit.chance import LiveChance
from referee.kit.document import Document
from referee.options import Distinct, OptionValue
from referee.registry import games, rules_are_compiled, shipped_board
from tests.cases import mostly_long
from tests.toy.games.sealed import GAME as SEALED
from tests.toy.games.sealed import Commit, Lay, Sealed, SealedObservation, SealedState

ALL = [*games().values(), SEALED]
SOAK = "DOGANA_SOAK_SECONDS"
"""An environment variable: how long to change positions of each game; `make soak` sets it."""


def values_of(choice: str | bool | range | Distinct) -> tuple[OptionValue, ...]:
    if isinstance(choice, range):
        return choice[0], choice[-1]
    return ("+".join(choice.words),) if isinstance(choice, Distinct) else (choice,)


def setups(game: Game) -> list[Setup]:
    """Every number of seats with default options, and every other value of every option with some number of seats."""
    board = shipped_board(game)
    found = [game.setup(seats, {}, board) for seats in game.seat_counts]
    seats = list(game.seat_counts)
    for option in game.options:
        for choice in option.values:
            for value in values_of(choice):
                if value != option.default:
                    count = (
                        seats[-1]
                        if game.check_options(seats[0], {**found[0].options, option.name: value})
                        else seats[len(found) % len(seats)]
                    )
                    found.append(game.setup(count, {option.name: value}, board))
    return found


CASES = [
    pytest.param(game, setup, id=f"{game.name}-{setup.seats}-{index}", marks=pytest.mark.long if index else ())
    for game in ALL
    for index, setup in enumerate(setups(game))
]


@pytest.mark.parametrize(("game", "setup"), CASES)
def test_every_sentence_of_the_contract_holds(game: Game, setup: Setup) -> None:
    examine_match(game, setup, seed=setup.seats + 10 * rules_are_compiled())  # two matches where both are tested


@pytest.mark.parametrize("game", mostly_long(ALL, 2), ids=lambda game: game.name)
def test_whatever_a_position_says_it_is_refused_or_played(game: Game) -> None:
    accepted = 0
    for setup in random.Random(0).sample(setups(game), 3):
        accepted += examine_positions(game, setup, seed=0, count=60)
    assert accepted > 0


@pytest.mark.soak
@pytest.mark.parametrize("game", ALL, ids=lambda game: game.name)
def test_soak_whatever_a_position_says_it_is_refused_or_played(game: Game) -> None:
    end = time.monotonic() + float(os.environ.get(SOAK, "300"))
    seed, accepted = 1, 0
    while time.monotonic() < end:
        accepted += examine_positions(game, random.Random(seed).choice(setups(game)), seed, count=60)
        seed += 1
    print(f"\n{game.name}: {60 * (seed - 1)} positions, {accepted} accepted and played to their end")
    assert accepted > 0


@pytest.mark.parametrize("game", mostly_long(ALL, 2), ids=lambda game: game.name)
def test_every_kind_of_action_occurs_in_play(game: Game) -> None:
    played: set[type[Action]] = set()
    for seed, setup in enumerate(setups(game) * 20):
        state, chance, choice = game.start(setup, LiveChance(seed)), LiveChance(seed), random.Random(seed)
        while not state.is_over():
            seat = state.seats_to_act()[0]
            action = choice.choice(state.legal_actions(seat))
            played.add(type(action))
            state.apply(seat, action, chance)
        if not unplayed_actions(game, played):
            return
    assert not unplayed_actions(game, played)


# --- broken games: each breaks one sentence, which the suite must name -----------------------------------


def broken(sentence: int, **methods: object) -> object:
    """A case: the toy with some of its state's methods replaced, and the sentence that breaks."""
    state = type("Broken", (SealedState,), {"__slots__": (), **methods})
    game = type("BrokenGame", (Sealed,), {"state_type": state})()
    return pytest.param(sentence, game, id=f"{sentence}-{'-'.join(methods)}")


def _nobody_acts(self: SealedState) -> tuple[Seat, ...]:
    return () if self.round == 2 else SealedState.seats_to_act(self)


def _twice(self: SealedState, seat: Seat) -> list[Action]:
    return SealedState.legal_actions(self, seat) * 2


def _out_of_turn(self: SealedState, seat: Seat) -> list[Action]:
    return SealedState.legal_actions(self, seat) or [Commit()]


def _incomplete(self: SealedState, seat: Seat) -> list[Action]:
    legal = SealedState.legal_actions(self, seat)
    return legal[1:] if len(legal) > 1 else legal


def _refuses(self: SealedState, seat: Seat, action: Action, chance: Chance) -> None:
    if isinstance(action, Lay) and action.card == 7:
        raise IllegalAction("not seven")
    SealedState.apply(self, seat, action, chance)


def _leaves_traces(self: SealedState, seat: Seat, action: Action, chance: Chance) -> None:
    self.score[seat] += 1
    SealedState.apply(self, seat, action, chance)
    self.score[seat] -= 1


_TOSS = iter(range(10**9))


def _own_chance(self: SealedState, seat: Seat, action: Action, chance: Chance) -> None:
    SealedState.apply(self, seat, action, chance)
    self.pot = 1 + next(_TOSS) % 6


def _shallow(self: SealedState) -> SealedState:
    new = SealedState.clone(self)
    new.hands = self.hands
    return new


class _Cached(SealedState):
    """A state with a field that is in no position, and that `clone` forgets."""

    totals: list[int]
    __slots__ = ("totals",)

    @override
    @classmethod
    def empty(cls, setup: Setup) -> Self:
        new = super().empty(setup)
        new.totals = [0]
        return new


class _SharedCache(_Cached):
    __slots__ = ()

    @override
    def clone(self) -> Self:
        new = super().clone()
        new.totals = self.totals
        return new


def _forgets(self: SealedState) -> dict[str, object]:
    return {**SealedState.to_json(self), "pot": 1 + self.pot % 6}


def _complains(self: SealedState) -> list[str]:
    return ["something"] if self.round == 2 else []


def _illegal_default(self: SealedState, seat: Seat) -> Action:
    return Lay(99)


def _leaks_plans(self: SealedState, viewer: Seat | None) -> SealedObservation:
    seen = SealedState.observation(self, viewer)
    seats = tuple(
        view._replace(committed=view.committed or len(plan) == 2)
        for view, plan in zip(seen.seats, self.plans, strict=True)
    )
    return SealedObservation(seen.viewer, seen.round, seats, seen.hand, seen.plan, seen.rounds)


def _leaks_pot(self: SealedState, viewer: Seat | None) -> SealedObservation:
    seen = SealedState.observation(self, viewer)
    return SealedObservation(seen.viewer, seen.round + (self.pot == 6), seen.seats, seen.hand, seen.plan, seen.rounds)


def _leaks_by_order(self: SealedState, seat: Seat) -> list[Action]:
    legal = SealedState.legal_actions(self, seat)
    return legal[::-1] if self.pot > 3 else legal


def _public_by_pot(self: SealedState, seat: Seat, action: Action) -> bool:
    return self.pot > 3


def _bad_ranks(self: SealedState) -> list[int]:
    return [2] * len(self.score)


def _ranks_without_tie_break(self: SealedState, viewer: Seat | None) -> SealedObservation:
    seen = SealedState.observation(self, viewer)
    return seen._replace(seats=tuple(view._replace(rank=seat + 1) for seat, view in enumerate(seen.seats)))


def _scores_by_pot(self: SealedState) -> list[int]:
    return [score + (self.pot > 3) for score in self.score]


def _acts_by_pot(self: SealedState) -> tuple[Seat, ...]:
    return SealedState.seats_to_act(self)[: 1 if self.pot > 3 else None]


class _Rankless(NamedTuple):
    """An observation in which no seat has a rank."""

    viewer: int | None


def _no_ranks(self: SealedState, viewer: Seat | None) -> _Rankless:
    return _Rankless(viewer)


def _runs_backwards(self: SealedState) -> int:
    return -self.round


def _points_from_nowhere(self: SealedState) -> list[int]:
    return [score + 1 for score in self.score]


def _the_last_shall_be_first(self: SealedState) -> list[int]:
    return [1 + sum(other < own for other in self.score) for own in self.score]


BROKEN = [
    broken(1, seats_to_act=_nobody_acts),
    broken(2, legal_actions=_twice),
    broken(2, legal_actions=_out_of_turn),
    broken(3, legal_actions=_incomplete),
    broken(3, apply=_refuses),
    broken(3, apply=_leaves_traces),
    broken(4, apply=_own_chance),
    broken(5, clone=_shallow),
    broken(6, to_json=_forgets),
    broken(7, problems=_complains),
    broken(9, default_action=_illegal_default),
    broken(11, observation=_leaks_pot),
    broken(12, legal_actions=_leaks_by_order),
    broken(11, observation=_leaks_plans),
    broken(13, is_public=_public_by_pot),
    broken(14, ranks=_bad_ranks),
    broken(14, observation=_ranks_without_tie_break),
    broken(14, observation=_no_ranks),
    broken(14, scores=_scores_by_pot),
    broken(14, seats_to_act=_acts_by_pot),
    broken(20, stage=_runs_backwards),
    broken(18, scores=_points_from_nowhere),
    broken(18, ranks=_the_last_shall_be_first),
]


def _examine_matches(game: Game, setup: Setup) -> None:
    for seed in range(20):
        examine_match(game, setup, seed)


@pytest.mark.parametrize(("sentence", "game"), BROKEN)
def test_a_broken_game_is_found_out(sentence: int, game: Game) -> None:
    setup = game.setup(3, {}, shipped_board(SEALED))
    with pytest.raises(BrokenContract) as caught:
        _examine_matches(game, setup)
    assert caught.value.sentence == sentence


class _Nowhere(Sealed):
    """Sealed whose cards are said to be in the picture, which shows none."""

    @override
    def spots(self, action: Action) -> tuple[str, ...]:
        return (f"card:{action.card}",) if isinstance(action, Lay) else ()


def test_a_spot_that_is_not_drawn_is_found_out() -> None:
    game = _Nowhere()
    with pytest.raises(BrokenContract, match="the picture of seat 0 has no spot card:") as caught:
        examine_match(game, game.setup(2, {}, shipped_board(SEALED)), seed=0)
    assert caught.value.sentence == 19


class _Trusting(Sealed):
    """Sealed with a reader that trusts the type of an entry."""

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = super().read_state(setup, document)
        assert isinstance(state, SealedState)
        state.pot = max(1, document.raw("pot", 1))  # type: ignore[call-overload]
        return state


class _BlindState(SealedState):
    """A state that finds nothing wrong with itself."""

    @override
    def problems(self) -> list[str]:
        return []


class _Blind(Sealed):
    """Sealed that accepts positions in which nobody is left to commit."""

    state_type = _BlindState

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = super().read_state(setup, document)
        assert isinstance(state, SealedState)
        state.committed = [bool(plan) for plan in state.plans]
        return state


@pytest.mark.parametrize("game", [_Trusting(), _Blind()], ids=["reading-raises", "a-false-position-is-accepted"])
def test_a_game_that_stumbles_over_a_position_is_found_out(game: Game) -> None:
    with pytest.raises(BrokenContract) as caught:
        examine_positions(game, game.setup(3, {}, shipped_board(SEALED)), seed=1, count=1000)
    assert caught.value.sentence == 17


@pytest.mark.parametrize(
    ("state_type", "problem"), [(_Cached, "a clone has no totals"), (_SharedCache, "a clone shares its totals")]
)
def test_a_clone_without_a_field_of_its_own_is_found_out(state_type: type[SealedState], problem: str) -> None:
    game = type("CachedGame", (Sealed,), {"state_type": state_type})()
    with pytest.raises(BrokenContract, match=problem) as caught:
        _examine_matches(game, game.setup(3, {}, shipped_board(SEALED)))
    assert caught.value.sentence == 5


def test_an_action_that_never_occurs_is_reported() -> None:
    assert unplayed_actions(SEALED, {Commit}) == ["Lay"]
