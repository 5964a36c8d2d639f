"""Records: what happened in a match, as JSON Lines, chained by hash. Writing and reading; `verify.py` judges.

Every line is a JSON object whose last entry is `hash`: SHA-256 of the hash before it (64 zeros for the first line) and
the line's own bytes without that entry. So a line cannot be changed, left out, added or moved without breaking
the chain. `docs/records.md` lists the lines and their entries.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from referee.errors import DoganaError
from referee.files import check_regular, read_file, unfinished
from referee.kit.chance import commitment
from referee.match.plan import MatchPlan

FORMAT = 2
"""The version of the record format."""
FIRST_HASH = "0" * 64
_encode = json.JSONEncoder(separators=(",", ":")).encode
_BEGINNING = b'{"type":"header",'
MAX_BYTES = 64 * 1024 * 1024
"""No record is longer; a file that claims to be one is not read."""


class RecordError(DoganaError):
    """A file is not a record that holds; the text names the file, the line and the reason."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        """`line` counts from 1; 0 is the file as a whole."""
        super().__init__(f"{path}: line {line}: {reason}" if line else f"{path}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


def header(plan: MatchPlan) -> dict[str, Any]:
    """The first line of a record."""
    line: dict[str, Any] = {
        "type": "header",
        "format": FORMAT,
        "dogana": version("dogana"),
        "match": plan.match_id,
        "game": plan.game.name,
        "seats": plan.setup.seats,
        "bots": list(plan.bots),
        "options": dict(plan.setup.options),
        "clock": str(plan.control),
        "seed_commitment": commitment(plan.match_id, plan.seed),
        "board": dict(plan.setup.board_data),
    }
    if plan.position is not None:
        line["position"] = dict(plan.position)
    return line


class RecordWriter:
    """Writes one record; what is appended is in the hands of the operating system before `append` returns.

    The file is called `<name>.<something>.part` until the match is over: a file of the final name is always complete.
    What fails raises an `OSError` with the file's name.
    """

    def __init__(self, path: Path) -> None:
        """Opens a file of a name of its own, so that two that write one record do not mix. A link is followed."""
        self.path = Path(os.path.realpath(path))
        self._part = unfinished(self.path)
        self._file: BinaryIO | None = self._part.open("xb", buffering=0)
        self._hash = FIRST_HASH

    def append(self, *lines: Mapping[str, Any]) -> None:
        """Writes lines, all in one go."""
        assert self._file is not None  # noqa: S101 only before finish and discard
        written = []
        for line in lines:
            body = _encode(line).encode()
            self._hash = _chain(self._hash, body)
            written.append(b'%s,"hash":"%s"}\n' % (body[:-1], self._hash.encode()))
        left = memoryview(b"".join(written))
        try:
            while left:  # a disk that is almost full takes a part
                left = left[self._file.write(left) :]
        except OSError as error:
            raise self._failed(error) from error

    def finish(self) -> str:
        """Gives the complete file its name; returns the hash of its last line, which stands for the whole."""
        try:
            self._close(sync=True)
            self._part.rename(self.path)
        except OSError as error:
            raise self._failed(error) from error
        return self._hash

    def discard(self) -> None:
        """Removes what was written."""
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


def may_replace(path: Path) -> bool:
    """Whether a file is a record by its beginning, or empty: then a new record may take its place.

    Raises:
        OSError: if it cannot be read or is no regular file.
    """
    check_regular(path)
    with path.open("rb") as file:
        return file.read(len(_BEGINNING)) in (b"", _BEGINNING)


def _chain(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode() + body).hexdigest()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a record whose place in the chain has been checked."""

    number: int
    """Counted from 1."""
    data: dict[str, Any]
    """Its entries, without the hash."""


_TAIL = re.compile(rb',"hash":"([0-9a-f]{64})"\}$')


def read_lines(path: Path) -> list[Line]:
    """Reads a record and checks its chain.

    Raises:
        RecordError: if the file cannot be read, is cut off, or a line is not the one that was written.
    """
    try:
        data = read_file(path, MAX_BYTES)
    except OSError as error:
        raise RecordError(path, 0, f"cannot be read: {error.strerror}") from error
    if not data:
        raise RecordError(path, 0, "is empty")
    *whole, rest = data.split(b"\n")
    lines = []
    previous = FIRST_HASH
    for number, raw in enumerate(whole, start=1):
        tail = _TAIL.search(raw)
        if tail is None:
            raise RecordError(path, number, "does not end with its hash; the line is damaged, or this is no record")
        body = raw[: tail.start()] + b"}"
        if _chain(previous, body) != tail[1].decode():
            raise RecordError(
                path, number, "was changed, or does not follow the line before it (its hash does not fit)"
            )
        previous = tail[1].decode()
        lines.append(Line(number, _parsed(path, number, body)))
    if rest:
        no_record = "" if lines else ", or this is no record"
        raise RecordError(path, len(lines) + 1, f"is cut off in the middle{no_record}")
    return lines


def last_hash(path: Path) -> str:
    """The hash of a record's last line, which stands for the whole; raises as `read_lines` does."""
    read_lines(path)
    return path.read_bytes()[-67:-3].decode()


def _parsed(path: Path, number: int, body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RecordError(path, number, f"is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise RecordError(path, number, "is not a JSON object")
    return data
