"""The events of a ladder are its only facts: they are written whole, and a recomputation names what does not follow from them."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import sqlite3
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.key import ladder_key
from ladder.archive.recompute import compare, repair
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.records.audit_log import check
from referee.records.chain import hash_of, link
from tests.ladder.logged import AT, begun, home, key_of, play_block, written
from tests.ladder.made import differences

__all__ = ["begun", "home"]


def test_a_block_is_on_the_disk_before_anybody_acts_on_it(home: Home) -> None:
    with Store(home.database, create=False) as store:
        full, wal = 2, "wal"
        assert store.file.db.conn.execute("pragma synchronous").fetchone() == (full,)
        assert store.file.db.conn.execute("pragma journal_mode").fetchone() == (wal,)


def test_a_transaction_that_is_killed_leaves_neither_a_fact_nor_its_entry(home: Home) -> None:
    with Store(home.database, create=False) as store:
        before = list(store.log.lines())
        with contextlib.suppress(ZeroDivisionError), store.writing():
            play_block(store, 7)
            assert len(list(store.log.lines())) > len(before)
            raise ZeroDivisionError
        assert list(store.log.lines()) == before
        assert differences(store) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("delete from events where number = 5", "entry 5: was changed, or does not follow"),
        ("delete from events where line like '{\"type\":\"seed\"%'", r"entry \d+: was changed, or does not follow"),
        ("delete from events where number = 1", "entry 1: was changed, or does not follow"),
        ("update events set line = replace(line, 'bot1', 'bot2')", r"entry \d+: was changed, or does not follow"),
        ("update events set line = '{}' where number = 1", "entry 1: does not end with its hash"),
        ("update events set number = -number where number > 4", "its entries are not numbered one after another, from 1"),
        ("update events set number = 100 + number where number > 4", "its entries are not numbered one after another, from 1"),
    ],
)  # fmt: skip
def test_a_recomputation_names_the_first_event_that_does_not_follow_and_compares_nothing_else(
    home: Home, change: str, reason: str
) -> None:
    with Store(home.database, create=False) as store:
        assert compare(home, store).log == ""
        with sqlite3.connect(home.database) as database:
            database.execute(change)
        found = compare(home, store)
        assert found.problems == [found.log]
        assert re.match(f"audit log: {reason}", found.log)


def chained(store: Store, kind: str, event: dict[str, Any]) -> None:
    """Add an event that follows by its hash, without folding it."""
    lines = list(store.log.lines())
    line, _ = link(hash_of(lines[-1]), {"type": kind, "at": AT, **event})
    with store.writing():
        store.file.write("insert into events (number, line) values (?, ?)", [len(lines) + 1, line.decode()])


@pytest.mark.parametrize(
    ("kind", "event", "reason"),
    [
        ("seed", {"block": 1, "seed": 7}, "reveals the seed of block 1, which was not scheduled, or has revealed it"),
        ("joke", {}, "is of type 'joke'"),
        ("lost", {"match": "nowhere"}, "makes no sense here: FOREIGN KEY"),
        ("trial", {"match": "nowhere", "version": "bot0 v1", "guilty": True}, "makes no sense here: FOREIGN KEY"),
    ],
)
def test_a_recomputation_names_an_event_that_cannot_have_happened(
    home: Home, kind: str, event: dict[str, Any], reason: str
) -> None:
    with Store(home.database, create=False) as store:
        chained(store, kind, event)
        number = len(list(store.log.lines()))
        assert compare(home, store).log.startswith(f"audit log: entry {number}: {reason}")


def test_events_whose_views_are_missing_and_views_whose_events_are_missing_are_reported(home: Home) -> None:
    with Store(home.database, create=False) as store:
        chained(store, "retirement", {"version": "bot0 v1", "retired": True})
        [difference] = differences(store)
        assert difference.startswith("retirements: lacks id 1, version 1, retired 1, ")
        with store.writing():
            store.file.write("delete from events where number > (select max(number) - 4 from events)")
        assert any(line.startswith("voids: has id 1, match ") for line in differences(store))


def test_a_log_is_never_repaired(home: Home) -> None:
    with sqlite3.connect(home.database) as database:
        database.execute("update events set line = replace(line, 'bot1', 'bot2')")
        database.execute("update tallies set wins = wins + 1")
    with Store(home.database, create=False) as store:
        lines = list(store.log.lines())
        assert not repair(home, store, count_lost=True).repaired
        assert list(store.log.lines()) == lines
        assert compare(home, store).log != ""


def _add(folder: Path, number: int, barrier: Barrier) -> None:
    home = Home(folder)
    barrier.wait()
    with Store(home.database, create=True) as store:
        for version in range(10):
            ladder_key(home, store)
            store.roster.add_version(f"bot{number}", "ann", f"{version}", ["./bot"], ["cargo_noir"])


@pytest.mark.long
def test_processes_that_write_at_once_have_one_key_and_one_log(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    processes = [context.Process(target=_add, args=(home.folder, number, barrier)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    log = written(home, tmp_path / "log.jsonl")
    assert check(log, key_of(home).public).entries == 1 + 1 + 40
    with Store(home.database, create=False) as store:
        found = sorted((version.bot, version.number) for version in store.roster.versions().values())
        assert found == [(f"bot{bot}", number) for bot in range(4) for number in range(1, 11)]
        assert differences(store) == []
