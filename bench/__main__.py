"""`make bench`: one table of every aim beside its anchor, in docs/bench.md, and a line in bench/history.jsonl.

`python -m bench [STEP ...] [--since COMMIT] [--page FILE]` measures only some steps, and then writes neither, unless a page is named.
What is measured is what an installed wheel has: a copy of the sources with compiled rules, if they can be compiled here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from bench import asked, clocks, floods, machines, matches, million, rules, running, serving, starting, tag, wire
from bench.report import BUSY_LOAD, Circumstances, Report, machine, page
from referee.registry import rules_are_compiled

HISTORY = matches.CHECKOUT / "bench" / "history.jsonl"
PAGE = matches.CHECKOUT / "docs" / "bench.md"
LADDERS = matches.CHECKOUT / "build" / "ladders"
"""The ladders of `bench.million` stay here: to make them takes minutes and 2 GB."""


def steps(commit: str) -> dict[str, Callable[[Report], object]]:
    """Return what is measured, in its order: what suffers most from a busy machine first, while it is quiet."""
    return {
        "running": partial(_run_and_forecast, commit=commit),
        "wire": wire.add_rows,
        "starting": starting.add_rows,
        "rules": rules.add_rows,
        "tag": tag.add_rows,
        "million": partial(million.add_rows, folder=LADDERS),
        "matches": matches.add_rows,
        "clocks": clocks.add_rows,
        "floods": floods.add_rows,
        "asked": asked.add_rows,
        "serving": serving.add_rows,
    }


def _run_and_forecast(report: Report, commit: str) -> None:
    """Measure a ladder as it is run, and forecast from that what it does on many machines."""
    machines.add_rows(report, running.add_rows(report, commit))


def measure(report: Report, chosen: dict[str, Callable[[Report], object]], console: Console) -> None:
    """Take the steps; one that fails costs only its own rows."""
    for name, step in chosen.items():
        began = time.monotonic()
        try:
            step(report)
        except Exception as error:
            report.absent(f"the step `{name}`", f"{type(error).__name__}: {error}")
            report.missing.append(name)
        console.print(f"{name}: {time.monotonic() - began:.0f} s", style="dim")


def commit_here() -> str:
    """Return the short hash of what is measured, and that it has been changed since, if so."""
    describe = ["git", "describe", "--always", "--dirty=-changed"]
    said = subprocess.run(describe, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def go_on_compiled(page: Path | None, load: float) -> None:
    """Become the same command in a copy with compiled rules; return if this is it, or if they cannot be compiled.

    Args:
        page: where the table is written.
        load: the load before they were compiled.
    """
    if rules_are_compiled() or rules.compile_copy():
        return
    again = [*sys.argv[1:], "--load", str(load)]
    if page is not None:
        again += ["--page", str(page.absolute())]
    os.chdir(rules.COPY)
    os.execv(sys.executable, [sys.executable, "-m", "bench", *again])  # noqa: S606


def main() -> None:
    """Measure, print the table, write the page, and keep the ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed beside other programs.")
    parser.add_argument("step", nargs="*", help=f"only these: {', '.join(steps(''))}")
    parser.add_argument(
        "--since", default=running.START, metavar="COMMIT", help="the commit beside which ladders are run"
    )
    parser.add_argument("--page", type=Path, help="where the table is written, besides being printed")
    parser.add_argument("--load", type=float, default=os.getloadavg()[0], help="the load before, if not that of now")
    arguments = parser.parse_args()
    known = steps(arguments.since)
    if unknown := set(arguments.step) - set(known):
        parser.error(f"there is no step {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = {name: step for name, step in known.items() if not arguments.step or name in arguments.step}
    go_on_compiled(arguments.page, arguments.load)
    console, report = Console(width=None if sys.stdout.isatty() else 140), Report()
    began, before = time.monotonic(), arguments.load
    if before > BUSY_LOAD:
        console.print(f"the load is {before:.1f}: rates and times will be worth little", style="yellow")
    measure(report, chosen, console)
    console.print(report.table())
    console.print(report.summary())
    minutes = (time.monotonic() - began) / 60
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    seen = Circumstances(day, commit_here(), machine(), rules_are_compiled(), before, os.getloadavg()[0], minutes)
    if target := arguments.page or (None if arguments.step else PAGE):
        target.write_text(page(report, seen))
    if not arguments.step:
        _remember(report, seen)


def _remember(report: Report, seen: Circumstances) -> None:
    """Add a line to the history."""
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": seen.commit,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": seen.load_before,
        "ratios": report.ratios,
        "short": report.short,
        "missing": report.missing,
    }
    with HISTORY.open("a") as history:
        history.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
