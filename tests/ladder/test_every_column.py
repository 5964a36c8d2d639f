"""Every column of a finished ladder, changed one by one: a comparison says so, or it is private and decides no rating."""

from __future__ import annotations

import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ladder.archive.key import ladder_key, new_key
from ladder.archive.recompute import compare, repair
from ladder.archive.sealing import seal_block
from ladder.facts.announcing import announce, cancel
from ladder.facts.evidence import RetainedRecords
from ladder.facts.schema import VIEWS
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.model.match import AT_HOME_PREFIX, HOUSE, HOUSE_PREFIX, Match
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from referee.live.seats.telemetry import KeyValues
from referee.match.result import Fault, Outcome
from referee.records.audit_log import AuditError
from tests.cases import mostly_long
from tests.ladder.announced import closed, matches_of, set_clock, terms
from tests.ladder.made import CONDITION, GAME, OTHER, differences, ladder, next_matches
from tests.ladder.real_ladder import play_really

DOCS = Path(__file__).parents[2] / "docs" / "audit_log.md"
OF_NO_LADDER = {"connections"}
"""Tables that know nothing of what has happened: who is connected at this moment."""
COMMITTED = {"seeds", "commands", "tournament_seeds"}
"""Private tables to whose content the log commits: what is changed there is told."""
PRIVATE = {
    "acts": {"id", "at", "who", "did", "about"},
    "authors": {"name", "created_at"},
    "budgets": {"id", "author", "matches", "at"},
    "quotas": {"id", "author", "bytes", "at"},
    "telemetry": {"match", "seat", "key", "count", "total"},
    "tokens": {"id", "author", "sha256", "created_at", "expires_at", "used_on", "revoked_at"},
}
"""Columns that are private, and decide no rating; docs/audit_log.md says for each of them why it is in no event."""


class Column(NamedTuple):
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
    """A ladder with a row in every table.

    It has finished blocks of submitted bots, one with guests, all records, a block to be played, and an event that is being played.
    """
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
        played = next(store.history.all_played())
        one = played.seats[0].version.id
        new_key(home, store, replace=True)
        store.admission.note_trial(played.match_id, one, guilty=False)
        store.admission.retire(one, retired=False)
        store.admission.let_qualify_again(one, CONDITION)
        store.admission.qualify(one, CONDITION, passed=True, reason="")
        store.roster.consent("bot0", given=True)
        store.evidence.note_pruning("2000-01-01T00:00:00.000+00:00", None, RetainedRecords(("bot0",), 7))
        store.evidence.note_lost([played.match_id])
        next_matches(store, 9, OTHER)
        with pytest.MonkeyPatch.context() as patch:
            clock = set_clock(patch)
            announce(store, terms("cancelled"))
            cancel(store, "cancelled")
            closed(store, clock, top=2)
            next(matches_of(store))
        store.results.note_telemetry(played.match_id, {0: {"nodes": KeyValues(3, 5.0)}})
    with Authors(home.database, create=False) as authors:
        authors.add("ann")
        authors.set_budget("ann", 7)
        authors.set_quota("ann", 2**30)
    return home  # nobody has it open, so SQLite has put everything into the file itself


@pytest.fixture(scope="module")
def store(whole: Home) -> Iterator[Store]:
    with Store(whole.database, create=False) as store:
        yield store


def tables(store: Store) -> list[str]:
    names = store.file.db.table_names()
    return [name for name in names if name not in OF_NO_LADDER and not name.startswith("sqlite_")]


def columns(store: Store, table: str) -> list[Column]:
    """The columns of a table, as the layout has them."""
    rows = store.file.db.query("select name from pragma_table_info(?)", [table])
    return [Column(table, row["name"]) for row in rows]


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
            return [value + 1, value + 1000, 0] if value else [1, 1000]
        case float():
            return [value + 1.0]
        case _:
            return [f"{value}x", ""]


def reported(whole: Home, folder: Path, change: str, values: list[Any]) -> list[str] | None:
    """What a comparison says of the events and the views of a copy after a change; None if the layout refuses it."""
    home = Home(folder / secrets.token_hex(8))
    home.make()
    shutil.copyfile(whole.database, home.database)
    with Store(home.database, create=False) as store:
        store.file.db.conn.execute("pragma foreign_keys = off")  # as whoever changes a file has them
        try:
            if store.file.db.conn.execute(change, values).rowcount != 1:
                raise AssertionError(change)
        except sqlite3.IntegrityError:
            return None
        try:
            return differences(store)
        except AuditError as error:
            return [str(error)]


def test_the_ladder_is_as_it_should_be(whole: Home, store: Store) -> None:
    assert compare(whole, store).problems == []
    assert set(tables(store)) == {"events", *VIEWS, *PRIVATE, *COMMITTED}


@pytest.mark.parametrize("table", mostly_long(["events", *VIEWS, *sorted(COMMITTED)], 3))
def test_a_change_of_any_column_of_an_event_a_view_or_what_the_log_commits_to_is_reported(
    whole: Home, store: Store, tmp_path: Path, table: str
) -> None:
    silent, tried = [], 0
    for column in columns(store, table):
        found = [(values, reported(whole, tmp_path, change, values)) for change, values in changes(store, column)]
        assert any(lines is not None for _, lines in found), f"nothing could be changed in {column}"
        tried += len(found)
        silent += [(column, values) for values, lines in found if lines == []]
    assert silent == []
    assert tried


def test_what_is_private_is_listed_and_explained_in_the_docs_with_the_reason(store: Store) -> None:
    """A table that is new must be a view, or be listed here and in docs/audit_log.md."""
    described = {
        table: set(re.findall(r"`(\w+)`", names))
        for table, names in re.findall(r"^\| `(\w+)`: (.*?) \|", DOCS.read_text(), re.MULTILINE)
    }
    assert described == PRIVATE
    for table, names in PRIVATE.items():
        assert {column.name for column in columns(store, table)} == names


@pytest.mark.long
def test_a_change_of_what_is_private_changes_no_view(whole: Home, store: Store, tmp_path: Path) -> None:
    for table in PRIVATE:
        for column in columns(store, table):
            for change, values in changes(store, column):
                assert not reported(whole, tmp_path, change, values), column


def test_a_repair_undoes_what_was_changed(whole: Home, tmp_path: Path) -> None:
    """Whoever makes guests of a block's bots at home, or has them come, changes nothing for long."""
    for number, change in enumerate(
        (
            "update blocks set guests = 1 - guests",
            "update seat_results set outcome = 'start' where outcome = 'played'",
            "update seat_results set rank = rank + 1",
        )
    ):
        home = Home(tmp_path / str(number))
        home.make()
        shutil.copyfile(whole.database, home.database)
        shutil.copyfile(whole.archive, home.archive)
        with sqlite3.connect(home.database) as file:
            file.execute(change)
        with Store(home.database, create=False) as store:
            assert differences(store) != []
            assert repair(home, store).repaired
            assert compare(home, store).problems == []
