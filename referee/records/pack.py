"""Packs: several records in one compressed file, without the hashes of their lines.

Hashes hardly compress, and unpacking computes them again from the lines. An unpacked record is the original, byte for byte,
or its chain is broken. A pack is Zstandard (RFC 8878): `zstd -dc` shows its lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from referee.records.chain import FIRST_HASH, body, link_body
from referee.records.record import (
    BEGINNING,
    MAX_BYTES,
    MAX_LINE_BYTES,
    MAX_LINES,
    RecordError,
    read_lines,
    unzipped,
    zipped,
)

_LEVEL = 9
"""Twice as slow as the usual level 3, and a fifth smaller; level 12 is three times slower still, and only 3 % smaller."""
MAX_RECORDS = 16
"""The maximum in a pack: a block has a match for each seat of its table."""


def packed(path: Path, records: Iterable[bytes]) -> bytes:
    """Return a pack of records.

    Args:
        path: the name of the pack in errors.
        records: the bytes of records, compressed or not.

    Raises:
        RecordError: if one of them is damaged.
    """
    lines: list[bytes] = []
    for record in records:
        whole = read_lines(path, record).whole()
        if not whole[0].startswith(BEGINNING) or any(line.startswith(BEGINNING) for line in whole[1:]):
            raise RecordError(path, 0, "cannot be packed: it does not begin like a record, or has several in it")
        lines += map(body, whole)
    return zipped(b"".join(line + b"\n" for line in lines), _LEVEL)


def unpacked_record(path: Path, data: bytes, match_id: str) -> bytes | None:
    """Return the uncompressed record of a match from a pack; None if the pack does not have that match.

    Raises:
        RecordError: if the pack is damaged.
    """
    for bodies in _bodies(path, data):
        if _match_of(path, bodies[0]) == match_id:
            return _linked(bodies)
    return None


def unpacked_records(path: Path, data: bytes) -> dict[str, bytes]:
    """Return all records of a pack, uncompressed, by match id.

    Raises:
        RecordError: if the pack is damaged.
    """
    return {_match_of(path, bodies[0]): _linked(bodies) for bodies in _bodies(path, data)}


def _bodies(path: Path, data: bytes) -> Iterator[list[bytes]]:
    """Yield the lines of each record, without their hashes."""
    whole = unzipped(path, data, MAX_RECORDS * MAX_BYTES)
    if whole.count(b"\n") > MAX_RECORDS * MAX_LINES:  # each gets a hash, which takes more room than an empty line
        raise RecordError(path, 0, f"has more than {MAX_RECORDS * MAX_LINES} lines; no pack has")
    lines = whole.split(b"\n")
    if len(max(lines, key=len)) > MAX_LINE_BYTES:
        raise RecordError(path, 0, f"has a line of more than {MAX_LINE_BYTES} bytes; no record has")
    if lines.pop() or not lines or not lines[0].startswith(BEGINNING):
        raise RecordError(path, 0, "is damaged, or is no pack of records")
    starts = [at for at, line in enumerate(lines) if line.startswith(BEGINNING)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start:end]


def _match_of(path: Path, header: bytes) -> str:
    try:
        return str(json.loads(header)["match"])
    except (ValueError, KeyError, RecursionError) as error:
        raise RecordError(path, 0, "is damaged: a record in it has no header") from error


def _linked(bodies: Iterable[bytes]) -> bytes:
    lines, previous = [], FIRST_HASH
    for one in bodies:
        line, previous = link_body(previous, one)
        lines.append(line + b"\n")
    return b"".join(lines)
