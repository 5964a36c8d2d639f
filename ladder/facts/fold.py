"""The fold of events into the views of a ladder (`schema.py`): one function for each type of event.

An event contains only public facts, and names bots as people do ("mybot v2"). A function reads only its event and the
views that follow from earlier events, so the same events always give the same views, whenever they are folded.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import groupby, permutations
from operator import itemgetter
from typing import Any, NamedTuple

from ladder.model.rating import Rating, rate, rated_versions
from referee.match.result import Outcome
from referee.tournament.plan import Format, Scoring

Event = Mapping[str, Any]

AGAIN, PASSED, FAILED = "again", "passed", "failed"
"""The outcomes of a qualification; after `again`, the version may try once more."""


def fold(db: sqlite3.Connection, event: Event) -> None:
    """Apply an event to the views, inside a writing transaction.

    Raises:
        LookupError: if the event names something that does not exist yet.
        sqlite3.IntegrityError: if it contradicts the events before it.
    """
    _FOLDS[event["type"]](db, event)


def _begin(db: sqlite3.Connection, event: Event) -> None:
    """Do nothing, because a ladder begins with empty views."""


def _key(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "insert into keys (key, signature, at) values (?, ?, ?)", [event["key"], event["signature"], event["at"]]
    )


# the right to play


def _version(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "insert or ignore into bots (name, author, created_at) values (?, ?, ?)",
        [event["bot"], event["author"], event["at"]],
    )
    db.execute(
        """
        insert into versions (bot, number, content_hash, run_hash, games, submitted_at, language)
        values (?, ?, ?, ?, ?, ?, ?)
        """,
        [
            _bot_id(db, event["bot"]),
            event["number"],
            event["content"],
            event["run"],
            json.dumps(event["games"]),
            event["at"],
            event["language"],
        ],
    )


def _condition(db: sqlite3.Connection, event: Event) -> None:
    db.execute("insert into conditions (game, options, clock) values (?, ?, ?)", _key_of_condition(event))


def _qualification(db: sqlite3.Connection, event: Event) -> None:
    version, condition = _version_id(db, event["version"]), _condition_id(db, event)
    passed = {PASSED: True, FAILED: False, AGAIN: None}[event["outcome"]]
    db.execute(
        """
        insert into qualifications (condition, version, passed, reason, at, after_number)
        values (?, ?, ?, ?, ?, (select coalesce(max(number), 0) from results))
        """,
        [condition, version, passed, event["reason"], event["at"]],
    )
    if passed is None:  # its faults so far no longer count towards a suspension
        db.execute(
            "update tallies set faults_in_a_row = 0 where condition = ? and version = ?",
            [condition, version],
        )


def _retirement(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "insert into retirements (version, retired, at) values (?, ?, ?)",
        [_version_id(db, event["version"]), event["retired"], event["at"]],
    )


def _trial(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "insert into trials (cause, version, guilty, at) values (?, ?, ?, ?)",
        [event["match"], _version_id(db, event["version"]), event["guilty"], event["at"]],
    )


def _consent(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "insert into consents (bot, given, at) values (?, ?, ?)",
        [_bot_id(db, event["bot"]), event["given"], event["at"]],
    )


# the schedule


def _block(db: sqlite3.Connection, event: Event) -> None:
    condition, block, at = _condition_id(db, event), event["block"], event["at"]
    seated = {label for match in event["matches"] for label in match["seats"]}
    ids = {label: _version_id(db, label) for label in seated | event["due"].keys()}
    # All rotations have the same versions; `due` also contains versions that have joined the queue but sit in no match yet.
    tables = {match["match"]: [ids[label] for label in match["seats"]] for match in event["matches"]}
    first = next(iter(tables.values()))
    _add_block(
        db, event, len(first), guests=event["guests"], round=event["round"], schedule_seed=event["schedule_seed"]
    )
    _add_matches(db, block, condition, tables)
    due = {ids[label]: moment for label, moment in event["due"].items()}
    _add_to_queue(db, condition, block, first, due)
    _add_to_day(db, at[:10], len(tables), first)


def _add_block(db: sqlite3.Connection, event: Event, seats: int, **of_its_kind: Any) -> None:
    """Add a block; `of_its_kind` contains the columns that only the ladder's blocks, or only blocks of events, have."""
    columns = {
        "id": event["block"],
        "condition": _condition_id(db, event),
        "seats": seats,
        "created_at": event["at"],
        **of_its_kind,
    }
    places = ", ".join("?" * len(columns))
    db.execute(
        f"""
        insert into blocks ({", ".join(columns)}, after_number)
        values ({places}, (select coalesce(max(number), 0) from results))
        """,  # noqa: S608
        list(columns.values()),
    )


