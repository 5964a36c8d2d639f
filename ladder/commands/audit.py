"""`dogana ladder audit`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.commands.tables import moment, table
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from referee.commands.output import out, print_json


def audit(
    home: HomeOption,
    limit: Annotated[int, typer.Option(help="Show this many changes.", min=1, max=100_000, metavar="NUMBER")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the changes by people, newest first.

    Among them are bots submitted, retired or requalified, authors added, tokens given or revoked, and records pruned.

    Example:

      dogana ladder audit --limit 200
    """
    with Authors(Home(home).database, create=False) as authors:
        acts = authors.acts(limit)
    if as_json:
        print_json([asdict(act) for act in acts])
        return
    listed = table("when (UTC)", "who", "did", "about", whole={"when (UTC)"})
    for act in acts:
        listed.add_row(moment(act.at), act.who, act.did, act.about)
    out.print(listed)
