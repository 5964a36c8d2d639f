"""A temporary folder that a cluster's processes share on a machine; the last process to leave removes it.

Each process holds a lock on the folder. A folder without a lock was left by killed processes; the next process that
shares a folder here removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

import platformdirs

from referee.files import private_folder

_GONE = ".gone-"
"""The prefix of a folder's name while the folder is being removed."""


class Scratch:
    """A process's share in a temporary folder.

    Attributes:
        folder: the folder; only this user can enter it.
    """

    def __init__(self, name: str, place: Path | None = None) -> None:
        """Make the folder if no other process has made it, and remove folders that no process holds.

        Args:
            name: the name of the folder, the same for all processes that share it.
            place: the parent folder; None for one in this user's cache (XDG_CACHE_HOME).

        Raises:
            OSError: if the folder cannot be made.
        """
        place = place or Path(platformdirs.user_cache_dir("dogana")) / "cluster"
        place.mkdir(parents=True, exist_ok=True)
        self.folder = place / name
        while (lock := _hold(self.folder)) is None:
            pass
        self._lock = lock
        for other in place.iterdir():
            if other != self.folder:
                _remove_unheld(other)

    def leave(self) -> None:
        """Give up this process's share; the last process to do so removes the folder."""
        os.close(self._lock)
        _remove_unheld(self.folder)


def _hold(folder: Path) -> int | None:
    """Make a folder if it does not exist, and lock it; return the lock, or None if another process just removed it."""
    try:
        private_folder(folder)
    except FileExistsError:  # another process has removed it since
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise
        return None
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    # Another process may have removed the folder before it was locked, and a third may have made it again.
    fcntl.flock(lock, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock), folder.stat()):
            return lock
    os.close(lock)
    return None


def _remove_unheld(folder: Path) -> None:
    """Remove a folder and its content, unless a process holds it."""
    with suppress(OSError):  # another process was faster
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = folder.with_name(f"{_GONE}{os.getpid()}-{folder.name.removeprefix(_GONE)}"[:200])
            folder.rename(gone)  # no process finds it from now on
            for inside, _, _ in os.walk(gone):  # the folders of bots cannot be written to
                Path(inside).chmod(0o700)
            shutil.rmtree(gone, ignore_errors=True)
        finally:
            os.close(lock)
