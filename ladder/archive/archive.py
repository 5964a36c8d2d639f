"""The archive of a ladder: the compressed records and logs of its matches in one SQLite file.

A record is stored without its hashes, which follow from its lines. It is compressed with the first record of the same
game as a dictionary, because most of a record, such as the board, is the same in all of them. Each record can therefore
be read and removed on its own, yet takes less room than in a compressed group. The content of the file is checked as if
it came from a stranger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from ladder.facts.entries import now
from ladder.operation.errors import BadHome, Busy, NoRoom
from ladder.operation.home import Home
from ladder.operation.sqlite_file import Layout, SqliteFile, batches
from referee.records.chain import FIRST_HASH, body, link_body
from referee.records.record import (
    MAX_BYTES,
    MAX_LINE_BYTES,
    MAX_LINES,
    Dictionary,
    RecordError,
    dictionary,
    read_lines,
    unzipped,
    zipped,
)

USAGE = "usage.json"
"""The name of the log with the resource usage of a match's bots, by seat."""
RECORDS, LOGS = "records", "logs"
"""The two tables with a row for each match."""
MAX_LOG_BYTES = 32 * 1024 * 1024
"""The maximum size of all logs of a match; the ladder writes about 128 kB for each seat."""
_REMOVED_AT_A_TIME = 500
_MAX_DICTIONARY_BYTES = 1024 * 1024
_LEVEL = 9
"""The compression level: half as fast as the usual 3, but a fifth smaller; 12 would take three times as long to save 3 %."""
_LOG = re.compile(r"seat[0-9]{1,2}\.log|usage\.json", re.ASCII)
_LAYOUT = Layout(
    "the archive of a ladder",
    int.from_bytes(b"dogr"),
    1,
    """
create table dictionaries (
    id integer primary key,
    game text not null,
    dogana text not null,
    data blob not null,
    unique (game, dogana)
) strict;
create table records (
    id integer primary key,
    match text not null unique,
    at text not null,
    dictionary integer not null references dictionaries (id),
    data blob not null
) strict;
create table logs (
    id integer primary key,
    match text not null unique,
    at text not null,
    data blob not null
) strict;
""",
    # A record takes a few kilobytes, so SQLite's usual pages would leave a sixth of the file empty. Pruned space is given back.
    ("page_size = 1024", "auto_vacuum = incremental"),
)


