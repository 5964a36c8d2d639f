"""`make bench`: measure speed, compare it with other programs, and write one table to docs/bench.md.

`python -m bench STEP ...` measures only the given steps, and writes a page only with `--page`.
Like an installed wheel, the measured copy of the sources has compiled rules, if they can be compiled here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from bench import (
    clocks,
    matches,
    million,
    pages,
    rules,
    running,
    scheduling,
    since,
    starting,
    storing,
    wire,
)
from bench.report import BUSY_LOAD, Circumstances, Report, machine, page
from referee.registry import rules_are_compiled

PAGE = matches.CHECKOUT / "docs" / "bench.md"
LADDERS = matches.CHECKOUT / "build" / "ladders"
"""The folder in which the ladders of `bench.million` are kept, because making them takes minutes and 2 GB."""


STEPS: dict[str, Callable[[Report], object]] = {
    "running": running.add_rows,
    "storing": storing.add_rows,
    "wire": wire.add_rows,
    "starting": starting.add_rows,
    "rules": rules.add_rows,
    "matches": matches.add_rows,
    "million": partial(million.add_rows, folder=LADDERS),
    "pages": pages.add_rows,
    "clocks": clocks.add_rows,
    "scheduling": scheduling.add_rows,
}
"""The steps, in order. Those that suffer most from a busy machine come first, while the machine is still quiet."""


def measure(report: Report, chosen: dict[str, Callable[[Report], object]], console: Console) -> None:
    """Run the steps; if a step fails, only its own rows are missing."""
    for name, step in chosen.items():
        began = time.monotonic()
        try:
            step(report)
        except Exception as error:
            report.absent(f"the step `{name}`", f"{type(error).__name__}: {error}")
            report.missing.append(name)
        console.print(f"{name}: {time.monotonic() - began:.0f} s", style="dim")


def commit_here() -> str:
    """Return the short hash of the measured commit, marked if there are uncommitted changes."""
    describe = ["git", "describe", "--always", "--dirty=-changed"]
    said = subprocess.run(describe, cwd=matches.CHECKOUT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def go_on_compiled(page: Path | None, load: float) -> None:
    """Run the same command in a copy of the sources with compiled rules.

    This returns only if this process already runs in that copy, or the rules cannot be compiled.

    Args:
        page: the file for the table.
        load: the load before the compilation.
    """
    if rules_are_compiled() or rules.compile_copy():  # the latter returns the problem if they cannot be compiled
        return
    # The compilation has raised the load, so the figure from before it is passed on.
    again = [*sys.argv[1:], "--load", str(load)]
    if page is not None:
        again += ["--page", str(page.absolute())]
    # `-m` imports from the working folder, which is the copy now.
    os.chdir(rules.COPY)
    os.execv(sys.executable, [sys.executable, "-m", "bench", *again])  # noqa: S606


def main() -> None:
    """Measure, print the table, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed beside other programs.")
    parser.add_argument("step", nargs="*", help=f"measure only these steps: {', '.join(STEPS)}")
    parser.add_argument("--since", metavar="COMMIT", help="compare with the figures of an older commit instead")
    parser.add_argument(
        "--quick", action="store_true", help="measure everything once, to check that it can be measured"
    )
    parser.add_argument("--pure", action="store_true", help="do not compile the rules with which matches are played")
    parser.add_argument("--page", type=Path, help="a file for the table, in addition to printing it")
    parser.add_argument(
        "--load", type=float, default=os.getloadavg()[0], help="the load beforehand; by default the current load"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.step) - set(STEPS):
        parser.error(f"there is no step {', '.join(sorted(unknown))}; the steps are {', '.join(STEPS)}")
    if arguments.since:
        _compare(arguments.since, arguments.step, quick=arguments.quick)
        return
    if not arguments.pure:
        go_on_compiled(arguments.page, arguments.load)
    console = Console(width=None if sys.stdout.isatty() else 140)
    report, began = Report(quick=arguments.quick), time.monotonic()
    if arguments.load > BUSY_LOAD:
        console.print(f"the load is {arguments.load:.1f}: rates and times will be worth little", style="yellow")
    measure(report, {name: STEPS[name] for name in arguments.step or STEPS}, console)
    console.print(report.table())
    console.print(report.summary())
    minutes = (time.monotonic() - began) / 60
    day, loads = f"{datetime.now(UTC):%Y-%m-%d}", (arguments.load, os.getloadavg()[0])
    # A measurement of only some steps, or of a single round, never replaces the page of a complete one.
    if target := arguments.page or (None if arguments.step or arguments.quick else PAGE):
        seen = Circumstances(day, commit_here(), machine(), rules_are_compiled(), *loads, minutes)
        target.write_text(page(report, seen))


def _compare(commit: str, chosen: Sequence[str], *, quick: bool) -> None:
    try:
        table = since.compare(commit, [*chosen, *(["--quick"] if quick else [])], 1 if quick else since.ROUNDS)
    except since.CannotCompare as error:
        sys.exit(f"{commit} cannot be compared: {error}")
    Console(width=None if sys.stdout.isatty() else 140).print(table)


if __name__ == "__main__":
    main()
