"""`dogana ladder replay`: `dogana replay` for a match of a ladder."""

from __future__ import annotations

import inspect
import shlex
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from ladder.commands.replay import OPTIONS, look_at
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.operation.errors import LadderError
from ladder.questions.match import RecordRequest
from referee.errors import DoganaError

_MATCH = Annotated[str, typer.Argument(help="A match; the beginning of its id is enough.", metavar="MATCH")]


def ladder_replay(context: typer.Context, match: str, home: Path | None, server: str | None, **options: Any) -> None:
    """Show a match step by step, or ask a bot about it.

    The command fetches the record of the match, and passes it to `dogana replay` with the same options: every step is
    replayed under the rules. A record is available when all matches from its seed are over.

    Examples:

      dogana ladder replay 3f09

      dogana ladder replay 3f09 --html 3f09.html

      dogana ladder replay 3f09 --as 1 --bot mybot.py --server https://ladder.example:8780
    """
    where = Where.chosen(home, server)
    name, record = where.fetch(RecordRequest(match=match))
    with tempfile.TemporaryDirectory(prefix="dogana-") as folder:
        file = Path(folder) / ("record.jsonl.zst" if name.endswith(".zst") else "record.jsonl")
        file.write_bytes(record)
        try:
            look_at(shlex.split(where.command("replay", match)), file, hold=context.with_resource, **options)
        except DoganaError as error:  # by the time its name is read, the file is gone
            raise LadderError(str(error).replace(str(file), name)) from error


def _parameters() -> list[inspect.Parameter]:
    """Return the parameters of the command: a match and a ladder, and all options of `dogana replay`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter("context", kind, annotation=typer.Context),
        inspect.Parameter("match", kind, annotation=_MATCH),
        *OPTIONS,
        inspect.Parameter("home", kind, default=None, annotation=FolderOption),
        inspect.Parameter("server", kind, default=None, annotation=ServerOption),
    ]


ladder_replay.__signature__ = inspect.Signature(_parameters())  # type: ignore[attr-defined]  # typer reads it
