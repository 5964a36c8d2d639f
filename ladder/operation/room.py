"""The room on a ladder's disk. Without room, the ladder accepts and plays nothing, but loses nothing.

A reserve stays free, so that the ladder can finish its writes, and the organiser can prune. It is not a guarantee,
because other programs may fill the disk at any moment, and then a write fails as a whole. This module therefore checks
the free space before work begins, and checks for each error whether a full disk is its cause.
"""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from ladder.operation.errors import NoRoom
from ladder.operation.journal import note

RESERVE_BYTES = 64 * 1024 * 1024
"""The free space, in bytes, needed to begin a match or to accept a bot; it is the size of a few hundred records."""
OPEN_BYTES = 4 * 1024 * 1024
"""The free space, in bytes, that a server needs to start, because SQLite needs a file of its own for reading."""
RESERVE_FILES = 1_000
"""The number of further files for which there must be room, on file systems that limit the number of files."""
NO_ROOM_TEXT = "the ladder accepts no bots and plays no matches until its organiser has made room: its disk is full"
"""The text about a full disk for callers from outside."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def lack_of_room(folder: Path, needed: int = RESERVE_BYTES) -> str:
    """Describe the lack of room on the disk of a folder; return an empty text if there is room.

    Args:
        folder: the ladder's folder; for a missing folder, the text is empty.
        needed: the number of bytes that must be free.
    """
    try:
        found = os.statvfs(folder)
    except FileNotFoundError:  # the search for the ladder reports that
        return ""
    # This excludes blocks that only root may use.
    free = found.f_bavail * found.f_frsize
    if free < needed:
        return (
            f"the disk of {folder} has {free:,} bytes left, and {needed:,} must be free;"
            " make room, for example with dogana ladder prune"
        )
    # File systems without such a limit report 0 files.
    if found.f_files and found.f_favail < RESERVE_FILES:
        return (
            f"the disk of {folder} can have {found.f_favail:,} more files, and must have room for {RESERVE_FILES:,};"
            " remove some, for example with dogana ladder prune"
        )
    return ""


def check_room(folder: Path, more: int = 0) -> None:
    """Check that there is room for `more` bytes in addition to the reserve.

    Raises:
        NoRoom: if there is no room.
    """
    if lack := lack_of_room(folder, RESERVE_BYTES + more):
        raise NoRoom(lack)


class Room:
    """The room on the disk of a ladder, for repeated checks."""

    def __init__(self, folder: Path, *, waits: bool) -> None:
        """Prepare to check a folder; `waits` is True if the caller can wait until there is room."""
        self._folder = folder
        self._waits = waits
        self._lacks = False

    def is_there(self) -> bool:
        """Return True if there is room; note changes in the journal.

        Raises:
            NoRoom: if there is no room, and the caller cannot wait.
        """
        lack = lack_of_room(self._folder)
        if lack and not self._waits:
            raise NoRoom(lack)
        if bool(lack) != self._lacks:
            self._lacks = bool(lack)
            note_room(lack)
        return not lack


def note_room(lack: str) -> None:
    """Note a lack of room, or its end, in the journal."""
    if lack:
        note("no_room", logging.WARNING, text=f"nothing is played or accepted: {lack}")
    else:
        note("room", text="there is room again")


def is_for_want_of_room(error: BaseException | None) -> bool:
    """Return True if an error reports a full disk, or was caused by one that does."""
    while error is not None:
        if isinstance(error, NoRoom) or (isinstance(error, OSError) and error.errno in _FULL):
            return True
        error = error.__cause__
    return False
