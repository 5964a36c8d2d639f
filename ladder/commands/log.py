"""`dogana ladder log`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, HomeOption
from ladder.errors import LadderError
from ladder.home import Home
from ladder.traces import Log, bots_in, find_match, last_log, logs_of_match
from referee.commands.output import out, print_json
from referee.terminal import visible

MAX_LINE_CHARACTERS = 500
"""How much is shown of a line, unless everything was asked for."""


def log(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MATCH|BOT",
            help="A match, or a bot (mybot, or 'mybot v2'): the last match of it that has a log.",
        ),
    ],
    home: HomeOption,
    seat: Annotated[int | None, typer.Argument(help="Only this seat of the match.", min=0, metavar="SEAT")] = None,
    tail: Annotated[int, typer.Option(help="Show this many lines at the end of each log.", min=1, metavar="N")] = 40,
    everything: Annotated[bool, typer.Option("--all", help="Show every line, and long lines whole.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what bots wrote to standard output and standard error, with everything in it made visible.

    Of each bot the first and the last 64 kB are kept. If a bot has not qualified, its log is that of the match in which
    it failed.

    Examples:

      dogana ladder log mybot

      dogana ladder log 3f09 1 --tail 100

      dogana ladder log 'mybot v2' --all | less
    """
    place = Home(home)
    with Chronicle(place.database, create=False) as chronicle:
        if seat is None and (versions := chronicle.versions_called(what)):
            logs = [last_log(place, chronicle, versions)]
        else:
            match_id = find_match(place, chronicle, what)
            bots = bots_in(place, chronicle, match_id)
            logs = [log for log in logs_of_match(place, match_id, bots) if seat in (None, log.seat)]
            if not logs:
                where = "" if seat is None else f" in seat {seat}"
                raise LadderError(f"match {match_id} has no log{where}: house bots write none, and logs may be removed")
    texts = [(found, found.lines()) for found in logs]
    if as_json:
        print_json([_entry(found, lines, lines if everything else lines[-tail:]) for found, lines in texts])
        return
    for found, lines in texts:
        shown = lines if everything else lines[-tail:]
        left_out = f"; the last {len(shown)}, --all shows all" if len(shown) < len(lines) else ""
        out.print(
            f"match {found.match_id}, seat {found.seat}, {found.bot}: {len(lines)} lines{left_out}", soft_wrap=True
        )
        for line in shown:
            out.print(f"  | {line if everything else visible(line, MAX_LINE_CHARACTERS)}", soft_wrap=True)


def _entry(found: Log, lines: list[str], shown: list[str]) -> dict[str, object]:
    return {
        "match": found.match_id,
        "seat": found.seat,
        "bot": found.bot,
        "path": str(found.path),
        "lines": shown,
        "lines_left_out": len(lines) - len(shown),
    }
