"""Write the audit log of a ladder to a file that others can keep, compare and check without the ladder."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ladder.archive.key import LadderKey, ladder_key
from ladder.facts.entries import now
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.files import check_regular, replacing
from referee.records.audit_book import checkpoint_text
from referee.records.audit_log import entries, must_begin_with
from referee.records.chain import FIRST_HASH, hash_of


def write(home: Home, store: Store, file: Path, previous: Path | None = None) -> tuple[int, int | None]:
    """Write a snapshot of the log, with a checkpoint that the ladder signs.

    The file gets its name when it is complete. It replaces an earlier file of that name only if it continues that file.

    Args:
        home: the folder of the ladder.
        store: the facts of the ladder.
        file: the file to write.
        previous: an earlier log of this ladder, with which this one must begin.

    Returns:
        The number of entries, and the number of entries since the earlier log, or None if there is no earlier log.

    Raises:
        AuditError: if an earlier log is not a beginning of this one; the error names the first entry that differs.
        LadderError: if the ladder cannot be read, or its key is missing.
        OSError: if a file cannot be read or written; the error names it.
    """
    key = ladder_key(home, store)
    # The lock comes first, so that the snapshot is not older than a log that another process has just written.
    with _one_at_a_time(home), store.reading():
        return keep(_signed(store, key), file, previous)


def keep(pieces: Iterable[bytes], file: Path, previous: Path | None = None) -> tuple[int, int | None]:
    """Write the lines of a log, as `write` does. They may also come from a ladder that is served elsewhere.

    `dogana verify-log` verifies the file.

    Raises:
        AuditError: if an earlier log is not a beginning of this one; the error names the first entry that differs.
        OSError: if a file cannot be read or written; the error names it.
    """
    final = Path(os.path.realpath(file))
    check_regular(final)
    if previous is not None:  # within `replacing`, an error would name `file`
        check_regular(previous)
        previous.open("rb").close()
    with replacing(file) as part:
        with part.open("xb") as target:
            for piece in pieces:
                target.write(piece)
            target.flush()
            # Its content is on the disk before it replaces an earlier log.
            os.fsync(target.fileno())
        count, added = sum(1 for _ in entries(part)), None
        for path in (final if final.exists() else None, previous):
            if path is not None:
                added = must_begin_with(path, (line for _, line in entries(part)), "the log of this ladder")
    return count, added


@contextlib.contextmanager
def _one_at_a_time(home: Home) -> Iterator[None]:
    """Wait until no other process is writing the log, so that an earlier writer cannot replace a longer log."""
    key = os.open(home.key, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(key, fcntl.LOCK_EX)
        yield
    finally:
        os.close(key)


def _signed(store: Store, key: LadderKey) -> Iterator[bytes]:
    """Yield the lines of all entries, and a checkpoint."""
    count, last_hash, at = 0, FIRST_HASH, now()
    for line in store.log.lines():
        count, last_hash = count + 1, hash_of(line)
        yield line.encode() + b"\n"
    signature = key.sign(checkpoint_text(count, last_hash, at))
    checkpoint = {"type": "checkpoint", "at": at, "entries": count, "hash": last_hash, "signature": signature}
    yield json.dumps(checkpoint, separators=(",", ":")).encode() + b"\n"
