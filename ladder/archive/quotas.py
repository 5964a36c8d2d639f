"""The size of each author's files, and the quota that limits it."""

from __future__ import annotations

import os
from pathlib import Path

from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home

DEFAULT_BYTES = 1024**3
"""An author's default quota for the files of all their versions, in bytes."""
BLOCK_BYTES = 4096
"""The minimum size, in bytes, counted for a file or folder, because even an empty one takes a block on a disk."""


def check_quota(home: Home, store: Store, author: str, content_hash: str, default: int = DEFAULT_BYTES) -> None:
    """Check that an author's quota allows files that are already copied.

    The caller must prevent other additions meanwhile.

    Args:
        home: the ladder.
        store: its facts.
        author: the author who submits the files.
        content_hash: the hash of the files.
        default: the quota in bytes of an author without a quota of their own.

    Raises:
        LadderError: if the quota does not allow them.
    """
    most = store.budgets.quotas().get(author, default)
    if most is None:
        return
    used = used_bytes(home, store, author, but=content_hash)
    more = bytes_of(home.versions / content_hash)
    if used + more > most:
        raise LadderError(
            f"the files of {author} have {used:,} bytes on this ladder; with {more:,} more they would have more than the"
            f" {most:,} that are allowed; retire bots that you no longer need, and ask the organiser to prune them or raise the quota"
        )


def used_bytes(home: Home, store: Store, author: str, *, but: str = "") -> int:
    """Return the size in bytes of an author's files on the ladder, excluding those with the hash `but`.

    Files are stored once, whatever the number of bots and versions that use them.
    """
    contents = {
        one.content_hash for one in store.roster.versions().values() if one.author == author and not one.is_at_home
    }
    return sum(bytes_of(home.versions / content) for content in contents - {but})


def bytes_of(folder: Path) -> int:
    """Return the total size, in bytes, of all files and folders below a folder; each counts as at least `BLOCK_BYTES`.

    Return 0 if there is no such folder.
    """
    total, waiting = 0, [str(folder)] if folder.is_dir() else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                    total += BLOCK_BYTES
                else:
                    total += max(BLOCK_BYTES, entry.stat(follow_symlinks=False).st_size)
    return total
