"""The entries of a ladder's audit log: each follows from one fact, and is written in the transaction that adds the fact.

So a fact and its entry are there together or not at all, whatever is killed when, and each entry can be derived again
from its fact at any time. What is signed, and the file, are `audit_log.py`'s.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlite_utils import Database

from ladder.facts.schema import MAX_VOIDS
from ladder.model.match import seed_of
from referee.kit.chance import commitment
from referee.records.audit_log import FORMAT
from referee.records.chain import FIRST_HASH, link
from referee.version import installed_version

MAX_REASON_CHARACTERS = 500
"""How much of the reason of a void match goes into the log."""
_FACTS = {
    "key": "select id as subject, key, signature, at from keys where id between ? and ? order by id",
    "version": """
        select versions.id as subject, submitted_at as at, bots.name as bot, versions.number, author, content_hash, run, games
        from versions join bots on bots.id = versions.bot where versions.id between ? and ? order by versions.id
        """,
    "block": """
        select blocks.id as subject, blocks.created_at as at, game, options, clock, guests, seed, blocks.seats,
            matches.id as match, rotation, seat, bots.name || ' v' || versions.number as label, content_hash
        from blocks
        join conditions on conditions.id = blocks.condition
        join matches on matches.block = blocks.id
        join seats on seats.match = matches.id
        join versions on versions.id = seats.version
        join bots on bots.id = versions.bot
        where blocks.id between ? and ? order by blocks.id, rotation, seat
        """,
    "result": """
        select results.number as subject, finished_at as at, results.match, record_hash, digest, seat, rank, score, outcome
        from results join seat_results on seat_results.match = results.match
        where results.number between ? and ? order by results.number, seat
        """,
    "void": """
        select voids.rowid as subject, at, match, reason,
            (select count(*) from voids as others where others.match = voids.match and others.rowid <= voids.rowid) as attempt
        from voids where voids.rowid between ? and ? order by voids.rowid
        """,
    "seed": """
        select id as subject, sealed_at as at, seed from blocks
        where sealed_at is not null and id between ? and ? order by id
        """,
}
"""For each type of entry the query that finds its facts, by their ids; `subject` is the id."""
_UNLOGGED = {
    "key": "select id from keys",
    "version": "select id from versions",
    "block": "select id from blocks",
    "result": "select number from results",
    "void": "select rowid from voids",
    "seed": "select id from blocks where sealed_at is not null",
}
"""For each type the facts that must be in the log."""


def now() -> str:
    """Return the time as the ladder writes it: ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def begin(db: Database) -> None:
    """Begin the log of a new ladder."""
    _append(db, "begin", 0, {"type": "begin", "at": now(), "format": FORMAT, "dogana": installed_version()})


def note(db: Database, kind: str, subject: int) -> None:
    """Add the entry of a fact, in the transaction that has added the fact.

    Args:
        db: the ladder.
        kind: the type of the entry.
        subject: the id of the fact.
    """
    [entry] = (entry for _, entry in _entries(db, kind, subject, subject))
    _append(db, kind, subject, entry)


def lines(db: Database) -> Iterator[str]:
    """Read the lines of all entries, in their order, without line breaks."""
    return (line for [line] in db.execute("select line from audit_log order by number"))


def disagreement(db: Database) -> str:
    """Return the first entry that does not follow from the facts, or a fact that is not in the log; empty if they agree."""
    previous = FIRST_HASH
    rows = db.execute("select number, kind, subject, line from audit_log order by number")
    for place, (number, kind, subject, line) in enumerate(rows, start=1):
        expected, previous = link(previous, _begin_again(line) if kind == "begin" else _entry_of(db, kind, subject))
        if number != place:
            return f"audit log: entry {place} is missing"
        if expected.decode() != line or ((kind, subject) == ("begin", 0)) != (number == 1):
            return f"audit log: entry {number} ({kind}) does not follow from what the ladder knows, or from the entry before it"
    for kind, facts in _UNLOGGED.items():
        missing = db.execute(
            f"select * from ({facts}) except select subject from audit_log where kind = '{kind}' limit 1"  # noqa: S608
        ).fetchone()
        if missing is not None:
            return f"audit log: {kind} {missing[0]} of the ladder is not in it"
    return ""


