"""Opening the SQLite file of a ladder."""

from __future__ import annotations

from pathlib import Path

from ladder.facts.entries import begin
from ladder.facts.schema import LAYOUT
from ladder.operation.errors import BadHome
from ladder.operation.sqlite_file import SqliteFile


def open_file(path: Path, *, create: bool, outwaits: bool = False) -> SqliteFile:
    """Open the file.

    Args:
        path: `ladder.db` in the folder of the ladder.
        create: True to make a ladder if there is no such file.
        outwaits: True if writing transactions wait for others without a limit, and log the wait.

    Raises:
        BadHome: if it is not a ladder, has another layout, or cannot be read.
    """
    if not create and not path.is_file():
        raise BadHome(
            f"{path.parent} is not a ladder: there is no {path.name}; name its folder with --home, or submit a bot to make one"
        )
    return SqliteFile(path, LAYOUT, create=create, outwaits=outwaits, begin=lambda db: begin(db.conn))
