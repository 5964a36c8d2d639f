"""`dogana ladder record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.match import RecordRequest
from referee.commands.options import ForceOption
from referee.commands.output import out, print_json, target
from referee.files import check_free, write_private
from referee.records.record import unpacked


def record(
    match: Annotated[str, typer.Argument(help="A match; the beginning of its id is enough.", metavar="MATCH")],
    to: Annotated[Path, typer.Option(help="The file to write.", metavar="FILE", parser=target)],
    force: ForceOption = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Copy the record of a match into a file.

    Other commands can verify and replay the file. It is compressed if its name ends with .zst, and plain JSON lines otherwise.
    A record is available when all matches from its seed are over.

    Examples:

      dogana ladder record 3f09 --to 3f09.jsonl.zst --server https://ladder.example:8780

      dogana verify 3f09.jsonl.zst
    """
    # Checked before the question, because the answer may be large.
    check_free(to, force=force)
    name, data = Where.chosen(home, server).fetch(RecordRequest(match=match))
    if not to.name.endswith(".zst"):
        data = unpacked(Path(name), data)
    write_private(to, data)
    if as_json:
        print_json({"file": str(to), "bytes": len(data)})
    else:
        out.print(f"{to} has {len(data):,} bytes; look at it: dogana replay {to}", soft_wrap=True)
