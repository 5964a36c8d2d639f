"""Every column of a finished ladder, changed one by one: a comparison says so, or it is listed why that decides no rating."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ladder.archive.key import ladder_key, new_key
from ladder.archive.recompute import Comparison, compare, repair
from ladder.archive.sealing import seal_block
from ladder.facts.evidence import KeptRecords
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.model.match import AT_HOME_PREFIX, HOUSE, HOUSE_PREFIX, Match
from ladder.model.rating import History
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from referee.live.seats.telemetry import KeyValues
from referee.match.result import Fault, Outcome
from tests.ladder.made import CONDITION, GAME, OTHER, ladder, next_matches
from tests.ladder.real_ladder import play_really

DOCS = Path(__file__).parents[2] / "docs" / "audit_log.md"
OF_NO_LADDER = {"connections"}
"""Tables that know nothing of what has happened: who is connected at this moment."""
TALLIES = {
    "appearances", "block_ratings", "days", "dues", "meetings", "open_matches", "ratings", "scores", "table_sizes", "tallies",
}  # fmt: skip
"""Tables that follow from the others: what is changed there is told, and can be repaired."""
BESIDE_THE_RECORD = {
    "results": {"decisions"},
    "seat_results": {"decisions", "think_ms", "detail"},
}
"""Columns that no entry has, but the record, and no rating follows from: told as long as there is a record."""
DECIDES_NO_RATING = {
    "acts": {"id", "at", "who", "did", "about"},
    "authors": {"name", "created_at"},
    "blocks": {"schedule_seed", "after_number", "round"},
    "bots": {"created_at"},
    "budgets": {"id", "author", "matches", "at"},
    "consents": {"id", "bot", "given", "at"},
    "lost_records": {"match", "at"},
    "prunings": {"id", "at", "records_before", "logs_before", "kept_bots", "one_block_of"},
    "qualifications": {"id", "condition", "version", "passed", "reason", "at", "after_number"},
    "results": {"rated"},
    "quotas": {"id", "author", "bytes", "at"},
    "retirements": {"id", "version", "retired", "at"},
    "telemetry": {"match", "seat", "key", "count", "total"},
    "tokens": {"id", "author", "sha256", "created_at", "expires_at", "used_on", "revoked_at"},
    "trials": {"id", "cause", "version", "guilty", "at"},
    "turns": {"block", "version", "due"},
    "versions": {"language"},
}
"""Columns that are in no entry; docs/audit_log.md says for each of them why that is so."""


class Column(NamedTuple):
    """A column of a table that has rows."""

    table: str
    name: str


def play_block(home: Home, store: Store, matches: list[Match], *, absent: int | None = None) -> None:
    for match in matches:
        seats = [seat for seat, version in enumerate(match.seats) if version.id == absent]
        play_really(home, store, match, dict.fromkeys(seats, Fault(Outcome.CRASH, "it crashed")))
    assert matches[0].block is not None
    assert seal_block(home, store, matches[0].block) == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder with a row in every table: finished blocks of submitted bots, one with guests, all records, and a block to be played."""
    home = Home(tmp_path_factory.mktemp("whole"))
    with ladder(home.folder, 3), Store(home.database, create=False) as store:
        ladder_key(home, store)
        store.roster.add_version("bot0", "author0", "hash of a later version", ["./bot"], [GAME.name])
        guest, _ = store.roster.add_version("guest", "gus", f"{AT_HOME_PREFIX}1", [], [GAME.name])
        house, _ = store.roster.add_version("greedy", HOUSE, f"{HOUSE_PREFIX}greedy:1", [], [GAME.name])
        play_block(home, store, next_matches(store, 1), absent=1)
        [*others, last] = next_matches(store, 2)
        store.results.void(others[0], "the worker was killed")
        store.results.give_up(last, "the worker was killed")
        play_block(home, store, others)
        for version in (guest, house):
            store.admission.qualify(version.id, CONDITION, passed=True, reason="")
        with_guests = Blocks(store, CONDITION, [4], guests=True)
        blocks = (with_guests.add(seed) for seed in range(20))
        for matches in islice((found for found in blocks if guest in found[0].seats), 1):
            play_block(home, store, matches)
        for match in store.schedule.unfinished(CONDITION):  # of the blocks without the guest
            store.results.give_up(match, "it was not wanted")
        for block in store.evidence.blocks_to_seal():
            assert seal_block(home, store, block) == []
        match = next(store.results.counted())
        new_key(home, store, replace=True)
        store.admission.note_trial(match.match_id, match.versions[0], guilty=False)
        store.admission.retire(match.versions[0], retired=False)
        store.admission.let_qualify_again(match.versions[0], CONDITION)
        store.admission.qualify(match.versions[0], CONDITION, passed=True, reason="")
        store.roster.consent("bot0", given=True)
        store.evidence.note_pruning("2000-01-01T00:00:00.000+00:00", None, KeptRecords(("bot0",), 7))
        store.evidence.note_lost([match.match_id])
        next_matches(store, 9, OTHER)
        store.results.note_telemetry(match, {0: {"nodes": KeyValues(3, 5.0)}})
    with Authors(home.database, create=False) as authors:
        authors.add("ann")
        authors.set_budget("ann", 7)
        authors.set_quota("ann", 2**30)
    return home


@pytest.fixture(scope="module")
def store(whole: Home) -> Iterator[Store]:
    with Store(whole.database, create=False) as store:
        store.file.db.conn.execute("pragma foreign_keys = off")  # as whoever changes a file has them
        yield store