class NoRecord(RecordError):
    """A match has no record."""


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a match, byte for byte."""

    path: Path
    """The name of the record in error messages: the archive, and the id of the match."""
    data: bytes
    """The lines of the record, with their hashes."""


class Archive:
    """The archive of a ladder. Use this object as a context manager, or close it after use."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the archive.

        Args:
            path: its file.
            create: True to create a missing file, and to wait for other writers without a limit; if False, a missing file is
                treated as empty.

        Raises:
            BadHome: if the file is not an archive, or cannot be read.
        """
        self._path = path
        self._file = SqliteFile(path, _LAYOUT, create=create, outwaits=create) if create or path.exists() else None
        self._dictionary = lru_cache(self._read_dictionary)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    # adding

    def add(self, match_id: str, record: bytes, logs: Mapping[str, bytes]) -> None:
        """Add the record of a match, and its logs by file name; either all of them are on disk afterwards, or none.

        Raises:
            RecordError: if the record is damaged.
            BadHome: if the archive cannot be written.
        """
        with self._writing():
            self.put_records({match_id: record})
            if logs:
                self.put_logs(match_id, logs)

    def put_logs(self, match_id: str, logs: Mapping[str, bytes]) -> None:
        """Add or replace the logs of a match.

        Raises:
            BadHome: if the archive cannot be written.
        """
        # Latin-1 has a character for each byte, so JSON carries any output.
        texts = json.dumps({name: text.decode("latin-1") for name, text in logs.items()})
        data = zipped(texts.encode(), _LEVEL)
        with self._open.writing():
            self._open.write("insert or replace into logs (match, at, data) values (?, ?, ?)", [match_id, now(), data])

    def put_records(self, records: Mapping[str, bytes]) -> None:
        """Add or replace the records of matches, in one transaction.

        Raises:
            RecordError: if a record is damaged.
            BadHome: if the archive cannot be written.
        """
        with self._writing():
            for match_id, record in records.items():
                lines = read_lines(self._name(match_id), record).whole()
                bodies = b"".join(body(line) + b"\n" for line in lines)
                number = self._dictionary_for(match_id, lines[0], bodies)
                data = zipped(bodies, _LEVEL, self._dictionary(number))
                self._open.write(
                    "insert or replace into records (match, at, dictionary, data) values (?, ?, ?, ?)",
                    [match_id, now(), number, data],
                )
                # The worker's file is removed after this, so the row is read back before anything depends on it.
                if self.record(match_id).data != b"".join(line + b"\n" for line in lines):
                    raise RecordError(self._name(match_id), 0, "would not be read as it was written")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._open.writing():
                yield
        except BaseException:
            self._dictionary.cache_clear()  # the next dictionary gets the id of one that was rolled back
            raise

    def _dictionary_for(self, match_id: str, header: bytes, bodies: bytes) -> int:
        """Return the id of the dictionary for the game and the version of Dogana in a header; add one if there is none."""
        found = read_lines(self._name(match_id), header + b"\n")[0].data
        key = [str(found.get("game")), str(found.get("dogana"))]
        rows = self._open.rows("select id from dictionaries where (game, dogana) = (?, ?)", key)
        if not rows:  # nobody else makes one meanwhile, because this is within `_writing`
            data = zipped(bodies[:_MAX_DICTIONARY_BYTES], _LEVEL)
            insert = "insert into dictionaries (game, dogana, data) values (?, ?, ?) returning id"
            rows = self._open.rows(insert, [*key, data])
        return int(rows[0]["id"])

    def _read_dictionary(self, number: int) -> Dictionary:
        rows = self._rows("select data from dictionaries where id = ?", [number])
        if not rows:
            raise RecordError(self._path, 0, f"lacks dictionary {number}, without which its records cannot be read")
        try:
            return dictionary(unzipped(self._path, rows[0]["data"], _MAX_DICTIONARY_BYTES))
        except ValueError as error:
            raise RecordError(self._path, 0, f"dictionary {number} is damaged: {error}") from error

    # reading

    def record(self, match_id: str) -> Record:
        """Read the record of a match.

        Raises:
            NoRecord: if there is none.
            RecordError: if it is damaged.
        """
        path = self._name(match_id)
        rows = self._rows("select dictionary, data from records where match = ?", [match_id])
        if not rows:
            raise NoRecord(path, 0, "there is no such record")
        return Record(
            path, _linked(path, unzipped(path, rows[0]["data"], MAX_BYTES, self._dictionary(rows[0]["dictionary"])))
        )

    def logs(self, match_id: str) -> dict[str, bytes]:
        """Return the logs of a match by name, such as `seat0.log` and `usage.json`. Their bytes may be hostile.

        Raises:
            RecordError: if they are damaged.
        """
        path = self._name(match_id)
        rows = self._rows("select data from logs where match = ?", [match_id])
        if not rows:
            return {}
        try:
            found = json.loads(unzipped(path, rows[0]["data"], MAX_LOG_BYTES))
            return {name: text.encode("latin-1") for name, text in found.items() if _LOG.fullmatch(name)}
        except (ValueError, AttributeError, RecursionError) as error:
            raise RecordError(path, 0, "is damaged: it is not a log of bots") from error

    def matches_with(self, table: str, beginning: str) -> list[str]:
        """Return the ids of those matches in a table that begin with this text, oldest first."""
        rows = self._rows(
            f"select match from {table} where match between ? and ? order by id",  # noqa: S608 one of the two tables
            [beginning, f"{beginning}\U0010ffff"],
        )
        return [row["match"] for row in rows]

    # removing and copying

    def sizes(self, table: str) -> Iterator[tuple[str, str, int]]:
        """Yield the match id, the time of addition and the compressed size of each row of a table.

        The time is in ISO 8601, UTC, and the size in bytes.
        """
        rows = () if self._file is None else self._file.each(f"select match, at, length(data) as size from {table}")  # noqa: S608
        return ((row["match"], row["at"], row["size"]) for row in rows)

    def remove(self, table: str, match_ids: Collection[str]) -> None:
        """Remove the records or the logs of the given matches, and return the space to the file system.

        A few hundred are removed at a time, because a run must not wait for long, and SQLite's write-ahead log also
        needs room.
        """
        for some in batches(match_ids, _REMOVED_AT_A_TIME):
            with self._open.writing():
                self._open.write_each(f"delete from {table} where match = ?", ([one] for one in some))  # noqa: S608
            self._open.give_back_room()

    def copy_to(self, path: Path) -> None:
        """Copy a snapshot of the whole archive, even while other processes write to it; see `SqliteFile.copy_to`."""
        self._open.copy_to(path)

    @property
    def _open(self) -> SqliteFile:
        assert self._file is not None  # noqa: S101 only callers with `create`, or that have found something in it, write
        return self._file

    def _rows(self, sql: str, parameters: list[Any]) -> list[dict[str, Any]]:
        return [] if self._file is None else self._file.rows(sql, parameters)

    def _name(self, match_id: str) -> Path:
        return self._path / match_id


def find_record(home: Home, match_id: str) -> Record:
    """Read the record of a match.

    Raises:
        NoRecord: if there is none.
        RecordError: if the archive or the requested row is damaged.
        Busy, NoRoom: if the archive cannot be read now.
    """
    with _reading(home) as archive:
        return archive.record(match_id)


def find_logs(home: Home, match_id: str) -> dict[str, bytes]:
    """Return the logs of a match; see `Archive.logs`.

    Raises:
        RecordError: if the archive or the requested row is damaged.
        Busy, NoRoom: if the archive cannot be read now.
    """
    with _reading(home) as archive:
        return archive.logs(match_id)


@contextmanager
def _reading(home: Home) -> Iterator[Archive]:
    """Open the archive in this context; raise RecordError, as for a damaged record, if it will never be readable."""
    try:
        with Archive(home.archive, create=False) as archive:
            yield archive
    except (Busy, NoRoom):
        raise
    except BadHome as error:
        raise RecordError(home.archive, 0, str(error).removeprefix(f"{home.archive}: ")) from error


def _linked(path: Path, bodies: bytes) -> bytes:
    """Return the lines of a record with their hashes.

    Raises:
        RecordError: if these cannot be the lines of a record.
    """
    *lines, rest = bodies.split(b"\n")
    if rest or len(lines) > MAX_LINES or any(len(line) > MAX_LINE_BYTES for line in lines):
        raise RecordError(path, 0, "is damaged: its lines are not those of a record")
    return b"".join(_chained(lines))


def _chained(lines: Iterable[bytes]) -> Iterator[bytes]:
    previous = FIRST_HASH
    for one in lines:
        line, previous = link_body(previous, one)
        yield line + b"\n"
