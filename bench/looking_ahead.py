"""The processor time of clones, observations and samples, the main operations of a search, at every table of every game.

`python -m bench.looking_ahead FOLDER...` measures the rules of each folder in turn, in processes of their own, and prints the
median of the rounds, folder beside folder: `build/before build/compiled`, say, two copies that `make compiled-copy` has made.
Without a folder it measures the rules of the folder in which it runs, once, and prints JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

from referee.game import Game, State
from referee.kit.chance import FastChance
from referee.registry import games, shipped_board

ROUNDS = 5
MATCHES, STRIDE = 4, 7
"""Positions are every seventh of four random matches, whatever the phase."""
REPEATS = 3
"""Each of them is measured so often in a round."""

Times = dict[str, list[float]]
"""By game and seats: the microseconds of a clone, an observation, a sample."""


def positions(game: Game, seats: int) -> list[State]:
    """Return positions of random matches, each with a seat to act."""
    setup = game.setup(seats, {}, shipped_board(game))
    found, decisions = [], 0
    for seed in range(MATCHES):
        chance = FastChance(seed)
        state = game.start(setup, chance)
        while not state.is_over():
            decisions += 1
            if decisions % STRIDE == 0:
                found.append(state.clone())
            seat = state.seats_to_act()[0]
            legal = state.legal_actions(seat)
            state.apply(seat, legal[chance.below(len(legal))], chance)
    return found


def measure(game: Game, seats: int) -> list[float]:
    """Return the mean microseconds of a clone, an observation and a sample."""
    states = positions(game, seats)
    setup, chance = states[0].setup, FastChance(1)
    viewers = [state.seats_to_act()[0] for state in states]
    seen = [state.observation(viewer) for state, viewer in zip(states, viewers, strict=True)]
    return [
        _each(lambda at: states[at].clone(), len(states)),
        _each(lambda at: states[at].observation(viewers[at]), len(states)),
        _each(lambda at: game.sample(setup, seen[at], chance), len(states)),
    ]


def _each(work: Callable[[int], object], count: int) -> float:
    start = time.process_time()
    for _ in range(REPEATS):
        for at in range(count):
            work(at)
    return (time.process_time() - start) / (REPEATS * count) * 1e6


def main(folders: list[str]) -> None:
    """Measure here, or in each folder in turn."""
    if not folders:
        tables = [(game, seats) for game in games().values() for seats in game.seat_counts]
        print(json.dumps({f"{game.name} {seats}": measure(game, seats) for game, seats in tables}))
        return
    command = [sys.executable, "-m", __name__ if __name__ != "__main__" else "bench.looking_ahead"]
    rounds: list[list[Times]] = []
    for _ in range(ROUNDS):
        rounds.append(
            [
                json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout)
                for folder in folders
            ]
        )
    print(f"{'':14}" + "".join(f"{what:>24}" for what in ("clone", "observation", "sample")))
    for table in rounds[0][0]:
        cells = [
            " ".join(f"{median(one[at][table][what] for one in rounds):7.1f}" for at in range(len(folders)))
            for what in range(3)
        ]
        print(f"{table:14}" + "".join(f"{cell:>24}" for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:])
