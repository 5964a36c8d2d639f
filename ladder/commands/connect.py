"""`dogana connect`."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import SERVER_VARIABLE, InsecureOption
from ladder.commands.where import check_url, remote_ladder
from ladder.intake.offer import MAX_MATCHES_AT_HOME
from ladder.operation.errors import LadderError
from ladder.questions.info import InfoRequest
from ladder.service.home_bot import look_at
from ladder.service.login import Login, login_of
from ladder.service.offering import Offer, Offering
from referee.commands.output import err, target
from referee.files import make_folder


def connect(
    path: Annotated[
        Path, typer.Argument(help="A program, a .py, .js or .jar file, or a folder, as for submit.", metavar="PATH")
    ],
    name: Annotated[str, typer.Option(help="The bot's name.", metavar="NAME")],
    server: Annotated[
        str | None,
        typer.Option(help="The ladder.", metavar="URL", show_default=f"the environment's {SERVER_VARIABLE}"),
    ] = None,
    matches: Annotated[
        int,
        typer.Option(
            "--workers",
            help="The maximum number of matches at a time.",
            min=1,
            max=MAX_MATCHES_AT_HOME,
            metavar="NUMBER",
        ),
    ] = 1,
    version: Annotated[
        str,
        typer.Option(
            "--tag",
            help="A text that identifies this version, such as a git tag.",
            metavar="NAME",
            show_default="the SHA-256 over its files",
        ),
    ] = "",
    logs: Annotated[
        Path | None,
        typer.Option(
            help="Keep the bot's output in this folder, in a file for each match.", metavar="FOLDER", parser=target
        ),
    ] = None,
    insecure: InsecureOption = False,
) -> None:
    """Offer a bot that runs on this machine to a ladder.

    The bot plays for as long as this command runs.

    It is for bots that cannot be submitted, because they need a GPU, large files, or a secret. The bot is started again for each
    match, with your rights and your environment; its files and its output stay here. The command reconnects after a lost
    connection. The time that the network takes counts on the bot's clock.

    Ctrl-C lets the bot finish its matches; at a second Ctrl-C it leaves at once, and loses them.

    Examples:

      dogana login https://ladder.example:8780

      dogana connect ./mybot --name mybot --server https://ladder.example:8780 --workers 2 --logs logs
    """
    place = server or os.environ.get(SERVER_VARIABLE)
    if not place:
        raise LadderError("name the ladder: --server URL")
    check_url(place)
    login = login_of(place)
    login.check_logged_in(place)
    login = replace(login, insecure=login.insecure or insecure)
    login.check_private(place)
    bot = look_at(path, version)
    if logs is not None:
        make_folder(logs)
    address, is_encrypted = _door(place, login)
    offer = Offer(bot, name, address, login, matches, logs, is_encrypted)
    if not asyncio.run(_offer(offer)):
        raise KeyboardInterrupt  # so that the exit status is that of an interrupted command


def _door(server: str, login: Login) -> tuple[str, bool]:
    """Return the address for bots at home, and True if the connection is encrypted.

    Raises:
        LadderError: if the ladder accepts no bots at home, or the token would be sent in plain text.
    """
    with remote_ladder(server, login) as ladder:
        address = ladder.ask(InfoRequest()).address
    if not address:
        raise LadderError(f"the ladder at {server} only shows itself; no bot at home can connect to it")
    # `dogana ladder serve` encrypts both or neither.
    is_encrypted = server.startswith("https:")
    if not is_encrypted:
        login.check_private(address)  # this address may be on another machine than the pages
    return address, is_encrypted


async def _offer(offer: Offer) -> bool:
    return await Offering(offer, lambda line: err.print(line, soft_wrap=True, markup=False)).run()
