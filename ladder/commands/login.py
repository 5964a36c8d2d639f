"""`dogana login`."""

from __future__ import annotations

import getpass
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import InsecureOption
from ladder.commands.where import check_url, remote_ladder
from ladder.operation.errors import LadderError
from ladder.questions.info import InfoRequest
from ladder.service.login import Login, logins_file, remember
from referee.commands.output import out
from referee.files import read_file

_MAX_TOKEN_BYTES = 4096
ServerArgument = Annotated[str, typer.Argument(help="The ladder.", metavar="URL")]


def login(
    server: ServerArgument,
    token_file: Annotated[
        Path | None, typer.Option(help="Read the token from this file, not from standard input.", metavar="FILE")
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option(
            help="The certificate of the ladder or its authority (PEM), if this system does not trust it.",
            metavar="FILE",
        ),
    ] = None,
    insecure: InsecureOption = False,
) -> None:
    """Log in to a ladder with the token from its organiser.

    The command prompts for the token, or reads it from standard input, so that it never appears in a command line. It stores the
    token in a file that only you can read. It sends the token to another machine only over an encrypted connection, unless you
    give --insecure.

    Examples:

      dogana login https://ladder.example:8780

      dogana login https://ladder.example:8780 --ca ladder.pem

      dogana login http://127.0.0.1:8780 < token.txt
    """
    check_url(server)
    # Later commands may run in other folders.
    authority = None if ca is None else str(ca.absolute())
    Login(token="?", authority=authority, insecure=insecure).check_private(server)  # noqa: S106 before anybody types theirs
    token = _token(token_file)
    known = Login(token=token, authority=authority, insecure=insecure)
    with remote_ladder(server, known) as desk:
        answer = desk.ask(InfoRequest())
    # Only the server knows whose token it is.
    remember(server, replace(known, author=answer.author))
    out.print(f"logged in at {server} as {answer.author}; the token is stored in {logins_file()}", soft_wrap=True)


def _token(file: Path | None) -> str:
    if file is not None:
        data = read_file(file, _MAX_TOKEN_BYTES)
    elif sys.stdin.isatty():
        data = getpass.getpass("token: ").encode()
    else:
        data = sys.stdin.buffer.read(_MAX_TOKEN_BYTES)
    token = data.decode(errors="replace").strip()
    # The token becomes part of an HTTP header.
    if not token or not token.isascii() or not token.isprintable():
        raise LadderError("that is not a token; give the one that `dogana ladder author add` has printed")
    return token
