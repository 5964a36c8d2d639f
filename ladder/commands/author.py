"""`dogana ladder author`: the authors who may submit over the network."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated

import typer

from ladder.archive.quotas import DEFAULT_BYTES, used_bytes
from ladder.commands.help import PagedCommand, PagedGroup
from ladder.commands.options import AsJson, HomeOption
from ladder.commands.tables import moment, table
from ladder.facts.store import Store
from ladder.intake.authors import DEFAULT_DAYS, Authors
from ladder.operation.home import Home
from referee.commands.output import err, out, print_json
from referee.sandbox.limits import MIB
from referee.terminal import counted

MAX_QUOTA_BYTES = 2**62
"""The maximum quota, in bytes: more than any disk has, and within SQLite's integers of 64 bits."""

author = typer.Typer(
    help="Manage authors, their tokens and their limits.",
    cls=PagedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
)
NameArgument = Annotated[str, typer.Argument(help="The author.", metavar="AUTHOR")]
DaysOption = Annotated[
    int, typer.Option(help="The number of days for which the token is valid.", min=1, max=3650, metavar="DAYS")
]


@author.command(cls=PagedCommand)
def add(name: NameArgument, home: HomeOption, days: DaysOption = DEFAULT_DAYS, as_json: AsJson = False) -> None:
    """Add an author, and print a token.

    It is printed only once: the ladder stores only a hash of it.

    With --days you choose when it expires; `dogana ladder author token` issues another.

    Example:

      dogana ladder author add ann --home ./ladder
    """
    place = Home(home)
    # Authors may be added before there is any bot.
    if place.make():
        err.print(f"new ladder in {home}", soft_wrap=True)
    with Authors(place.database, create=True) as authors:
        _print_token(name, authors.add(name, days), days, as_json=as_json)


@author.command(cls=PagedCommand)
def token(name: NameArgument, home: HomeOption, days: DaysOption = DEFAULT_DAYS, as_json: AsJson = False) -> None:
    """Print a further token for an author.

    Earlier tokens stay valid until they expire or are revoked.

    Example:

      dogana ladder author token ann --days 30
    """
    with Authors(Home(home).database, create=False) as authors:
        _print_token(name, authors.new_token(name, days), days, as_json=as_json)


@author.command(cls=PagedCommand)
def revoke(
    what: Annotated[
        str, typer.Argument(help="An author, for all their tokens; or the id of one token.", metavar="AUTHOR|TOKEN")
    ],
    home: HomeOption,
    as_json: AsJson = False,
) -> None:
    """Revoke tokens of an author.

    They cannot be used any more. Bots, matches and ratings stay.

    Example:

      dogana ladder author revoke ann
    """
    with Authors(Home(home).database, create=False) as authors:
        count = authors.revoke(what)
    if as_json:
        print_json({"revoked": count})
    else:
        out.print(f"{counted(count, 'token')} revoked")


def _matches(text: str) -> int | None:
    """Parse a budget."""
    if text == "none":
        return None
    if not re.fullmatch("[1-9][0-9]{0,6}", text):
        raise typer.BadParameter("say a number from 1 to 9999999, or none", param_hint="--matches-a-day")
    return int(text)


