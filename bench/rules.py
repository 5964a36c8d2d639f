"""How fast the rules are, beside games of OpenSpiel (C++, driven from Python), in the same process."""

from __future__ import annotations

import random
import time
from typing import Any

from referee.game import Game, State
from referee.kit.chance import FastChance
from referee.registry import shipped_board

SECONDS = 0.5

PEERS = ("backgammon", "chess", "hearts", "skat", "gin_rummy")
"""Well-known games of OpenSpiel, fast and slow ones: beside a single peer any figure can be made to look good."""


def playouts(game: Game, seconds: float = SECONDS) -> float:
    """Return the decisions per second of uniformly random play, legal lists included."""
    setup = game.setup(game.seat_counts.stop - 1, {}, shipped_board(game))
    chance, draw = FastChance(1), random.Random(1).random
    decisions = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        state = game.start(setup, chance)
        while True:
            seats = state.seats_to_act()
            if not seats:
                break
            seat = seats[0]
            legal = state.legal_actions(seat)
            state.apply(seat, legal[int(draw() * len(legal))], chance)
            decisions += 1
    return decisions / (time.perf_counter() - start)


def states(game: Game) -> list[State]:
    """Return the states of a random match at the largest table, but for the last."""
    setup = game.setup(game.seat_counts.stop - 1, {}, shipped_board(game))
    chance, draw = FastChance(1), random.Random(1).random
    state = game.start(setup, chance)
    found = []
    while not state.is_over():
        found.append(state.clone())
        seat = state.seats_to_act()[0]
        legal = state.legal_actions(seat)
        state.apply(seat, legal[int(draw() * len(legal))], chance)
    return found


def legal_lists(game: Game, seconds: float = SECONDS) -> float:
    """Return the legal lists per second, over the states of a match."""
    asked = [(state.legal_actions, state.seats_to_act()[0]) for state in states(game)]
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for legal_actions, seat in asked:
            legal_actions(seat)
        done += len(asked)
    return done / (time.perf_counter() - start)


def clones(game: Game, seconds: float = SECONDS) -> float:
    """Return the clones per second of a state from the middle of a match."""
    all_states = states(game)
    state = all_states[len(all_states) // 2]
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(1000):
            state.clone()
        done += 1000
    return done / (time.perf_counter() - start)


def spiel_playouts(game: Any, seconds: float = SECONDS) -> float:
    """Return the decisions per second of uniformly random play of an OpenSpiel game; chance nodes are played, not counted."""
    draw = random.Random(1)
    decisions = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(draw.choices(outcomes, weights)[0])
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(draw.random() * len(legal))])
                decisions += 1
    return decisions / (time.perf_counter() - start)


def spiel_clones(game: Any, seconds: float = SECONDS) -> float:
    """Return the clones per second of a state of an OpenSpiel game after 60 random actions."""
    draw = random.Random(1)
    state = game.new_initial_state()
    for _ in range(60):
        following = state.clone()
        if following.is_chance_node():
            outcomes, weights = zip(*following.chance_outcomes(), strict=True)
            following.apply_action(draw.choices(outcomes, weights)[0])
        else:
            following.apply_action(draw.choice(following.legal_actions()))
        if following.is_terminal():
            break
        state = following
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(1000):
            state.clone()
        done += 1000
    return done / (time.perf_counter() - start)
