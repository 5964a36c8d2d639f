"""A disk of a few megabytes, which can be filled and emptied. This thread and what it starts see it; the machine does not."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_CLONE_NEWNS = 0x20000
_MS_REC_PRIVATE = 0x44000
_MNT_DETACH = 2


@dataclass(frozen=True)
class SmallDisk:
    place: Path

    def fill(self, left: int = 0) -> None:
        """Leave so many bytes free, or less."""
        with (self.place / "filling").open("ab") as file:
            while (free := self.free()) > left:
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), max(4096, free - left))
                except OSError:  # somebody else has written meanwhile
                    if free <= 65536:
                        return

    def empty(self) -> None:
        """Give back what `fill` has taken."""
        (self.place / "filling").unlink(missing_ok=True)

    def free(self) -> int:
        found = os.statvfs(self.place)
        return found.f_bavail * found.f_frsize


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[SmallDisk]:
    """Have a disk of so many bytes below a folder, in a mount namespace of this thread; skip the test where that is not possible."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = folder / "disk"
    place.mkdir()
    before = os.open("/proc/thread-self/ns/mnt", os.O_RDONLY)
    try:
        if libc.unshare(_CLONE_NEWNS):
            pytest.skip(f"no mount namespace can be made here: {os.strerror(ctypes.get_errno())}")
        libc.mount(b"none", b"/", None, _MS_REC_PRIVATE, None)
        if libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, f"size={size}".encode()):
            pytest.skip(f"no file system can be mounted here: {os.strerror(ctypes.get_errno())}")
        yield SmallDisk(place)
        libc.umount2(os.fsencode(place), _MNT_DETACH)
    finally:
        libc.setns(before, 0)
        os.close(before)
