"""What a ladder knows: transactions beside those of others, kept tallies, older and newer layouts, damage."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import sqlite3
import subprocess
import sys
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import database
from ladder.errors import LadderError
from ladder.home import Home
from ladder.recompute import compare, repair
from ladder.running import count
from ladder.schema import DERIVED, MAX_VOIDS, migrations
from ladder.standings import KILLS_WORKERS, SUSPENDED_AFTER, Status, standings
from ladder.store import Store, Tally
from referee.match.result import Outcome
from tests.commands.conftest import ROOT
from tests.ladder.made import GAME, ladder, next_matches, play, result_of

# --- beside others --------------------------------------------------------------------------------------


def test_what_a_transaction_has_read_still_holds_when_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A begins and reads, B wants to commit, A inserts. B waits; it is not A that fails."""
    with ladder(tmp_path) as first:
        monkeypatch.setattr(database, "_PATIENCE", 0.0)
        with Store(tmp_path / "ladder.db", create=False) as second:
            with first.writing():
                assert len(first.versions()) == 5
                with pytest.raises(LadderError, match="another program has locked it"):
                    second.add_version("late", "ann", "x", ["./bot"], [GAME.name])
                assert len(second.versions()) == 5
                first.add_version("early", "ann", "x", ["./bot"], [GAME.name])
            second.add_version("late", "ann", "x", ["./bot"], [GAME.name])
            assert [version.bot for version in first.versions().values()][5:] == ["early", "late"]


def _submit(path: Path, number: int, barrier: Barrier) -> None:
    barrier.wait()
    with Store(path, create=True) as store:
        for version in range(10):
            store.add_version(f"bot{number}", "ann", f"{version}", ["./bot"], [GAME.name])


