"""`dogana ladder queue`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson
from ladder.commands.tables import table, title_of
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.question import document
from ladder.questions.queue import QueueRequest
from referee.commands.output import out, print_json


def queue(
    game: Annotated[str | None, typer.Argument(help="The game; all games if left out.", metavar="GAME")] = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show which bots play next and why.

    There is a list for each condition with matches.

    A block begins with the version that is due first; its opponents are drawn, most of them near it in skill. So the
    order is provisional: drawn versions are due later, and results change which one is least certain.

    "due" counts rounds, in each of which every author is due for two matches. "waits" counts the blocks since a version
    was last in one, and "at most" those until it is in the next, if nobody joins. Bots whose author has used up today's
    budget come last, with the time when they may play again.

    Examples:

      dogana ladder queue

      dogana ladder queue cargo_noir --json
    """
    queues = Where.chosen(home, server).ask(QueueRequest(game=game or "")).queues
    if as_json:
        print_json([document(one) for listed in queues for one in listed.versions])
        return
    numbers = ("sigma", "waits", "at most")
    for listed in queues:
        title = title_of(listed.condition)
        printed = table("", "bot", "due", *numbers, "why", numbers={"", *numbers}, widths={"at most": 6}, title=title)
        for place, one in enumerate(listed.versions, 1):
            printed.add_row(
                str(place),
                f"{one.bot} v{one.version}",
                one.again or (f"in {one.due}" if one.due else "now"),
                f"{one.sigma:.2f}",
                str(one.waits),
                "-" if one.again else str(one.at_most),
                one.why,
            )
        out.print(printed if listed.versions else f"{title}: nobody can be scheduled")
    if not queues:
        out.print("nothing was run yet: dogana ladder run")
