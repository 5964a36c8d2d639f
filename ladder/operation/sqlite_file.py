"""SQLite files: opening, transactions, and SQLite's errors in one line.

Any number of processes may have the file open. Every transaction that writes begins with `begin immediate`, so it waits
for other writers before it reads, and what it has read is still true when it writes. (A transaction that begins
deferred fails with "database is locked" as soon as somebody else has written since it first read, however long its
time-out.)
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

from ladder.operation.errors import BadHome, Busy, NoRoom
from ladder.operation.room import lack_of_room

# sqlite-utils imports numpy if it is installed, to store its numbers. The import takes most of a command's start-up time, and no
# number here has a numpy type; None in `sys.modules` means that there is no such module.
_hidden = sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
from sqlite_utils import Database  # noqa: E402

if _hidden is None:
    del sys.modules["numpy"]

_log = logging.getLogger(__name__)

_PATIENCE = 30.0
"""The time, in seconds, that a transaction waits for the transactions of other processes, which take milliseconds."""
_TRY_SECONDS = 1.0
"""The time, in seconds, between two attempts of a transaction that waits without a limit."""
_TRIES_BETWEEN_WARNINGS = 60


Value = TypeVar("Value")
Parameters = Sequence[Any] | Mapping[str, Any]
"""The parameters of an SQL statement, by position or by name."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a new file, and the numbers that identify such a file."""

    what: str
    """The words for the file in error messages, as in "is not a ladder"."""
    application_id: int
    """The number in the header of such a file, by which SQLite distinguishes the files of different applications."""
    version: int
    """The number of the layout; each change to the tables increases it by one."""
    tables: str
    """The SQL statements that make the tables."""
    before: tuple[str, ...] = ()
    """The SQL statements to execute before the first table is made."""


