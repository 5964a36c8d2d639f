"""A folder on a machine that several processes share while they play for the same cluster, and that goes with the last of them.

Each holds a lock on it. A folder that nobody holds was left by processes that were killed; whoever comes next removes it.
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
"""How the name of a folder begins that is being removed."""


class Scratch:
    """A share in such a folder.

    Attributes:
        folder: the folder; only this user can enter it.
    """

    def __init__(self, name: str, place: Path | None = None) -> None:
        """Make the folder, unless another process has, and sweep those that nobody holds.

        Args:
            name: its name, the same for all who share it.
            place: the folder it is in; None for this user's cache, which is where XDG_CACHE_HOME says.

        Raises:
            OSError: if that is not possible.
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
        """Give up the share; remove the folder if nobody else has one."""
        os.close(self._lock)
        _remove_unheld(self.folder)


def _hold(folder: Path) -> int | None:
    """Make a folder, unless it is there, and lock it; return the lock, or None if another process removed the folder meanwhile."""
    try:
        private_folder(folder)
    except FileExistsError:  # it was there, and is not any more
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise
        return None
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_SH)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock), folder.stat()):
            return lock
    os.close(lock)
    return None


def _remove_unheld(folder: Path) -> None:
    """Remove a folder with everything in it, unless somebody holds it."""
    with suppress(OSError):  # somebody else is faster
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = folder.with_name(f"{_GONE}{os.getpid()}-{folder.name.removeprefix(_GONE)}"[:200])
            folder.rename(gone)  # from now on nobody finds it
            for inside, _, _ in os.walk(gone):  # the folders of bots cannot be written to
                Path(inside).chmod(0o700)
            shutil.rmtree(gone, ignore_errors=True)
        finally:
            os.close(lock)