def _add_matches(db: sqlite3.Connection, block: int, condition: int, tables: Mapping[str, Sequence[int]]) -> None:
    for rotation, (match_id, versions) in enumerate(tables.items()):
        db.execute("insert into matches (id, block, rotation) values (?, ?, ?)", [match_id, block, rotation])
        db.execute("insert into open_matches (match, condition) values (?, ?)", [match_id, condition])
        db.executemany(
            "insert into seats (match, seat, version) values (?, ?, ?)",
            ([match_id, seat, version] for seat, version in enumerate(versions)),
        )


def _add_to_queue(
    db: sqlite3.Connection, condition: int, block: int, versions: Sequence[int], due: Mapping[int, int]
) -> None:
    """Update the tables that decide who plays next: tallies, due times, meetings and table sizes."""
    db.executemany(
        """
        insert into tallies (condition, version, last_block, blocks) values (?, ?, ?, 1)
        on conflict do update set last_block = excluded.last_block, blocks = blocks + 1
        """,
        ([condition, version, block] for version in versions),
    )
    db.executemany(
        """
        insert into dues (condition, version, due) values (?, ?, ?)
        on conflict do update set due = excluded.due
        """,
        ([condition, version, moment] for version, moment in due.items()),
    )
    db.executemany(
        """
        insert into meetings (condition, one, other, blocks) values (?, ?, ?, 1)
        on conflict do update set blocks = blocks + 1
        """,
        # The views of pairs contain each pair once, the older version first.
        ([condition, one, other] for one, other in permutations(versions, 2) if one < other),
    )
    db.execute(
        """
        insert into table_sizes (condition, seats, blocks) values (?, ?, 1)
        on conflict do update set blocks = blocks + 1
        """,
        [condition, len(versions)],
    )


def _add_to_day(db: sqlite3.Connection, day: str, matches: int, versions: Sequence[int]) -> None:
    """Count matches towards the budget of each author who has a bot in them."""
    db.execute(
        """
        insert into days (day, author, matches)
        select distinct ?, bots.author, ? from versions join bots on bots.id = versions.bot
        where versions.id in (select value from json_each(?))
        on conflict do update set matches = matches + excluded.matches
        """,
        [day, matches, json.dumps(versions)],
    )


def _void(db: sqlite3.Connection, event: Event) -> None:
    db.execute("insert into voids (match, reason, at) values (?, ?, ?)", [event["match"], event["reason"], event["at"]])
    if event["given_up"]:
        db.execute("delete from open_matches where match = ?", [event["match"]])


def _seed(db: sqlite3.Connection, event: Event) -> None:
    db.execute("update blocks set seed = ?, sealed_at = ? where id = ?", [event["seed"], event["at"], event["block"]])


# events


def _tournament(db: sqlite3.Connection, event: Event) -> None:
    Format(event["format"]), Scoring(event["scoring"])  # raise ValueError for unknown ones
    terms = ("format", "seats", "blocks", "rounds", "advance", "scoring", "top", "same_author", "share", "closes")
    db.execute(
        f"""
        insert into tournaments (name, seed_commitment, announced_at, {", ".join(terms)})
        values (?, ?, ?, {", ".join("?" * len(terms))})
        """,  # noqa: S608
        [event["tournament"], event["seed_commitment"], event["at"], *(event[term] for term in terms)],
    )
    tournament = _tournament_id(db, event)
    db.executemany(
        "insert into tournament_conditions (tournament, number, condition) values (?, ?, ?)",
        ([tournament, number, _condition_id(db, one)] for number, one in enumerate(event["conditions"])),
    )


def _tournament_closed(db: sqlite3.Connection, event: Event) -> None:
    tournament = _tournament_id(db, event)
    db.execute("update tournaments set closed_at = ? where id = ?", [event["at"], tournament])
    db.executemany(
        "insert into entrants (tournament, number, version, place) values (?, ?, ?, ?)",
        (
            [tournament, number, _version_id(db, one["version"]), one["place"]]
            for number, one in enumerate(event["entrants"])
        ),
    )
    db.executemany(
        "insert into left_out (tournament, version, reason) values (?, ?, ?)",
        ([tournament, _version_id(db, one["version"]), one["reason"]] for one in event["left_out"]),
    )


def _tournament_block(db: sqlite3.Connection, event: Event) -> None:
    tables = {match["match"]: [_version_id(db, label) for label in match["seats"]] for match in event["matches"]}
    # No queue, tally or budget changes, because events are not part of the ladder's own schedule (decision 46).
    seats = len(next(iter(tables.values())))
    _add_block(db, event, seats, guests=False, tournament=_tournament_id(db, event), fixture=event["fixture"])
    _add_matches(db, event["block"], _condition_id(db, event), tables)


