"""`dogana check`: try a bot step by step in the sandbox of a ladder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress

from ladder.conformance.exercises import NOT_JOINED, NOT_REACHED, run
from ladder.conformance.package import take
from ladder.conformance.rehearsal import JOIN_SECONDS, Course, Step, StepOutcome, Verdict, WaitingTimes
from ladder.conformance.scripts import steps_for
from referee.bots.errors import BadBot
from referee.bots.files import Artefact, check_path, make_writable
from referee.bots.manifest import environment
from referee.commands.options import CpusOption, MemoryOption, RuntimeOption, TasksOption, read_limits
from referee.commands.output import err, out, print_json, styled, target
from referee.game import Game
from referee.live.matches.play import Command
from referee.registry import find, games
from referee.sandbox.box import Sandbox
from referee.sandbox.measures import build_sandbox
from referee.sandbox.socket_folder import hold_new, sweep_unheld
from referee.sandbox.system import IS_LINUX, LEAVE_OUT

_SCRATCH = "dogana-check-"
_UNCONFINED = (
    "the bot runs unconfined, with your rights on this machine; not tried: whether it finds its programs and files in the"
    " sandbox of a ladder, bears its limits and rules for system calls, and joins with half a processor"
)
_NOT_TAKEN_IN = "the bot cannot be taken in"
_FOLLOWING = (_NOT_TAKEN_IN, NOT_JOINED, NOT_REACHED)
"""The reasons to skip steps that follow from a failure."""
_STYLES = {
    StepOutcome.PASSED: "green",
    StepOutcome.FAILED: "bold red",
    StepOutcome.SKIPPED: "yellow",
    StepOutcome.REPORTED: "cyan",
}


def check(
    path: Annotated[
        Path,
        typer.Argument(help="The bot to check: a program, a folder, or an archive.", metavar="PATH", parser=target),
    ],
    game: Annotated[
        str | None, typer.Option(help="Try this game only.", show_default="all that bot.toml names", metavar="GAME")
    ] = None,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    runtime: RuntimeOption = None,
    unconfined: Annotated[
        bool, typer.Option("--unconfined", help="Run the bot with your rights, not in the sandbox of a ladder.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all steps.")] = False,
) -> None:
    """Test a bot step by step, and print a remedy for each fault.

    The bot runs in the sandbox of a ladder. PATH is the same as for `dogana ladder submit`. The bot is started many
    times: by a scripted referee that refuses answers, withdraws questions, breaks the connection and sends unknown
    messages; and in matches against `random`, in every game of its bot.toml and with every number of seats. On macOS,
    and with --unconfined, it runs with your rights; steps that need the sandbox are skipped.

    The exit status is 0 if no step failed, otherwise 1. docs/check.md lists the steps.

    Examples:

      dogana check mybot

      dogana check mybot.tar.gz --game cargo_noir --memory 256
    """
    check_path(path)
    chosen = None if game is None else find(game)
    if unconfined or not IS_LINUX:
        if (memory, tasks, cpus) != (None, None, None):  # because nothing would enforce them
            raise BadBot(f"--memory, --tasks and --cpus are for the sandbox; {LEAVE_OUT}")
        sandbox = None
        err.print(_UNCONFINED, style="yellow", soft_wrap=True)
    else:
        sandbox = build_sandbox(
            read_limits(memory, tasks, cpus), runtime or [], "give --unconfined, if you trust the bot"
        )
    report = _Report(shows=not as_json)
    try:
        with _scratch() as scratch:
            artefact = _try(path, chosen, sandbox, runtime or [], scratch, report)
    finally:
        report.close()
    if as_json:
        print_json(_as_json(path, artefact, sandbox, report))
    else:
        report.print_failures()
    if report.count(StepOutcome.FAILED):
        raise typer.Exit(1)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Provide a folder for the bot and its records, and remove the folders that killed checks have left behind.

    Each folder is locked for the lifetime of its check.
    """
    sweep_unheld(_SCRATCH, _remove)
    folder, lock = hold_new(_SCRATCH)
    try:
        folder.chmod(0o711)  # a bot that runs as another user finds its files below
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


