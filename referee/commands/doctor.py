"""`dogana doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from referee.commands.options import CpusOption, MemoryOption, RuntimeOption, TasksOption, read_limits
from referee.commands.output import out, print_json
from referee.sandbox.walls import inspect


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
    _, walls = inspect(read_limits(memory, tasks, cpus), runtime or [])
    missing = [wall for wall in walls if not wall.stands]
    is_enough = not any(wall.is_needed for wall in missing)
    if as_json:
        print_json({"enough": is_enough, "walls": [asdict(wall) for wall in walls]})
    else:
        table = Table("wall", "stands", "how")
        for wall in walls:
            table.add_row(wall.name, "yes" if wall.stands else "NO" if wall.is_needed else "in part", wall.says)
        out.print(table)
        for wall in missing:
            out.print(f"{wall.name}: {wall.mend}", soft_wrap=True)
        if not is_enough:
            out.print(
                "This machine cannot run a ladder for strangers' bots; it can with --unconfined, if you trust them all."
            )
        elif missing:
            out.print("This machine can run a ladder for strangers' bots, with the losses above.")
        else:
            out.print("This machine can run a ladder for strangers' bots.")
    if not is_enough:
        raise typer.Exit(1)
