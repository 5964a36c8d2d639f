"""The list of records that a comparison has verified, so that an interrupted comparison can continue (`recompute.py`).

The file contains a fingerprint for each match, at the position that its number determines. A fingerprint covers
everything that was compared: the bytes of the record, and the ladder's facts about the match. So changed records are
verified again, and so are those whose fingerprint was not written completely. The file lists only valid records.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from ladder.facts.history import PlayedMatch
from referee.files import check_regular
from referee.version import installed_version

_BYTES = 16


def fingerprint(match: PlayedMatch, record: bytes) -> bytes:
    """Return a fingerprint of a counted match, its record, and the version of Dogana that verifies it."""
    facts = installed_version(), replace(match, rated=True)  # the record does not depend on whether it is rated
    return blake2b(repr(facts).encode() + record, digest_size=_BYTES).digest()


def noted(file: Path, first: int, last: int) -> dict[int, bytes]:
    """Read the fingerprints of the matches from number `first` to `last`; a missing one is left out, or is all zeros."""
    try:
        check_regular(file)
        with file.open("rb") as source:
            source.seek((first - 1) * _BYTES)
            found = source.read((last - first + 1) * _BYTES)
    except OSError:  # there is no file, or it cannot be read, so everything is verified
        return {}
    return {first + at: found[at * _BYTES :][:_BYTES] for at in range(len(found) // _BYTES)}


class Notes:
    """An open file of fingerprints; write errors are ignored."""

    def __init__(self, file: int | None) -> None:
        """Take the descriptor of an open file; None to store nothing."""
        self._file = file

    def add(self, fingerprints: Mapping[int, bytes]) -> None:
        """Store the fingerprints of valid records, by the numbers of their matches."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # the disk is full, for example
                for number, found in fingerprints.items():
                    os.pwrite(self._file, found, (number - 1) * _BYTES)


@contextlib.contextmanager
def noting(file: Path) -> Iterator[Notes]:
    """Open the file of fingerprints in this context; remove it at the end, unless the comparison is interrupted."""
    try:
        # A link in its place is not followed, and a pipe without a reader does not block.
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError:  # a user who may only read the ladder can verify it as well
        yield Notes(None)
        return
    with os.fdopen(opened, "wb", buffering=0):
        yield Notes(opened)
    with contextlib.suppress(OSError):  # the comparison is complete even if this user may not remove the file
        file.unlink()
