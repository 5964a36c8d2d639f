"""What the start of an agent costs, step by step, beside an agent in Go: `python -m bench.starting [GO_AGENT]`.

Every agent joins a scripted referee, answers one question and ends. All are started in turn, in one run.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bench.kits import OVER, WAIT_SECONDS, WELCOME, question
from bench.matches import CHECKOUT, ENVIRONMENT, IMPORTS
from bench.report import Report
from referee.live.matches.conversation import conversation
from referee.live.matches.play import Command
from referee.live.seats.command import GRACE_SECONDS
from referee.sandbox.box import CannotIsolate, Sandbox
from referee.sandbox.limits import Limits
from referee.sandbox.walls import build, run

ROUNDS = 11
BOT = f"{IMPORTS}import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"
GO = CHECKOUT / "agents" / "go" / "bin" / "agent"
CONFINED, GO_UNCONFINED = "an agent in Python, confined: first answer", "an agent in Go, unconfined: first answer"
STEPS = (
    ("supervisor, box, nothing", ["/bin/true"]),
    ("the same, with a bare interpreter", ["python", "-I", "-S", "-c", "pass"]),
    ("the same, with its packages in reach", ["python", "-c", "pass"]),
    ("the same, with protobuf", ["python", "-c", f"{IMPORTS}import google.protobuf.message"]),
    ("the same, with the messages", ["python", "-c", f"{IMPORTS}import dogana.v1.referee_pb2"]),
    ("the same, with the SDK", ["python", "-c", f"{IMPORTS}import dogana.sdk"]),
    ("the same, with gRPC", ["python", "-c", f"{IMPORTS}import dogana.sdk, grpc.aio"]),
)
"""What is started in a box, each time with one thing more."""


def cpu_of_children() -> float:
    """Return the processor time of processes that have ended and were waited for, in seconds, those below them included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def one_question(sandbox: Sandbox | None, argv: Sequence[str], folder: Path) -> tuple[float, float]:
    """Let an agent answer one question; return the seconds until the answer has come, and its processor time."""
    before, began = cpu_of_children(), time.perf_counter()
    async with conversation(Command(argv, ENVIRONMENT, folder, sandbox=sandbox)) as talk:
        await talk.hear(WAIT_SECONDS)
        await talk.say(WELCOME, question(1))
        assert await talk.hear(WAIT_SECONDS), talk.process.log.text()
        answered = time.perf_counter()
        await talk.say(OVER)
        await talk.process.stop(GRACE_SECONDS)
    return answered - began, cpu_of_children() - before


def step(sandbox: Sandbox, argv: Sequence[str], folder: Path) -> tuple[float, float]:
    """Run a program in a box; return the seconds that it took, and its processor time."""
    before, began = cpu_of_children(), time.perf_counter()
    ran = run(sandbox, argv, folder)
    assert ran.status == 0, ran.output
    return time.perf_counter() - began, cpu_of_children() - before


def measure(rounds: int = ROUNDS, go: Path = GO) -> dict[str, tuple[float, float]]:
    """Return for each row the median seconds until it was done, and the median processor time."""
    sandbox = build(Limits())
    with tempfile.TemporaryDirectory(prefix="starting-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bot.py").write_text(BOT)
        python = ["python", "bot.py"]
        rows: dict[str, Callable[[], tuple[float, float]]] = {}
        for what, argv in STEPS:
            rows[what] = lambda argv=argv: step(sandbox, argv, folder)  # type: ignore[misc]
        agents: dict[str, tuple[Sandbox | None, list[str]]] = {
            CONFINED: (sandbox, python),
            "an agent in Python, unconfined: first answer": (None, python),
        }
        if go.exists():
            shutil.copy(go, folder / "agent")
            agents["an agent in Go, confined: first answer"] = (sandbox, ["./agent"])
            agents[GO_UNCONFINED] = (None, ["./agent"])
        for what, (box, argv) in agents.items():
            rows[what] = lambda box=box, argv=argv: asyncio.run(one_question(box, argv, folder))  # type: ignore[misc]
        taken: dict[str, list[tuple[float, float]]] = {what: [] for what in rows}
        for _ in range(rounds):
            for what, one in rows.items():
                taken[what].append(one())
    return {what: (median(a for a, _ in pairs), median(b for _, b in pairs)) for what, pairs in taken.items()}


def add_rows(report: Report) -> None:
    """Measure a confined Python agent beside an unconfined one in Go, which is built if there is Go."""
    report.section("Starting an agent, until it has answered its first question")
    aims = "a confined Python agent: time", "a confined Python agent: processor time"
    try:
        if not GO.exists():
            subprocess.run(["/bin/sh", GO.parent.parent / "build.sh"], capture_output=True, check=True)
        taken = measure()
    except CannotIsolate as error:
        why = str(error)
    except (OSError, subprocess.CalledProcessError):
        why = "agents/go/build.sh fails: it needs Go 1.22 or newer and the Go module proxy"
    else:
        ours, theirs = taken[CONFINED], taken[GO_UNCONFINED]
        for number, what in enumerate(aims):
            one, other = ours[number] * 1e3, theirs[number] * 1e3
            report.ratio(what, f"{one:.0f} ms", f"Go, unconfined {other:.0f}", one / other, most=1)
        for what, (seconds, cpu) in taken.items():
            if what not in (CONFINED, GO_UNCONFINED):
                report.figure(what, f"{seconds * 1e3:.0f} ms, {cpu * 1e3:.0f} ms of CPU")
        return
    for what in aims:
        report.absent(what, why, most=1)


def main() -> None:
    """Print the table."""
    table = Table("what is started", "until it is done", "CPU", title=f"load {os.getloadavg()[0]:.1f}")
    for what, (seconds, cpu) in measure(go=Path(sys.argv[1]) if len(sys.argv) > 1 else GO).items():
        table.add_row(what, f"{seconds * 1e3:.0f} ms", f"{cpu * 1e3:.0f} ms")
    Console(width=None if sys.stdout.isatty() else 100).print(table)


if __name__ == "__main__":
    main()