def _entry_of(db: Database, kind: str, subject: int) -> dict[str, Any]:
    """Return the entry of a fact; an empty one if there is no such fact, or what is known of it makes no sense."""
    try:
        return next((entry for _, entry in _entries(db, kind, subject, subject)), {}) if kind in _FACTS else {}
    except (TypeError, ValueError):  # somebody has changed it
        return {}


def _begin_again(line: str) -> dict[str, Any]:
    """Return the first entry as it would be written, by its own word of when and by which version."""
    try:
        entry = json.loads(line)
        return {"type": "begin", "at": entry["at"], "format": FORMAT, "dogana": entry["dogana"]}
    except (KeyError, TypeError, ValueError):  # somebody has changed it
        return {}


def _append(db: Database, kind: str, subject: int, entry: Mapping[str, Any]) -> None:
    last = db.execute("select number, line from audit_log order by number desc limit 1").fetchone()
    number, previous = (0, FIRST_HASH) if last is None else (last[0], last[1][-66:-2])
    line, _ = link(previous, entry)
    db.execute(
        "insert into audit_log (number, kind, subject, line) values (?, ?, ?, ?)",
        [number + 1, kind, subject, line.decode()],
    ).close()


def _entries(db: Database, kind: str, first: int, last: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Derive the entries of all facts of a kind whose ids lie between two, each with its id."""
    rows = db.query(_FACTS[kind], [first, last])
    for subject, of_fact in groupby(rows, key=itemgetter("subject")):
        yield subject, _entry(kind, list(of_fact))


def _entry(kind: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entry of a fact, from a row for each seat if there are several."""
    fact = rows[0]
    entry: dict[str, Any] = {"type": kind, "at": fact["at"]}
    match kind:
        case "key":
            return entry | {"key": fact["key"], "signature": fact["signature"]}
        case "version":
            content = {"bot": fact["bot"], "number": fact["number"], "author": fact["author"]}
            run = hashlib.sha256(fact["run"].encode()).hexdigest()
            return entry | content | {"content": fact["content_hash"], "run": run, "games": json.loads(fact["games"])}
        case "block":
            condition = {"game": fact["game"], "options": json.loads(fact["options"]), "clock": fact["clock"]}
            condition["guests"] = {0: False, 1: True}.get(fact["guests"])
            matches = {seats[0]["rotation"]: _of_match(seats) for seats in _by_match(rows)}
            in_order = [matches.get(rotation) for rotation in range(len(matches))]
            return entry | {"block": fact["subject"]} | condition | {"matches": in_order}
        case "result":
            hashes = {"match": fact["match"], "record": fact["record_hash"], "digest": fact["digest"]}
            return (
                entry | hashes | {f"{what}s": _by_seat(rows, what, len(rows)) for what in ("rank", "score", "outcome")}
            )
        case "void":
            attempt = {"match": fact["match"], "attempt": fact["attempt"], "given_up": fact["attempt"] >= MAX_VOIDS}
            return entry | attempt | {"reason": fact["reason"][:MAX_REASON_CHARACTERS]}
        case _:
            return entry | {"block": fact["subject"], "seed": fact["seed"]}


def _by_match(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows of each match of a block."""
    return (list(seats) for _, seats in groupby(rows, key=itemgetter("match")))


def _by_seat(rows: Sequence[Mapping[str, Any]], what: str, seats: int) -> list[Any]:
    """Return what rows say of the seats from 0 on; None for a seat of which none says anything."""
    said = {row["seat"]: row[what] for row in rows}
    return [said.get(seat) for seat in range(seats)]


def _of_match(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the entry of a block has of a match, from a row for each seat."""
    first = rows[0]
    seed = seed_of(first["seed"], first["rotation"], [row["content_hash"] for row in rows])
    return {
        "match": first["match"],
        "seed_commitment": commitment(first["match"], seed),
        "seats": _by_seat(rows, "label", first["seats"]),
    }
