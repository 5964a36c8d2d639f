"""How much room the files of an author take, and may take."""

from __future__ import annotations

import os
from pathlib import Path

from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home

DEFAULT_BYTES = 1024**3
"""What the files of all versions of an author may have together, unless the organiser says otherwise."""


def check_quota(home: Home, store: Store, author: str, content_hash: str) -> None:
    """Check that an author may have further files, which have been taken in. Nobody else may take in any meanwhile.

    Raises:
        LadderError: if they may not.
    """
    most = store.budgets.quotas().get(author, DEFAULT_BYTES)
    if most is None:
        return
    contents = {
        one.content_hash for one in store.roster.versions().values() if one.author == author and not one.is_at_home
    }
    used = sum(bytes_of(home.versions / content) for content in contents - {content_hash})
    more = bytes_of(home.versions / content_hash)
    if used + more > most:
        raise LadderError(
            f"the files of {author} have {used:,} bytes on this ladder; with {more:,} more they would have more than the"
            f" {most:,} that are allowed; retire what you need no more, and ask the organiser to prune it, or for a larger quota"
        )


def bytes_of(folder: Path) -> int:
    """Return how many bytes the files below a folder have; 0 if it is not there."""
    total, waiting = 0, [str(folder)] if folder.is_dir() else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total
