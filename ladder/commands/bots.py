"""`dogana ladder bots`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, HomeOption, ladder_command
from ladder.commands.tables import table
from ladder.condition import Condition
from ladder.home import Home
from ladder.match import Version
from ladder.standings import Standing, Status, standings
from referee.commands.output import out, print_json
from referee.registry import find


def bots(
    home: HomeOption,
    game: Annotated[str | None, typer.Option(help="Only bots that play this game, and their skill at it.")] = None,
    as_json: AsJson = False,
) -> None:
    """List every bot with its newest version, its author, and its status and skill under each condition.

    The skill is mu - 3 sigma, as in `dogana ladder top`; a bot without matches that count has none.

    Examples:

      dogana ladder bots

      dogana ladder bots --game cargo_noir --json
    """
    name = None if game is None else find(game).name
    with Chronicle(Home(home).database, create=False) as chronicle, chronicle.reading():
        newest = {version.bot: version for version in chronicle.versions().values()}
        found: dict[Version, list[tuple[Condition, Standing]]] = {
            newest[bot]: [] for bot in sorted(newest) if name is None or name in newest[bot].games
        }
        for condition in chronicle.conditions().values():
            if name in (None, condition.game):
                for standing in standings(chronicle, condition):
                    if standing.version in found:
                        found[standing.version].append((condition, standing))
    if as_json:
        print_json([_entry(version, places) for version, places in found.items()])
        return
    listed = table("bot", "author", "game", "under", "skill", "status", numbers={"skill"}, whole={"game"})
    for version, places in found.items():
        tried = [place for place in places if place[1].status is not Status.UNTRIED]
        if not tried:
            listed.add_row(version.label, version.author, "", "", "-", Status.UNTRIED.value)
        for line, (condition, standing) in enumerate(tried):
            listed.add_row(
                version.label if line == 0 else "",
                version.author if line == 0 else "",
                condition.game,
                condition.terms,
                "-" if standing.rating is None else f"{standing.rating.low:.2f}",
                standing.status.value or "active",
            )
    out.print(listed)
    out.print(f"more about one: {ladder_command(home, 'show', 'BOT')}", soft_wrap=True)


def _entry(version: Version, places: list[tuple[Condition, Standing]]) -> dict[str, object]:
    return {
        "bot": version.bot,
        "version": version.number,
        "author": version.author,
        "standings": [
            {
                "game": condition.game,
                "options": dict(condition.options),
                "clock": condition.clock,
                "status": standing.status.value,
                "reason": standing.reason,
                "mu": None if standing.rating is None else standing.rating.mu,
                "sigma": None if standing.rating is None else standing.rating.sigma,
                "low": None if standing.rating is None else standing.rating.low,
                "matches": standing.tally.matches,
            }
            for condition, standing in places
        ],
    }
