"""`dogana ladder key`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.archive.key import new_key
from ladder.commands.options import AsJson
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.proof import KeyRequest
from ladder.questions.question import document
from referee.commands.output import out, print_json


def key(
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Make a new key; unless the old one is lost, it signs the new one in the audit log."
        ),
    ] = False,
    home: FolderOption = None,
    server: ServerOption = None,
    as_json: AsJson = False,
) -> None:
    """Print the public key of the ladder, and its fingerprint.

    With it, anybody can check the ladder's signatures.

    Publish it where your authors find it: they can trust records and audit logs only as far as the source of the key.

    Examples:

      dogana ladder key

      dogana ladder key --replace
    """
    where = Where.chosen(home, server)
    if replace:
        if where.server is not None:
            raise LadderError("only somebody who has the folder of the ladder can give it another key")
        place = Home(where.home)
        with Store(place.database, create=False) as store:
            new_key(place, store, replace=True)
    found = where.ask(KeyRequest())
    if as_json:
        print_json(document(found))
    else:
        out.print(f"{found.key} {found.fingerprint}", soft_wrap=True)
