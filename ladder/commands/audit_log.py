"""`dogana ladder audit-log`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ladder.archive.audit_log import keep, write
from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.questions.proof import AuditLogRequest, KeyRequest
from referee.commands.output import out, print_json, target
from referee.terminal import counted


def audit_log(
    file: Annotated[Path, typer.Argument(help="The file to write.", parser=target, metavar="FILE")],
    previous: Annotated[
        Path | None,
        typer.Option(help="An earlier log of this ladder: check that the new one continues it.", metavar="FILE"),
    ] = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Write the audit log of the ladder into a file.

    It contains all actions of the ladder, and anybody can keep and check it. A run may go on meanwhile.

    Publish it often: once others have a copy, no entry can be changed or dropped. An earlier log named FILE
    is replaced only if the new one continues it. `dogana verify-log` checks such a file, without the ladder.

    Examples:

      dogana ladder audit-log audit-log.jsonl

      dogana ladder audit-log monday.jsonl --previous sunday.jsonl --server https://ladder.example:8780
    """
    where = Where.chosen(home, server)
    place = Home(where.home)
    if where.server is not None:
        with where.desk() as desk:
            # The earlier files are here and not on the server, so they are compared here.
            entries, added = keep(desk.ask(AuditLogRequest()).pieces, file, previous)
    else:
        with Store(place.database, create=False) as store:
            entries, added = write(place, store, file, previous)
    if as_json:
        print_json({"file": str(file), "entries": entries, "added": added})
    else:
        since = "" if added is None else f", {added:,} of them new"
        key = place.public_key if where.server is None else where.ask(KeyRequest()).key
        check = shlex.join(["dogana", "verify-log", str(file), "--key", str(key)])
        out.print(f"{file} has {counted(entries, 'entry', 'entries')}{since}; check it: {check}", soft_wrap=True)
