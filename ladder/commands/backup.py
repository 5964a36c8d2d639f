"""`dogana ladder backup`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ladder.archive.backup import backup as copy
from ladder.commands.options import AsJson, HomeOption
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.commands.options import ForceOption
from referee.commands.output import out, print_json
from referee.files import check_free


def backup(
    file: Annotated[Path, typer.Argument(help="The .tar archive to write.", metavar="FILE")],
    home: HomeOption,
    force: ForceOption = False,
    as_json: AsJson = False,
) -> None:
    """Copy the whole ladder into one archive.

    The archive contains the database, the versions, the records and the logs. A run may go on meanwhile.

    To restore it, unpack it into an empty folder: that is the ladder.

    Example:

      dogana ladder backup ladder-monday.tar
    """
    # This is checked immediately, before anything is copied; `copy` checks it again at the end.
    check_free(file, force=force)
    with Store(Home(home).database, create=False) as store:
        size = copy(Home(home), store, file, replaces=force)
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        out.print(f"{file} has {size:,} bytes; to restore it, unpack it into an empty folder", markup=False)
