"""`dogana verify`: play records again and say whether they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.commands.output import out, print_json, styled
from referee.records.record import RecordError
from referee.records.verify import verified
from referee.registry import find

_STATUS_UNSEALED = 3
_UNSEALED = "; the seed of its block is not revealed yet: chance is not checked against it"


def verify(
    files: Annotated[list[Path], typer.Argument(help="Records.", metavar="FILE...")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each file.")] = False,
) -> None:
    """Play records again by the rules, and say where a file is wrong.

    The exit status is 0 only if all of them hold; 1 if one is broken; 3 if none is broken, but the seed of one is not
    revealed yet: the matches of a ladder's block share a seed, which is added to their records when all are over.

    Examples:

      dogana verify match.jsonl

      dogana verify records/*.jsonl
    """
    broken = unsealed = 0
    for path in files:
        try:
            record = verified(path, find)
        except RecordError as error:
            broken += 1
            if as_json:
                print_json({"file": str(path), "holds": False, "line": error.line, "reason": error.reason})
            else:
                out.print(styled(("broken", "red"), f" {error}"), soft_wrap=True)
            continue
        if as_json:
            print_json(
                {
                    "file": str(path),
                    "holds": True,
                    "sealed": record.is_sealed,
                    "digest": record.result.digest,
                    "decisions": record.result.decisions,
                }
            )
        else:
            note = "" if record.is_sealed else _UNSEALED
            text = styled(("holds", "green"), f"  {path}: {record.result.decisions} decisions{note}")
            out.print(text, soft_wrap=True)
        unsealed += not record.is_sealed
    if broken or unsealed:
        raise typer.Exit(1 if broken else _STATUS_UNSEALED)
