"""`dogana ladder submit`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.document import document
from ladder.errors import LadderError
from referee.bots.errors import BadBot
from referee.bots.python import syntax_error
from referee.commands.output import err, out, print_json


def submit(
    path: Annotated[
        Path, typer.Argument(help="A program, a .py, .js or .jar file, a folder, or a .zip or .tar archive.")
    ],
    name: Annotated[str, typer.Option(help="The bot's name.")],
    author: Annotated[
        str, typer.Option(help="Its author; with --server, the one whose token is used.", show_default=False)
    ] = "",
    at_tables: Annotated[
        bool, typer.Option("--at-tables", help="Let people play against the bot in the browser from now on.")
    ] = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Submit a bot, or a new version of it.

    A version never changes: it is kept by its content. A folder or archive can have a bot.toml with
    run = ["./program"] and games = ["cargo_noir"]; without it the program is the file bot, bot.py, bot.js or bot.jar, or
    the only file. What is no program by itself is run by python, node or java -jar.

    Examples:

      dogana ladder submit mybot.py --name mybot --author me

      dogana ladder submit build/mybot.zip --name mybot --author me --home ./ladder
    """
    where = Where.chosen(home, server)
    if wrong := syntax_error(path):
        if where.server is None:
            raise BadBot(wrong)
        err.print(f"{wrong} (for the Python here, and perhaps for that of the ladder)", style="yellow", soft_wrap=True)
    with where.desk() as desk:
        found = desk.submit(path, name, author, at_tables=at_tables)
    label = f"{found.bot} v{found.version}"
    if at_tables and not found.at_tables:
        raise LadderError(f"{label} is in, but this ladder is too old to let people play against it")
    if as_json:
        print_json(document(found))
        return
    if found.is_new:
        out.print(f"{label} by {found.author} is in; it qualifies {where.soon}", soft_wrap=True)
        out.print(f"it is started by: {shlex.join(found.run)}", soft_wrap=True)
        if found.at_tables:
            out.print("people may play against it at tables", soft_wrap=True)
        return
    later = "" if found.newest == found.version else f"; v{found.newest} is the newest"
    out.print(f"nothing new: these files are {label} already{later}", soft_wrap=True)
    for one in found.stopped:
        out.print(f"{label} is {one.status} for {one.game} ({one.terms}): {one.reason}".rstrip(": "), soft_wrap=True)
    if found.stopped:
        out.print(f"see why:      {where.command('log', label)}", soft_wrap=True)
        out.print(f"to try again: {where.command('requalify', label)}", soft_wrap=True)
