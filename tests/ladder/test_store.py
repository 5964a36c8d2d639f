"""What a ladder knows: transactions beside those of others, kept tallies, older and newer layouts, damage."""

from __future__ import annotations

import contextlib
import os
import random
import re
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder.archive.recompute import compare, repair
from ladder.facts.rebuilt import Rebuilt
from ladder.facts.results import Tally
from ladder.facts.schema import LAYOUT, VIEWS
from ladder.facts.standings import KILLS_WORKERS, SUSPENDED_AFTER, Status, statuses
from ladder.facts.store import Store
from ladder.model.condition import Condition
from ladder.operation.errors import BadHome, LadderError
from ladder.operation.home import Home
from ladder.play.running import count
from referee.live.seats.telemetry import KeyValues
from referee.match.result import Outcome
from tests.commands.conftest import ROOT
from tests.ladder.made import CONDITION, GAME, OTHER, be_impatient, differences, ladder, next_matches, play, result_of
from tests.ladder.real_ladder import play_really

# --- beside others --------------------------------------------------------------------------------------


def test_what_a_transaction_has_read_still_holds_when_it_writes(tmp_path: Path) -> None:
    """A begins and reads, B wants to commit, A inserts. B waits; it is not A that fails."""
    with ladder(tmp_path) as first, Store(tmp_path / "ladder.db", create=False) as second:
        be_impatient(second)
        with first.writing():
            assert len(first.roster.versions()) == 5
            with pytest.raises(LadderError, match="another program has locked it"):
                second.roster.add_version("late", "ann", "x", ["./bot"], [GAME.name])
            assert len(second.roster.versions()) == 5
            first.roster.add_version("early", "ann", "x", ["./bot"], [GAME.name])
        second.roster.add_version("late", "ann", "x", ["./bot"], [GAME.name])
        assert [version.bot for version in first.roster.versions().values()][5:] == ["early", "late"]


def test_a_ladder_that_somebody_makes_while_we_look_is_not_taken_for_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ladder.db"
    path.touch()
    names = Database.table_names

    def made_after_the_first_look(db: Database, **arguments: Any) -> list[str]:
        seen = names(db, **arguments)
        monkeypatch.setattr(Database, "table_names", names)
        Store(path, create=True).close()
        return seen

    monkeypatch.setattr(Database, "table_names", made_after_the_first_look)
    with Store(path, create=True) as store:
        assert store.roster.versions() == {}


def test_whoever_makes_a_ladder_waits_for_another_that_recovers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Database.execute

    def recovering_at_first(db: Database, sql: str, *more: Any) -> sqlite3.Cursor:
        if sql == "pragma journal_mode = wal":
            monkeypatch.setattr(Database, "execute", execute)
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
            raise error
        return execute(db, sql, *more)

    monkeypatch.setattr(Database, "execute", recovering_at_first)
    with Store(tmp_path / "ladder.db", create=True) as store:
        assert store.roster.versions() == {}


def test_everything_that_is_read_together_is_of_one_moment(tmp_path: Path) -> None:
    """A recomputation beside a run compares matches and ratings of one moment, and changes nothing."""
    chance = random.Random(1)
    with ladder(tmp_path) as store, Store(tmp_path / "ladder.db", create=False) as other:
        matches = next_matches(store) + next_matches(store)
        play(store, matches[0], chance)
        with store.reading():
            before = (
                [match.match_id for match in store.history.all_played()],
                store.results.ratings(CONDITION),
                list(store.log.lines()),
            )
            for match in matches[1:]:
                play(other, match, chance)
            other.roster.add_version("late", "ann", "x", ["./bot"], [GAME.name])
            after = (
                [match.match_id for match in store.history.all_played()],
                store.results.ratings(CONDITION),
                list(store.log.lines()),
            )
        assert before == after
        assert len(list(store.history.all_played())) == len(matches)


