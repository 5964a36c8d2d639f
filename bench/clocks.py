"""Whether the clock is just on a loaded machine: bots that answer shortly before their limit, with the cores oversubscribed.

`python -m bench.clocks` prints the figures alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.matches import ENVIRONMENT
from bench.report import Report
from referee.live.matches.play import Command, MatchReport, play_match
from referee.live.matches.server import RefereeServer
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.registry import find, shipped_board

DECISIONS = 2000
BUDGET_SECONDS = 0.2
MARGINS_MS = (10, 30)
"""How long before its limit the bot in each seat answers."""
MATCHES_AT_ONCE = 6
OVERSUBSCRIBED = 2
"""How many processes that never rest there are for each core."""
TIMER_SECONDS = 65.0
"""How long the sand timer of Valparaíso's expert game runs, with its countdown (V2.8)."""
MAX_SECONDS = 600
"""When the burners end whatever happens."""


@dataclass(frozen=True)
class Clocks:
    """What a measurement has found."""

    decisions: int
    """How many decisions stayed in time by the bot's own clock."""
    false_losses: int
    """How many of them the referee called late."""
    own_seconds: float
    """What they took by the bots' own clocks."""
    charged_seconds: float
    """What the referee charged for them."""
    lag_share: float
    """For how much of the time the referee was late."""
    timer_seconds: float
    """How long the sand timer ran, by the clock of the bot that started it."""

    @property
    def share(self) -> float:
        """How much of the time that was truly used was charged."""
        return self.charged_seconds / self.own_seconds


@contextmanager
def burners() -> Iterator[None]:
    """Keep every core twice busy."""
    program = f"import time\nend = time.monotonic() + {MAX_SECONDS}\nwhile time.monotonic() < end: pass"
    count = OVERSUBSCRIBED * (os.cpu_count() or 1)
    started = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in started:
            burner.kill()
            burner.wait()


async def _play(server: RefereeServer, number: int, record: Path) -> MatchReport:
    game = find("cargo_noir")
    seats = len(MARGINS_MS)
    plan = MatchPlan(
        game,
        game.setup(seats, {}, shipped_board(game)),
        f"clocks{number}",
        number,
        ["brink"] * seats,
        TimeControl(0, BUDGET_SECONDS, BUDGET_SECONDS),
    )
    players = [
        Command([sys.executable, "-m", "bench.agent", "brink", str(margin)], ENVIRONMENT, join_seconds=60)
        for margin in MARGINS_MS
    ]
    return await play_match(plan, players, server=server, record=record)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that stayed in time by the bot's own clock."""

    own_seconds: float
    charged_seconds: float
    is_late: bool
    """Whether the referee called it late."""


def compare(logs: Mapping[int, str], lines: Sequence[Mapping[str, Any]]) -> list[Decided]:
    """Compare what bots said that they took, by seat, with the lines of the record."""
    found = []
    for seat, log in logs.items():
        ended = [line for line in lines if line.get("seat") == seat and "ms" in line]
        told = {int(words[1]): words for words in map(str.split, log.splitlines()) if words[:1] == ["took"]}
        for number, line in enumerate(ended, start=1):
            if number in told:
                own, budget = float(told[number][2]), float(told[number][3])
                if own <= budget:
                    found.append(Decided(own, line["ms"] / 1000, line.get("by") != "agent"))
    return found


async def _play_with_timer(server: RefereeServer) -> float:
    """Play one round of the expert game; return how long the sand timer ran."""
    game = find("valparaiso")
    setup = game.setup(2, {"expert_timer": True, "max_rounds": 1}, shipped_board(game))
    plan = MatchPlan(game, setup, "timer", 1, ["first", "dawdler"], TimeControl(600, 0, 600))
    players = [Command([sys.executable, "-m", "bench.agent", word], ENVIRONMENT, join_seconds=60) for word in plan.bots]
    report = await play_match(plan, players, server=server)
    return float(next(line for line in report.logs[0].splitlines() if line.startswith("window")).split()[1])


async def _measure(folder: Path) -> Clocks:
    found: list[Decided] = []
    wall = lag = 0.0
    number = 0
    async with RefereeServer() as server:
        timer = asyncio.create_task(_play_with_timer(server))
        while len(found) < DECISIONS:
            records = [folder / f"{number + offset}.jsonl" for offset in range(MATCHES_AT_ONCE)]
            reports = await asyncio.gather(
                *(_play(server, number + offset, record) for offset, record in enumerate(records))
            )
            number += MATCHES_AT_ONCE
            for report, record in zip(reports, records, strict=True):
                found += compare(report.logs, [json.loads(line) for line in record.read_bytes().splitlines()])
                wall += sum(seat.wall_seconds for seat in report.result.seats)
                lag += sum(seat.lag_seconds for seat in report.result.seats)
        timer_seconds = await timer
    in_time = [one for one in found if not one.is_late]
    return Clocks(
        decisions=len(found),
        false_losses=len(found) - len(in_time),
        own_seconds=sum(one.own_seconds for one in in_time),
        charged_seconds=sum(one.charged_seconds for one in in_time),
        lag_share=lag / wall,
        timer_seconds=timer_seconds,
    )


def measure() -> Clocks:
    """Play matches of bots on the brink until there are `DECISIONS`, with the cores oversubscribed."""
    with tempfile.TemporaryDirectory() as folder, burners():
        return asyncio.run(_measure(Path(folder)))


def add_rows(report: Report) -> None:
    """Measure whether bots that answer just before their limit are timed rightly on a loaded machine."""
    report.section("Clocks, cores twice oversubscribed")
    found = measure()
    charged, used = f"{found.charged_seconds:.1f} s", f"used {found.own_seconds:.1f} s"
    report.ratio("time charged", charged, used, found.share, 0.97, most=1.03)
    share = found.false_losses / found.decisions
    report.ratio("called late though in time", f"{found.false_losses}", f"of {found.decisions}", share, most=0)
    timer, of = f"{found.timer_seconds:.2f} s", f"of {TIMER_SECONDS:g} s"
    report.ratio("a sand timer", timer, of, found.timer_seconds / TIMER_SECONDS, 0.985, most=1.015)


def main() -> None:
    """Measure, and print the figures."""
    clocks = measure()
    print(f"decisions that stayed in time by {' and '.join(map(str, MARGINS_MS))} ms: {clocks.decisions}")
    print(f"called late all the same: {clocks.false_losses} (aim 0)")
    print(f"charged, as a share of what was used: {clocks.share:.3f} (aim 0.97 to 1.03)")
    print(f"the sand timer of {TIMER_SECONDS:g} s ran {clocks.timer_seconds:.2f} s (aim: within 1 s)")
    print(f"the referee was late for {clocks.lag_share:.1%} of the time")


if __name__ == "__main__":
    main()
