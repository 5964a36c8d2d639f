"""The speed of the rules, compared with that of OpenSpiel's games (C++, driven from Python).

The speed is measured in the processor time of one process.

`python -m bench.rules ROUNDS` measures the rules of the folder in which it runs, and prints JSON: `make bench` calls it in the
checkout, where they are pure, and in build/compiled, where `make compiled-copy` has compiled them.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from bench.matches import CHECKOUT
from bench.report import Report
from referee.game import Game
from referee.kit.chance import FastChance
from referee.playout import random_playout
from referee.registry import games, rules_are_compiled, shipped_board

SECONDS = 0.3
ROUNDS = 3
COPY = CHECKOUT / "build" / "compiled"
NO_SPIEL = "pip install 'dogana-arena[bench]'"

PEERS = ("backgammon", "chess", "hearts", "skat", "gin_rummy")
"""Well-known games of OpenSpiel, both fast and slow, because any figure can be made to look good beside a single peer."""

PLAYOUTS, CLONES, OBSERVATIONS, SAMPLES = "random playouts, decisions/s", "clones/s", "observations/s", "samples/s"
AIMS = ((PLAYOUTS, "gin_rummy", 5.0), (CLONES, "backgammon", 2.0))
"""For each operation, the peer that compiled rules should outdo, and by what factor."""

Rates = dict[str, dict[str, float]]
"""Rates per second of processor time, by operation and game."""


def _per_second(work: Callable[[], int]) -> float:
    """Return the repetitions per second of processor time; each call of `work` returns its number of repetitions."""
    done = 0
    start = time.process_time()
    while time.process_time() - start < SECONDS:
        done += work()
    return done / (time.process_time() - start)


def playouts(game: Game) -> float:
    """Return the decisions per second in uniformly random play at the largest table, including the making of legal lists."""
    setup = game.setup(game.seat_counts.stop - 1, {}, shipped_board(game))
    chance = FastChance(1)
    return _per_second(lambda: random_playout(game.start(setup, chance), chance))


def looking_ahead(game: Game) -> dict[str, float]:
    """Return the rates of the most frequent operations of a search, at a state from the middle of a match at the largest table."""
    setup = game.setup(game.seat_counts.stop - 1, {}, shipped_board(game))
    chance = FastChance(1)
    decisions = random_playout(game.start(setup, chance), chance)
    state = game.start(setup, chance)
    for _ in range(decisions // 2):
        seat = state.seats_to_act()[0]
        legal = state.legal_actions(seat)
        state.apply(seat, legal[chance.below(len(legal))], chance)
    viewer = state.seats_to_act()[0]
    seen = state.observation(viewer)
    return {
        CLONES: _each_second(state.clone),
        OBSERVATIONS: _each_second(lambda: state.observation(viewer)),
        SAMPLES: _each_second(lambda: game.sample(setup, seen, chance)),
    }


def _each_second(work: Callable[[], object]) -> float:
    # The clock is read once per thousand calls, because reading it takes noticeable time compared with a clone (a few
    # microseconds).
    def thousand() -> int:
        for _ in range(1000):
            work()
        return 1000

    return _per_second(thousand)


def spiel_playouts(game: Any) -> float:
    """Return the decisions per second in uniformly random play of an OpenSpiel game; chance nodes are played but not counted."""
    draw = random.Random(1)

    def play() -> int:
        decisions, state = 0, game.new_initial_state()
        while not state.is_terminal():
            decisions += not state.is_chance_node()
            _play_at_random(state, draw)
        return decisions

    return _per_second(play)


def _play_at_random(state: Any, draw: random.Random) -> None:
    if state.is_chance_node():
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(draw.choices(outcomes, weights)[0])
    else:
        legal = state.legal_actions()
        state.apply_action(legal[int(draw.random() * len(legal))])


def spiel_clones(game: Any) -> float:
    """Return the rate per second at which a state of an OpenSpiel game can be cloned.

    It is the state after 60 random actions, or the last state before the end if the game ends earlier.
    """
    draw = random.Random(1)
    state = game.new_initial_state()
    for _ in range(60):
        following = state.clone()
        _play_at_random(following, draw)
        if following.is_terminal():
            break
        state = following
    return _each_second(state.clone)


def peers() -> dict[str, Any]:
    """Return the OpenSpiel games for the comparison, by name; none if OpenSpiel is not installed."""
    try:
        import pyspiel
    except ImportError:
        return {}
    return {name: pyspiel.load_game(name) for name in PEERS}


def measure(rounds: int = ROUNDS) -> list[Rates]:
    """Measure every game and every peer in turn, round by round."""
    theirs = peers()
    found: list[Rates] = []
    for _ in range(rounds):
        rates: Rates = {what: {} for what in (PLAYOUTS, CLONES, OBSERVATIONS, SAMPLES)}
        for name, game in games().items():
            for what, per_second in {PLAYOUTS: playouts(game), **looking_ahead(game)}.items():
                rates[what][name] = per_second
        for name, game in theirs.items():
            rates[PLAYOUTS][name], rates[CLONES][name] = spiel_playouts(game), spiel_clones(game)
        found.append(rates)
    return found


def measure_in(folder: Path, rounds: int = ROUNDS) -> list[Rates]:
    """Measure the rules in a folder, in a separate process.

    Raises:
        subprocess.CalledProcessError: if the process fails.
    """
    command = [sys.executable, "-m", "bench.rules", str(rounds)]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return list(json.loads(ended.stdout))


@cache
def compile_copy() -> str:
    """Compile the rules in a copy of the sources once, unless this process runs there; return the problem, or an empty text."""
    if rules_are_compiled():
        return ""
    make = ["make", "compiled-copy"]
    built = subprocess.run(make, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return "" if built.returncode == 0 else "`make compiled-copy` fails (it needs gcc and Python.h: python3-dev)"


def rate(rounds: list[Rates], what: str, name: str) -> float:
    """Return the median of a rate over the rounds."""
    return median(one[what][name] for one in rounds)


def add_rows(report: Report) -> None:
    """Compare compiled and pure rules with OpenSpiel; only compiled ones have aims."""
    report.section("Rules, largest table of each game")
    if why_not := compile_copy():
        for what, peer, aim in AIMS:
            report.absent(f"compiled rules: {what}, beside {peer}", why_not, aim)
    else:
        rounds = measure_in(COPY, report.rounds(ROUNDS))
        for game in games():
            for what, peer, aim in AIMS:
                _add_row(report, f"{game}, compiled: {what}", rounds, (what, game), (peer,), aim)
            _add_row(report, f"{game}, compiled: {PLAYOUTS}, beside all", rounds, (PLAYOUTS, game), PEERS)
            _add_looking_ahead(report, f"{game}, compiled", rounds, game)
    rounds = measure_in(CHECKOUT, report.rounds(ROUNDS))
    for game in games():
        _add_row(report, f"{game}, pure: {PLAYOUTS}, beside all", rounds, (PLAYOUTS, game), PEERS)
        _add_looking_ahead(report, f"{game}, pure", rounds, game)


def _add_looking_ahead(report: Report, title: str, rounds: list[Rates], game: str) -> None:
    for what in (OBSERVATIONS, SAMPLES):
        report.figure(f"{title}: {what}", f"{rate(rounds, what, game):,.0f}")


def _add_row(
    report: Report,
    title: str,
    rounds: list[Rates],
    measured: tuple[str, str],
    beside: tuple[str, ...],
    aim: float | None = None,
) -> None:
    """Add a game's rate, compared with a peer or the median of several; the ratio is the median over the rounds."""
    what, game = measured
    ours = f"{rate(rounds, what, game):,.0f}"
    if beside[0] not in rounds[0][what]:
        report.absent(title, f"{ours}, but without a peer: {NO_SPIEL}", aim)
        return
    # Ratios are computed within rounds, because both sides of a round were measured at about the same time.
    usual = [median(one[what][peer] for peer in beside) for one in rounds]
    ratio = median(one[what][game] / other for one, other in zip(rounds, usual, strict=True))
    name = beside[0] if len(beside) == 1 else f"the median of {len(beside)} games"
    report.ratio(title, ours, f"{name} {median(usual):,.0f}", ratio, aim)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
