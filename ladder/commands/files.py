"""`dogana ladder files`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.files import FilesRequest
from referee.commands.options import ForceOption
from referee.commands.output import out, print_json, target
from referee.files import check_free, write_private


def files(
    bot: Annotated[
        str, typer.Argument(help="A bot, for its newest version; or one version, such as 'mybot v2'.", metavar="BOT")
    ],
    to: Annotated[Path, typer.Option(help="The file to write.", metavar="FILE", parser=target)],
    force: ForceOption = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Copy the files of a submitted version into an archive.

    The archive, a .tar.gz, can take a seat, so a new version can be compared with any submitted one.
    Authors get their own bots, the organiser gets all bots.

    Examples:

      dogana ladder files "mybot v2" --to old.tar.gz --server https://ladder.example:8780

      dogana compare mybot.py old.tar.gz --game yunnan
    """
    # Checked before the question, because the answer may be large.
    check_free(to, force=force)
    _, data = Where.chosen(home, server).fetch(FilesRequest(bot=bot))
    write_private(to, data)
    if as_json:
        print_json({"file": str(to), "bytes": len(data)})
    else:
        out.print(f"{to} has {len(data):,} bytes; play against it: dogana play GAME mybot.py {to}", soft_wrap=True)
