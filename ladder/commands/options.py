"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

from ladder.operation.errors import LadderError
from referee.sandbox.system import processors

SERVER_VARIABLE = "DOGANA_LADDER"
"""The environment variable with the address of the server, for command lines that name neither a folder nor a server."""
PAGES_ADDRESS = "127.0.0.1:8780"
"""The default address of the pages."""


def default_home() -> Path:
    """Return the default folder of the ladder."""
    return Path(platformdirs.user_data_dir("dogana")) / "ladder"


def _organisers_home() -> Path:
    """Return the default folder for a command that needs one.

    Raises:
        LadderError: if the environment names a server, because a user who names no folder then means that server.
    """
    if server := os.environ.get(SERVER_VARIABLE):
        raise LadderError(
            f"{SERVER_VARIABLE} names the ladder at {server}, but this command is for whoever has the folder of a ladder:"
            f" name it with --home FOLDER, or unset {SERVER_VARIABLE}"
        )
    return default_home()


HomeOption = Annotated[
    Path,
    typer.Option(
        "--home",
        help="The folder of the ladder.",
        metavar="FOLDER",
        default_factory=_organisers_home,  # a function, so that the environment is read when the command runs
        show_default="where your system keeps program data",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        help="The maximum number of matches at a time.",
        show_default="one for each processor",
        min=1,
        max=4096,  # a cluster may have more processors than MAX_WORKERS
        metavar="NUMBER",
    ),
]
DEFAULT_WORKERS = processors()
MAX_WORKERS = 256
"""The maximum number of concurrent matches on this machine; a cluster may have more processors."""
JoinOption = Annotated[
    float,
    typer.Option("--wait", help="The maximum time for bots to join.", min=1, max=3600, metavar="SECONDS"),
]
SameAuthorOption = Annotated[bool, typer.Option("--same-author", help="Allow bots of one author to meet.")]
SearchShareOption = Annotated[
    int,
    typer.Option(
        "--search-share",
        help="The percentage of matches in which the house bot search plays, which thinks in its own process; 0 for none.",
        min=0,
        max=100,
        metavar="NUMBER",
    ),
]
SEARCH_SHARE = 10
"""The default percentage of matches in which `search` plays."""
UnconfinedOption = Annotated[
    bool, typer.Option("--unconfined", help="Run submitted bots with your rights on this machine.")
]
ProxyOption = Annotated[
    str,
    typer.Option(
        help="The address of a proxy in front of the pages; its X-Forwarded-For names the callers.", metavar="ADDRESS"
    ),
]
HostNameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--host-name",
        help="Another host name of the pages, in addition to that of this machine; may be given several times; * for any.",
        metavar="NAME",
        show_default=False,
    ),
]
CorsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cors-origin",
        help="Another site whose pages may read /api/v1, such as https://charts.example; * for any.",
        metavar="ORIGIN",
        show_default=False,
    ),
]
TablesOption = Annotated[
    int,
    typer.Option(
        "--tables",
        help="The maximum number of matches that people may play there at a time.",
        min=1,
        max=256,
        metavar="NUMBER",
    ),
]
TablesPerAddressOption = Annotated[
    int | None,
    typer.Option(
        "--tables-per-address",
        help="The maximum number of such matches from one address, which a whole class may share.",
        show_default="all",
        min=1,
        max=256,
        metavar="NUMBER",
    ),
]
InsecureOption = Annotated[
    bool,
    typer.Option("--insecure", help="Send the token even over an unencrypted connection, where others can read it."),
]
OnlyOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        help="Only standings with this option of the game; may be given several times.",
        metavar="NAME=VALUE",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BotArgument = Annotated[
    str, typer.Argument(help="A bot, such as mybot, or one version of it, such as 'mybot v2'.", metavar="BOT")
]
