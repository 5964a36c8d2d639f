"""The events of a ladder, one line each, in the order in which they happened. They are the only facts.

`append` is the only way to add an event. In one transaction, it chains the event to the previous one and folds it into
the views (`fold.py`), so an event and its consequences are stored together or not at all, even if a process is killed.
The published audit log contains the same lines; `archive/audit_log.py` signs and writes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ladder.facts.fold import fold
from referee.records.audit_book import FORMAT
from referee.records.chain import FIRST_HASH, hash_of, link
from referee.version import installed_version


def now() -> str:
    """Return the current time in the ladder's format: ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def begin(db: sqlite3.Connection) -> None:
    """Add the first event of a new ladder."""
    append(db, "begin", {"format": FORMAT, "dogana": installed_version()})


def append(db: sqlite3.Connection, kind: str, content: Mapping[str, Any], at: str = "") -> None:
    """Add an event, inside a writing transaction.

    Args:
        db: the ladder.
        kind: the type of the event.
        content: the fields of the event, except its type and time (`referee/records/audit_log.py` lists them).
        at: the time of the event, in ISO 8601, UTC; empty for the current time.
    """
    event = {"type": kind, "at": at or now(), **content}
    # The caller's transaction holds the write lock, so no other process adds an event after this one.
    last = db.execute("select number, line from events order by number desc limit 1").fetchone()
    number, previous = (0, FIRST_HASH) if last is None else (last[0], hash_of(last[1]))
    line, _ = link(previous, event)
    db.execute("insert into events (number, line) values (?, ?)", [number + 1, line.decode()])
    fold(db, event)
