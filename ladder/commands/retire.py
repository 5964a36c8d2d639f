"""`dogana ladder retire`."""

from __future__ import annotations

from ladder.commands.options import AsJson, BotArgument
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.changes import RetireRequest
from referee.commands.output import out, print_json


def retire(bot: BotArgument, home: FolderOption = None, server: ServerOption = None, as_json: AsJson = False) -> None:
    """Take a bot, or one version of it, out of the ladder.

    It is no longer scheduled, but keeps its matches and its rating.

    Matches that are already scheduled are still played. If only the newest version is taken out, the previous one plays
    again. A new version of a retired bot plays like any other.

    Examples:

      dogana ladder retire mybot

      dogana ladder retire 'mybot v2'
    """
    where = Where.chosen(home, server)
    names = where.ask(RetireRequest(bot=bot)).versions
    if as_json:
        print_json({"retired": names})
    else:
        out.print(f"retired: {', '.join(names)}", soft_wrap=True)
        out.print(f"to bring it back: {where.command('requalify', bot)}", soft_wrap=True)
