"""`dogana ladder retire`."""

from __future__ import annotations

from ladder.chronicle import Chronicle
from ladder.commands.options import AsJson, BotArgument, HomeOption, ladder_command
from ladder.home import Home
from ladder.standings import retire as take_out
from referee.commands.output import out, print_json


def retire(bot: BotArgument, home: HomeOption, as_json: AsJson = False) -> None:
    """Take a bot out, or one version of it: it is scheduled no more, and keeps its matches and its rating.

    Matches that are scheduled already are still played. If only the newest version is taken out, the one before it plays
    again. A new version of a retired bot plays like any other.

    Examples:

      dogana ladder retire mybot

      dogana ladder retire 'mybot v2'
    """
    with Chronicle(Home(home).database, create=False) as chronicle:
        versions = chronicle.find_versions(bot)
        take_out(chronicle, versions)
    names = [version.label for version in versions]
    if as_json:
        print_json({"retired": names})
    else:
        out.print(f"retired: {', '.join(names)}", soft_wrap=True)
        out.print(f"to bring it back: {ladder_command(home, 'requalify', bot)}", soft_wrap=True)
