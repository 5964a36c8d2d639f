"""`dogana ladder requalify`."""

from __future__ import annotations

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, BotArgument, HomeOption
from ladder.home import Home
from ladder.standings import requalify as try_again
from referee.commands.output import out, print_json


def requalify(bot: BotArgument, home: HomeOption, as_json: AsJson = False) -> None:
    """Give a bot a second chance, or one version of it: after a failed qualification, a suspension, or its retirement.

    What has failed to qualify or is suspended qualifies with the next run. What is retired comes back. Matches and ratings
    stay as they are.

    Examples:

      dogana ladder requalify mybot

      dogana ladder requalify 'mybot v2'
    """
    with Chronicle(Home(home).database, create=False) as chronicle:
        versions = chronicle.find_versions(bot)
        back, again = try_again(chronicle, versions)
    if as_json:
        print_json(
            {
                "back": [version.label for version in back],
                "again": [
                    {"version": version.label, "game": one.game, "options": dict(one.options), "clock": one.clock}
                    for version, one in again
                ],
            }
        )
        return
    for version in back:
        out.print(f"{version.label} is back", soft_wrap=True)
    for version, condition in again:
        out.print(
            f"{version.label} tries again to qualify for {condition.game} ({condition.terms}), with the next run",
            soft_wrap=True,
        )
