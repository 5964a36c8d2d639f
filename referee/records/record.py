"""Records: the events of a match as JSON Lines, chained by hash.

This module writes, seals and reads them; `verify.py` verifies them. `chain.py` explains the chain, and
`docs/records.md` the lines and their entries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, overload

from typing_extensions import override

from referee.errors import DoganaError
from referee.files import open_private, read_file, sync_folder, unfinished, write_all
from referee.kit.document import parse_json
from referee.match.plan import MatchPlan
from referee.match.result import seed_line
from referee.records.chain import FIRST_HASH, ChainBroken, body, check_link, link
from referee.terminal import visible
from referee.version import installed_version

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMAT = 3
"""The version of the record format that this version of Dogana writes."""
READABLE = (2, 3)
"""The first and the last version of the format that can be read; from version 3 on, a signature may come last."""
BEGINNING = b'{"type":"header",'
_ZSTD_BEGINNING = b"\x28\xb5\x2f\xfd"
"""The first bytes of a Zstandard frame (RFC 8878, 3.1.1)."""
MAX_BYTES = 16 * 1024 * 1024
"""The maximum size of a record in bytes, compressed or not; larger files are refused."""
MAX_LINES = 20_000
"""The maximum number of lines in a record; the longest matches have about 2,000 decisions."""
MAX_LINE_BYTES = 1024 * 1024
"""The maximum length of a line; a header with its board and position takes about 10 kB, other lines less than 1 kB."""
MAX_REASON_CHARACTERS = 500
"""The maximum length of a reason, which may quote text from the record."""


class RecordError(DoganaError):
    """A file is not a valid record; the text names the file, the line and the reason."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        """Describe the fault of a line, counted from 1; line 0 stands for the file as a whole."""
        reason = visible(reason, MAX_REASON_CHARACTERS)
        super().__init__(f"{path}: line {line}: {reason}" if line else f"{path}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


class OtherFormat(RecordError):
    """A file is a record in a format that this version of Dogana does not read."""


def header(plan: MatchPlan) -> dict[str, Any]:
    """Return the first line of a record."""
    line: dict[str, Any] = {
        "type": "header",
        "format": FORMAT,
        "dogana": installed_version(),
        "match": plan.match_id,
        "game": plan.game.name,
        "seats": plan.setup.seats,
        "bots": list(plan.bots),
        "options": dict(plan.setup.options),
        "clock": str(plan.control),
        "seed_commitment": plan.seed_commitment,
        "board": dict(plan.setup.board_data),
    }
    if not plan.reveals_seed:
        line["reveals_seed"] = False
    if plan.position is not None:
        line["position"] = dict(plan.position)
    return line


class RecordWriter:
    """Writes one record; `append` returns once the operating system has the lines.

    The file is called `<name>.<random>.part` until the match is over: a file with the final name is always complete.
    Only the current user can read it, because it holds the players' secrets during a match.
    Failures raise an `OSError` with the file's name.
    """

    def __init__(self, path: Path, create: Callable[[Path], BinaryIO] = open_private) -> None:
        """Open a uniquely named temporary file, so that two writers never mix their lines; a link is followed.

        Args:
            path: the record.
            create: a function that creates the file and opens it for unbuffered writing.
        """
        self.path = Path(os.path.realpath(path))
        self._part = unfinished(self.path)
        self._file: BinaryIO | None
        try:
            self._file = create(self._part)
        except OSError as error:
            raise self._failed(error) from error
        self._hash = FIRST_HASH

    def append(self, *lines: Mapping[str, Any]) -> None:
        """Write lines, all at once."""
        assert self._file is not None  # noqa: S101 only before finish and discard
        written = []
        for data in lines:
            line, self._hash = link(self._hash, data)
            written.append(line + b"\n")
        try:
            write_all(self._file, b"".join(written))
        except OSError as error:
            raise self._failed(error) from error

    def finish(self) -> str:
        """Give the complete file its final name; return the hash of its last line, which identifies the record."""
        try:
            # The content reaches the disk before the name does, and the name before anybody relies on the record.
            self._close(sync=True)
            self._part.rename(self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise self._failed(error) from error
        return self._hash

    def discard(self) -> None:
        """Remove the unfinished file."""
        self._close(sync=False)
        self._part.unlink(missing_ok=True)

    def _close(self, *, sync: bool) -> None:
        if self._file is not None:
            if sync:
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def _failed(self, error: OSError) -> OSError:
        return OSError(error.errno, f"the record cannot be written: {error.strerror}", str(self.path))


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A line of a record whose place in the chain has been checked."""

    number: int
    """The number of the line, from 1."""
    data: dict[str, Any]
    """The entries of the line, without the hash."""
    hash: str
    """The hash of the line, which identifies the record up to this line."""


class RecordLines(Sequence[RecordLine]):
    """The lines of a record whose chain has been checked.

    Each access parses the line again, so the cost of refusing a record does not depend on lines after the invalid one.
    Access to a line that is not a JSON object raises a `RecordError`.
    """

    def __init__(self, path: Path, lines: Sequence[tuple[bytes, str]]) -> None:
        """Store the lines of a file: for each line, its JSON with the hash, and the hash alone."""
        self._path = path
        self._lines = lines

    @override
    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, at: int) -> RecordLine: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[RecordLine]: ...
    @override
    def __getitem__(self, at: int | slice) -> RecordLine | Sequence[RecordLine]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        whole, own_hash = self._lines[at]
        number = at % len(self) + 1  # `at` may be negative, as in `lines[-1]`
        return RecordLine(number, _parsed(self._path, number, body(whole)), own_hash)

    def whole(self) -> list[bytes]:
        """Return the lines as they were written, without line breaks."""
        return [line for line, _ in self._lines]

    def how_many(self, kind: str) -> int:
        """Count the lines of a type, as written by `RecordWriter`, without parsing them."""
        return sum(whole.startswith(b'{"type":"%s",' % kind.encode()) for whole, _ in self._lines)


