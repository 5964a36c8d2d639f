"""The SQLite file of a ladder, and the audit log in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from typing_extensions import override

from ladder.facts.entries import begin, disagreement, lines, note, now
from ladder.facts.schema import LAYOUT
from ladder.operation.errors import BadHome
from ladder.operation.sqlite_file import SqliteFile


class LadderFile(SqliteFile):
    """The SQLite file of a ladder. Use it as a context manager, or close it."""

    def __init__(self, path: Path, *, create: bool, outwaits: bool = False) -> None:
        """Open the file.

        Args:
            path: `ladder.db` in the folder of the ladder.
            create: whether to make a ladder if there is no such file.
            outwaits: whether transactions that write wait for others as long as these take, and say so in the log.

        Raises:
            BadHome: if it is not a ladder, one of another layout, or cannot be read.
        """
        if not create and not path.is_file():
            raise BadHome(
                f"{path.parent} is not a ladder: there is no {path.name}; name its folder with --home, or submit a bot to make one"
            )
        super().__init__(path, LAYOUT, create=create, outwaits=outwaits)

    @override
    def _begin(self) -> None:
        begin(self._db)

    def note_act(self, who: str, did: str, about: str) -> None:
        """Note that somebody has changed something, in the transaction that changes it."""
        with self.writing():
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self.write("insert into acts (at, who, did, about) values (?, ?, ?, ?)", [now, who, did, about])

    # audit log

    def key(self) -> str:
        """Return the public key of the ladder; empty if it has none yet."""
        rows = self.rows("select key from keys order by id desc limit 1")
        return str(rows[0]["key"]) if rows else ""

    def add_key(self, key: str, signature: str) -> None:
        """Make a public key that of the ladder.

        Args:
            key: the key.
            signature: that of the key before it; empty if there was none, or it is lost.
        """
        with self.writing():
            self.write("insert into keys (key, signature, at) values (?, ?, ?)", [key, signature, now()])
            [row] = self.rows("select max(id) as id from keys")
            note(self._db, "key", row["id"])

    def log_lines(self) -> Iterator[str]:
        """Read the lines of the audit log, in their order; inside of `reading`, all of one moment."""
        return lines(self._db)

    def log_disagreement(self) -> str:
        """Return the first entry of the audit log that does not agree with the facts; empty if all do."""
        with self._explained():
            return disagreement(self._db)
