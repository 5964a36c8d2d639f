"""`dogana ladder matches`."""

from __future__ import annotations

from itertools import zip_longest
from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.tables import moment, table
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.matches import MatchesRequest
from ladder.questions.question import document
from referee.commands.output import out, print_json
from referee.match.result import Outcome


def matches(
    bot: Annotated[
        str | None,
        typer.Argument(help="List only matches of this bot (mybot), or of one version ('mybot v2').", metavar="BOT"),
    ] = None,
    game: Annotated[str | None, typer.Option(help="List only matches of this game.", metavar="GAME")] = None,
    lost: Annotated[bool, typer.Option("--lost", help="List only matches in which the bot was not first.")] = False,
    was_out: Annotated[
        bool, typer.Option("--out", help="List only matches in which the bot was out; without BOT, in which any was.")
    ] = False,
    limit: Annotated[int, typer.Option(help="Show this many matches.", min=1, max=1000, metavar="NUMBER")] = 10,
    before: Annotated[str, typer.Option(help="List only matches older than this one.", metavar="MATCH")] = "",
    after: Annotated[str, typer.Option(help="List only matches newer than this one.", metavar="MATCH")] = "",
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """List the counted matches, newest first.

    All commands accept the beginning of a match's id.

    Examples:

      dogana ladder matches mybot --out

      dogana ladder matches 'mybot v2' --game cargo_noir --lost --limit 3

      dogana ladder matches --before 3f09 --json
    """
    if lost and bot is None:
        raise typer.BadParameter("needs a bot: somebody loses in every match", param_hint="--lost")
    where = Where.chosen(home, server)
    request = MatchesRequest(
        bot=bot or "", game=game or "", lost=lost, out=was_out, limit=limit, before=before, after=after
    )
    found = where.ask(request)
    if as_json:
        print_json(document(found))
        return
    if not found.matches:
        why = f"; how {bot} stands: {where.command('show', bot)}" if bot else ""
        out.print(f"no matches{why}", soft_wrap=True)
        return
    listed = table(
        "match",
        "finished (UTC)",
        "place",
        "bot",
        "score",
        "",
        numbers={"place", "score"},
        whole={"match", ""},
        widths={"finished (UTC)": 16},
    )
    for match in found.matches:
        # The lines about the match stand beside its first seats.
        about = [(match.match, moment(match.finished_at)), (match.game, match.terms)]
        if not match.rated:
            about.append(("not rated", "played before"))
        seats = [
            (
                str(seat.rank),
                f"{seat.bot} v{seat.version}",
                str(seat.score),
                "" if seat.outcome == Outcome.PLAYED.value else f"out: {seat.outcome}",
            )
            for seat in sorted(match.seats, key=lambda seat: (seat.rank, seat.seat))
        ]
        for left, right in zip_longest(about, seats, fillvalue=()):
            listed.add_row(*(left or ("", "")), *right)
        listed.add_row()
    out.print(listed)
    if found.before is not None:
        out.print(f"older ones: the same with --before {found.before}")
    if found.after is not None:
        out.print(f"newer ones: the same with --after {found.after}")
    out.print(f"why a match went so: {where.command('match', found.matches[0].match)}", soft_wrap=True)
