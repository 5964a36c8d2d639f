"""`dogana ladder author`: who may submit over the network."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ladder.authors import DEFAULT_DAYS, Authors
from ladder.commands.options import AsJson, HomeOption
from ladder.commands.tables import moment, table
from ladder.home import Home
from referee.commands.output import err, out, print_json

author = typer.Typer(help="Decide who may submit bots over the network.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="The author.")]
DaysOption = Annotated[int, typer.Option(help="For how many days the token is good.", min=1, max=3650)]


@author.command()
def add(name: NameArgument, home: HomeOption, days: DaysOption = DEFAULT_DAYS, as_json: AsJson = False) -> None:
    """Add an author, and print a token. It is shown this once: the ladder keeps only what it needs to know it again.

    Example:

      dogana ladder author add ann --home ./ladder
    """
    place = Home(home)
    place.make()
    with Authors(place.database, create=True) as authors:
        _print_token(name, authors.add(name, days), as_json=as_json)


@author.command()
def token(name: NameArgument, home: HomeOption, days: DaysOption = DEFAULT_DAYS, as_json: AsJson = False) -> None:
    """Print a further token for an author. Earlier ones stay good until they expire or are revoked.

    Example:

      dogana ladder author token ann --days 30
    """
    with Authors(Home(home).database, create=False) as authors:
        _print_token(name, authors.new_token(name, days), as_json=as_json)


@author.command()
def revoke(
    what: Annotated[str, typer.Argument(help="An author, for all their tokens; or the id of one token.")],
    home: HomeOption,
    as_json: AsJson = False,
) -> None:
    """Revoke tokens: nobody can use them any more. Bots, matches and ratings stay.

    Example:

      dogana ladder author revoke ann
    """
    with Authors(Home(home).database, create=False) as authors:
        count = authors.revoke(what)
    if as_json:
        print_json({"revoked": count})
    else:
        out.print(f"{count} tokens revoked" if count != 1 else "1 token revoked")


@author.command("list")
def list_authors(home: HomeOption, as_json: AsJson = False) -> None:
    """List authors and what is known of their tokens.

    Example:

      dogana ladder author list
    """
    with Authors(Home(home).database, create=False) as authors, authors.reading():
        names, tokens = authors.names(), authors.tokens()
    if as_json:
        print_json(
            [
                {
                    "author": name,
                    "tokens": [{**asdict(one), "status": one.status} for one in tokens if one.author == name],
                }
                for name in names
            ]
        )
        return
    listed = table("author", "token", "made (UTC)", "good until", "last used", "", whole={"token"})
    for name in names:
        for one in (one for one in tokens if one.author == name):
            listed.add_row(
                name, one.id, moment(one.created_at), one.expires_at[:10], one.used_at or "never", one.status
            )
    out.print(listed)


def _print_token(name: str, text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"author": name, "token": text})
        return
    err.print(f"the token of {name}; it is not shown again:", soft_wrap=True)
    out.print(text, soft_wrap=True)
    err.print("with it: dogana login HOST:PORT", soft_wrap=True)
