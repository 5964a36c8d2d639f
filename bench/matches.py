"""The speed of verifying a record, and the code that other measurements share."""

from __future__ import annotations

import asyncio
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from house_bots.random_bot import RandomBot

from bench.report import Report
from referee.game import Action, Game, Observation
from referee.live.matches.play import House, play_match
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.records.verify import Replay, verify
from referee.registry import find, games, shipped_board

ROUNDS = 5
SECONDS = 0.5
ROOT = Path(__file__).resolve().parent.parent
"""The folder with the measured sources."""
CHECKOUT = ROOT.parent.parent if ROOT.parts[-2:] == ("build", "compiled") else ROOT
"""The checkout, of which the measured sources may be a copy with compiled rules."""
BOT = f"""\
import random
import sys
sys.path.insert(0, {str(ROOT)!r})
from dogana.sdk import play
play(lambda decision: random.randrange(decision.action_count))
"""
"""A bot that plays at random and imports these sources instead of the installed package, even in a box."""
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "agents")]),
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
}


class Question(NamedTuple):
    """A decision without a clock."""

    observation: Observation
    actions: Sequence[Action]
    budget: float = math.inf
    bank: float = math.inf


def plan_for(game: Game, seats: int, seed: int) -> MatchPlan:
    """Return the plan of a match with the given number of seats."""
    setup = game.setup(seats, {}, shipped_board(game))
    return MatchPlan(game, setup, f"bench{seed}", seed, ["bench"] * seats, TimeControl(600, 1, 60))


def cpu_of_children() -> float:
    """Return the processor time, in seconds, of all processes below this one that have ended and been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _rate(work: Callable[[], object]) -> float:
    """Return the rate at which a function can be called, per second of this process's processor time."""
    done = 0
    start = time.process_time()
    while time.process_time() - start < SECONDS:
        work()
        done += 1
    return done / (time.process_time() - start)


def add_rows(report: Report) -> None:
    """Compare verifying a record with playing the same match in this process, without a wire or a record."""
    report.section("Matches")
    with tempfile.TemporaryDirectory() as folder:
        for game in games().values():
            record, players = Path(folder) / f"{game.name}.jsonl", [House(RandomBot)] * game.seat_counts[-1]
            asyncio.run(play_match(plan_for(game, len(players), 1), players, record=record))
            _add_verifying(report, game, record)


def _add_verifying(report: Report, game: Game, record: Path) -> None:
    plan = Replay(record, find).plan
    players = [House(RandomBot)] * plan.setup.seats
    rounds = [
        (_rate(lambda: verify(record, find)), _rate(lambda: asyncio.run(play_match(plan, players))))
        for _ in range(report.rounds(ROUNDS))
    ]
    verified, played = (median(rates) for rates in zip(*rounds, strict=True))
    ratio = median(one / other for one, other in rounds)
    beside = f"playing it in process {played:.1f}"
    report.ratio(f"{game.name}: verifying a record", f"{verified:.1f} /s of CPU", beside, ratio, 0.5)
