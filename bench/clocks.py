"""Test the clock on a loaded machine, where bots answer shortly before their limit while the cores are oversubscribed."""

from __future__ import annotations

import asyncio
import json
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
from referee.sandbox.system import processors

DECISIONS = 2000
BUDGET_SECONDS = 0.2
MARGINS_MS = (10, 30)
"""For each seat, the time between its bot's answer and the limit, in milliseconds."""
MATCHES_AT_ONCE = 6
OVERSUBSCRIBED = 2
"""The number of processes per core that never rest."""
MAX_SECONDS = 600
"""The time after which the burners end in any case."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that was answered in time by the bot's own clock."""

    own_seconds: float
    charged_seconds: float
    is_late: bool
    """True if the referee judged it late."""


@contextmanager
def burners() -> Iterator[None]:
    """Keep every core busy with `OVERSUBSCRIBED` processes."""
    program = f"import time\nend = time.monotonic() + {MAX_SECONDS}\nwhile time.monotonic() < end: pass"
    count = OVERSUBSCRIBED * processors()
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
    setup = game.setup(seats, {}, shipped_board(game))
    control = TimeControl(0, BUDGET_SECONDS, BUDGET_SECONDS)
    plan = MatchPlan(game, setup, f"clocks{number}", number, ["brink"] * seats, control)
    players = [
        Command([sys.executable, "-m", "bench.agent", "brink", str(margin)], ENVIRONMENT, join_seconds=60)
        for margin in MARGINS_MS
    ]
    return await play_match(plan, players, server=server, record=record)


def compare(logs: Mapping[int, str], lines: Sequence[Mapping[str, Any]]) -> list[Decided]:
    """Return the decisions answered in time by the bots' own clocks, with their times from the logs and the record.

    The logs are given by seat.
    """
    found = []
    for seat, log in logs.items():
        ended = [line for line in lines if line.get("seat") == seat and "ms" in line]
        # Each seat's decisions are numbered separately, so the n-th line of a seat in the record is its decision n.
        printed = {int(words[1]): words for words in map(str.split, log.splitlines()) if words[:1] == ["took"]}
        for number, line in enumerate(ended, start=1):
            if number in printed:
                own, budget = float(printed[number][2]), float(printed[number][3])
                if own <= budget:  # otherwise the bot was late by its own clock, too
                    found.append(Decided(own, line["ms"] / 1000, line.get("by") != "agent"))
    return found


async def _measure(folder: Path, decisions: int) -> list[Decided]:
    found: list[Decided] = []
    number = 0
    async with RefereeServer() as server:
        while len(found) < decisions:
            records = [folder / f"{number + offset}.jsonl" for offset in range(MATCHES_AT_ONCE)]
            playing = (_play(server, number + offset, record) for offset, record in enumerate(records))
            reports = await asyncio.gather(*playing)
            number += MATCHES_AT_ONCE
            for report, record in zip(reports, records, strict=True):
                found += compare(report.logs, [json.loads(line) for line in record.read_bytes().splitlines()])
    return found


def add_rows(report: Report) -> None:
    """Test the clock with bots that answer just before their limit on a loaded machine."""
    report.section("Clocks, cores twice oversubscribed")
    with tempfile.TemporaryDirectory() as folder, burners():
        found = asyncio.run(_measure(Path(folder), report.rounds(DECISIONS)))
    in_time = [one for one in found if not one.is_late]
    charged, used = sum(one.charged_seconds for one in in_time), sum(one.own_seconds for one in in_time)
    report.ratio("time charged", f"{charged:.1f} s", f"used {used:.1f} s", charged / used, 0.97, most=1.03)
    late = len(found) - len(in_time)
    report.ratio("called late though in time", f"{late}", f"of {len(found)}", late / len(found), most=0)