@author.command(cls=PagedCommand)
def budget(
    name: NameArgument,
    home: HomeOption,
    matches_a_day: Annotated[
        str,
        typer.Option(
            metavar="NUMBER", help="The maximum number of matches per day (UTC) for their bots; none for no limit."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Limit the number of an author's matches per day.

    All their bots and all conditions count together.

    When the budget is used up, none of their bots is scheduled until 00:00 UTC. A block that has begun is finished,
    so the last one of a day may exceed the budget. Qualifying matches do not count.

    Examples:

      dogana ladder author budget ann --matches-a-day 200

      dogana ladder author budget ann --matches-a-day none
    """
    matches = _matches(matches_a_day)
    with Authors(Home(home).database, create=False) as authors:
        authors.set_budget(name, matches)
    if as_json:
        print_json({"author": name, "matches_a_day": matches})
    else:
        limit = "no limit" if matches is None else f"{counted(matches, 'match', 'matches')} a day"
        out.print(f"{name}: {limit}")


def _bytes(text: str) -> int | None:
    """Parse a quota."""
    if text == "none":
        return None
    found = re.fullmatch("([0-9]{1,15})([KMGT]?)", text)
    # The index of the unit is the power of 1024.
    size = MAX_QUOTA_BYTES + 1 if found is None else int(found[1]) << 10 * " KMGT".index(found[2] or " ")
    if size > MAX_QUOTA_BYTES:
        raise typer.BadParameter("say a number of bytes, such as 500M or 2G, or none", param_hint="SIZE")
    return size


@author.command(cls=PagedCommand)
def quota(
    name: NameArgument,
    size: Annotated[
        str,
        typer.Argument(metavar="SIZE", help="The maximum size of their files, such as 500M or 2G; none for no limit."),
    ],
    home: HomeOption,
    as_json: AsJson = False,
) -> None:
    """Limit the size of an author's files.

    The files of all versions count together. Without this, the limit is 1 GiB.

    A submission that would exceed the quota is refused. Existing files stay; `dogana ladder prune
    --versions-older-than` removes those of versions that no longer play.

    Examples:

      dogana ladder author quota ann 200M

      dogana ladder author quota ann none
    """
    most = _bytes(size)
    with Authors(Home(home).database, create=False) as authors:
        authors.set_quota(name, most)
    if as_json:
        print_json({"author": name, "bytes": most})
    else:
        out.print(f"{name}: {'no limit' if most is None else f'{most:,} bytes'}")


@author.command("list", cls=PagedCommand)
def list_authors(home: HomeOption, as_json: AsJson = False) -> None:
    """List authors with their tokens, files and budgets.

    It shows the status of each token, the size of the files and the quota for them, and the number of matches that count
    against today's budget.

    Example:

      dogana ladder author list
    """
    place = Home(home)
    with Authors(place.database, create=False) as authors:
        names, tokens = authors.names(), authors.tokens()
    # One snapshot, in which the versions are read once for all authors.
    with place.files_stay(), Store(place.database, create=False) as store, store.reading():
        budgets, quotas = store.budgets.of_today(), store.budgets.quotas()
        # An author who submits on this machine has no token, but may still have limits.
        names += [name for name in {**budgets, **quotas} if name not in names]
        used = {name: used_bytes(place, store, name) for name in names}
    limits = {name: quotas.get(name, DEFAULT_BYTES) for name in names}
    if as_json:
        print_json(
            [
                {
                    "author": name,
                    "tokens": [{**asdict(one), "status": one.status} for one in tokens if one.author == name],
                    "files": {"bytes": used[name], "quota": limits[name]},
                    "budget": {"matches": budgets[name].matches, "today": budgets[name].today}
                    if name in budgets
                    else None,
                }
                for name in names
            ]
        )
        return
    listed = table(
        "author", "token", "made (UTC)", "good until", "last used", "", "files (MiB)", "today", whole={"token"}
    )
    for name in names:
        limit = limits[name]
        files = f"{used[name] / MIB:,.1f}" + ("" if limit is None else f" of {limit / MIB:,.1f}".removesuffix(".0"))
        budget = f"{budgets[name].today} of {budgets[name].matches}" if name in budgets else ""
        rows = [
            (one.id, moment(one.created_at), one.expires_at[:10], one.used_at or "never", one.status)
            for one in tokens
            if one.author == name
        ]
        for row in rows or [("", "", "", "", "no token")]:
            listed.add_row(name, *row, files, budget)
    out.print(listed)


def _print_token(name: str, text: str, days: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"author": name, "token": text})
        return
    err.print(f"the token of {name}, good for {counted(days, 'day')}; it is not shown again:", soft_wrap=True)
    # The token alone goes to standard output, so that it can be redirected into a file.
    out.print(text, soft_wrap=True)
    err.print("with it: dogana login URL", soft_wrap=True)
