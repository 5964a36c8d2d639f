"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import platformdirs
import typer


def default_home() -> Path:
    """Return the folder of the ladder if the user names none."""
    return Path(platformdirs.user_data_dir("dogana")) / "ladder"


HomeOption = Annotated[
    Path,
    typer.Option(
        "--home",
        help="The folder of the ladder.",
        metavar="DIR",
        default_factory=default_home,
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BotArgument = Annotated[str, typer.Argument(help="A bot, such as mybot, or one version of it, such as 'mybot v2'.")]
