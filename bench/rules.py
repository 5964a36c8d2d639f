"""How fast the rules are, beside games of OpenSpiel (C++, driven from Python), in the same process, by its processor time.

`python -m bench.rules` measures the rules of the folder in which it runs: in a checkout pure ones, in `build/compiled` those that
`make compiled-copy` made. `make bench` measures both.
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
from referee.game import Game, State
from referee.kit.chance import FastChance
from referee.playout import random_playout
from referee.registry import games, rules_are_compiled, shipped_board

SECONDS = 0.3
ROUNDS = 3
COPY = CHECKOUT / "build" / "compiled"
NO_SPIEL = "pip install 'dogana-arena[bench]'"

PEERS = ("backgammon", "chess", "hearts", "skat", "gin_rummy")
"""Well-known games of OpenSpiel, fast and slow ones: beside a single peer any figure can be made to look good."""

PLAYOUTS_PEER, PLAYOUTS_AIM = "gin_rummy", 5.0
CLONES_PEER, CLONES_AIM = "backgammon", 2.0
"""The peers that compiled rules are to outdo, and how many times."""

Rates = dict[str, dict[str, float]]
"""What is done per second of processor time, by what it is and by whose game it is."""
PLAYOUTS, CLONES, LISTS = "random playouts, decisions/s", "clones/s", "legal lists/s"
BY_COPY = "random playouts from a copy, decisions/s"


def playouts(game: Game, seconds: float = SECONDS, *, by_copy: bool = False) -> float:
    """Return the decisions per second of uniformly random play, legal lists included.

    Args:
        game: the game.
        seconds: for how long it is played.
        by_copy: whether each playout begins with a copy of one start; else it makes its own.
    """
    setup = game.setup(game.seat_counts.stop - 1, {}, shipped_board(game))
    chance = FastChance(1)
    decisions, first = 0, game.start(setup, chance)
    start = time.process_time()
    while time.process_time() - start < seconds:
        decisions += random_playout(first.clone() if by_copy else game.start(setup, chance), chance)
    return decisions / (time.process_time() - start)


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
    start = time.process_time()
    while time.process_time() - start < seconds:
        for legal_actions, seat in asked:
            legal_actions(seat)
        done += len(asked)
    return done / (time.process_time() - start)


def clones(game: Game, seconds: float = SECONDS) -> float:
    """Return the clones per second of a state from the middle of a match."""
    all_states = states(game)
    state = all_states[len(all_states) // 2]
    done = 0
    start = time.process_time()
    while time.process_time() - start < seconds:
        for _ in range(1000):
            state.clone()
        done += 1000
    return done / (time.process_time() - start)


def spiel_playouts(game: Any, seconds: float = SECONDS) -> float:
    """Return the decisions per second of uniformly random play of an OpenSpiel game; chance nodes are played, not counted."""
    draw = random.Random(1)
    decisions = 0
    start = time.process_time()
    while time.process_time() - start < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(draw.choices(outcomes, weights)[0])
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(draw.random() * len(legal))])
                decisions += 1
    return decisions / (time.process_time() - start)


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
    start = time.process_time()
    while time.process_time() - start < seconds:
        for _ in range(1000):
            state.clone()
        done += 1000
    return done / (time.process_time() - start)


def peers() -> dict[str, Any]:
    """Return the games of OpenSpiel; none if that is not installed."""
    try:
        import pyspiel
    except ImportError:
        return {}
    return {name: pyspiel.load_game(name) for name in PEERS}


def measure(rounds: int = ROUNDS, seconds: float = SECONDS) -> list[Rates]:
    """Measure every game and every peer in turn, so many times."""
    mine, theirs = games(), peers()
    return [
        {
            PLAYOUTS: {name: playouts(game, seconds) for name, game in mine.items()}
            | {name: spiel_playouts(game, seconds) for name, game in theirs.items()},
            CLONES: {name: clones(game, seconds) for name, game in mine.items()}
            | {name: spiel_clones(game, seconds) for name, game in theirs.items()},
            BY_COPY: {name: playouts(game, seconds, by_copy=True) for name, game in mine.items()},
            LISTS: {name: legal_lists(game, seconds) for name, game in mine.items()},
        }
        for _ in range(rounds)
    ]


def measure_in(folder: Path, rounds: int = ROUNDS) -> list[Rates]:
    """Measure the rules in a folder, in a process of their own.

    Raises:
        subprocess.CalledProcessError: if that fails.
    """
    command = [sys.executable, "-m", "bench.rules", "--json", str(rounds)]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return list(json.loads(ended.stdout))


@cache
def compile_copy() -> str:
    """Compile the rules in a copy of the sources, as `make compiled` does, once, unless this runs there; return why not, or nothing."""
    if rules_are_compiled():
        return ""
    make = ["make", "compiled-copy"]
    built = subprocess.run(make, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return "" if built.returncode == 0 else "`make compiled-copy` fails (it needs gcc and Python.h: python3-dev)"


def rate(rounds: list[Rates], what: str, name: str) -> float:
    """Return the median of a rate."""
    return median(one[what][name] for one in rounds)


def ratio(rounds: list[Rates], what: str, name: str, over: Callable[[dict[str, float]], float]) -> float:
    """Return the median of the ratios round by round of a game's rate and another one."""
    return median(one[what][name] / over(one[what]) for one in rounds)