def test_all_versions_are_read_once_for_a_moment_and_anew_for_the_next(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    with ladder(tmp_path), Store(path, create=False) as store, Store(path, create=False) as other:
        statements: list[str] = []
        store.file.db.conn.set_trace_callback(statements.append)
        with store.reading():
            known = len(store.roster.versions())
            store.roster.versions().clear()
            other.roster.add_version("late", "ann", "x", ["./bot"], [GAME.name])
            with store.reading():
                assert len(store.roster.versions()) == known
            assert len(store.roster.versions()) == known
        assert sum("from versions" in text for text in statements) == 1
        assert len(store.roster.versions()) == known + 1
        other.roster.add_version("later", "ann", "y", ["./bot"], [GAME.name])
        assert len(store.roster.versions()) == known + 2


def test_a_repair_is_refused_while_a_run_goes_on(tmp_path: Path) -> None:
    with ladder(tmp_path) as store, Home(tmp_path).only_run():
        with pytest.raises(LadderError, match="another run is going on"):
            repair(Home(tmp_path), store)
        assert compare(Home(tmp_path), store).differences.reported == []


# --- what is kept ---------------------------------------------------------------------------------------

ACTS = st.lists(
    st.tuples(st.sampled_from(["schedule", "count", "void", "give up", "same"]), st.integers(0, 10**6)), max_size=20
)


@settings(max_examples=15)
@given(ACTS)
def test_tallies_follow_from_the_facts_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("home")
    with ladder(folder) as store:
        for act, number in acts:
            condition = (CONDITION, OTHER)[number % 3 == 0]
            waiting = store.schedule.unfinished(condition)
            if act == "schedule" or not waiting:
                if len([one for one in statuses(store, condition) if one.status is not Status.SUSPENDED]) > 1:
                    next_matches(store, number, condition)
                continue
            match = waiting[number % len(waiting)]
            seats = len(match.seats)
            if act in ("count", "same"):
                outs = frozenset(seat for seat in range(seats) if number >> seat & 1)
                order = sorted(range(seats), key=lambda seat: (seat in outs, (seat + number) % seats))
                ranks = [1 + order.index(seat) for seat in range(seats)]
                digest = "same" if act == "same" else None
                assert count(store, match, result_of(match, ranks, outs=outs, digest=digest), "hash")
                assert not count(store, match, result_of(match, ranks), "hash")
            elif act == "void":
                store.results.void(match, "x")
            else:
                store.results.give_up(match, "x")
        assert differences(store) == []
        for condition in (CONDITION, OTHER):
            assert _tallied_by_hand(store, condition) == store.results.tallies(condition)
        assert compare(Home(folder), store).differences.reported == []


def _tallied_by_hand(store: Store, condition: Condition) -> dict[int, Tally]:
    """The tallies that count matches, in another way than with SQL."""
    tallies = store.results.tallies(condition)
    found = {version: Tally(last_block=tally.last_block, blocks=tally.blocks) for version, tally in tallies.items()}
    for match in store.history.all_played():
        if match.condition != condition:
            continue
        for seat in match.seats:
            old, out = found[seat.version.id], seat.outcome is not Outcome.PLAYED
            found[seat.version.id] = Tally(
                matches=old.matches + 1,
                different=old.different + match.rated,
                wins=old.wins + (seat.rank == 1),
                faults=old.faults + out,
                faults_in_a_row=old.faults_in_a_row + 1 if out else 0,
                last_block=old.last_block,
                blocks=old.blocks,
            )
    return found


DAMAGE = {
    "ratings": "update ratings set mu = mu + 1e-12",
    "block_ratings": "delete from block_ratings where version = (select max(version) from block_ratings)",
    "tallies": "update tallies set wins = wins + 1",
    "meetings": "update meetings set blocks = blocks + 1",
    "scores": "update scores set ahead = ahead + 1",
    "table_sizes": "insert into table_sizes values (1, 9, 1)",
    "open_matches": "delete from open_matches",
    "appearances": "update appearances set lost = 1 - lost",
    "dues": "update dues set due = due + 1",
    "days": "update days set matches = matches + 1",
    "seat_results": "update seat_results set rank = rank + 1",
    "results": "update results set rated = 1 - rated",
    "seats": "update seats set version = 1",
}


def dumped(store: Store) -> list[str]:
    """All of a ladder but that it was repaired."""
    return [line for line in store.file.db.conn.iterdump() if not line.startswith('INSERT INTO "acts"')]


@pytest.mark.parametrize("view", DAMAGE)
def test_a_view_that_was_changed_is_found_and_built_again(tmp_path: Path, view: str) -> None:
    with ladder(tmp_path) as store:
        for match in next_matches(store):
            play_really(Home(tmp_path), store, match)
        next_matches(store)
        before = dumped(store)
        with sqlite3.connect(tmp_path / "ladder.db") as changed:
            changed.execute(DAMAGE[view])
        found = differences(store)
        assert found
        assert all(line.startswith((f"{view}: has ", f"{view}: lacks ")) for line in found)
        assert repair(Home(tmp_path), store).repaired
        assert differences(store) == []
        assert dumped(store) == before
        assert store.log.repairs() == 1


def test_all_views_can_be_dropped_and_built_again(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        for match in next_matches(store) + next_matches(store):
            play_really(Home(tmp_path), store, match)
        next_matches(store)
        before = dumped(store)
        with contextlib.closing(sqlite3.connect(tmp_path / "ladder.db")) as changed:
            for view in VIEWS:
                changed.execute(f"delete from {view}")  # noqa: S608
            changed.commit()
        assert repair(Home(tmp_path), store).repaired
        assert dumped(store) == before
        assert store.log.repairs() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("update seeds set seed = seed + 1", "seeds: block 1 has another seed than the log commits to"),
        ("delete from seeds", "seeds: block 1 lacks its seed"),
        ("update commands set run = '[]' where version = 2", "commands: version 2 has no command, or another one"),
        ("delete from commands where version = 3", "commands: version 3 has no command, or another one"),
    ],
)
def test_what_is_private_must_be_what_the_log_commits_to(tmp_path: Path, change: str, message: str) -> None:
    with ladder(tmp_path) as store:
        next_matches(store)
        assert differences(store) == []
        with sqlite3.connect(tmp_path / "ladder.db") as changed:
            changed.execute(change)
        [line] = differences(store)
        assert line.startswith(message)


