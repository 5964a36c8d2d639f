"""What a bot that floods its output costs the referee and its rival.

Matches with and without the flood are played in turn. The bot that floods thinks 200 ms for each answer; its rival answers at once.
"""

from __future__ import annotations

import asyncio
import sys
import time
from statistics import median
from typing import NamedTuple

from bench.matches import ENVIRONMENT
from bench.report import Report
from referee.live.matches.play import Command, play_match
from referee.match.clock import TimeControl
from referee.match.plan import MatchPlan
from referee.registry import find, shipped_board

ROUNDS = 9
MOST_CPU_MS, MOST_CHARGE_MS = 1.0, 2.0
FLOOD = """
import os, sys, threading, time
from dogana.sdk import play
def flood():
    while True:
        os.write(1, b"\\n" * 65536)
if sys.argv[1] == "flood":
    threading.Thread(target=flood, daemon=True).start()
play(lambda decision: time.sleep(0.2) or 0)
"""
PLAIN = "from dogana.sdk import play\nplay(lambda decision: 0)\n"


class Cost(NamedTuple):
    """What a match has cost; all in seconds."""

    cpu: float
    """Processor time of this process, with all its threads."""
    charged: float
    """What the rival was charged."""
    took: float


def play_once(kind: str) -> Cost:
    """Play a match, with a `flood` or `quiet`."""
    game = find("cargo_noir")
    setup = game.setup(2, {}, shipped_board(game))
    plan = MatchPlan(game, setup, "flood", 5, ["flood", "rival"], TimeControl.parse("60+0.5/10"))
    programs = ([FLOOD, kind], [PLAIN])
    players = [Command([sys.executable, "-c", *words], ENVIRONMENT, join_seconds=60) for words in programs]
    cpu, began = time.process_time(), time.monotonic()
    report = asyncio.run(play_match(plan, players))
    charged = report.result.seats[1].think_seconds
    return Cost(time.process_time() - cpu, charged, time.monotonic() - began)


def add_rows(report: Report) -> None:
    """Measure what a flood costs."""
    report.section("A bot that floods its output")
    play_once("quiet")  # imports what is imported once
    rounds = [(play_once("quiet"), play_once("flood")) for _ in range(report.rounds(ROUNDS))]
    cpu = median(1000 * (flood.cpu - quiet.cpu) / flood.took for quiet, flood in rounds)
    quiet_ms, flood_ms = (median(1000 * one[at].charged for one in rounds) for at in (0, 1))
    report.ratio("CPU of the referee", f"{cpu:.2f} ms a second more", "0 ms", cpu / MOST_CPU_MS, most=1)
    share = (flood_ms - quiet_ms) / MOST_CHARGE_MS
    report.ratio("what a rival is charged", f"{flood_ms:.1f} ms a match", f"{quiet_ms:.1f} ms", share, most=1)
