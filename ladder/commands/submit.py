"""`dogana ladder submit`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption, ladder_command
from ladder.home import Home
from ladder.intake import submit as take
from ladder.standings import Status, standings
from ladder.store import Store
from referee.commands.output import out, print_json


def submit(
    path: Annotated[
        Path, typer.Argument(help="A program, a .py, .js or .jar file, a folder, or a .zip or .tar archive.")
    ],
    name: Annotated[str, typer.Option(help="The bot's name.")],
    author: Annotated[str, typer.Option(help="Its author.")],
    home: HomeOption,
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
    version, is_new = take(Home(home), path, name, author)
    if as_json:
        print_json(
            {
                "bot": version.bot,
                "version": version.number,
                "content_hash": version.content_hash,
                "run": list(version.run),
                "new": is_new,
            }
        )
        return
    if is_new:
        how = shlex.join(version.run)
        out.print(f"{version.label} by {version.author} is in; it qualifies with the next run", markup=False)
        out.print(f"it is started by: {how}", markup=False, soft_wrap=True)
        return
    with Store(Home(home).database, create=False) as store:
        newest = max(one.number for one in store.versions().values() if one.bot == version.bot)
        stopped = [
            f"{version.label} is {one.status.value} for {condition.game} ({condition.terms}): {one.reason}".rstrip(": ")
            for condition in store.conditions().values()
            for one in standings(store, condition)
            if one.version == version and one.status in (Status.FAILED, Status.SUSPENDED, Status.RETIRED)
        ]
    later = "" if newest == version.number else f"; v{newest} is the newest"
    out.print(f"nothing new: these files are {version.label} already{later}", soft_wrap=True)
    for line in stopped:
        out.print(line, soft_wrap=True)
    if stopped:
        out.print(f"see why:      {ladder_command(home, 'log', version.label)}", soft_wrap=True)
        out.print(f"to try again: {ladder_command(home, 'requalify', version.label)}", soft_wrap=True)
