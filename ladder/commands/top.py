"""`dogana ladder top`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ladder.commands.options import AsJson, OnlyOptions
from ladder.commands.tables import table, title_of
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts.standings import Status
from ladder.model.match import HOUSE
from ladder.questions.question import document
from ladder.questions.rows import StandingRow
from ladder.questions.standings import TopRequest
from referee.commands.options import read_options
from referee.commands.output import out, print_json

MAX_NAMED = 10
"""How many bots a note names; the others are counted."""
MAX_NOTES = 10
"""How many notes stand below a table."""


def top(
    game: Annotated[str | None, typer.Argument(help="One game; all of them if left out.", metavar="GAME")] = None,
    clock: Annotated[
        str | None, typer.Option(help="Only standings under this clock.", metavar="BANK+INCREMENT/CAP")
    ] = None,
    option: OnlyOptions = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the standings, best first.

    The order is by mu - 3 sigma: the skill that a bot has almost certainly.

    A standing is of one condition: a game, its options and a clock. There is a table for each under which the game was
    run; --clock and --option choose among them.

    "different" is the number of matches behind mu and sigma: a match that was played exactly like an earlier one between
    the same versions in the same seats is no new evidence, and is not rated again.

    Examples:

      dogana ladder top

      dogana ladder top cargo_noir --json

      dogana ladder top cargo_noir --clock 600+5/60 --option last_turn=6
    """
    request = TopRequest(
        game=game or "", clock=clock or "", options=read_options(option or []), by_options=option is not None
    )
    where = Where.chosen(home, server)
    with where.desk() as desk:
        tables = desk.ask(request).tables
    if as_json:
        print_json([document(standing) for one in tables for standing in one.versions])
        return
    never = []
    for one in tables:
        if not one.blocks and not any(standing.place is not None for standing in one.versions):
            never.append(title_of(one.condition))
        if game is not None or title_of(one.condition) not in never:
            _print(where, title_of(one.condition), one.versions)
    if never:
        out.print(f"no matches yet: {', '.join(never)}", soft_wrap=True)


def _print(where: Where, title: str, standings: Sequence[StandingRow]) -> None:
    numbers = ("mu", "sigma", "mu - 3 sigma", "matches", "different", "wins", "out")
    rated = [standing for standing in standings if standing.place is not None]
    listed = table("", "bot", "author", *numbers, numbers={"", *numbers}, widths={"mu - 3 sigma": 6}, title=title)
    for one in rated:
        listed.add_row(
            str(one.place),
            f"{one.bot} v{one.version}",
            one.author,
            *(f"{number:.2f}" for number in (one.mu, one.sigma, one.low)),
            *(str(number) for number in (one.matches, one.different, one.wins, one.out)),
        )
    out.print(listed if rated else title)
    notes: dict[str, list[str]] = {}
    for one in standings:
        label = f"{one.bot} v{one.version}"
        if one.author == HOUSE and one.status == Status.UNTRIED.value:
            continue  # it qualifies with the first match of the game
        if one.status:
            notes.setdefault(f"{one.status}: {one.reason}" if one.reason else one.status, []).append(label)
        elif one.at_home:
            notes.setdefault("at home, on the machine of its author", []).append(label)
    every = where.command("bots", *(["--game", standings[0].game] if standings else []))
    for why, bots in list(notes.items())[:MAX_NOTES]:
        more = f" and {len(bots) - MAX_NAMED} more (`{every}`)" if len(bots) > MAX_NAMED else ""
        out.print(f"{', '.join(bots[:MAX_NAMED])}{more}: {why}", soft_wrap=True)
    if rest := sum(map(len, list(notes.values())[MAX_NOTES:])):
        out.print(f"and {rest} more are not scheduled: `{every}`", soft_wrap=True)
    out.print()