def _remove(folder: Path) -> None:
    make_writable(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _try(
    path: Path, chosen: Game | None, sandbox: Sandbox | None, runtimes: Sequence[Path], scratch: Path, report: _Report
) -> Artefact | None:
    """Accept the bot, and run its exercises."""
    taken = take(path, scratch / "versions", runtimes, report.note)
    # If the bot is refused, its games are not known.
    claimed = list(games()) if taken is None else list(taken[0].games)
    if chosen is not None and taken is not None and chosen.name not in claimed:
        raise BadBot(f"{path} does not play {chosen.name}; its bot.toml names: {', '.join(claimed)}")
    tried = [chosen] if chosen is not None else [find(name) for name in claimed]
    report.expect(steps_for(tried))
    if taken is None:
        report.skip_the_rest(_NOT_TAKEN_IN)
        return None
    artefact, folder = taken
    bot = Command(artefact.run, environment(runtimes), folder, JOIN_SECONDS, sandbox)
    asyncio.run(run(Course(bot, tried, WaitingTimes(), scratch), report.note))
    return artefact


class _Report:
    """The verdicts so far. Each is printed once the verdicts on all earlier steps have been printed.

    Successive steps under one heading that are skipped because an earlier one failed share a line, which names the first of them.
    """

    def __init__(self, *, shows: bool) -> None:
        self._verdicts: dict[str, Verdict] = {}
        self._expected: list[Step] = []
        self._printed = 0
        self._skipping: str | None = None  # the reason in the last line, if that step was skipped
        self._shows = shows
        self._progress = Progress(
            "steps",
            BarColumn(),
            MofNCompleteColumn(),
            console=out,
            transient=True,
            disable=not (shows and out.is_terminal),
        )
        self._progress.start()
        self._bar = self._progress.add_task("steps", total=None)

    def expect(self, steps: list[Step]) -> None:
        self._expected = steps
        self._progress.update(self._bar, total=len(steps))
        self._print()

    def note(self, verdict: Verdict) -> None:
        self._verdicts[verdict.step.name] = verdict
        self._progress.update(self._bar, completed=len(self._verdicts))
        self._print()

    def skip_the_rest(self, why: str) -> None:
        for step in self._expected:
            if step.name not in self._verdicts:
                self.note(Verdict(step, StepOutcome.SKIPPED, why))

    def count(self, outcome: StepOutcome) -> int:
        return sum(verdict.outcome is outcome for verdict in self._verdicts.values())

    def close(self) -> None:
        """End the progress bar."""
        self._progress.stop()

    def in_order(self) -> list[Verdict]:
        """Return all verdicts in the order of the steps."""
        return [self._verdicts[step.name] for step in self._expected if step.name in self._verdicts]

    def _print(self) -> None:
        while self._shows and self._printed < len(self._expected):
            step = self._expected[self._printed]
            verdict = self._verdicts.get(step.name)
            if verdict is None:
                return
            reason = verdict.said if verdict.said in _FOLLOWING else None
            if self._printed == 0 or self._expected[self._printed - 1].heading != step.heading:
                out.print(step.heading, style="bold")
                self._skipping = None
            self._printed += 1
            if reason is not None and reason == self._skipping:
                continue
            self._skipping = reason
            said = verdict.said or step.expects
            line = styled("  ", (f"{verdict.outcome.value:9}", _STYLES[verdict.outcome]), f"{step.name:32} ", said)
            # A terminal shows a line for each step, and a file gets whole lines.
            if out.is_terminal:
                out.print(line, no_wrap=True, overflow="ellipsis")
            else:
                out.print(line, soft_wrap=True)

    def print_failures(self) -> None:
        """Print the failed steps with advice, and the overall verdict."""
        for verdict in self.in_order():
            if verdict.outcome is not StepOutcome.FAILED:
                continue
            step = verdict.step
            page, section = step.see
            out.print()
            out.print(styled(("failed", _STYLES[StepOutcome.FAILED]), f"  {step.name}"), soft_wrap=True)
            out.print(f"  expected: {step.expects}", soft_wrap=True)
            out.print(f"  happened: {verdict.said}", soft_wrap=True)
            out.print(f"  fix:      {step.fix} ({page}, {section.replace('`', '')})", soft_wrap=True)
            for title, lines in (("last messages:", verdict.transcript), ("the last it wrote:", verdict.wrote)):
                if lines:
                    out.print(f"  {title}", style="dim")
                for line in lines:
                    out.print(f"    | {line}", soft_wrap=True)
        out.print()
        out.print(self.verdict(), style="red" if self.count(StepOutcome.FAILED) else "green")

    def verdict(self) -> str:
        """Return the overall verdict in one line, such as `41 steps passed, 1 failed, 2 reported`."""
        counts = [(self.count(outcome), outcome.value) for outcome in StepOutcome]
        passed, *others = [f"{count} {word}" for count, word in counts if count or word == "passed"]
        return ", ".join([passed.replace(" ", " steps ", 1), *others])


def _as_json(path: Path, artefact: Artefact | None, sandbox: Sandbox | None, report: _Report) -> dict[str, Any]:
    return {
        "path": str(path),
        "content_hash": None if artefact is None else artefact.content_hash,
        "run": None if artefact is None else list(artefact.run),
        "limits": None if sandbox is None else str(sandbox.limits),
        **{outcome.value: report.count(outcome) for outcome in StepOutcome},
        "steps": [
            {
                "step": verdict.step.name,
                "heading": verdict.step.heading,
                "outcome": verdict.outcome.value,
                "expected": verdict.step.expects,
                "happened": verdict.said,
                "fix": verdict.step.fix,
                "see": ", ".join(part for part in verdict.step.see if part),
                "transcript": list(verdict.transcript),
                "wrote": list(verdict.wrote),
            }
            for verdict in report.in_order()
        ],
    }
