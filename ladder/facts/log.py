"""The audit log of a ladder in its database, the keys that sign it, and who has changed what."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ladder.facts.entries import disagreement, lines, note, now
from ladder.operation.sqlite_file import SqliteFile


class Log:
    """The audit log, the keys that sign it, and the list of who has changed what."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def key(self) -> str:
        """Return the public key of the ladder; empty if it has none yet."""
        rows = self._file.rows("select key from keys order by id desc limit 1")
        return str(rows[0]["key"]) if rows else ""

    def add_key(self, key: str, signature: str) -> None:
        """Make a public key that of the ladder.

        Args:
            key: the key.
            signature: that of the key before it; empty if there was none, or it is lost.
        """
        with self._file.writing():
            self._file.write("insert into keys (key, signature, at) values (?, ?, ?)", [key, signature, now()])
            [row] = self._file.rows("select max(id) as id from keys")
            note(self._file.db, "key", row["id"])

    def lines(self) -> Iterator[str]:
        """Read the lines of the audit log, in their order; inside of `reading`, all of one moment."""
        return lines(self._file.db)

    def disagreement(self) -> str:
        """Return the first entry of the audit log that does not agree with the facts; empty if all do."""
        with self._file.explained():
            return disagreement(self._file.db)

    def note_act(self, who: str, did: str, about: str) -> None:
        """Note that somebody has changed something, in the transaction that changes it."""
        with self._file.writing():
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._file.write("insert into acts (at, who, did, about) values (?, ?, ?, ?)", [now, who, did, about])
