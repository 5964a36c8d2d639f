"""Temporary folders, such as one for a Unix domain socket, which are locked while their owners live.

If an owner leaves its folder behind, a later process removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from referee.errors import DoganaError
from referee.sandbox.system import MAX_SOCKET_PATH_BYTES

_PREFIX = "dogana-sock-"
SOCKET = "s"
"""The file name of a socket. It is short because the length of the whole path is limited."""


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


def hold_new(prefix: str) -> tuple[Path, int]:
    """Make and lock a temporary folder; return its path, and the descriptor that holds the lock until it is closed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        try:
            lock = _opened(folder)
        except FileNotFoundError:  # another process has removed it before it was locked
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)  # it was removed before it was locked


def sweep_unheld(prefix: str, remove: Callable[[Path], None]) -> None:
    """Remove, from the folder for temporary files, this user's folders whose owners are dead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # it is in use, already gone, or another user's
            if _is_ours(folder):
                lock = _opened(folder)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(folder)
                finally:
                    os.close(lock)


def _opened(folder: Path) -> int:
    # No link is followed, because anybody may put one into the folder for temporary files.
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


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
        self._folder, self._lock = hold_new(_PREFIX)
        self.socket = self._folder / SOCKET

    def remove(self) -> None:
        """Remove the folder."""
        _remove(self._folder)
        os.close(self._lock)


def sweep() -> None:
    """Remove the folders of sockets whose owners are dead."""
    sweep_unheld(_PREFIX, _remove)


def _is_ours(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _remove(folder: Path) -> None:
    """Remove a folder and its socket. A folder with other contents stays, because it is not a referee's."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK((folder / SOCKET).lstat().st_mode):
            (folder / SOCKET).unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