@pytest.fixture(scope="module")
def bare(whole: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A place without the records of the ladder: they are pruned."""
    return replace(whole, folder=tmp_path_factory.mktemp("bare"))


def tables(store: Store) -> list[str]:
    names = store.file.db.table_names()
    return [name for name in names if name not in OF_NO_LADDER and not name.startswith("sqlite_")]


def columns(store: Store) -> list[Column]:
    """All columns of the ladder, as its layout has them."""
    described = [
        (table, store.file.db.query("select name from pragma_table_info(?)", [table])) for table in tables(store)
    ]
    return [Column(table, row["name"]) for table, rows in described for row in rows]


def changes(store: Store, column: Column) -> Iterator[tuple[str, list[Any]]]:
    """Statements that change a column of one row: the first, one in the middle and the last."""
    table, name = column
    described = list(store.file.db.query("select name, pk from pragma_table_info(?)", [table]))
    key = [row["name"] for row in described if row["pk"]] or ["rowid"]
    rows = list(store.file.db.query(f"select {', '.join({*key, name})} from {table}"))  # noqa: S608
    assert rows, f"the ladder of this test has no row in {table}"
    others = list(dict.fromkeys(row[name] for row in rows))
    for row in {0: rows[0], len(rows) // 2: rows[len(rows) // 2], len(rows) - 1: rows[-1]}.values():
        for value in {other: None for other in (*others[:2], *_like(row[name])) if other != row[name]}:
            where = " and ".join(f"{part} is ?" for part in key)
            yield f"update {table} set {name} = ? where {where}", [value, *(row[part] for part in key)]  # noqa: S608


def _like(value: Any) -> list[Any]:
    """Other values of the same type."""
    match value:
        case None:
            return [1, "2026-01-01T00:00:00.000+00:00"]
        case int():
            return [value + 1, value + 1000, 0]
        case float():
            return [value + 1.0]
        case _:
            return [f"{value}x", ""]


def compared(home: Home, store: Store, change: str, values: list[Any]) -> Comparison | None:
    """What a comparison finds after a change, which is then undone; None if the layout refuses it.

    What makes no sense any more is told in the words of the log alone.
    """
    conn = store.file.db.conn
    conn.execute("begin immediate")
    try:
        if conn.execute(change, values).rowcount != 1:
            raise AssertionError(change)
        return compare(home, store)
    except LadderError as error:
        return Comparison(History({}), log=str(error))
    except sqlite3.IntegrityError:
        return None
    finally:
        conn.execute("rollback")


def is_listed(column: Column) -> bool:
    listed = (DECIDES_NO_RATING, BESIDE_THE_RECORD)
    return column.table in TALLIES or any(column.name in columns.get(column.table, ()) for columns in listed)


def test_the_ladder_is_as_it_should_be(whole: Home, bare: Home, store: Store) -> None:
    assert compare(whole, store).problems == []
    assert compare(bare, store).log == ""


def test_a_change_of_any_column_that_decides_a_rating_contradicts_the_log_even_without_records(
    bare: Home, store: Store
) -> None:
    silent = []
    tried = 0
    for column in columns(store):
        if is_listed(column):
            continue
        found = [(values, compared(bare, store, change, values)) for change, values in changes(store, column)]
        told = [
            (values, comparison.log.startswith("audit log: ")) for values, comparison in found if comparison is not None
        ]
        assert told, f"nothing could be changed in {column}"
        tried += len(told)
        silent += [(column, values) for values, log in told if not log]
    assert silent == []
    assert tried > 100


@pytest.mark.long
def test_a_change_of_a_tally_is_told(bare: Home, store: Store) -> None:
    for column in columns(store):
        if column.table in TALLIES:
            for change, values in changes(store, column):
                found = compared(bare, store, change, values)
                assert found is None or found.differences.count, (column, values)


@pytest.mark.long
def test_a_change_of_what_only_the_record_has_is_told_as_long_as_there_is_one(whole: Home, store: Store) -> None:
    for table, names in BESIDE_THE_RECORD.items():
        for name in names:
            told = [compared(whole, store, *change) for change in changes(store, Column(table, name))]
            assert all(found is None or found.contradicting.count == 1 for found in told), name
            assert any(told)


def test_what_is_listed_is_there_and_told_of_in_the_docs_with_the_reason(store: Store) -> None:
    """A column that is new must be in an entry, or be listed here and in docs/audit_log.md."""
    known = set(columns(store))
    described = {
        table: set(re.findall(r"`(\w+)`", names))
        for table, names in re.findall(r"^\| `(\w+)`: (.*?) \|", DOCS.read_text(), re.MULTILINE)
    }
    listed: dict[str, set[str]] = {}
    for some in (DECIDES_NO_RATING, BESIDE_THE_RECORD):
        for table, names in some.items():
            listed.setdefault(table, set()).update(names)
    assert {Column(table, name) for table, names in listed.items() for name in names} <= known
    assert described == listed
    assert set(tables(store)) >= TALLIES


def test_a_repair_does_not_hide_what_was_changed(whole: Home, tmp_path: Path) -> None:
    """Whoever makes guests of a block's bots at home, or has them come, changes ratings, and the log says otherwise."""
    for number, change in enumerate(
        (
            "update blocks set guests = 1 - guests",
            "update seat_results set outcome = 'start' where outcome = 'played'",
            "update seat_results set rank = 1",
        )
    ):
        home = Home(tmp_path / str(number))
        home.make()
        with Store(whole.database, create=False) as source:
            source.file.copy_to(home.database)
        with sqlite3.connect(home.database) as file:
            file.execute(change)
        with Store(home.database, create=False) as store:
            repair(home, store, count_lost=True)
            found = compare(home, store)
            assert re.search(r"audit log: entry \d+ \((block|result)\) does not follow", found.log)
            assert json.loads(next(store.log.lines()))["type"] == "begin"