def read_lines(path: Path, data: bytes | None = None) -> RecordLines:
    """Read a record, compressed or not, and check its chain of hashes.

    Args:
        path: the record.
        data: the bytes of the record, if they have already been read; `path` then only names it in errors.

    Raises:
        RecordError: if the file cannot be read or is cut off, or its chain is broken.
    """
    return _lines_of(path, unpacked(path, read_bytes(path) if data is None else data))


def read_bytes(path: Path) -> bytes:
    """Read a record's file as it is, without decompressing it.

    Raises:
        RecordError: if it cannot be read.
    """
    try:
        return read_file(path, MAX_BYTES)
    except OSError as error:
        raise RecordError(path, 0, f"cannot be read: {error.strerror}") from error


def unpacked(path: Path, data: bytes) -> bytes:
    """Decompress the bytes of a record, if they are compressed; `path` names the record in errors.

    Raises:
        RecordError: if the data is damaged or too long.
    """
    return unzipped(path, data, MAX_BYTES) if data.startswith(_ZSTD_BEGINNING) else data


Dictionary = zstd.ZstdDict
"""A compression dictionary: bytes to which compressed lines refer instead of repeating them."""


def dictionary(lines: bytes) -> Dictionary:
    """Return lines as a compression dictionary for similar lines."""
    return zstd.ZstdDict(lines, is_raw=True)


def unzipped(path: Path, data: bytes, max_bytes: int, like: Dictionary | None = None) -> bytes:
    """Decompress a Zstandard frame of at most `max_bytes` bytes.

    Args:
        path: the name of the record in errors.
        data: the frame.
        max_bytes: the maximum size of the unpacked data.
        like: the dictionary with which the frame was compressed; None if there was none.

    Raises:
        RecordError: if the data is damaged or too long.
    """
    frame = zstd.ZstdDecompressor(like)
    try:
        # Reading one byte more than allowed is enough to refuse a decompression bomb without unpacking it.
        lines = frame.decompress(data, max_length=max_bytes + 1)
    except zstd.ZstdError as error:
        raise RecordError(path, 0, f"is damaged: {error}") from error
    if len(lines) > max_bytes:
        raise RecordError(path, 0, f"has more than {max_bytes} bytes, unpacked")
    if not frame.eof or frame.unused_data:
        raise RecordError(path, 0, "is damaged: the compressed data is cut off, or something follows it")
    return lines


def _lines_of(path: Path, data: bytes) -> RecordLines:
    if not data:
        raise RecordError(path, 0, "is empty")
    # This comes before `split`, which would create an object for each line.
    if data.count(b"\n") > MAX_LINES:
        raise RecordError(path, MAX_LINES + 1, f"comes after {MAX_LINES} lines; no record has more")
    *whole, rest = data.split(b"\n")  # a complete record ends with a line break, so nothing is left
    lines: list[tuple[bytes, str]] = []
    previous = FIRST_HASH
    for number, raw in enumerate(whole, start=1):
        if len(raw) > MAX_LINE_BYTES:
            raise RecordError(path, number, f"has more than {MAX_LINE_BYTES} bytes; no line of a record has")
        try:
            previous = check_link(previous, raw)
        except ChainBroken as error:
            raise RecordError(path, number, str(error)) from error
        lines.append((raw, previous))
    if rest:
        no_record = "" if lines else ", or this is not a record"
        raise RecordError(path, len(lines) + 1, f"is cut off in the middle{no_record}")
    return RecordLines(path, lines)


def sealed(
    path: Path, data: bytes, seed: int, record_hash: str, sign: Callable[[str], Mapping[str, Any]] | None = None
) -> bytes:
    """Return a complete record that reveals its seed, with a signature.

    Args:
        path: the name of the record in errors.
        data: the lines of the record.
        seed: the seed of the match.
        record_hash: the hash of the last line of the record, as its `RecordWriter` returned it.
        sign: a function that makes the signature's line from the hash of the line before it; None to add no signature.

    Raises:
        RecordError: if `data` is not that record.
    """
    last = _lines_of(path, data)[-1]
    if last.hash != record_hash:
        raise RecordError(path, 0, "is not the record that was written (its last hash differs)")
    last_hash = last.hash
    # A record whose end reveals the seed already has this line.
    if last.data.get("type") != "seed":
        line, last_hash = link(last_hash, seed_line(seed))
        data += line + b"\n"
    if sign is not None:
        data += link(last_hash, sign(last_hash))[0] + b"\n"
    return data


def zipped(data: bytes, level: int = 3, like: Dictionary | None = None) -> bytes:
    """Compress lines into one frame with a checksum, using a dictionary if one is given."""
    parameter = zstd.CompressionParameter
    return zstd.compress(data, options={parameter.compression_level: level, parameter.checksum_flag: 1}, zstd_dict=like)


def _parsed(path: Path, number: int, body: bytes) -> dict[str, Any]:
    try:
        data = parse_json(body)
    except ValueError as error:
        raise RecordError(path, number, f"is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise RecordError(path, number, "is not a JSON object")
    return data
