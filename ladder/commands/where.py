"""The ladder of a command: a folder on this machine, or a server."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ladder.commands.options import SERVER_VARIABLE, default_home
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.questions.question import Answer, File, Request, joined
from ladder.service.login import Login, is_url

if TYPE_CHECKING:  # because only a command with --server needs a client
    from ladder.service.remote import RemoteLadder

MAX_FILE_BYTES = 256 * 1024 * 1024
"""The maximum size of a file in memory (a record or the files of a bot), which is more than any ladder sends."""
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="The folder of the ladder.",
        metavar="FOLDER",
        show_default="where your system keeps program data",
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        help="A remote ladder instead of a folder: the URL of its pages.",
        metavar="URL",
        show_default=f"the environment's {SERVER_VARIABLE}",
    ),
]


def check_url(server: str) -> None:
    """Check that a remote ladder is named by a URL.

    Raises:
        LadderError: if it is not.
    """
    if not is_url(server):
        raise LadderError(
            f"{server!r} is not a URL; name the ladder by the URL of its pages, such as https://ladder.example:8780"
        )


def remote_ladder(server: str, login: Login | None = None) -> RemoteLadder:
    """Return the ladder that is served at a URL; use a token for it if one is given.

    Raises:
        LadderError: if `server` is not a URL, its certificate cannot be read, or the token would be sent in plain text.
    """
    check_url(server)
    from ladder.service.remote import RemoteLadder  # httpx and TLS take 50 ms to load

    return RemoteLadder(server, login)


@dataclass(frozen=True, slots=True)
class Where:
    """The ladder that a command uses: a folder on this machine, or a server."""

    home: Path
    server: str | None

    @staticmethod
    def chosen(home: Path | None, server: str | None) -> Where:
        """Return the ladder that the command line chooses or, if it chooses none, the one that the environment names.

        Raises:
            LadderError: if the command line names both.
        """
        if home is not None and server is not None:
            raise LadderError("--home is a ladder on this machine, --server is one elsewhere; leave out one of them")
        if home is None and server is None:
            server = os.environ.get(SERVER_VARIABLE) or None  # an empty one counts as none
        return Where(home or default_home(), server)

    @contextmanager
    def desk(self) -> Iterator[Desk | RemoteLadder]:
        """Open the desk of the ladder.

        Raises:
            LadderError: if there is no ladder, or it does not answer.
        """
        if self.server is None:
            yield Desk(Home(self.home))
            return
        with remote_ladder(self.server) as ladder:
            yield ladder

    def ask(self, request: Request[Answer]) -> Answer:
        """Ask the ladder, and return its answer; to get a file, use `fetch`.

        Raises:
            DoganaError: if the request is refused, or the ladder does not answer.
        """
        with self.desk() as desk:
            return desk.ask(request)

    def fetch(self, request: Request[File], max_bytes: int = MAX_FILE_BYTES) -> tuple[str, bytes]:
        """Ask for a file, and return its name and its content.

        Raises:
            DoganaError: if the request is refused, or the ladder does not answer.
        """
        with self.desk() as desk:
            file = desk.ask(request)
            return file.name, joined(file.pieces, max_bytes)

    @property
    def soon(self) -> str:
        """Return, in words, when a new or requalified bot qualifies."""
        return "with the next run, or at once if the ladder is served" if self.server is None else "at once"

    def command(self, *words: object) -> str:
        """Return a `dogana ladder` command for this ladder, as a user types it in a shell."""
        if self.server is not None:
            place = ["--server", self.server]
        else:
            # There is no need to name the default folder.
            place = [] if self.home == default_home() else ["--home", str(self.home)]
        return shlex.join(["dogana", "ladder", *map(str, words), *place])
