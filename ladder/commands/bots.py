"""`dogana ladder bots`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.tables import status_of, table
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts.standings import Status
from ladder.questions.bots import BotsRequest
from ladder.questions.in_words import strength
from ladder.questions.question import document
from referee.commands.output import out, print_json


def bots(
    called: Annotated[
        str, typer.Argument(help="List only bots with this text in their name or their author's.", metavar="TEXT")
    ] = "",
    game: Annotated[
        str | None, typer.Option(help="List only bots that play this game, with their strength at it.", metavar="GAME")
    ] = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """List bots with their authors, status and strength.

    For each bot it shows the newest version, with its status and strength under each condition. The strength is printed with its
    95 % range, as in `dogana ladder top`; a bot without counted matches has none.

    Examples:

      dogana ladder bots

      dogana ladder bots --game cargo_noir --json
    """
    where = Where.chosen(home, server)
    found = where.ask(BotsRequest(game=game or "", called=called)).bots
    if as_json:
        print_json([document(one) for one in found])
        return
    if called and not found:
        out.print(f"no bot has {called!r} in its name or author", soft_wrap=True)
        return
    listed = table("bot", "author", "game", "under", "strength", "status", numbers={"strength"}, whole={"game"})
    for one in found:
        label = f"{one.bot} v{one.version}"
        tried = [standing for standing in one.standings if standing.status != Status.UNTRIED]
        # It waits to qualify under all conditions, so one line is enough.
        if not tried:
            listed.add_row(label, one.author, "", "", "-", Status.UNTRIED)
        for line, standing in enumerate(tried):
            listed.add_row(
                label if line == 0 else "",
                one.author if line == 0 else "",
                standing.game,
                standing.terms,
                strength(standing),
                status_of(standing),
            )
    out.print(listed)
    out.print(f"more about one: {where.command('show', 'BOT')}", soft_wrap=True)
