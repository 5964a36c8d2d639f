"""`dogana ladder site`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from ladder.commands.options import AsJson, HomeOption
from ladder.operation.home import Home
from referee.commands.options import ForceOption
from referee.commands.output import err, out, print_json
from referee.files import check_free


def site(
    folder: Annotated[
        Path, typer.Argument(help="The folder for the pages: a new one, or one with an earlier site.", metavar="FOLDER")
    ],
    home: HomeOption,
    force: ForceOption = False,
    matches: Annotated[
        int,
        typer.Option(
            "--limit",
            help="The number of the newest matches to show, for each game and each event.",
            min=0,
            max=10_000,
            metavar="NUMBER",
        ),
    ] = 25,
    as_json: AsJson = False,
) -> None:
    """Write the pages of a ladder as files, for any web host.

    To view them, only a browser is needed.

    They are the current pages of `dogana ladder web`, with public information only. A run may go on meanwhile.
    With --force, they can be written into the same folder again: each complete file replaces the earlier one.

    The page of a match contains a picture of every step, which takes seconds to draw; a page is drawn only once.

    Examples:

      dogana ladder site ./public

      dogana ladder site ./public --home ./ladder --limit 500
    """
    from ladder.http.publishing.site import contents, write_site  # no other command needs the templates

    contents(folder)  # a folder that is not a site is never replaced
    check_free(folder, force=force, is_folder=True)
    with Progress(console=err, transient=True) as progress:
        bar = progress.add_task("reading the ladder", total=None)
        pages, pages_of_matches = write_site(
            Home(home),
            folder,
            matches,
            lambda done, of: progress.update(bar, description="pages", completed=done, total=of),
        )
    if as_json:
        print_json({"folder": str(folder), "pages": pages, "matches": pages_of_matches})
    else:
        out.print(f"{pages:,} pages, {pages_of_matches:,} of them of matches: open {folder}/index.html", soft_wrap=True)
