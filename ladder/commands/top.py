"""`dogana ladder top`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from rich.measure import Measurement
from rich.table import Table

from ladder.commands.options import AsJson, OnlyOptions
from ladder.commands.tables import table, title_of
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts.standings import Status
from ladder.model.match import HOUSE
from ladder.operation.errors import LadderError
from ladder.questions.all_games import AllGamesRequest
from ladder.questions.in_words import ALL_GAMES, RANGES, open_places, share, strength
from ladder.questions.question import document
from ladder.questions.rows import StandingRow
from ladder.questions.standings import TopRequest
from referee.commands.options import read_options
from referee.commands.output import out, print_json

MAX_NAMED = 10
"""The maximum number of names in a note; further bots are only counted."""
MAX_NOTES = 10
"""The maximum number of notes below a table."""


def top(
    game: Annotated[str | None, typer.Argument(help="The game; all games if left out.", metavar="GAME")] = None,
    clock: Annotated[
        str | None, typer.Option(help="Show only standings under this clock.", metavar="BANK+INCREMENT/CAP")
    ] = None,
    option: OnlyOptions = None,
    all_games: Annotated[
        bool, typer.Option("--all-games", help="Show one ranking over all games, each with the same weight.")
    ] = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the standings, best first.

    The order is by strength: by the lower end of its 95 % range, so that nobody leads by luck in a few matches. The places are all
    those that the matches leave open. mu and sigma are the live rating, which decides who plays next.

    A standing belongs to one condition: a game, its options and a clock. There is a table for each condition with matches;
    --clock and --option choose among them.

    "different" is the number of matches behind strength and rating: a match with the same play as an earlier one between
    the same versions in the same seats is not new evidence, and is not rated again.

    Examples:

      dogana ladder top

      dogana ladder top cargo_noir --json

      dogana ladder top cargo_noir --clock 600+5/60 --option last_turn=6

      dogana ladder top --all-games
    """
    if all_games:
        if game or clock or option is not None:
            raise LadderError("--all-games is over all games: leave out the game, --clock and --option")
        _top_of_all(Where.chosen(home, server), as_json=as_json)
        return
    request = TopRequest(
        game=game or "", clock=clock or "", options=read_options(option or []), by_options=option is not None
    )
    where = Where.chosen(home, server)
    tables = where.ask(request).tables
    if as_json:
        print_json([document(standing) for one in tables for standing in one.versions])
        return
    never = []
    for one in tables:
        if not one.blocks and not any(standing.place is not None for standing in one.versions):
            # If all games are shown, those without matches are listed on one line.
            never.append(title_of(one.condition))
        # A game that is named gets a table even if it has no matches.
        if game is not None or title_of(one.condition) not in never:
            print_standings(where, title_of(one.condition), one.versions)
    if never:
        out.print(f"no matches yet: {', '.join(never)}", soft_wrap=True)


def _top_of_all(where: Where, *, as_json: bool) -> None:
    found = where.ask(AllGamesRequest())
    if as_json:
        print_json(document(found))
        return
    games = ", ".join(map(title_of, found.conditions))
    if not found.versions:
        out.print(f"no two versions have a strength in each of these yet: {games}" if games else "no matches yet")
        return
    listed = table("place", "bot", "author", "share", numbers={"place", "share"}, whole={"bot"}, title="All games")
    for one in found.versions:
        listed.add_row(open_places(one), f"{one.bot} v{one.version}", one.author, share(one))
    out.print(listed)
    out.print(f"games: {games}")
    out.print(ALL_GAMES)


_COLUMNS: dict[str, Callable[[StandingRow], str]] = {
    "place": open_places,
    "bot": lambda one: f"{one.bot} v{one.version}",
    "author": lambda one: one.author,
    "strength": strength,
    "mu": lambda one: f"{one.mu:.2f}",
    "sigma": lambda one: f"{one.sigma:.2f}",
    "matches": lambda one: str(one.matches),
    "different": lambda one: str(one.different),
    "wins": lambda one: str(one.wins),
    "out": lambda one: str(one.out),
}
"""The columns of a table, each with the function that returns its text for a standing."""
_OF_SEVERAL: dict[str, str] = {Status.NEW: "wait for their first match", Status.UNTRIED: "wait to qualify"}
"""The note on several versions, for each status whose note on a single version is worded differently."""
_DISPENSABLE = ("sigma", "mu", "different", "out", "author", "wins", "matches")
"""The columns that are left out on a narrow terminal, in this order."""


def _fitting(title: str, rated: Sequence[StandingRow]) -> Table:
    """Return the table of standings with as many columns as fit beside complete names."""
    for count in range(len(_DISPENSABLE) + 1):
        left_out = _DISPENSABLE[:count]
        heads = [head for head in _COLUMNS if head not in left_out]
        numbers = set(heads) - {"bot", "author"}
        listed = table(*heads, numbers=numbers, title=title)
        for one in rated:
            listed.add_row(*(_COLUMNS[head](one) for head in heads))
        if left_out:
            listed.caption = f"a wider terminal has more columns: {', '.join(left_out)}"
        if Measurement.get(out, out.options, listed).maximum < out.width:
            break
    return listed


def print_standings(where: Where, title: str, standings: Sequence[StandingRow]) -> None:
    """Print a table and, below it, the bots that have no place in it, with the reasons."""
    rated = [standing for standing in standings if standing.place is not None]
    out.print(_fitting(title, rated) if rated else title)
    if rated:
        out.print(RANGES)
    notes: dict[str, list[str]] = {}
    for one in standings:
        label = f"{one.bot} v{one.version}"
        if one.author == HOUSE and one.status == Status.UNTRIED:
            continue  # it qualifies with the first match of the game
        if one.status:
            notes.setdefault(f"{one.status}: {one.reason}" if one.reason else one.status, []).append(label)
        elif one.at_home:
            notes.setdefault("at home, on the machine of its author", []).append(label)
    every = where.command("bots", *(["--game", standings[0].game] if standings else []))
    for why, bots in list(notes.items())[:MAX_NOTES]:
        why = why if len(bots) == 1 else _OF_SEVERAL.get(why, why)
        more = f" and {len(bots) - MAX_NAMED} more (`{every}`)" if len(bots) > MAX_NAMED else ""
        out.print(f"{', '.join(bots[:MAX_NAMED])}{more}: {why}", soft_wrap=True)
    if failed := next((one for one in standings if one.status == Status.FAILED), None):
        label = f"{failed.bot} v{failed.version}"
        out.print(f"why, for its author and the organiser: {where.command('show', label)}", soft_wrap=True)
    if rest := sum(map(len, list(notes.values())[MAX_NOTES:])):
        out.print(f"and {rest} more are not scheduled: `{every}`", soft_wrap=True)
    out.print()
