"""`dogana ladder log`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.match import BotLog, LogRequest
from ladder.questions.question import document
from referee.commands.output import out, print_json
from referee.terminal import counted, visible

MAX_LINE_CHARACTERS = 500
"""The maximum length of a printed line, except with `--all`."""


def log(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MATCH|BOT",
            help="A match; or a bot (mybot, or 'mybot v2'), for its last match with a log.",
        ),
    ],
    seat: Annotated[int | None, typer.Argument(help="Show only the log of this seat.", min=0, metavar="SEAT")] = None,
    tail: Annotated[
        int, typer.Option(help="Show this many lines at the end of each log.", min=1, metavar="NUMBER")
    ] = 40,
    everything: Annotated[bool, typer.Option("--all", help="Show all lines, and do not cut long ones.")] = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the output of bots: standard output and standard error.

    Control characters are shown as escapes.

    The ladder stores the first and the last 64 kB of each bot's output. If a bot has not qualified, its log is that of the match
    in which it failed.

    Examples:

      dogana ladder log mybot

      dogana ladder log 3f09 1 --tail 100

      dogana ladder log 'mybot v2' --all | less
    """
    request = LogRequest(what=what, seat=seat, tail=0 if everything else tail)
    where = Where.chosen(home, server)
    logs = where.ask(request).logs
    if as_json:
        print_json([document(found) for found in logs])
        return
    for found in logs:
        count = len(found.lines) + found.lines_left_out
        left_out = f"; the last {len(found.lines)}, --all shows all" if found.lines_left_out else ""
        out.print(
            f"match {found.match}, seat {found.seat}, {found.bot}: {counted(count, 'line')}{left_out}", soft_wrap=True
        )
        for line in found.lines:
            out.print(f"  | {line if everything else visible(line, MAX_LINE_CHARACTERS)}", soft_wrap=True)
        if not count:
            explain_empty(where, found)


def explain_empty(where: Where, found: BotLog) -> None:
    """Explain how to examine a bot that has not written anything."""
    out.print("it printed nothing, and a log has only what a bot prints; these say more:", soft_wrap=True)
    bot = found.bot.rpartition(" v")[0]
    of_bot = [("matches", bot, "--lost"), ("show", bot)] if bot else []
    for words in (("replay", found.match, "--as", found.seat), *of_bot):
        out.print(f"  {where.command(*words)}", soft_wrap=True)
