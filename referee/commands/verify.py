"""`dogana verify`: plays records again and says whether they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.commands.output import out, print_json, styled
from referee.records.record import RecordError
from referee.records.verify import verify as verify_record
from referee.registry import find


def verify(
    files: Annotated[list[Path], typer.Argument(help="Records.", metavar="FILE...")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each file.")] = False,
) -> None:
    """Play records again by the rules, and say where a file is wrong.

    The exit status is 0 only if all of them hold.

    Examples:

      dogana verify match.jsonl

      dogana verify records/*.jsonl
    """
    broken = 0
    for path in files:
        try:
            result = verify_record(path, find)
        except RecordError as error:
            broken += 1
            if as_json:
                print_json({"file": str(path), "holds": False, "line": error.line, "reason": error.reason})
            else:
                out.print(styled(("broken", "red"), f" {error}"), soft_wrap=True)
            continue
        if as_json:
            print_json({"file": str(path), "holds": True, "digest": result.digest, "decisions": result.decisions})
        else:
            out.print(styled(("holds", "green"), f"  {path}: {result.decisions} decisions"), soft_wrap=True)
    if broken:
        raise typer.Exit(1)
