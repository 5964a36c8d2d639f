"""Whether there is room on the disk of a ladder. When there is none, nothing is taken in or played; nothing that was is lost.

A reserve stays free, so that what is under way can be written to its end, and the organiser can prune. It is no promise: others
may fill the disk at any moment, and then whatever is being written fails, as a whole. So both are looked at: how much is free before
something begins, and whether an error is that of a full disk.
"""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from ladder.operation.errors import NoRoom
from ladder.operation.journal import note

RESERVE_BYTES = 64 * 1024 * 1024
"""How much must be free before a match begins, or a bot is taken in; that is some hundreds of records."""
OPEN_BYTES = 4 * 1024 * 1024
"""How much a server needs to begin: SQLite reads through a file of its own."""
RESERVE_FILES = 1_000
"""How many files must be possible, where the file system has a number of them."""
TOLD = "the ladder takes in nothing and plays nothing until its organiser has made room: its disk is full"
"""What strangers are told."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def lack_of_room(folder: Path, needed: int = RESERVE_BYTES) -> str:
    """Return in words what is missing on the disk of a folder; empty if there is room.

    Args:
        folder: the ladder's; of one that is not there, nothing is said.
        needed: how many bytes must be free.
    """
    try:
        found = os.statvfs(folder)
    except FileNotFoundError:  # which is told where the ladder is looked for
        return ""
    free = found.f_bavail * found.f_frsize
    if free < needed:
        return (
            f"the disk of {folder} has {free:,} bytes left, and {needed:,} must be free;"
            " make room, for example with dogana ladder prune"
        )
    if found.f_files and found.f_favail < RESERVE_FILES:
        return (
            f"the disk of {folder} can have {found.f_favail:,} more files, and must have room for {RESERVE_FILES:,};"
            " remove some, for example with dogana ladder prune"
        )
    return ""


def check_room(folder: Path, more: int = 0) -> None:
    """Check that there is room for `more` bytes beside the reserve.

    Raises:
        NoRoom: if there is not.
    """
    if lack := lack_of_room(folder, RESERVE_BYTES + more):
        raise NoRoom(lack)


class Room:
    """The room on the disk of a ladder, to be looked at again and again."""

    def __init__(self, folder: Path, *, waits: bool) -> None:
        """Look at a disk for one who waits until there is room, or does not."""
        self._folder = folder
        self._waits = waits
        self._lacks = False

    def is_there(self) -> bool:
        """Tell whether there is room; note it in the journal when that changes.

        Raises:
            NoRoom: if there is none, for one who cannot wait.
        """
        lack = lack_of_room(self._folder)
        if lack and not self._waits:
            raise NoRoom(lack)
        if bool(lack) != self._lacks:
            self._lacks = bool(lack)
            note_room(lack)
        return not lack


def note_room(lack: str) -> None:
    """Note in the journal what is missing, or that there is room again."""
    if lack:
        note("no_room", logging.WARNING, text=f"nothing is played or taken in: {lack}")
    else:
        note("room", text="there is room again")


def is_for_want_of_room(error: BaseException | None) -> bool:
    """Tell whether an error is that of a full disk, or follows from one."""
    while error is not None:
        if isinstance(error, NoRoom) or (isinstance(error, OSError) and error.errno in _FULL):
            return True
        error = error.__cause__
    return False
