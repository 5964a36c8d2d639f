"""What it costs that no two matches of one block are played at the same time: a ladder as it is run, but in a time of its own.

`python -m bench.blocks [COMMIT]` runs ladders of 4, 20 and 200 bots on 8 workers, of this code and of an older commit, in turn. A match
takes one to two units of time, by chance; nobody waits for it. So what is compared is who has something to play, and not the machine.
Processor time is that of the ladder itself for each match: to schedule it, and to count it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.matches import CHECKOUT, ENVIRONMENT
from bench.running import checkout
from ladder.facts.store import Store
from ladder.intake.submission import Inspector
from ladder.model.condition import agree
from ladder.model.match import Match
from ladder.operation.home import Home
from ladder.play import running
from ladder.play.pool import End, Finished
from referee.match.clock import TimeControl
from referee.match.result import Outcome, Result, SeatResult
from referee.registry import find

BEFORE = "4120eef"
"""The last commit that played matches of one block at the same time."""
BOTS = (4, 20, 200)
WORKERS = 8
MATCHES = 400
ROUNDS = 3
GAME = "cargo_noir"
CLOCK = "60+0.5/10"


class Hall:
    """Stands where the pool of workers is. Time goes when all workers are busy, or nothing more can begin."""

    def __init__(self, seed: int) -> None:
        self.now = 0.0
        self.ends: list[float] = []
        self._chance = random.Random(seed)
        self._numbers = count()

    def __call__(self, *_: object) -> Hall:
        """Return this hall, whatever pool is asked for."""
        return self

    def __enter__(self) -> Hall:
        return self

    def __exit__(self, *_: object) -> None: ...

    def monotonic(self) -> float:
        """Return the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time go."""
        self.now += seconds

    def play(self, matches: Iterable[Match | None]) -> Iterator[tuple[Match, End]]:
        """Play matches; see `ladder.play.pool.Pool.play`."""
        source = iter(matches)
        playing: list[tuple[float, int, Match]] = []
        while True:
            while len(playing) < WORKERS and (match := next(source, None)) is not None:
                heappush(playing, (self.now + 1 + self._chance.random(), next(self._numbers), match))
            if not playing:
                return
            self.now, _, match = heappop(playing)
            self.ends.append(self.now)
            yield match, Finished(_result(match, self._chance), match.match_id)


def _result(match: Match, chance: random.Random) -> Result:
    ranks = chance.sample(range(1, 1 + len(match.seats)), len(match.seats))
    seats = tuple(
        SeatResult(
            seat=seat,
            bot=version.label,
            rank=ranks[seat],
            score=0,
            outcome=Outcome.PLAYED,
            decisions=20,
            think_seconds=0.001,
            wall_seconds=0.001,
            lag_seconds=0.0,
            detail="",
        )
        for seat, version in enumerate(match.seats)
    )
    return Result(seats=seats, decisions=100, digest=match.match_id, seed=match.seed)


class _Nothing:
    """Stands where records are put into the archive, looked at and sealed: there are none."""

    def __call__(self, *_: object) -> tuple[()]:
        return ()


def run_one(bots: int, seed: int) -> dict[str, float]:
    """Run a ladder; return matches for a unit of time while more was to be scheduled, and to the end, and processor time."""
    hall, nothing = Hall(seed), _Nothing()
    replaced: dict[str, Any] = {"Pool": hall, "time": hall}
    for name in ("archive_match", "seal_block", "seal_blocks"):
        replaced[name] = nothing
    for name, stand_in in replaced.items():
        setattr(running, name, stand_in)
    Inspector.check = lambda *_: None  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "ladder.db", create=True) as store:
        condition = store.roster.condition(GAME, {}, CLOCK)
        for number in range(bots):
            version, _ = store.roster.add_version(f"bot{number}", f"author{number}", f"hash{number}", ["./bot"], [GAME])
            store.admission.qualify(version.id, condition, passed=True, reason="")
        plan = running.RunPlan([agree(find(GAME), {}, None)], MATCHES, WORKERS, TimeControl.parse(CLOCK))
        start = process_time()
        for _ in running.run(Home(Path(folder)), store, plan):
            pass
        took = process_time() - start
    middle = len(hall.ends) * 9 // 10 - 1
    return {
        "going on": middle / hall.ends[middle],
        "to the end": len(hall.ends) / hall.ends[-1],
        "ms a match": took / len(hall.ends) * 1e3,
    }


def _run_in(root: Path, bots: int, seed: int) -> dict[str, float]:
    """Run a ladder with the code of a checkout."""
    command = [sys.executable, "-P", str(CHECKOUT / "bench" / "blocks.py"), "--one", str(bots), str(seed)]
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(root), str(root / "agents")])}
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(run_one(int(sys.argv[2]), int(sys.argv[3]))))
        return
    commit = sys.argv[1] if len(sys.argv) > 1 else BEFORE
    table = Table("bots", "what", commit, "now", "now for one before")
    with checkout(commit) as older:
        for bots in BOTS:
            pairs = [(_run_in(older, bots, seed), _run_in(CHECKOUT, bots, seed)) for seed in range(ROUNDS)]
            for what in pairs[0][0]:
                before, now = (median(run[what] for run in runs) for runs in zip(*pairs, strict=True))
                ratio = median(new[what] / old[what] for old, new in pairs)
                table.add_row(f"{bots}", what, f"{before:.2f}", f"{now:.2f}", f"{ratio:.3f}")
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