def _tournament_over(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "update tournaments set ended_at = ?, seed = ? where id = ?",
        [event["at"], event["seed"], _tournament_id(db, event)],
    )


# results


class _Seated(NamedTuple):
    """A scheduled match."""

    block: int
    condition: int
    guests: bool
    is_of_event: bool
    """True if the match belongs to an event; it then changes neither ratings nor tallies."""
    versions: tuple[int, ...]
    """The version in each seat."""
    contents: tuple[str, ...]
    """The content hash of each version."""


def _result(db: sqlite3.Connection, event: Event) -> None:
    match_id, match = event["match"], _seated(db, event["match"])
    # Checked before the result is inserted; afterwards, the match would seem to repeat itself.
    is_rated = not match.is_of_event and not _was_played(db, match, event["digest"])
    ratings = _rated(db, match, event) if is_rated else {}
    number = db.execute(
        "insert into results (match, digest, record_hash, decisions, finished_at, rated) values (?, ?, ?, ?, ?, ?)",
        [match_id, event["digest"], event["record"], event["all_decisions"], event["at"], is_rated],
    ).lastrowid
    columns = [event[name] for name in ("ranks", "scores", "outcomes", "decisions", "think_ms", "details")]
    seats = zip(*columns, strict=True)
    db.executemany(
        """
        insert into seat_results (match, seat, rank, score, outcome, decisions, think_ms, detail)
        values (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        ([match_id, seat, *row] for seat, row in enumerate(seats)),
    )
    db.execute("delete from open_matches where match = ?", [match_id])
    if match.is_of_event:
        return
    outs = [outcome != Outcome.PLAYED.value for outcome in event["outcomes"]]
    db.executemany(
        "insert into appearances (version, condition, number, seat, lost, out) values (?, ?, ?, ?, ?, ?)",
        (
            [version, match.condition, number, seat, event["ranks"][seat] > 1, outs[seat]]
            for seat, version in enumerate(match.versions)
        ),
    )
    _tally(db, match, event["ranks"], outs, is_rated=is_rated)
    _note_ratings(db, match, ratings)


def _seated(db: sqlite3.Connection, match_id: str) -> _Seated:
    rows = db.execute(
        """
        select matches.block, blocks.condition, blocks.guests, blocks.tournament is not null,
            seats.version, versions.content_hash
        from matches join blocks on blocks.id = matches.block
        join seats on seats.match = matches.id join versions on versions.id = seats.version
        where matches.id = ? order by seats.seat
        """,
        [match_id],
    ).fetchall()
    block, condition, guests, is_of_event, *_ = rows[0]
    versions, contents = tuple(row[4] for row in rows), tuple(row[5] for row in rows)
    return _Seated(block, condition, bool(guests), bool(is_of_event), versions, contents)


def _was_played(db: sqlite3.Connection, match: _Seated, digest: str) -> bool:
    """Return True if a match with the same digest, condition and seats was counted before.

    This match is then no new evidence.
    """
    rows = db.execute(
        """
        select results.match, seats.version
        from results
        join matches on matches.id = results.match
        join blocks on blocks.id = matches.block
        join seats on seats.match = results.match
        where results.digest = ? and results.rated = 1 and blocks.condition = ?
        order by results.match, seats.seat
        """,
        [digest, match.condition],
    )
    return match.versions in {tuple(version for _, version in seats) for _, seats in groupby(rows, key=itemgetter(0))}


def _rated(db: sqlite3.Connection, match: _Seated, event: Event) -> dict[int, Rating]:
    parents: dict[int, int | None] = {}
    newest: dict[int, int] = {}
    for version, bot in db.execute(
        """
        select id, bot from versions
        where bot in (select bot from versions where id in (select value from json_each(?))) order by id
        """,
        [json.dumps(match.versions)],
    ):
        # In the order of ids, so that the predecessor of each is known: an unrated version starts from its last rated one.
        parents[version], newest[bot] = newest.get(bot), version
    known = {
        version: Rating(mu, sigma)
        for version, mu, sigma in db.execute(
            """
            select version, mu, sigma from ratings
            where condition = ? and version in (select value from json_each(?))
            """,
            [match.condition, json.dumps(list(parents))],
        )
    }
    absent = {
        version
        for version, outcome in zip(match.versions, event["outcomes"], strict=True)
        if outcome == Outcome.START.value
    }
    contents = dict(zip(match.versions, match.contents, strict=True))
    return rate(known, match.versions, event["ranks"], parents, rated_versions(contents, absent, guests=match.guests))


def _tally(
    db: sqlite3.Connection, match: _Seated, ranks: Sequence[int], outs: Sequence[bool], *, is_rated: bool
) -> None:
    """Count a match for each version in it, and for each pair of them."""
    # The row has existed since the block was scheduled. `?3` is 0 for a seat that played to the end, which ends its series of faults.
    db.executemany(
        """
        update tallies set matches = matches + 1, different = different + ?1, wins = wins + ?2,
            faults = faults + ?3, faults_in_a_row = (faults_in_a_row + 1) * ?3
        where condition = ?4 and version = ?5
        """,
        (
            [is_rated, rank == 1, out, match.condition, version]
            for version, rank, out in zip(match.versions, ranks, outs, strict=True)
        ),
    )
    db.executemany(
        """
        insert into scores (condition, one, other, matches, ahead, tied) values (?, ?, ?, 1, ?, ?)
        on conflict do update set matches = matches + 1, ahead = ahead + excluded.ahead, tied = tied + excluded.tied
        """,
        (
            [match.condition, one, other, first < second, first == second]
            for (one, first), (other, second) in permutations(zip(match.versions, ranks, strict=True), 2)
            if one < other
        ),
    )


def _note_ratings(db: sqlite3.Connection, match: _Seated, ratings: Mapping[int, Rating]) -> None:
    db.executemany(
        """
        insert into ratings (condition, version, mu, sigma) values (?, ?, ?, ?)
        on conflict do update set mu = excluded.mu, sigma = excluded.sigma
        """,
        ([match.condition, version, rating.mu, rating.sigma] for version, rating in ratings.items()),
    )
    # Only the rating after a block's last rated match is kept.
    db.executemany(
        """
        insert into block_ratings (version, condition, block, mu, sigma) values (?, ?, ?, ?, ?)
        on conflict do update set mu = excluded.mu, sigma = excluded.sigma
        """,
        ([version, match.condition, match.block, rating.mu, rating.sigma] for version, rating in ratings.items()),
    )


# records


def _lost(db: sqlite3.Connection, event: Event) -> None:
    db.execute("insert into lost_records (match, at) values (?, ?)", [event["match"], event["at"]])


def _pruning(db: sqlite3.Connection, event: Event) -> None:
    db.execute(
        "insert into prunings (at, records_before, logs_before, retained_bots, one_block_of) values (?, ?, ?, ?, ?)",
        [
            event["at"],
            event["records_before"] or None,
            event["logs_before"] or None,
            json.dumps(event["retained_bots"]),
            event["one_block_of"],
        ],
    )


_FOLDS = {
    "begin": _begin,
    "key": _key,
    "version": _version,
    "condition": _condition,
    "qualification": _qualification,
    "retirement": _retirement,
    "trial": _trial,
    "consent": _consent,
    "block": _block,
    "void": _void,
    "seed": _seed,
    "tournament": _tournament,
    "tournament_closed": _tournament_closed,
    "tournament_block": _tournament_block,
    "tournament_over": _tournament_over,
    "result": _result,
    "lost": _lost,
    "pruning": _pruning,
}


# ids


def _bot_id(db: sqlite3.Connection, name: str) -> int:
    return _one(db, f"bot {name!r}", "select id from bots where name = ?", [name])


def _version_id(db: sqlite3.Connection, label: str) -> int:
    """Return the id of the version with this label, such as "mybot v2"."""
    # Bot names contain no spaces.
    bot, _, number = label.rpartition(" v")
    return _one(
        db,
        f"version {label!r}",
        "select versions.id from bots join versions on versions.bot = bots.id where name = ? and number = ?",
        [bot, int(number)],
    )


def _tournament_id(db: sqlite3.Connection, event: Event) -> int:
    name = event["tournament"]
    return _one(db, f"event {name!r}", "select id from tournaments where name = ?", [name])


def _condition_id(db: sqlite3.Connection, event: Event) -> int:
    key = _key_of_condition(event)
    return _one(db, f"condition {key}", "select id from conditions where (game, options, clock) = (?, ?, ?)", key)


def _key_of_condition(event: Event) -> list[str]:
    # Options have one spelling, without defaults and ordered by name, so their text identifies them.
    return [event["game"], json.dumps(event["options"]), event["clock"]]


def _one(db: sqlite3.Connection, what: str, sql: str, parameters: Sequence[Any]) -> int:
    row = db.execute(sql, parameters).fetchone()
    if row is None:
        raise LookupError(f"there is no {what}")
    return int(row[0])
