"""`dogana ladder crosstable`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson, OnlyOptions
from ladder.commands.tables import table, title_of
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.comparing import Crosstable, CrosstableRequest
from ladder.questions.question import document
from referee.commands.options import read_options
from referee.commands.output import out, print_json


def crosstable(
    game: Annotated[str, typer.Argument(help="The game.", metavar="GAME")],
    clock: Annotated[
        str | None, typer.Option(help="Use only standings under this clock.", metavar="BANK+INCREMENT/CAP")
    ] = None,
    option: OnlyOptions = None,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the results of the best 20 versions against each other.

    There is a row for each pair that has met, with the share of their common matches in which the first was ahead; ties count as
    halves. --json prints the whole table.

    Examples:

      dogana ladder crosstable cargo_noir

      dogana ladder crosstable cargo_noir --clock 600+5/60 --json
    """
    request = CrosstableRequest(
        game=game, clock=clock or "", options=read_options(option or []), by_options=option is not None
    )
    tables = Where.chosen(home, server).ask(request).tables
    if as_json:
        print_json([document(one) for one in tables])
        return
    for one in tables:
        _print(one)


def _print(crossed: Crosstable) -> None:
    heads = ("matches", "ahead", "tied", "behind", "share")
    listed = table("", "bot", "against", *heads, numbers={"", *heads}, title=title_of(crossed.condition))
    labels = [f"{one.bot} v{one.version}" for one in crossed.versions]
    for standing, label, row in zip(crossed.versions, labels, crossed.rows, strict=True):
        first = [str(standing.place), label]
        for other, met in zip(labels, row.met, strict=True):
            if met.matches:
                counts = (str(number) for number in (met.matches, met.ahead, met.tied, met.behind))
                listed.add_row(*first, other, *counts, f"{met.share:.0%}")
                first = ["", ""]  # only the first row of a version shows its label
    if listed.row_count:
        out.print(listed)
    else:
        out.print(f"{title_of(crossed.condition)}: nobody has met yet")
