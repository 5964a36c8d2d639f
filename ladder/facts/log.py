"""The log of a ladder: its events, the signing key, and the list of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ladder.facts.entries import append
from ladder.operation.sqlite_file import SqliteFile

_REPAIR = "recompute --repair"


class Log:
    """The events of a ladder, its signing key, and the list of changes with the person who made each of them."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def append(self, kind: str, content: Mapping[str, Any], at: str = "") -> None:
        """Add an event with all its consequences; see `entries.append`."""
        with self._file.writing():
            append(self._file.db.conn, kind, content, at)

    def lines(self, after: int = 0) -> Iterator[str]:
        """Read the lines of all events after the one with this number; within `reading`, all come from one snapshot."""
        rows = self._file.each("select line from events where number > ? order by number", [after])
        return (row["line"] for row in rows)

    def key(self) -> str:
        """Return the public key of the ladder; empty if it has none yet."""
        rows = self._file.rows("select key from keys order by id desc limit 1")
        return str(rows[0]["key"]) if rows else ""

    def add_key(self, key: str, signature: str) -> None:
        """Make a public key the ladder's key.

        Args:
            key: the new public key.
            signature: the previous key's signature of the handover; empty if there was no previous key, or it is lost.
        """
        self.append("key", {"key": key, "signature": signature})

    def note_act(self, who: str, did: str, about: str) -> None:
        """Add a change to the list of changes, in the caller's transaction."""
        with self._file.writing():
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._file.write("insert into acts (at, who, did, about) values (?, ?, ?, ?)", [now, who, did, about])

    def note_repair(self, who: str) -> None:
        """Count a rebuild of the views, in the caller's transaction."""
        self.note_act(who, _REPAIR, "")

    def repairs(self) -> int:
        """Return the number of times that the views were rebuilt."""
        # A rebuild adds no event, so this count shows other processes that their caches are outdated.
        [row] = self._file.rows("select count(*) as count from acts where did = ?", [_REPAIR])
        return int(row["count"])
