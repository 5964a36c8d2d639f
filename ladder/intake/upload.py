"""The upload of a bot over the network, in chunks."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, Self, TypeVar

from ladder.operation.home import Home
from ladder.operation.room import check_room
from referee.bots.errors import BadBot
from referee.bots.files import MAX_BYTES, TAKING_IN, make_writable
from referee.files import private_folder
from referee.sandbox.system import is_alive

_RECEIVING = ".receiving-"
"""The prefix of the folders for uploads; the id of the process follows."""
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}", re.ASCII)


Taken = TypeVar("Taken")


class Upload(Generic[Taken]):
    """A file that arrives in chunks, and is stored in a temporary folder; use it as a context manager."""

    def __init__(self, home: Home, name: str, size: int, submit: Callable[[Path], Taken]) -> None:
        """Check the announced name and size in bytes, and make the temporary folder; `submit` takes the complete file.

        Raises:
            BadBot: if the file is too large, or its name is not allowed.
            NoRoom: if the disk is full.
        """
        if size > MAX_BYTES:
            raise BadBot(f"{name} has {size} bytes; at most {MAX_BYTES} are accepted")
        if not _FILE_NAME.fullmatch(name):
            raise BadBot("the name of a submitted file is 1 to 100 letters, digits, dots, dashes and underscores")
        self._announced = size
        self._submit = submit
        self._hash = hashlib.sha256()
        self._size = 0
        home.make()
        check_room(home.folder, 2 * size)  # for the upload, and for the accepted files
        private_folder(home.versions)
        self._folder = tempfile.TemporaryDirectory(prefix=f"{_RECEIVING}{os.getpid()}-", dir=home.versions)
        self._path = Path(self._folder.name) / name
        self._file = self._path.open("xb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._folder, suppress(OSError):  # on a full disk, the buffered rest cannot be written
            self._file.close()

    def write(self, data: bytes) -> None:
        """Append the next chunk.

        Raises:
            BadBot: if the file is larger than announced.
        """
        self._size += len(data)
        if self._size > self._announced:
            raise BadBot(f"{self._path.name} was announced with {self._announced} bytes, but more came")
        self._hash.update(data)
        self._file.write(data)

    def check(self, sha256: str) -> None:
        """Check that the complete file has the announced size and this SHA-256, which is in hexadecimal.

        Raises:
            BadBot: if the size or the hash differs.
        """
        if self._size != self._announced or self._hash.hexdigest() != sha256:
            raise BadBot(f"{self._path.name} did not arrive as it was sent; send it again")

    def take_in(self, *, executable: bool) -> Taken:
        """Accept the bot from the complete file, without checking its size and hash; see `check`.

        Raises:
            BadBot: if the bot is refused.
            LadderError: if a name is refused; see `ladder.questions.desk.Desk.submit`.
        """
        self._file.close()
        self._path.chmod(0o700 if executable else 0o600)
        try:
            return self._submit(self._path)
        except BadBot as error:  # its text names the folder, which is nobody else's business
            raise BadBot(str(error).replace(f"{self._folder.name}/", "")) from error


def sweep_uploads(home: Home) -> None:
    """Remove the unfinished uploads that killed processes have left behind."""
    for beginning in (_RECEIVING, TAKING_IN):
        for folder in home.versions.glob(f"{beginning}*"):
            owner = folder.name.removeprefix(beginning).partition("-")[0]
            # A process that is alive may still be receiving the upload.
            if not (owner.isdigit() and is_alive(int(owner))):
                make_writable(folder)
                shutil.rmtree(folder, ignore_errors=True)
