"""`dogana ladder submit`."""

from __future__ import annotations

import getpass
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.intake.submission import check_names
from ladder.operation.errors import BadName, Forbidden, LadderError
from ladder.operation.home import Home
from ladder.questions.question import document
from referee.bots.errors import BadBot
from referee.bots.files import ARCHIVES
from referee.bots.python import syntax_error
from referee.commands.output import err, out, print_json, target

MAX_NAME = 40
"""The maximum length of a name."""
BUILD_FOLDERS = ("target", "release", "debug", "build", "bin", "dist", "out", "Release", "Debug")
"""The usual output folders of compilers."""


def submit(
    path: Annotated[
        Path,
        typer.Argument(
            help="A program, a .py, .js or .jar file, a folder, or a .zip or .tar archive.",
            metavar="PATH",
            parser=target,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="The bot's name.",
            metavar="NAME",
            show_default="the name of the file or folder, made to fit; for PROJECT/target/release/bot, the name of the project",
        ),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option(
            help="The bot's author.",
            metavar="AUTHOR",
            show_default="your login name; with --server, the author whose token is used",
        ),
    ] = None,
    at_tables: Annotated[
        bool, typer.Option("--at-tables", help="Allow people to play against the bot in the browser from now on.")
    ] = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Submit a bot, or a new version of it.

    A version never changes: it is identified by its content. A folder or archive can contain a bot.toml with
    run = ["./program"] and games = ["cargo_noir"]; without it the program is the file bot, bot.py, bot.js or bot.jar, or
    the only file. A file that is not executable by itself is run by python, node or java -jar.

    Examples:

      dogana ladder submit mybot.py

      dogana ladder submit build/mybot.zip --name mybot --author me --home ./ladder
    """
    where = Where.chosen(home, server)
    if wrong := syntax_error(path):
        if where.server is None:
            raise BadBot(wrong)
        # The ladder may have a newer Python.
        err.print(f"{wrong} (for the Python here, and perhaps for that of the ladder)", style="yellow", soft_wrap=True)
    bot = name_of(path) if name is None else name
    by = author
    if by is None:
        by = login_name() if where.server is None else ""
    if where.server is None and (name is not None or author is not None):
        check_names(bot, by)
    is_new_ladder = where.server is None and not Home(where.home).database.exists()
    with where.desk() as desk:
        try:
            found = desk.submit(path, bot, by, at_tables=at_tables)
        except (BadName, Forbidden) as error:  # a server refuses the name of another author's bot with this error
            hints = [f"--name (here {bot}, from the file)"] if name is None else []
            hints += [f"--author (here {by}, your login name)"] if author is None and by else []
            raise LadderError(f"{error}: give {' or '.join(hints)}" if hints else str(error)) from error
    if is_new_ladder:
        err.print(f"new ladder in {where.home}", soft_wrap=True)
    label = f"{found.bot} v{found.version}"
    if at_tables and not found.at_tables:
        raise LadderError(f"{label} is in, but this ladder is too old to let people play against it")
    if as_json:
        print_json(document(found))
        return
    if name is None or (author is None and by):
        out.print(f"the bot is called {found.bot}, its author {found.author}; --name and --author choose others")
    if found.is_new:
        out.print(f"{label} by {found.author} is in; it qualifies {where.soon}", soft_wrap=True)
        out.print(f"it is started by: {shlex.join(found.run)}", soft_wrap=True)
        if found.at_tables:
            out.print("people may play against it at tables", soft_wrap=True)
        return
    later = "" if found.newest == found.version else f"; v{found.newest} is the newest"
    out.print(f"nothing new: these files are already {label}{later}", soft_wrap=True)
    for one in found.stopped:
        out.print(f"{label} is {one.status} for {one.game} ({one.terms}): {one.reason}".rstrip(": "), soft_wrap=True)
    if found.stopped:
        out.print(f"see why:      {where.command('log', label)}", soft_wrap=True)
        out.print(f"to try again: {where.command('requalify', label)}", soft_wrap=True)


def name_of(path: Path) -> str:
    """Return a name for the bot at a path: the name of the file without its suffixes.

    A program `bot` in the output folder of a compiler, as in target/release, gets the name of the project.

    Raises:
        LadderError: if none of its characters is allowed in a name.
    """
    # `.` and `..` are not names.
    whole = path.resolve().name if path.name in ("", "..") else path.name
    if path.stem == "bot" and path.absolute().parent.name in BUILD_FOLDERS:
        whole = next((above.name for above in path.absolute().parents if above.name not in BUILD_FOLDERS), "") or whole
    ending = next((end for end in (*ARCHIVES, ".py", ".js", ".jar") if whole.lower().endswith(end)), "")
    fitting = fitted(whole[: len(whole) - len(ending)])
    if not fitting:
        raise LadderError(f"no name can be made of {whole!r}; choose one: --name NAME")
    return fitting


def login_name() -> str:
    """Return the user's login name, as the name of an author.

    Raises:
        LadderError: if it is not a valid name of an author.
    """
    try:
        fitting = fitted(getpass.getuser())
    except (OSError, KeyError):  # this user has no name
        fitting = ""
    if not fitting:
        raise LadderError("you have no login name that could be an author's; choose one: --author NAME")
    return fitting


def fitted(text: str) -> str:
    """Reduce a text to the characters that names may contain (`ladder.intake.submission.check_names`).

    The result may be empty.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("._-")[:MAX_NAME]
