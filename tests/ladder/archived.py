"""What is in the archive of a ladder, read and changed as whoever has the file can."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ladder.archive.archive import LOGS, RECORDS, Archive, find_logs, find_record
from ladder.operation.home import Home
from referee.records.chain import FIRST_HASH, link
from referee.records.record import RecordLine, read_lines

__all__ = ["find_logs"]


def record_of(home: Home, match_id: str) -> bytes:
    """The record of a match, which has one."""
    return find_record(home, match_id).data


def lines_of(home: Home, match_id: str) -> list[RecordLine]:
    return list(read_lines(home.archive, record_of(home, match_id)))


def record_file(home: Home, match_id: str, folder: Path) -> Path:
    """A copy of it in a file."""
    file = folder / f"{match_id}.jsonl"
    file.write_bytes(record_of(home, match_id))
    return file


def recorded(home: Home) -> list[str]:
    """The ids of the matches that have a record, as they were put in."""
    with Archive(home.archive, create=False) as archive:
        return archive.matches_with(RECORDS, "")


def logged(home: Home) -> list[str]:
    """The ids of the matches that have logs, as they were put in."""
    with Archive(home.archive, create=False) as archive:
        return archive.matches_with(LOGS, "")


def put_record(home: Home, match_id: str, data: bytes) -> None:
    """Put a record that is whole in the place of that of a match."""
    with Archive(home.archive, create=True) as archive:
        archive.put_records({match_id: data})


def put_logs(home: Home, match_id: str, logs: Mapping[str, bytes]) -> None:
    """Put logs in the place of those of a match."""
    with Archive(home.archive, create=True) as archive:
        archive.put_logs(match_id, logs)


def remove_record(home: Home, *match_ids: str) -> None:
    """Remove records that nobody prunes."""
    with Archive(home.archive, create=False) as archive:
        archive.remove(RECORDS, match_ids)


def damage(home: Home, match_id: str, table: str = RECORDS) -> None:
    """Cut off the end of what is compressed."""
    with closing(sqlite3.connect(home.archive)) as file, file:
        cut = f"update {table} set data = substr(data, 1, length(data) - 9) where match = ?"  # noqa: S608
        changed = file.execute(cut, [match_id])
        assert changed.rowcount == 1


def change_record(home: Home, match_id: str, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the lines of a record, and chain them anew."""
    lines = [dict(line.data) for line in lines_of(home, match_id)]
    change(lines)
    put_record(home, match_id, b"".join(line + b"\n" for line in chained(lines)))


def chained(entries: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """The lines of these entries, chained anew."""
    previous, lines = FIRST_HASH, []
    for entry in entries:
        line, previous = link(previous, {name: value for name, value in entry.items() if name != "hash"})
        lines.append(line)
    return lines


def rewrite_result(home: Home, match_id: str, **fields: str) -> None:
    """Change the result of a match in the log, and chain all lines anew; the views stay as they are."""

    def change(event: dict[str, Any]) -> None:
        if event["type"] == "result" and event["match"] == match_id:
            event.update(fields)

    rewrite_events(home, change)


def rewrite_events(home: Home, change: Callable[[dict[str, Any]], object]) -> None:
    """Change each event, and chain all lines anew; the views stay as they are."""
    rewrite_log(home.database, lambda events: [change(event) for event in events])


def rewrite_log(database: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the list of events, and chain all lines anew; the views stay as they are."""
    with closing(sqlite3.connect(database)) as file, file:
        events = [json.loads(line) for [line] in file.execute("select line from events order by number")]
        change(events)
        file.execute("delete from events")
        lines = enumerate((line.decode() for line in chained(events)), 1)
        file.executemany("insert into events values (?, ?)", lines)