def test_events_that_come_while_views_are_built_again_are_in_them(tmp_path: Path) -> None:
    with (
        ladder(tmp_path) as store,
        Store(tmp_path / "ladder.db", create=False) as other,
        Rebuilt(store.file) as rebuilt,
    ):
        matches = next_matches(store)
        play(store, matches[0], random.Random(1))
        with store.reading():
            rebuilt.take_events()
            assert list(rebuilt.differences()) == []
        rebuilt.detach()
        play(other, matches[1], random.Random(1))
        expected = other.results.ratings(CONDITION)
        with store.writing():
            rebuilt.take_events()
            rebuilt.replace_views()
        assert store.results.ratings(CONDITION) == expected
        assert len(list(store.history.all_played())) == 2


def test_what_was_played_before_in_the_same_seats_stays_in_the_history_and_is_not_rated_again(tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        [first, turned] = next_matches(store)
        later = (next_matches(store, seed)[0] for seed in range(100))
        again = next(match for match in later if match.versions == first.versions)
        assert count(store, first, result_of(first, [1, 2], digest="d"), "h")
        once = store.results.ratings(CONDITION)
        assert count(store, again, result_of(again, [1, 2], digest="d"), "h")
        assert store.results.ratings(CONDITION) == once
        assert count(store, turned, result_of(turned, [1, 2], digest="d"), "h")  # other seats: something else
        assert store.results.ratings(CONDITION) != once
        tally = store.results.tallies(CONDITION)[first.versions[0]]
        assert (tally.matches, tally.different, tally.wins) == (3, 2, 2)
        assert [match.rated for match in store.history.all_played()] == [True, False, True]
        assert compare(Home(tmp_path), store).differences.reported == []
        with sqlite3.connect(tmp_path / "ladder.db") as changed:
            changed.execute("update results set rated = 1")
        assert [line.partition(" number")[0] for line in differences(store)] == ["results: has", "results: lacks"]


def test_telemetry_whose_sum_over_matches_is_infinite_is_left_out(tmp_path: Path) -> None:
    said = {"nodes": KeyValues(1, 5.0), "x": KeyValues(1, 1e308)}
    with ladder(tmp_path) as store:
        for match in next_matches(store):
            play(store, match, random.Random(1))
            store.results.note_telemetry(match.match_id, dict.fromkeys(range(len(match.seats)), said))
        [row] = store.history.telemetry(match.seats[0], CONDITION)
    assert (row.key, row.mean) == ("nodes", 5.0)
    assert row.matches > 1


# --- conditions -----------------------------------------------------------------------------------------


def test_what_is_played_under_one_condition_changes_nothing_under_another(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        before = known(store, OTHER)
        chance = random.Random(1)
        for number in range(3):
            for match in next_matches(store, number)[:-1]:
                play(store, match, chance)
        assert all(known(store, CONDITION)[1:])
        assert known(store, OTHER) == before
        assert store.schedule.open_matches() == {CONDITION: 3}


def test_the_same_moves_under_another_clock_are_rated_again(tmp_path: Path) -> None:
    quick = Condition(3, GAME.name, {}, "1+0/1")
    with ladder(tmp_path, bots=2) as store:
        assert store.roster.condition(quick.game, quick.options, quick.clock) == quick
        for version in store.roster.versions():
            store.admission.qualify(version, quick, passed=True, reason="")
        for condition in (CONDITION, quick, quick):
            match = next(
                match for seed in range(100) if (match := next_matches(store, seed, condition)[0]).versions == (1, 2)
            )
            assert count(store, match, result_of(match, [1, 2], digest="d"), "h")
        assert [store.results.tallies(one)[1].different for one in (CONDITION, quick)] == [1, 1]
        assert store.results.ratings(quick) == store.results.ratings(CONDITION)
        assert compare(Home(tmp_path), store).differences.reported == []


def test_faults_under_one_condition_suspend_a_version_there_and_nowhere_else(tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        for _ in range(SUSPENDED_AFTER):
            [match, *_] = next_matches(store)
            count(store, match, result_of(match, [1, 2], outs=frozenset({match.versions.index(2)})), "h")
        assert [one.status for one in statuses(store, CONDITION)].count(Status.SUSPENDED) == 1
        assert [one.status for one in statuses(store, OTHER)] == [Status.NEW, Status.NEW]


def test_a_version_that_was_found_guilty_is_suspended_even_if_it_has_matches_that_count(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        [match, *_] = next_matches(store)
        play(store, match, random.Random(1))
        culprit, victim, *_ = match.versions
        store.admission.note_trial(match.match_id, culprit, guilty=True)
        store.admission.note_trial(match.match_id, victim, guilty=False)
        found = {one.version.id: one.reason for one in statuses(store, CONDITION) if one.status is Status.SUSPENDED}
        assert found == {culprit: KILLS_WORKERS}


def test_the_suspension_of_a_guilty_version_can_be_lifted_until_it_is_found_guilty_again(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        [match, *_] = next_matches(store)
        one, other, *_ = match.versions
        for version in (one, other):
            store.admission.note_trial(match.match_id, version, guilty=True)
        store.admission.pardon(one)
        assert store.admission.guilty() == {other}
        assert differences(store) == []
        store.admission.note_trial(match.match_id, one, guilty=True)
        assert store.admission.guilty() == {one, other}


def test_a_version_is_suspended_by_faults_in_a_row_and_by_no_fewer(tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        for number in range(SUSPENDED_AFTER):
            assert all(one.status is not Status.SUSPENDED for one in statuses(store, CONDITION))
            [match, *_] = next_matches(store)
            seat = match.versions.index(2)
            count(
                store, match, result_of(match, [1 + (other == seat) for other in (0, 1)], outs=frozenset({seat})), "h"
            )
            assert store.results.tallies(CONDITION)[2].faults_in_a_row == number + 1
        reasons = {one.version.id: one.reason for one in statuses(store, CONDITION)}
        assert reasons == {1: "", 2: f"out in its last {SUSPENDED_AFTER} matches"}


# --- older and newer layouts, damage --------------------------------------------------------------------


def known(store: Store, condition: Condition) -> tuple[object, ...]:
    """Everything that a ladder knows of a condition."""
    return (
        store.admission.qualifications(condition),
        store.results.ratings(condition),
        store.results.tallies(condition),
        store.schedule.meetings(condition, store.roster.versions(), store.roster.versions()),
        store.schedule.blocks_by_seats(condition),
        store.schedule.unfinished(condition),
    )


def test_a_ladder_is_private_when_it_is_made_and_stays_as_its_owner_has_it(tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    umask = os.umask(0o022)
    try:
        with ladder(new):
            assert len(list(new.glob("ladder.db*"))) > 1  # the files that SQLite puts beside it, too
            assert {stat.S_IMODE(path.stat().st_mode) for path in new.glob("ladder.db*")} == {0o600}
    finally:
        os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o700
    new.chmod(0o750)
    with Store(new / "ladder.db", create=False):
        pass
    assert stat.S_IMODE(new.stat().st_mode) == 0o750  # who opens it to others later has chosen that


OLD = (
    "was made by a version of Dogana from before the first release, whose ladders this one cannot read; go on with"
    " that version, or begin a new ladder in another folder"
)


def test_a_ladder_of_another_layout_is_refused_in_one_line_and_stays_as_it_is(tmp_path: Path) -> None:
    ladder(tmp_path).close()
    for change, message in (
        (f"pragma user_version = {LAYOUT.version + 1}", "was made by a newer version of Dogana; update this one"),
        ("pragma user_version = 1", OLD),
        (
            "pragma application_id = 0; create table _sqlite_migrations (name text)",
            OLD,
        ),
        ("drop table _sqlite_migrations", "is an SQLite file, but not a ladder"),
    ):
        with contextlib.closing(sqlite3.connect(tmp_path / "ladder.db")) as file:
            file.executescript(change)
        before = (tmp_path / "ladder.db").read_bytes()
        for create in (True, False):
            with pytest.raises(BadHome, match=re.escape(f"{tmp_path / 'ladder.db'} {message}") + "$"):
                Store(tmp_path / "ladder.db", create=create)
        assert (tmp_path / "ladder.db").read_bytes() == before


def test_a_ladder_with_damaged_pages_says_that_it_is_damaged_in_one_line(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        for _ in range(30):
            next_matches(store)
    path = tmp_path / "ladder.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\x5a" * (len(whole) - 4096))
    with (
        pytest.raises(LadderError, match=r"ladder\.db: is damaged; restore a backup") as caught,
        Store(path, create=False) as store,
    ):
        statuses(store, CONDITION)
    assert "\n" not in str(caught.value)


def test_events_on_a_damaged_page_are_damage_of_the_ladder_not_of_its_rebuilt_views(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    with ladder(tmp_path):
        pass
    with contextlib.closing(sqlite3.connect(path)) as file:
        [root] = file.execute("select rootpage from sqlite_master where name = 'events'").fetchone()
        [size] = file.execute("pragma page_size").fetchone()
    with path.open("r+b") as pages:
        pages.seek((root - 1) * size)
        pages.write(b"\xee" * size)
    with Store(path, create=False) as store, pytest.raises(LadderError) as caught:
        compare(Home(tmp_path), store)
    assert str(caught.value).startswith(f"{path}: is damaged")


@pytest.mark.parametrize("bytes_left", [0, 20_000])
def test_a_disk_that_is_full_while_blocks_are_scheduled_is_reported_in_one_line_and_loses_nothing(
    tmp_path: Path, bytes_left: int
) -> None:
    with ladder(tmp_path) as store:
        next_matches(store)
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom ladder.operation.errors import BadHome, LadderError\n"
        "from ladder.facts.store import Store\nfrom tests.ladder.made import next_matches\n"
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
        assert differences(store) == []
        assert len({match.block for match in store.schedule.unfinished(CONDITION)}) == 1 + len(ended.stdout.split())
        next_matches(store)


def _schedule(store: Store, blocks: int) -> None:
    for number in range(blocks):
        next_matches(store, number)


def test_a_database_that_cannot_grow_says_so(tmp_path: Path) -> None:
    with ladder(tmp_path) as store:
        store.file.db.conn.execute("pragma max_page_count = 1")
        with pytest.raises(LadderError, match="the disk is full; nothing was changed; make room"):
            _schedule(store, 1000)
        assert differences(store) == []


def test_who_may_not_write_reads_what_a_run_has_just_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ladder(tmp_path) as running:
        play(running, next_matches(running)[0], random.Random(1))
        assert (tmp_path / "ladder.db-wal").stat().st_size > 0  # it is not in the file itself yet
        monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
        with Store(tmp_path / "ladder.db", create=False) as looking:
            assert len(list(looking.history.all_played())) == 1
            with pytest.raises(LadderError, match="cannot be written; give yourself write permission"):
                looking.roster.add_version("late", "ann", "x", ["./bot"], [GAME.name])
