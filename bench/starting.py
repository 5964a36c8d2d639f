"""The cost of starting the command line, and of starting an agent until its first answer.

Every agent joins a scripted referee, answers one question and exits. The programs are started in turn, in one run.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import kits
from bench.ladder import make
from bench.matches import BOT, ENVIRONMENT, cpu_of_children
from bench.report import Report
from referee.live.matches.conversation import conversation
from referee.live.matches.play import Command
from referee.live.seats.command import GRACE_SECONDS
from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build

ROUNDS = 11


class Cost(NamedTuple):
    """The cost of starting a program, in seconds."""

    wall: float
    cpu: float
    """Processor time, including that of all processes below the program."""

    def __str__(self) -> str:
        return f"{self.wall * 1e3:.0f} ms, {self.cpu * 1e3:.0f} ms of CPU"


async def one_question(sandbox: Sandbox | None, argv: Sequence[str], folder: Path) -> Cost:
    """Let an agent answer one question; return the cost until its answer."""
    before, began = cpu_of_children(), time.perf_counter()
    async with conversation(Command(argv, ENVIRONMENT, folder, sandbox=sandbox)) as talk:
        await talk.hear(kits.WAIT_SECONDS)
        await talk.say(kits.WELCOME, kits.question(1))
        assert await talk.hear(kits.WAIT_SECONDS), talk.process.log.text()
        answered = time.perf_counter()
        await talk.say(kits.OVER)
        # The processor time of child processes is counted once they have ended and been waited for.
        await talk.process.stop(GRACE_SECONDS)
    return Cost(answered - began, cpu_of_children() - before)


def run(argv: Sequence[str]) -> Cost:
    """Run a command to completion; return its cost."""
    before, began = cpu_of_children(), time.perf_counter()
    subprocess.run(argv, env=ENVIRONMENT, capture_output=True, check=True)
    return Cost(time.perf_counter() - began, cpu_of_children() - before)


def in_turn(starts: Sequence[Callable[[], Cost]], rounds: int) -> list[Cost]:
    """Start the programs in turn; return the median cost of each."""
    taken = [[start() for start in starts] for _ in range(rounds)]
    return [Cost(*map(median, zip(*costs, strict=True))) for costs in zip(*taken, strict=True)]


def add_rows(report: Report) -> None:
    """Compare commands to a bare interpreter, and a confined Python agent to an unconfined Go agent."""
    with tempfile.TemporaryDirectory(prefix="starting-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # agents in a sandbox read its files
        report.section("Starting the command line")
        _add_commands(report, folder)
        report.section("Starting an agent, until it has answered its first question")
        _add_agents(report, folder)


def _add_commands(report: Report, folder: Path) -> None:
    make(folder, 1_000).close()
    python = [sys.executable, "-c", "pass"]
    commands = {
        "dogana --version": ["--version"],
        "dogana ladder top": ["ladder", "top", "cargo_noir", "--home", str(folder / "1000")],
    }
    starts = [[sys.executable, "-m", "ladder", *words] for words in commands.values()]
    bare, *taken = in_turn([partial(run, argv) for argv in (python, *starts)], report.rounds(ROUNDS))
    for what, cost in zip(commands, taken, strict=True):
        report.ratio(what, str(cost), f"a bare interpreter {bare}", cost.cpu / bare.cpu)


def _add_agents(report: Report, folder: Path) -> None:
    aims = ("a confined Python agent: time", "a confined Python agent: processor time")
    try:
        sandbox = build(ResourceLimits())
    except CannotIsolate as error:
        for what in aims:
            report.absent(what, str(error), most=1)
        return
    (folder / "bot.py").write_text(BOT)
    python, go = ["python", "bot.py"], ["./bot"]
    agents: dict[str, tuple[Sandbox | None, list[str]]] = {
        "an agent in Python, confined": (sandbox, python),
        "an agent in Python, unconfined": (None, python),
    }
    if why_not := _build_go(folder):
        for what in aims:
            report.absent(f"{what}, beside Go", why_not, most=1)
    else:
        agents |= {"an agent in Go, confined": (sandbox, go), "an agent in Go, unconfined": (None, go)}
    starts = [partial(_start_agent, box, argv, folder) for box, argv in agents.values()]
    taken = dict(zip(agents, in_turn(starts, report.rounds(ROUNDS)), strict=True))
    if not why_not:
        confined, beside = taken["an agent in Python, confined"], taken["an agent in Go, unconfined"]
        for what, one, other in zip(aims, confined, beside, strict=True):
            report.ratio(what, f"{one * 1e3:.0f} ms", f"Go, unconfined {other * 1e3:.0f}", one / other, most=1)
    for what, cost in taken.items():
        report.figure(what, str(cost))


def _start_agent(sandbox: Sandbox | None, argv: Sequence[str], folder: Path) -> Cost:
    return asyncio.run(one_question(sandbox, argv, folder))


def _build_go(folder: Path) -> str:
    """Build the bot of the Go kit as `bot` in a folder; return the problem, or an empty text."""
    if install := kits.missing("go"):
        return install
    try:
        kits.make("go", folder / "kit")
    except AssertionError as error:
        return f"the kit for Go cannot be built: {str(error).strip().splitlines()[-1]}"
    shutil.copy(folder / "kit" / "bot", folder / "bot")
    return ""
