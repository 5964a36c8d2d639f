"""`dogana doctor`: check the isolation of bots on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from referee.commands.options import CpusOption, MemoryOption, RuntimeOption, TasksOption, read_limits
from referee.commands.output import out, print_json
from referee.sandbox.measures import Measure, inspect
from referee.sandbox.system import HOW_TO_GET_LINUX, IS_LINUX, NAME
from referee.terminal import listed


def doctor(
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    runtime: RuntimeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check the isolation of bots on this machine.

    It lists the missing measures, with the commands to enable them. It builds a box as `dogana ladder run` does, and
    tries to escape from it. The exit status is 1 if a measure that a ladder for strangers needs is missing.

    Examples:

      dogana doctor

      sudo dogana doctor --memory 1024
    """
    limits = read_limits(memory, tasks, cpus)
    measures = inspect(limits, runtime or [])[1] if IS_LINUX else []
    is_enough = bool(measures) and all(measure.stands or not measure.is_needed for measure in measures)
    verdict = _verdict(measures)
    if as_json:
        print_json({"enough": is_enough, "verdict": verdict, "measures": [asdict(measure) for measure in measures]})
    else:
        out.print(verdict, soft_wrap=True)
        for line in _explain(measures):
            out.print(line, soft_wrap=True, markup=False, highlight=False)
    if not is_enough:
        raise typer.Exit(1)


def _verdict(measures: Sequence[Measure]) -> str:
    """Return the verdict in a sentence: can this machine run strangers' bots? Without Linux, `measures` is empty."""
    if not measures:
        return (
            f"This machine cannot run strangers' bots, because the sandbox around them needs Linux, and this is {NAME}: "
            f"{HOW_TO_GET_LINUX}. Your own bots play without it: --unconfined."
        )
    missing = [measure for measure in measures if not measure.stands]
    needed = [measure for measure in missing if measure.is_needed]
    if needed:
        reasons = "; ".join(_reason(measure) for measure in needed)
        return f"This machine cannot run strangers' bots, because {reasons}."
    if missing:
        names = listed([measure.name for measure in missing])
        return f"This machine can run strangers' bots, with weaker limits than it could have: {names}."
    return "This machine can run strangers' bots."


def _reason(measure: Measure) -> str:
    if measure.name == "bubblewrap":
        return "bubblewrap is not installed"
    return measure.says if measure.name == "box" else f"the measure {measure.name!r} does not work: {measure.says}"


def _explain(measures: Sequence[Measure]) -> list[str]:
    """Return the lines after the verdict: a remedy for each missing measure, then the findings."""
    lines: list[str] = []
    # `groupby` joins only neighbours. Measures with the same remedy stay neighbours, because the sort is stable.
    missing = sorted((measure for measure in measures if not measure.stands), key=lambda measure: not measure.is_needed)
    for (fix, commands), group in groupby(missing, key=lambda measure: (measure.fix, measure.commands)):
        lines.append("")
        lines += [f"Without {measure.name}: {measure.means}." for measure in group]
        lines.append(f"To fix it: {fix}{':' if commands else '.'}")
        lines += [f"  {command}" for command in commands]
    if any(measure.is_needed for measure in missing):
        lines += ["", "Until then, if you trust all bots: dogana ladder run --unconfined"]
    if measures:
        width = max(len(measure.name) for measure in measures)
        has_box = not any(measure.name in ("bubblewrap", "box") for measure in missing)
        lines += ["", f"What was found{', from inside a box like that of a bot' if has_box else ''}:"]
        lines += [f"  {_status(measure):7}  {measure.name:{width}}  {measure.says}" for measure in measures]
    return lines


def _status(measure: Measure) -> str:
    return "yes" if measure.stands else "NO" if measure.is_needed else "in part"
