"""`dogana ladder export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ladder.archive.export import export as write
from ladder.commands.options import AsJson, HomeOption
from ladder.commands.where import Where
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.commands.options import ForceOption
from referee.commands.output import out, print_json, target
from referee.files import check_free


def export(
    file: Annotated[Path, typer.Argument(help="The file to write: .csv or .json.", parser=target, metavar="FILE")],
    home: HomeOption,
    force: ForceOption = False,
    as_json: AsJson = False,
) -> None:
    """Write all counted matches into a file for other programs.

    It contains a row for each seat of a match. A run may go on meanwhile.

    In .csv files, a text that a spreadsheet could mistake for a formula begins with an apostrophe.

    Examples:

      dogana ladder export matches.csv

      dogana ladder export matches.json --home ./ladder
    """
    check_free(file, force=force)
    with Store(Home(home).database, create=False) as store:
        rows = write(store, file)
    if as_json:
        print_json({"file": str(file), "rows": rows})
    else:
        out.print(f"{file} has {rows:,} rows, one for each seat of each match", soft_wrap=True)
        out.print(f"how to ask a bot again: {Where(home, None).command('match', 'MATCH')}", soft_wrap=True)