class SqliteFile:
    """An SQLite file. Use this object as a context manager, or close it after use.

    Attributes:
        path: the path of the file.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        *,
        create: bool,
        outwaits: bool = False,
        begin: Callable[[Database], None] = lambda _: None,
    ) -> None:
        """Open the file.

        Args:
            path: the path of the file.
            layout: the layout that it must have.
            create: True to make the file if it does not exist.
            outwaits: True if writing transactions wait for other writers without a limit, with a line in the log.
            begin: writes the first rows of a new file, in the transaction that makes its tables.

        Raises:
            BadHome: if it is a different file, has a different layout, or cannot be read.
        """
        self.path = path
        self._layout = layout
        self._outwaits = outwaits
        self._begin = begin
        self._unlocked: os.stat_result | None = None
        with self.explained():
            if path.exists():
                self._look_at(create=create)
            else:
                path.touch(mode=0o600)  # SQLite gives its auxiliary files the same mode
            self._db = Database(self._connect())
            try:
                self._db.execute("pragma foreign_keys = on").close()
                # Some builds of SQLite wait for the disk less often. A block must be on the disk before its first match begins.
                self._db.execute("pragma synchronous = full").close()
                self._make_new()
            except BaseException:
                self._db.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        if self._may_write():
            # Without the isolation level, Python begins no transactions of its own, which would be deferred ones.
            return sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        return self._connect_reading()

    def _connect_reading(self) -> sqlite3.Connection:
        """Open the file for reading, even on a read-only file system."""
        # Beside a writer, SQLite reads through shared memory in a third file. Without these two files, nobody is writing.
        before = self.path.stat()
        beside = self.path.with_name(f"{self.path.name}-wal").exists()
        mode = "mode=ro" if beside or self._may_write() else "immutable=1"
        # An immutable file is read without locks, and a process that begins to write later does not know of this one.
        self._unlocked = before if mode == "immutable=1" else None
        return sqlite3.connect(f"{_uri(self.path)}?{mode}", uri=True, timeout=_PATIENCE, isolation_level=None)

    def _may_write(self) -> bool:
        return not self.path.exists() or (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))

    def _look_at(self, *, create: bool) -> None:
        """Refuse a file with a different layout, without changing it."""
        with contextlib.closing(self._connect_reading()) as file:
            tables = Database(
                file
            ).table_names()  # read first: another process may be making the ladder, which sets all of these at once
            application, layout = _pragma(file, "application_id"), _pragma(file, "user_version")
        is_ours = application == self._layout.application_id
        if is_ours and layout > self._layout.version:
            raise BadHome(f"{self.path} was made by a newer version of Dogana; update this one")
        if _OF_OLD_LAYOUTS in tables or (is_ours and layout < self._layout.version):
            raise BadHome(
                f"{self.path} was made by a version of Dogana from before the first release, whose ladders this one cannot"
                " read; go on with that version, or begin a new ladder in another folder"
            )
        if not is_ours and (tables or not create):
            raise BadHome(f"{self.path} is an SQLite file, but not {self._layout.what}")

    def _make_new(self) -> None:
        """Make the tables of a new file, unless they exist."""
        if self._is_made():
            return
        self._make_private()
        # `auto_vacuum` and `page_size` have no effect in write-ahead mode, or once there are tables.
        for pragma in self._layout.before:
            self._db.execute(f"pragma {pragma}").close()
        self._write_ahead()
        with self.writing():
            if not self._is_made():  # no other process was faster
                for statement in self._layout.tables.split(";\n"):  # `executescript` would commit
                    if statement.strip():
                        self._db.execute(statement).close()
                self._db.execute(f"pragma application_id = {self._layout.application_id}").close()
                self._db.execute(f"pragma user_version = {self._layout.version}").close()
                self._begin(self._db)

    def _is_made(self) -> bool:
        return _pragma(self._db.conn, "application_id") == self._layout.application_id

    def _make_private(self) -> None:
        for path in (self.path.parent, *self.path.parent.glob(f"{self.path.name}*")):
            with contextlib.suppress(OSError):  # the file belongs to another user, who decides about its mode
                path.chmod(path.stat().st_mode & 0o700)

    def _write_ahead(self) -> None:
        """Set the journal mode that allows reading beside a writer.

        Retry for a while, because SQLite does not wait while another process sets the mode.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._db.execute("pragma journal_mode = wal").close()
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # transactions

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a writing transaction, which happens completely or not at all.

        Within another transaction, it becomes part of that one.

        Raises:
            BadHome: if the disk is full, or the file is damaged, locked for too long, or cannot be written.
        """
        if self._db.conn.in_transaction:
            yield
            return
        with self.explained():
            self._begin_writing()
            with self._transaction():
                yield

    def _begin_writing(self) -> None:
        if self._outwaits:
            self._wait_for_others(_TRY_SECONDS)  # between attempts, signals can end the process
        try:
            for tries in count():
                try:
                    self._db.conn.execute("begin immediate")
                except sqlite3.OperationalError as error:
                    if not self._outwaits or _code(error) != sqlite3.SQLITE_BUSY:
                        raise
                    if tries % _TRIES_BETWEEN_WARNINGS == 0:
                        _log.warning("%s: another program has locked it; the ladder goes on when that ends", self.path)
                else:
                    return
        finally:
            if self._outwaits:
                self._wait_for_others(_PATIENCE)

    def _wait_for_others(self, seconds: float) -> None:
        """Set how many seconds later statements wait for other processes."""
        self._db.conn.execute(f"pragma busy_timeout = {seconds * 1000:.0f}").close()

    def write_if_free(self, sql: str, parameters: Sequence[Any]) -> None:
        """Write optional data, but skip it if another process is writing or if the write fails."""
        with self.explained():
            self._wait_for_others(0)
            try:
                self._db.conn.execute(sql, parameters)
            except sqlite3.OperationalError as error:
                if _code(error) not in _NOT_NOW:
                    raise
            finally:
                self._wait_for_others(_PATIENCE)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read from one snapshot in this context, whatever other processes write meanwhile.

        Within another transaction, this becomes part of that one.

        Raises:
            BadHome: if the file is damaged or cannot be read.
        """
        if self._db.conn.in_transaction:
            yield
            return
        with self.explained():
            self._db.conn.execute("begin deferred")
            with self._transaction():
                yield

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run the context in the open transaction, and end it."""
        try:
            yield
            self._db.conn.execute("commit")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # on a full disk SQLite has already rolled back
                self._db.conn.execute("rollback")
            raise

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors in this context into errors with a one-line message that names the remedy."""
        try:
            yield
            self._refuse_if_changed()
        except sqlite3.Error as error:
            self._refuse_if_changed()
            hint = _HINTS.get(_code(error))
            # A broken constraint, for example, is a bug of ours, and needs its traceback.
            if hint is None and not isinstance(error, sqlite3.OperationalError):
                raise
            kind = Busy if _code(error) == sqlite3.SQLITE_BUSY else BadHome
            if _code(error) == sqlite3.SQLITE_FULL:
                kind = NoRoom
            elif _code(error) in _PERHAPS_FULL and lack_of_room(self.path.parent):
                kind, hint = NoRoom, _HINTS[sqlite3.SQLITE_FULL]
            raise kind(f"{self.path}: {hint or error}") from error

    def _refuse_if_changed(self) -> None:
        """Reject data that was read without locks, if another process has changed the file since it was opened."""
        if self._unlocked is None:
            return
        now, then = self.path.stat(), self._unlocked
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (then.st_ino, then.st_size, then.st_mtime_ns):
            raise BadHome(f"{self.path}: was changed while it was read; try again")

    @property
    def db(self) -> Database:
        """The sqlite-utils object of the file."""
        return self._db

    @property
    def is_in_transaction(self) -> bool:
        """True if a transaction is open."""
        return self._db.conn.in_transaction

    def changes_of_others(self) -> int:
        """Return a number that changes after each write by another connection, in this process or another."""
        [row] = self.rows("pragma data_version")
        return int(row["data_version"])

    def rows(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        """Return the rows of a query, each as a mapping from column names to values."""
        return list(self.each(sql, parameters))

    def each(self, sql: str, parameters: Parameters = ()) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query as they are read."""
        with self.explained():
            cursor = self._db.conn.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))

    def write(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement; call it within `writing`."""
        with self.explained():
            self._db.conn.execute(sql, parameters)

    def write_each(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row; call it within `writing`."""
        with self.explained():
            self._db.conn.executemany(sql, rows)

    def give_back_room(self) -> None:
        """Return the space of removed rows to the file system; only files made with `auto_vacuum` can do that."""
        with self.explained():
            self._db.conn.executescript("pragma incremental_vacuum")  # `execute` would give back a single page
            # The file itself shrinks only when the log of writes is copied into it.
            self._db.conn.execute("pragma wal_checkpoint(truncate)").fetchall()

    # copies

    def copy_to(self, path: Path) -> None:
        """Copy a snapshot of the whole file, even while other processes write to it.

        Raises:
            BadHome: if the file is damaged or locked.
            OSError: if the copy cannot be written.
        """
        with self.explained():
            try:
                with contextlib.closing(sqlite3.connect(path)) as target:
                    self._db.conn.backup(target)
            except sqlite3.Error as error:
                if _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                    # These two are faults of the copy, and `explained` would name this file.
                    raise OSError(errno.ENOSPC, "cannot be written; is the disk full?", str(path)) from error
                raise


def among_ids(ids: Collection[int] | None, sql: str) -> tuple[str, list[str]]:
    """Return the SQL condition that a value is one of these ids, with its parameter.

    Without ids (None), return a condition that is always true.

    Args:
        ids: the ids.
        sql: the condition, with `{}` in place of the ids.
    """
    return ("true", []) if ids is None else (sql.format("(select value from json_each(?))"), [json.dumps(list(ids))])


def batches(values: Iterable[Value], size: int) -> Iterator[list[Value]]:
    """Yield the values in lists of at most `size`, such as ids that fit into one parameter."""
    source = iter(values)
    while some := list(islice(source, size)):
        yield some


_OF_OLD_LAYOUTS = "_sqlite_migrations"
"""The name of a table that ladders had before the first release."""
_RESTORE = "restore a backup (docs/running_a_ladder.md)"
_HINTS = {
    sqlite3.SQLITE_FULL: "the disk is full; nothing was changed; make room and try again",
    sqlite3.SQLITE_IOERR: "cannot be read or written (is the disk full or damaged?); nothing was changed",
    sqlite3.SQLITE_BUSY: f"another program has locked it for more than {_PATIENCE:.0f} s; end that and try again",
    sqlite3.SQLITE_READONLY: "cannot be written; give yourself write permission for it and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; look at its permissions and those of its folder",
    sqlite3.SQLITE_CORRUPT: f"is damaged; {_RESTORE}",
    sqlite3.SQLITE_NOTADB: f"is not a ladder, or is damaged; if it was one, {_RESTORE}",
}
_PERHAPS_FULL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""The codes with which SQLite may fail if it has to write an auxiliary file on a full disk."""
_NOT_NOW = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 if the error is not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _pragma(file: sqlite3.Connection, name: str) -> int:
    [number] = file.execute(f"pragma {name}").fetchone()
    return int(number)


def _uri(path: Path) -> str:
    return f"file:{quote(str(path))}"
