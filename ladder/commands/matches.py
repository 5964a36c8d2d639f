"""`dogana ladder matches`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.chronicle import Chronicle, PlayedMatch
from ladder.commands.options import AsJson, HomeOption, ladder_command
from ladder.commands.tables import moment, table
from ladder.home import Home
from ladder.traces import find_match
from referee.commands.output import out, print_json
from referee.match.result import Outcome
from referee.registry import find


def matches(
    home: HomeOption,
    bot: Annotated[
        str | None, typer.Option(help="Only matches of this bot (mybot), or of one version ('mybot v2').")
    ] = None,
    game: Annotated[str | None, typer.Option(help="Only matches of this game.")] = None,
    lost: Annotated[bool, typer.Option("--lost", help="Only matches in which the bot was not first.")] = False,
    was_out: Annotated[
        bool, typer.Option("--out", help="Only matches in which the bot was out; without --bot, anybody.")
    ] = False,
    limit: Annotated[int, typer.Option(help="Show this many matches.", min=1, max=1000)] = 10,
    before: Annotated[str, typer.Option(help="Only matches older than this one.", metavar="MATCH")] = "",
    as_json: AsJson = False,
) -> None:
    """List the matches that count, newest first. The beginning of a match's id is enough wherever it is asked for.

    Examples:

      dogana ladder matches --bot mybot --out

      dogana ladder matches --bot 'mybot v2' --game cargo_noir --lost --limit 3

      dogana ladder matches --before 3f09 --json
    """
    if lost and bot is None:
        raise typer.BadParameter("needs --bot: somebody loses in every match", param_hint="--lost")
    place = Home(home)
    with Chronicle(place.database, create=False) as chronicle, chronicle.reading():
        found = chronicle.matches(
            limit + 1,  # to know whether there are more
            versions=chronicle.find_versions(bot) if bot is not None else (),
            conditions=None if game is None else chronicle.conditions_of(find(game).name),
            lost=lost,
            out=was_out,
            before=find_match(place, chronicle, before) if before else "",
        )
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({"matches": [_entry(match) for match in shown], "before": shown[-1].match_id if more else None})
        return
    if not shown:
        out.print("no matches")
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
    for match in shown:
        what = [(match.match_id, moment(match.finished_at)), (match.condition.game, match.condition.terms)]
        for line, seat in enumerate(sorted(match.seats, key=lambda seat: (seat.rank, seat.seat))):
            first = what[line] if line < len(what) else ("", "")
            how = "" if seat.outcome is Outcome.PLAYED else f"out: {seat.outcome.value}"
            listed.add_row(*first, str(seat.rank), seat.version.label, str(seat.score), how)
        listed.add_row()
    out.print(listed)
    if more:
        out.print("older ones: the same with --before " + shown[-1].match_id)
    out.print(f"why a match went so: {ladder_command(home, 'match', shown[0].match_id)}", soft_wrap=True)


def _entry(match: PlayedMatch) -> dict[str, object]:
    return {
        "match": match.match_id,
        "number": match.number,
        "game": match.condition.game,
        "options": dict(match.condition.options),
        "clock": match.condition.clock,
        "block": match.block,
        "rotation": match.rotation,
        "finished_at": match.finished_at,
        "rated": match.rated,
        "seats": [
            {
                "seat": seat.seat,
                "bot": seat.version.bot,
                "version": seat.version.number,
                "rank": seat.rank,
                "score": seat.score,
                "outcome": seat.outcome.value,
                "detail": seat.detail,
            }
            for seat in match.seats
        ],
    }
