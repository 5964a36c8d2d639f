"""`dogana ladder bots`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, HomeOption, ladder_command
from ladder.commands.tables import table
from ladder.home import Home
from ladder.standings import Standing, Status, standings
from referee.commands.output import out, print_json
from referee.registry import find, games


def bots(
    home: HomeOption,
    game: Annotated[str | None, typer.Option(help="Only bots that play this game, and their skill at it.")] = None,
    as_json: AsJson = False,
) -> None:
    """List every bot with its newest version, its author, and its status and skill at each game.

    The skill is mu - 3 sigma, as in `dogana ladder top`; without one, a bot has no match that counts.

    Examples:

      dogana ladder bots

      dogana ladder bots --game cargo_noir --json
    """
    names = list(games()) if game is None else [find(game).name]
    with Chronicle(Home(home).database, create=False) as chronicle, chronicle.reading():
        newest = {version.bot: version for version in chronicle.versions().values()}
        found: dict[str, list[tuple[str, Standing]]] = {bot: [] for bot in newest}
        for name in names:
            for standing in standings(chronicle, name):
                if standing.version == newest[standing.version.bot]:
                    found[standing.version.bot].append((name, standing))
    listed = sorted((bot, places) for bot, places in found.items() if places)
    if as_json:
        print_json([_entry(places) for _, places in listed])
        return
    shown = table("bot", "author", "game", "skill", "status", numbers={"skill"}, whole={"game", "status"})
    for bot, places in listed:
        version = newest[bot]
        tried = [(name, standing) for name, standing in places if standing.status is not Status.UNTRIED]
        if not tried:
            shown.add_row(version.label, version.author, "", "-", Status.UNTRIED.value)
        for line, (name, standing) in enumerate(tried):
            first = (version.label, version.author) if line == 0 else ("", "")
            skill = "-" if standing.rating is None else f"{standing.rating.low:.2f}"
            shown.add_row(*first, name, skill, standing.status.value or "active")
    out.print(shown)
    out.print(f"more about one: {ladder_command(home, 'show', 'BOT')}", soft_wrap=True)


def _entry(places: list[tuple[str, Standing]]) -> dict[str, object]:
    version = places[0][1].version
    return {
        "bot": version.bot,
        "version": version.number,
        "author": version.author,
        "games": {
            name: {
                "status": standing.status.value,
                "reason": standing.reason,
                "low": None if standing.rating is None else standing.rating.low,
                "mu": None if standing.rating is None else standing.rating.mu,
                "sigma": None if standing.rating is None else standing.rating.sigma,
            }
            for name, standing in places
        },
    }