def add_rows(report: Report) -> None:
    """Measure compiled and pure rules beside OpenSpiel; only compiled ones have aims."""
    report.section("Rules, largest table of each game")
    if not peers():
        report.absent("rules beside OpenSpiel", NO_SPIEL, PLAYOUTS_AIM)
    if why_not := compile_copy():
        for what, peer, aim in ((PLAYOUTS, PLAYOUTS_PEER, PLAYOUTS_AIM), (CLONES, CLONES_PEER, CLONES_AIM)):
            report.absent(f"compiled rules: {what}, beside {peer}", why_not, aim)
    else:
        _add_rows_of(report, "compiled", measure_in(COPY))
    _add_rows_of(report, "pure", measure_in(CHECKOUT))


def _add_rows_of(report: Report, kind: str, rounds: list[Rates]) -> None:
    compiled = kind == "compiled"
    for game in games():
        for what, peer, aim in ((PLAYOUTS, PLAYOUTS_PEER, PLAYOUTS_AIM), (CLONES, CLONES_PEER, CLONES_AIM)):
            ours, title = f"{rate(rounds, what, game):,.0f}", f"{game}, {kind}: {what}"
            if peer not in rounds[0][what]:
                report.figure(title, ours)
                continue
            other = ratio(rounds, what, game, lambda rates: rates[peer])  # noqa: B023
            beside = f"{peer} {rate(rounds, what, peer):,.0f}"
            report.ratio(title, ours, beside, other, aim if compiled else None)
            usual = ratio(rounds, what, game, lambda rates: median(rates[name] for name in PEERS))
            report.ratio(f"{title}, beside all", ours, f"the median of {len(PEERS)} games", usual)
        report.figure(f"{game}, {kind}: {LISTS}", f"{rate(rounds, LISTS, game):,.0f}")


def main() -> None:
    """Print playouts and clones of each game, and how many times the peer's they are; as JSON for `make bench`."""
    if sys.argv[1:2] == ["--json"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    rounds = measure()
    kind = "compiled" if rules_are_compiled() else "pure"
    if not peers():
        sys.exit(f"OpenSpiel is not installed: {NO_SPIEL}")
    print(f"rules: {kind}; / s of processor time, at the largest table")
    for game in games():
        print(
            f"{game:11} decisions {rate(rounds, PLAYOUTS, game):9,.0f}"
            f" = {ratio(rounds, PLAYOUTS, game, lambda rates: rates[PLAYOUTS_PEER]):4.1f} x {PLAYOUTS_PEER},"
            f" clones {rate(rounds, CLONES, game):9,.0f}"
            f" = {ratio(rounds, CLONES, game, lambda rates: rates[CLONES_PEER]):4.1f} x {CLONES_PEER}"
        )


if __name__ == "__main__":
    main()
