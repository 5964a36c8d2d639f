"""Audit logs: the events of a ladder in order, chained by hash and signed.

A check reads a log line by line and does not need the ladder. The time it takes grows with the length of the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from referee.errors import DoganaError
from referee.files import check_regular
from referee.records.audit_book import ENTRIES, Book, ValidLog, Wrong, parsed
from referee.records.chain import FIRST_HASH, ChainBroken, body, check_link
from referee.records.signature import PublicKey
from referee.terminal import visible

MAX_LINE_BYTES = 256 * 1024
"""The maximum length of a line, in bytes; a block with many seats takes about 10 kB, other entries less than 1 kB."""
_CHECKPOINT = b'{"type":"checkpoint",'
_MAX_REASON_CHARACTERS = 300


class AuditError(DoganaError):
    """An audit log is not valid; the text names the file, the entry and the reason."""

    def __init__(self, log: Path | str, entry: int, reason: str) -> None:
        """Describe the fault of an entry, counted from 1; entry 0 stands for the log as a whole."""
        reason = visible(reason, _MAX_REASON_CHARACTERS)
        super().__init__(f"{log}: entry {entry}: {reason}" if entry else f"{log}: {reason}")
        self.log = str(log)
        self.entry = entry
        self.reason = reason


def check(path: Path, trusted: PublicKey | None, wanted: Collection[str] = ()) -> ValidLog:
    """Check a whole log: its chain, its signature, and the order of its events.

    Args:
        path: the log.
        trusted: the key that must have signed it, or have handed over to the signing key. With None, the last key in
            the log itself is used, which proves only that the log is consistent with itself.
        wanted: the ids of the matches to look up.

    Raises:
        AuditError: at the first entry that is not valid.
        OSError: if the file cannot be read; the error contains its name.
    """
    reader = Reader(str(path), wanted)
    for _, line in _lines(path):
        if line.startswith(_CHECKPOINT):
            return reader.close(line, trusted)
        reader.take(line)
    raise AuditError(path, reader.number + 1, "is missing: the log is cut off (its signed checkpoint comes last)")


class Reader:
    """Checks a log line by line.

    Attributes:
        number: the number of the last entry, from 1.
    """

    def __init__(self, name: str, wanted: Collection[str] = ()) -> None:
        """Begin before the first entry.

        Args:
            name: the name of the log in errors.
            wanted: the ids of the matches to look up.
        """
        self.number = 0
        self._name = name
        self._last_hash = FIRST_HASH
        self._book = Book(wanted)

    def take(self, line: bytes) -> dict[str, Any]:
        """Check the next line; return its entry.

        Raises:
            AuditError: if the line does not continue the chain, or is not allowed after the lines before it.
        """
        self.number += 1
        try:
            self._last_hash = check_link(self._last_hash, line)
            entry = parsed(body(line), tuple(ENTRIES)[:-1])  # all but the checkpoint, which has no hash of its own
            self._book.take(self.number, entry)
        except (Wrong, ChainBroken) as error:
            raise AuditError(self._name, self.number, str(error)) from error
        return entry

    @property
    def commitments(self) -> dict[int, Mapping[str, str]]:
        """The commitments of the matches in each block whose seed is not revealed, by block and match id."""
        return self._book.commitments

    def close(self, line: bytes, trusted: PublicKey | None) -> ValidLog:
        """Check the line with the checkpoint; return the content of the log.

        Raises:
            AuditError: if the checkpoint does not sign exactly the lines before it, or its signature is not valid.
        """
        try:
            data = parsed(line, ("checkpoint",))
            if (data["entries"], data["hash"]) != (self.number, self._last_hash):
                raise Wrong("the checkpoint is of another log: entries were left out or added after it was signed")
            self._book.close(data, trusted)
        except Wrong as error:
            raise AuditError(self._name, self.number + 1, str(error)) from error
        return self._book.found


def compare(old: Path, new: Path) -> int:
    """Check that a later log begins with an earlier one; return the number of added entries.

    The caller must have checked both logs with `check`.

    Raises:
        AuditError: at the first entry of the later log that differs.
        OSError: if a file cannot be read; the error contains its name.
    """
    return must_begin_with(old, (line for _, line in entries(new)), str(new))


def must_begin_with(old: Path, lines: Iterator[bytes], name: str) -> int:
    """Check that the lines of a later log begin with an earlier log; return the number of added lines.

    Raises:
        AuditError: at the first entry that differs.
    """
    added = 0
    for number, (before, now) in enumerate(zip_longest((line for _, line in entries(old)), lines), start=1):
        if before is None:
            added += 1
        elif now is None:
            raise AuditError(name, number, f"is missing, though {old} has it: entries were taken back")
        elif before != now:
            raise AuditError(name, number, f"is not the one that {old} has: the past was changed")
    return added


def entries(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the line of each entry before the checkpoint of a log, without checking the entries.

    Raises:
        AuditError: if the file is cut off, or something follows the checkpoint.
    """
    number = 0
    for number, line in _lines(path):
        if line.startswith(_CHECKPOINT):
            return
        yield number, line
    raise AuditError(path, number + 1, "is missing: the log is cut off (its signed checkpoint comes last)")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line, up to the checkpoint, which must be the last line."""
    check_regular(path)
    try:
        with path.open("rb") as file:
            number = 0
            # The length is bounded, so that a file without line breaks cannot fill the memory.
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise AuditError(path, number, f"has more than {MAX_LINE_BYTES} bytes; no entry has")
                if not line.endswith(b"\n"):
                    raise AuditError(path, number, "is cut off in the middle")
                if line.startswith(_CHECKPOINT) and file.read(1):
                    raise AuditError(path, number + 1, "comes after the checkpoint, which is the end of a log")
                yield number, line[:-1]
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
