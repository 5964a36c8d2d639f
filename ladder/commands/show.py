"""`dogana ladder show`."""

from __future__ import annotations

from typing import Any

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, BotArgument, HomeOption, ladder_command
from ladder.commands.tables import moment, table
from ladder.condition import Condition
from ladder.home import Home
from ladder.match import Version
from ladder.rating import Rating
from ladder.standings import Standing, Status, standings
from referee.commands.output import out, print_json

LAST_BLOCKS = 10
"""How many blocks of a rating's history are listed; `--json` lists all."""


def show(bot: BotArgument, home: HomeOption, as_json: AsJson = False) -> None:
    """Show a bot: its versions, their status and why they have it, and how the newest has fared.

    For each condition under which the newest version has played: its rating after each block, its faults by their kind,
    and whom it has met. Name an older version ('mybot v1') to see how that one has fared.

    Examples:

      dogana ladder show mybot

      dogana ladder show 'mybot v1' --json
    """
    with Chronicle(Home(home).database, create=False) as chronicle, chronicle.reading():
        versions = chronicle.find_versions(bot)
        submitted = chronicle.submitted_at()
        places = [
            (condition, standing)
            for condition in chronicle.conditions().values()
            for standing in standings(chronicle, condition)
            if standing.version in versions
        ]
        newest = versions[-1]
        played = [
            _fared(chronicle, condition, standing)
            for condition, standing in places
            if standing.version == newest and standing.tally.matches
        ]
    if as_json:
        print_json(
            {
                "bot": newest.bot,
                "author": newest.author,
                "versions": [
                    {
                        "version": version.number,
                        "content_hash": version.content_hash,
                        "submitted_at": submitted[version.id],
                        "games": list(version.games),
                        "standings": [_entry(*place) for place in places if place[1].version == version],
                    }
                    for version in versions
                ],
                "fared": played,
            }
        )
        return
    out.print(f"{newest.bot} by {newest.author}", soft_wrap=True)
    _print_versions(versions, submitted, places)
    for fared in played:
        _print_fared(newest, fared)
    out.print(f"its matches:  {ladder_command(home, 'matches', '--bot', bot)}", soft_wrap=True)
    out.print(f"its log:      {ladder_command(home, 'log', bot)}", soft_wrap=True)
    if any(standing.status in (Status.FAILED, Status.SUSPENDED, Status.RETIRED) for _, standing in places):
        out.print(f"to try again: {ladder_command(home, 'requalify', bot)}", soft_wrap=True)


def _entry(condition: Condition, standing: Standing) -> dict[str, Any]:
    return {
        "game": condition.game,
        "options": dict(condition.options),
        "clock": condition.clock,
        "status": standing.status.value,
        "reason": standing.reason,
        **_rating(standing.rating),
        "matches": standing.tally.matches,
        "different": standing.tally.different,
        "wins": standing.tally.wins,
        "out": standing.tally.faults,
    }


def _rating(rating: Rating | None) -> dict[str, float | None]:
    if rating is None:
        return {"mu": None, "sigma": None, "low": None}
    return {"mu": rating.mu, "sigma": rating.sigma, "low": rating.low}


def _fared(chronicle: Chronicle, condition: Condition, standing: Standing) -> dict[str, Any]:
    """Return how a version has fared under a condition."""
    version = standing.version
    return {
        **_entry(condition, standing),
        "terms": condition.terms,
        "faults": {outcome.value: count for outcome, count in chronicle.faults(version, condition).items()},
        "blocks": [
            {"block": block, **_rating(rating)}
            for block, rating in chronicle.rating_history(version, condition).items()
        ],
        "met": [
            {
                "bot": other.bot,
                "version": other.number,
                "matches": score.matches,
                "ahead": score.ahead,
                "tied": score.tied,
                "behind": score.behind,
            }
            for other, score in chronicle.met(version, condition).items()
        ],
    }


def _print_versions(
    versions: list[Version], submitted: dict[int, str], places: list[tuple[Condition, Standing]]
) -> None:
    heads = ("version", "submitted (UTC)", "game", "under", "skill", "status")
    listed = table(*heads, numbers={"skill"}, whole={"version", "submitted (UTC)", "game"})
    for version in reversed(versions):
        first = [f"v{version.number}", moment(submitted[version.id])]
        own = [(condition, standing) for condition, standing in places if standing.version == version]
        for condition, standing in own:
            skill = "-" if standing.rating is None else f"{standing.rating.low:.2f}"
            listed.add_row(*first, condition.game, condition.terms, skill, standing.status.value or "active")
            first = ["", ""]
        if not own:
            listed.add_row(*first, "", "", "-", Status.UNTRIED.value)
    out.print(listed)
    for condition, standing in places:
        if standing.reason and standing.reason != "house bot":
            out.print(
                f"{standing.version.label}, {condition.game} ({condition.terms}): {standing.status.value}:"
                f" {standing.reason}",
                soft_wrap=True,
            )


def _print_fared(version: Version, fared: dict[str, Any]) -> None:
    faults = ", ".join(f"{kind} {count}" for kind, count in fared["faults"].items())
    out.print()
    out.print(f"{version.label}, {fared['game']} ({fared['terms']})", style="bold", soft_wrap=True)
    out.print(
        f"{fared['matches']} matches, {fared['different']} of them different, {fared['wins']} won,"
        f" out in {fared['out']}{f' ({faults})' if faults else ''}",
        soft_wrap=True,
    )
    heads = ("after block", "mu", "sigma", "mu - 3 sigma")
    listed = table(*heads, numbers=heads)
    for entry in fared["blocks"][-LAST_BLOCKS:]:
        listed.add_row(str(entry["block"]), *(f"{entry[key]:.2f}" for key in ("mu", "sigma", "low")))
    out.print(listed)
    listed = table("met", "matches", "ahead", "tied", "behind", numbers={"matches", "ahead", "tied", "behind"})
    for entry in fared["met"]:
        numbers = (str(entry[key]) for key in ("matches", "ahead", "tied", "behind"))
        listed.add_row(f"{entry['bot']} v{entry['version']}", *numbers)
    out.print(listed)
