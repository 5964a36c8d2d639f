"""`dogana ladder requalify`."""

from __future__ import annotations

from ladder.commands.options import AsJson, BotArgument
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.changes import RequalifyRequest
from ladder.questions.question import document
from referee.commands.output import out, print_json


def requalify(
    bot: BotArgument, home: FolderOption = None, server: ServerOption = None, as_json: AsJson = False
) -> None:
    """Give a bot, or one version of it, another chance.

    It may have failed to qualify, or been suspended or retired.

    A version that has failed to qualify or is suspended qualifies in the next run, or at once if the ladder is served. A retired
    one comes back. Matches and ratings stay as they are.

    Examples:

      dogana ladder requalify mybot

      dogana ladder requalify 'mybot v2'
    """
    where = Where.chosen(home, server)
    found = where.ask(RequalifyRequest(bot=bot))
    if as_json:
        print_json(document(found))
        return
    for label in found.back:
        out.print(f"{label} is back", soft_wrap=True)
    for one in found.again:
        out.print(
            f"{one.version} tries again to qualify for {one.condition.game} ({one.condition.terms}), {where.soon}",
            soft_wrap=True,
        )
