"""`dogana doctor`."""

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


def doctor(
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    runtime: RuntimeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell which walls this machine can build around bots.

    It says how to get those that are missing. It builds a box as `dogana ladder run` does, and tries to get out. The
    exit status is 1 if a wall is missing that a ladder for strangers needs.

    Examples:

      dogana doctor

      sudo dogana doctor --memory 1024
    """
    limits = read_limits(memory, tasks, cpus)
    walls = inspect(limits, runtime or [])[1] if IS_LINUX else []
    is_enough = bool(walls) and all(wall.stands or not wall.is_needed for wall in walls)
    verdict = _verdict(walls)
    if as_json:
        print_json({"enough": is_enough, "verdict": verdict, "walls": [asdict(wall) for wall in walls]})
    else:
        out.print(verdict, soft_wrap=True)
        for line in _explain(walls):
            out.print(line, soft_wrap=True, markup=False, highlight=False)
    if not is_enough:
        raise typer.Exit(1)


def _verdict(walls: Sequence[Measure]) -> str:
    """Return the verdict in a sentence: can this machine run strangers' bots? Without Linux, `walls` is empty."""
    if not walls:
        return (
            f"This machine cannot run strangers' bots, because the walls around them need Linux, and this is {NAME}: "
            f"{HOW_TO_GET_LINUX}. Your own bots play without walls: --unconfined."
        )
    missing = [wall for wall in walls if not wall.stands]
    needed = [wall for wall in missing if wall.is_needed]
    if needed:
        reasons = "; ".join(_reason(wall) for wall in needed)
        return f"This machine cannot run strangers' bots, because {reasons}."
    if missing:
        names = _listed([wall.name for wall in missing])
        return f"This machine can run strangers' bots, with weaker limits than it could have: {names}."
    return "This machine can run strangers' bots."


def _reason(wall: Measure) -> str:
    if wall.name == "bubblewrap":
        return "bubblewrap is not installed"
    return wall.says if wall.name == "box" else f"the wall {wall.name!r} does not stand: {wall.says}"


def _explain(walls: Sequence[Measure]) -> list[str]:
    """Return the lines after the verdict: a remedy for each missing wall, then the findings."""
    lines: list[str] = []
    missing = sorted((wall for wall in walls if not wall.stands), key=lambda wall: not wall.is_needed)
    for (mend, commands), group in groupby(missing, key=lambda wall: (wall.mend, wall.commands)):
        lines.append("")
        lines += [f"Without {wall.name}: {wall.means}." for wall in group]
        lines.append(f"To mend it: {mend}{':' if commands else '.'}")
        lines += [f"  {command}" for command in commands]
    if any(wall.is_needed for wall in missing):
        lines += ["", "Until then, if you trust all bots: dogana ladder run --unconfined"]
    if walls:
        width = max(len(wall.name) for wall in walls)
        has_box = not any(wall.name in ("bubblewrap", "box") for wall in missing)
        lines += ["", f"What was found{', from inside a box such as bots have' if has_box else ''}:"]
        lines += [f"  {_status(wall):7}  {wall.name:{width}}  {wall.says}" for wall in walls]
    return lines


def _status(wall: Measure) -> str:
    return "yes" if wall.stands else "NO" if wall.is_needed else "in part"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
