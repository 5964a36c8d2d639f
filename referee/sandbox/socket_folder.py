"""The folder of a Unix domain socket. It is locked while its owner lives; if the owner leaves it, a later referee removes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from pathlib import Path

from referee.errors import DoganaError
from referee.sandbox.system import MAX_SOCKET_PATH_BYTES

_PREFIX = "dogana-sock-"
SOCKET = "s"
"""The file name of a socket: short, because the length of its whole path is limited."""


class PathTooLong(DoganaError):
    """The folder for temporary files is too deep for a socket; the text says what to do."""


def check_room_for_sockets() -> None:
    """Check that sockets can be made in the folder for temporary files.

    Raises:
        PathTooLong: if its path is too long.
    """
    name = Path(tempfile.gettempdir()) / f"{_PREFIX}12345678" / SOCKET
    if len(os.fsencode(name)) > MAX_SOCKET_PATH_BYTES:
        raise PathTooLong(
            f"the folder for temporary files, {name.parent.parent}, has too long a name for a socket; "
            "set TMPDIR to a shorter one, such as /tmp"
        )


class SocketFolder:
    """A temporary folder for one socket, readable by this user only.

    Its owner holds a lock on the folder. The lock ends with the owner's process, however that ends.

    Attributes:
        socket: the path of the socket.
    """

    def __init__(self) -> None:
        """Make a new folder.

        Raises:
            PathTooLong: if the path of the folder for temporary files is too long.
        """
        check_room_for_sockets()
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            try:
                self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:  # another referee has removed it before it was locked
                continue
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if folder.exists():
                break
            os.close(self._lock)  # it was removed before it was locked
        self._folder = folder
        self.socket = folder / SOCKET

    def remove(self) -> None:
        """Remove the folder."""
        _remove(self._folder)
        os.close(self._lock)


def sweep() -> None:
    """Remove this user's folders whose owners are dead from the folder for temporary files."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is in use, already gone, or another user's
            if _is_ours(folder):
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(folder)
                finally:
                    os.close(lock)


def _is_ours(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _remove(folder: Path) -> None:
    """Remove a folder and its socket. A folder with other contents stays: it is not a referee's."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK((folder / SOCKET).lstat().st_mode):
            (folder / SOCKET).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
