"""Secret plans: what others are sent meanwhile is the same byte for byte, whatever is planned."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from referee.contract.secrecy import overhear
from referee.game import Action, Game, Observation, Scene, Seat, State
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.state import VeneziaState
from referee.kit.chance import FastChance
from referee.match.result import Fault, Outcome
from referee.registry import find, shipped_board
from tests.cases import mostly_long
from tests.tables import Table, plan_of

VENEZIA = find("venezia")


def planning_states(game: Game, seats: int, seed: int) -> list[State]:
    """The states of a random match in which several seats are to act."""
    setup = game.setup(seats, {}, shipped_board(game))
    state, rng, chance = game.start(setup, FastChance(seed)), random.Random(seed), FastChance(seed)
    found = []
    while not state.is_over():
        to_act = state.seats_to_act()
        if len(to_act) > 1:
            found.append(state.clone())
        seat = rng.choice(to_act)
        state.apply(seat, rng.choice(state.legal_actions(seat)), chance)
    return found


def hidden_plan(state: State, planner: Seat, rng: random.Random) -> list[Action]:
    copy, plan = state.clone(), []
    while planner in copy.seats_to_act():
        legal = copy.legal_actions(planner)
        action = rng.choice(legal)
        if len(legal) > 1:
            plan.append(action)
        copy.apply(planner, action, FastChance(0))
    return plan


def told_apart(state: State, planner: Seat, seed: int) -> set[Seat | None]:
    """Who is sent something else under two different plans."""
    rng = random.Random(seed)
    plans = [hidden_plan(state, planner, rng) for _ in range(2)]
    one, two = (overhear(VENEZIA, state.setup, state, planner, plan, seed) for plan in plans)
    return {viewer for viewer in one if one[viewer] != two[viewer]}


@pytest.mark.parametrize("seats", mostly_long([2, 3, 4]))
def test_nobody_is_sent_anything_by_which_two_plans_can_be_told_apart(seats: int) -> None:
    states = planning_states(VENEZIA, seats, seed=seats)
    assert len(states) > 20
    for number, state in enumerate(states):
        for planner in state.seats_to_act():
            assert told_apart(state, planner, number) == set()


def _running_reserve(self: VeneziaState, viewer: Seat | None) -> Observation:
    seen = VeneziaState.observation(self, viewer)
    assert isinstance(seen, VeneziaObservation)
    seats = tuple(view._replace(reserve=self.left_to_lay(seat)) for seat, view in enumerate(seen.seats))
    return seen._replace(seats=seats)


def _number_of_choices(self: VeneziaState, viewer: Seat | None) -> Observation:
    seen = VeneziaState.observation(self, viewer)
    assert isinstance(seen, VeneziaObservation)
    return seen._replace(card_count=sum(len(plan.chosen) for plan in self.plans))


def _public_districts(self: VeneziaState, seat: Seat, action: Action) -> bool:
    return type(action).__name__ == "District" or VeneziaState.is_public(self, seat, action)


@pytest.mark.parametrize(
    "leak",
    [
        {"observation": _running_reserve},
        {"observation": _number_of_choices},
        {"is_public": _public_districts},
    ],
    ids=["the running reserve", "how many choices were made", "the districts"],
)
def test_a_game_that_leaks_is_found_out(leak: dict[str, Callable[..., Any]]) -> None:
    leaky = type("LeakyState", (VeneziaState,), {"__slots__": (), **leak})
    found: set[Seat | None] = set()
    for number, state in enumerate(planning_states(VENEZIA, 3, seed=1)):
        copy = state.clone()
        copy.__class__ = leaky
        found |= told_apart(copy, state.seats_to_act()[0], number)
    assert None in found  # a spectator
    assert len(found) > 1


def test_drawings_are_made_of_observations_that_plans_do_not_change() -> None:
    state = planning_states(VENEZIA, 2, seed=3)[0]
    planned = state.clone()
    for action in hidden_plan(state, 0, random.Random(1))[:2]:
        planned.apply(0, action, FastChance(0))
    for viewer in (1, None):
        before = state.observation(viewer)
        for scene in (None, Scene(("one", "two"), step=9, before=before, seat=0)):
            assert VENEZIA.draw(state.setup, planned.observation(viewer), scene) == VENEZIA.draw(
                state.setup, state.observation(viewer), scene
            )


def venezia(seats: int = 2) -> Table:
    """A match in its first planning phase."""
    table = Table(plan_of("venezia", seats))
    for _ in range(seats):
        table.answer(min(table.open), 0)
    return table


def test_a_plan_whose_time_runs_out_is_completed_at_once() -> None:
    table = venezia()
    table.answer(0, 0)
    table.answer(1, 0)
    table.answer(1, 0)
    table.wait(5)
    table.answer(1, table.open[1].actions[-1:] if len(table.open[1].actions) < 9 else 0)
    table.wait(5.6)  # the clock of seat 0 has run out, that of seat 1 has not
    assert 0 not in table.open
    assert table.match.state.observation(None).seats[0].committed
    by_clock = [line["action"] for line in table.actions() if line["by"] == "clock"]
    assert by_clock == ["done", "count(0)"]
    assert table.match.strikes(0) == 1


def test_a_seat_that_vanishes_in_the_middle_of_planning_is_completed_and_others_see_only_that_it_is_done() -> None:
    table = venezia(3)
    table.answer(0, 1)
    before = table.match.state.observation(1)
    assert isinstance(before, VeneziaObservation)
    table.fault(0, Fault(Outcome.CRASH, "gone"))
    after = table.match.state.observation(1)
    assert isinstance(after, VeneziaObservation)
    views = list(before.seats)
    views[0] = views[0]._replace(committed=True)
    assert after == before._replace(seats=tuple(views))
    assert 0 not in table.open
