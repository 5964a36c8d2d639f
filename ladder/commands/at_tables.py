"""`dogana ladder at-tables`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.changes import AtTablesRequest
from ladder.questions.question import document
from referee.commands.output import out, print_json


def at_tables(
    bot: Annotated[str, typer.Argument(help="A bot, such as mybot.", metavar="BOT")],
    allowed: Annotated[bool, typer.Option("--yes/--no", help="Allow or forbid people to play against it.")] = True,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Allow or forbid people to play against a bot in the browser.

    They play against its newest scheduled version, now and in the future. These matches are not rated, and nobody sees the output
    of the bot. Running matches continue.

    Examples:

      dogana ladder at-tables mybot

      dogana ladder at-tables mybot --no
    """
    found = Where.chosen(home, server).ask(AtTablesRequest(bot=bot, at_tables=allowed))
    if as_json:
        print_json(document(found))
    else:
        words = "may play" if found.at_tables else "do not play"
        out.print(f"people {words} against {found.bot} at tables", soft_wrap=True)