def test_processes_that_make_a_ladder_and_write_to_it_at_once_all_succeed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    processes = [context.Process(target=_submit, args=(tmp_path / "ladder.db", number, barrier)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    with Store(tmp_path / "ladder.db", create=False) as store:
        found = sorted((version.bot, version.number) for version in store.versions().values())
    assert found == [(f"bot{bot}", number) for bot in range(4) for number in range(1, 11)]


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        [match, *_] = next_matches(store)
        with contextlib.suppress(ZeroDivisionError), store.writing():
            store.void(match, "x")
            store.qualify(1, "yunnan", passed=True, reason="")
            raise ZeroDivisionError
        assert store.qualifications("yunnan") == {}
        assert store.void(match, "x") == 1


def test_everything_that_is_read_together_is_of_one_moment(tmp_path: Path) -> None:
    """A recomputation beside a run compares matches and ratings of one moment, and changes nothing."""
    chance = random.Random(1)
    with ladder(tmp_path) as store, Store(tmp_path / "ladder.db", create=False) as other:
        matches = next_matches(store) + next_matches(store)
        play(store, matches[0], chance)
        with store.reading():
            before = ([match.match_id for match in store.counted()], store.ratings(GAME.name), store.differences())
            for match in matches[1:]:
                play(other, match, chance)
            other.add_version("late", "ann", "x", ["./bot"], [GAME.name])
            after = ([match.match_id for match in store.counted()], store.ratings(GAME.name), store.differences())
        assert before == after
        assert len(list(store.counted())) == len(matches)


def test_a_repair_is_refused_while_a_run_goes_on(tmp_path: Path) -> None:
    with ladder(tmp_path) as store, Home(tmp_path).only_run():
        with pytest.raises(LadderError, match="another run is going on"):
            repair(Home(tmp_path), store)
        assert compare(Home(tmp_path), store).differences == []


# --- what is kept ---------------------------------------------------------------------------------------

ACTS = st.lists(
    st.tuples(st.sampled_from(["schedule", "count", "void", "give up", "same"]), st.integers(0, 10**6)), max_size=20
)


@settings(max_examples=15)
@given(ACTS)
def test_tallies_follow_from_the_facts_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    with ladder(tmp_path_factory.mktemp("home")) as store:
        for act, number in acts:
            waiting = store.unfinished(GAME.name)
            if act == "schedule" or not waiting:
                if len([one for one in standings(store, GAME.name) if one.status is not Status.SUSPENDED]) > 1:
                    next_matches(store, number)
                continue
            match = waiting[number % len(waiting)]
            seats = len(match.seats)
            if act in ("count", "same"):
                ranks = [1 + (seat + number) % seats for seat in range(seats)]
                outs = frozenset(seat for seat in range(seats) if number >> seat & 1)
                digest = "same" if act == "same" else None
                assert count(store, match, result_of(match, ranks, outs=outs, digest=digest), "hash")
                assert not count(store, match, result_of(match, ranks), "hash")
            elif act == "void":
                store.void(match, "x")
            else:
                store.give_up(match, "x")
        assert store.differences() == []
        assert _tallied_by_hand(store) == store.tallies(GAME.name)


def _tallied_by_hand(store: Store) -> dict[int, Tally]:
    """The tallies that count matches, in another way than with SQL."""
    kept = store.tallies(GAME.name)
    found = {version: Tally(last_block=tally.last_block) for version, tally in kept.items()}
    for match in store.counted():
        assert match.count is not None
        for version, rank, outcome in zip(match.versions, match.count.ranks, match.count.outcomes, strict=True):
            old, out = found[version], outcome is not Outcome.PLAYED
            found[version] = Tally(
                matches=old.matches + 1,
                different=old.different + match.count.rated,
                wins=old.wins + (rank == 1),
                faults=old.faults + out,
                faults_in_a_row=old.faults_in_a_row + 1 if out else 0,
                last_block=old.last_block,
            )
    return found


DAMAGE = {
    "tallies": "update tallies set wins = wins + 1 where version = 1",
    "meetings": "update meetings set blocks = blocks + 1",
    "table_sizes": "insert into table_sizes values ('cargo_noir', 9, 1)",
    "open_matches": "delete from open_matches",
    "appearances": "update appearances set lost = 1 - lost where version = 1",
}


@pytest.mark.parametrize("table", DERIVED)
def test_a_tally_that_was_changed_is_found_and_repaired(tmp_path: Path, table: str) -> None:
    with ladder(tmp_path) as store:
        [match, *_] = next_matches(store)
        play(store, match, random.Random(1))
        with sqlite3.connect(tmp_path / "ladder.db") as changed:
            changed.execute(DAMAGE[table])
        assert store.differences()
        assert all(line.startswith(f"{table}: ") for line in store.differences())
        known = {GAME.name: store.ratings(GAME.name)}
        store.repair(known, [])
        assert store.differences() == []
        assert store.ratings(GAME.name) == known[GAME.name]


def test_what_was_played_before_in_the_same_seats_stays_in_the_history_and_is_not_rated_again(tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        [first, turned] = next_matches(store)
        later = (next_matches(store, seed)[0] for seed in range(100))
        again = next(match for match in later if match.versions == first.versions)
        assert count(store, first, result_of(first, [1, 2], digest="d"), "h")
        once = store.ratings(GAME.name)
        assert count(store, again, result_of(again, [1, 2], digest="d"), "h")
        assert store.ratings(GAME.name) == once
        assert count(store, turned, result_of(turned, [1, 2], digest="d"), "h")  # other seats: something else
        assert store.ratings(GAME.name) != once
        tally = store.tallies(GAME.name)[first.versions[0]]
        assert (tally.matches, tally.different, tally.wins) == (3, 2, 2)
        assert [match.count.rated for match in store.counted() if match.count] == [True, False, True]
        assert compare(Home(tmp_path), store).differences == []
        with sqlite3.connect(tmp_path / "ladder.db") as changed:
            changed.execute("update results set rated = 1")
        assert any("though the same was played" in line for line in compare(Home(tmp_path), store).differences)


def test_a_version_that_was_found_guilty_is_suspended_even_if_it_has_matches_that_count(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        [match, *_] = next_matches(store)
        play(store, match, random.Random(1))
        culprit, victim, *_ = match.versions
        store.note_trial(match.match_id, culprit, guilty=True)
        store.note_trial(match.match_id, victim, guilty=False)
        found = {one.version.id: one.reason for one in standings(store, GAME.name) if one.status is Status.SUSPENDED}
        assert found == {culprit: KILLS_WORKERS}


def test_a_version_is_suspended_by_faults_in_a_row_and_by_no_fewer(tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        for number in range(SUSPENDED_AFTER):
            assert all(one.status is not Status.SUSPENDED for one in standings(store, GAME.name))
            [match, *_] = next_matches(store)
            seat = match.versions.index(2)
            count(
                store, match, result_of(match, [1 + (other == seat) for other in (0, 1)], outs=frozenset({seat})), "h"
            )
            assert store.tallies(GAME.name)[2].faults_in_a_row == number + 1
        reasons = {one.version.id: one.reason for one in standings(store, GAME.name)}
        assert reasons == {1: "", 2: f"out in its last {SUSPENDED_AFTER} matches"}


# --- older and newer layouts, damage --------------------------------------------------------------------


def test_an_old_ladder_is_migrated_with_tallies_that_follow_from_its_facts(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    chance = random.Random(3)
    with ladder(tmp_path / "new") as store:
        for _ in range(4):
            for match in next_matches(store)[:-1]:
                play(store, match, chance)
        left = store.unfinished(GAME.name)
        for _ in range(MAX_VOIDS):
            store.void(left[0], "x")
        expected = (store.tallies(GAME.name), store.meetings(GAME.name), store.blocks_by_seats(GAME.name), left[1:])
        ratings, counted = store.ratings(GAME.name), list(store.counted())
    path = tmp_path / "ladder.db"
    old = Database(sqlite3.connect(path))
    migrations.apply(old, stop_before="kept_tallies")
    old.conn.execute("attach ? as new", [str(tmp_path / "new" / "ladder.db")])
    facts = "bots versions qualifications blocks matches seats results seat_results voids ratings".split()  # noqa: SIM905
    for table in facts:
        columns = ", ".join(f'"{row[1]}"' for row in old.conn.execute(f"pragma main.table_info({table})"))
        taken = columns if table != "ratings" else columns.replace('"matches"', "1")
        old.conn.execute(f"insert into main.{table} ({columns}) select {taken} from new.{table}")  # noqa: S608
    old.conn.commit()
    old.close()
    with Store(path, create=False) as store:
        assert expected == (
            store.tallies(GAME.name),
            store.meetings(GAME.name),
            store.blocks_by_seats(GAME.name),
            store.unfinished(GAME.name),
        )
        assert (store.ratings(GAME.name), list(store.counted())) == (ratings, counted)
        assert store.differences() == []
        play(store, store.unfinished(GAME.name)[0], chance)
        assert store.differences() == []


def test_a_ladder_with_damaged_pages_says_that_it_is_damaged_in_one_line(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        for _ in range(30):
            next_matches(store)
    path = tmp_path / "ladder.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\x5a" * (len(whole) - 4096))
    with (
        pytest.raises(LadderError, match=r"ladder\.db: is damaged; restore a backup") as told,
        Store(path, create=False) as store,
    ):
        standings(store, GAME.name)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("bytes_left", [0, 20_000])
def test_a_disk_that_is_full_while_blocks_are_scheduled_is_told_in_one_line_and_loses_nothing(
    tmp_path: Path, bytes_left: int
) -> None:
    with ladder(tmp_path) as store:
        next_matches(store)
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom ladder.errors import LadderError\n"
        "from ladder.store import Store\nfrom tests.ladder.made import next_matches\n"
        "with Store(Path(sys.argv[1]), create=False) as store:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
        "    try:\n        while True:\n            print(next_matches(store)[0].block)\n"
        "    except LadderError as error:\n        sys.exit(str(error))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "ladder.db"), str(bytes_left)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f"{tmp_path}/ladder.db: cannot be read or written (is the disk full or damaged?); nothing was changed"
    ]
    with Store(tmp_path / "ladder.db", create=False) as store:
        assert store.differences() == []
        assert len({match.block for match in store.unfinished(GAME.name)}) == 1 + len(ended.stdout.split())
        next_matches(store)


def _schedule(store: Store, blocks: int) -> None:
    for number in range(blocks):
        next_matches(store, number)


def test_a_database_that_cannot_grow_says_so(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        store._db.conn.execute("pragma max_page_count = 1")
        with pytest.raises(LadderError, match="the disk is full; nothing was changed; make room"):
            _schedule(store, 1000)
        assert store.differences() == []


def test_who_may_not_write_reads_what_a_run_has_just_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ladder(tmp_path) as running:
        play(running, next_matches(running)[0], random.Random(1))
        assert (tmp_path / "ladder.db-wal").stat().st_size > 0  # it is not in the file itself yet
        monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
        with Store(tmp_path / "ladder.db", create=False) as looking:
            assert len(list(looking.counted())) == 1
            with pytest.raises(LadderError, match="cannot be written; give yourself write permission"):
                looking.add_version("late", "ann", "x", ["./bot"], [GAME.name])


def test_an_older_ladder_that_cannot_be_written_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Database(sqlite3.connect(tmp_path / "ladder.db"))
    migrations.apply(old, stop_before="kept_tallies")
    old.close()
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(LadderError, match=r"made by an older version of Dogana .* open it once as its owner"):
        Store(tmp_path / "ladder.db", create=False)
