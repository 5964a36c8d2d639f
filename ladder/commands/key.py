"""`dogana ladder key`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.home import Home
from ladder.key import ladder_key, new_key
from ladder.store import Store
from referee.commands.output import out, print_json
from referee.records.signature import PublicKey


def key(
    home: HomeOption,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Make a new key; the old one signs it in the audit log, if it is not lost."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the public key with which anybody can check what the ladder has signed, and its fingerprint.

    Publish it where your authors find it: records and audit logs are worth as much as the way by which they got the key.

    Examples:

      dogana ladder key

      dogana ladder key --replace
    """
    place = Home(home)
    with Store(place.database, create=False) as store:
        if replace:
            new_key(place, store, replace=True)
        elif not store.key():
            ladder_key(place, store)
        public = PublicKey(store.key())
    if as_json:
        print_json({"key": public.text, "fingerprint": public.fingerprint})
    else:
        out.print(f"{public.text} {public.fingerprint}", soft_wrap=True)
