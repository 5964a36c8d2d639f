"""What an organiser keeps no longer is removed; what was played stays, and everybody is told what has become of the rest."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ladder.archive import recompute
from ladder.archive.archive import RECORDS, Archive
from ladder.archive.audit_log import write
from ladder.archive.backup import backup
from ladder.archive.key import ladder_key
from ladder.archive.recompute import compare
from ladder.archive.retention import prune
from ladder.archive.sealing import seal_blocks
from ladder.facts import entries
from ladder.facts.store import Store
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.operation.sqlite_file import SqliteFile
from ladder.questions.desk import Desk
from ladder.questions.match import RecordRequest
from ladder.questions.question import PIECE_BYTES
from referee.records.record import zipped
from referee.records.verify import verify
from tests.archives import unpack
from tests.cases import mostly_long
from tests.commands.conftest import Dogana
from tests.commands.conftest import dogana as dogana_process
from tests.ladder.archived import (
    change_record,
    damage,
    find_logs,
    lines_of,
    logged,
    put_record,
    record_file,
    record_of,
    recorded,
    remove_record,
)
from tests.ladder.in_process import dogana
from tests.ladder.made import CONDITION, ladder, next_matches
from tests.ladder.real_ladder import play_really, write_log
from tests.web.served import serving_pages

__all__ = ["dogana", "dogana_process"]

LATER = "9999-01-01T00:00:00.000+00:00"
"""A time after everything that a test does."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder with sealed blocks, and the last one not over."""
    home = Home(tmp_path_factory.mktemp("played") / "home")
    home.make()
    home.records.mkdir()
    with ladder(home.folder), Store(home.database, create=False) as store:
        ladder_key(home, store)
        blocks = [next_matches(store, number) for number in range(4)]
        for match in [*blocks[0], *blocks[1], *blocks[2], blocks[3][0]]:
            play_really(home, store, match)
        assert list(seal_blocks(home, store)) == []
    write_log(home, "qualify-1-0")
    assert len(sealed(home)) >= 4
    assert len(written(home)) >= 1
    return home.folder


@pytest.fixture
def home(played: Path, tmp_path: Path) -> Home:
    """A copy of it."""
    shutil.copytree(played, tmp_path / "home")
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store(home.database, create=False) as store:
        yield store


def sealed(home: Home) -> list[str]:
    """The matches whose records are sealed."""
    return [match_id for match_id in recorded(home) if lines_of(home, match_id)[-1].data["type"] == "signature"]


def written(home: Home) -> list[str]:
    """Those of the block that is not over."""
    return [match_id for match_id in recorded(home) if match_id not in sealed(home)]


def test_old_records_go_when_their_seed_is_revealed_and_their_matches_stay(home: Home, store: Store) -> None:
    gone, records, logs = sealed(home), written(home), logged(home)
    before = list(store.history.all_played())
    pruned = prune(home, store, LATER, None)
    assert (pruned.records, pruned.logs) == (len(gone), 0)
    assert sealed(home) == []
    assert written(home) == records
    assert logged(home) == logs
    assert list(store.history.all_played()) == before
    found = compare(home, store)
    assert (found.problems, found.lost.count, found.pruned) == ([], 0, len(gone))


def test_a_record_that_was_sealed_while_the_clock_was_ahead_stays_until_then(
    home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = store.schedule.unfinished(CONDITION)
    for match in waiting:
        play_really(home, store, match)
    with monkeypatch.context() as clock:
        clock.setattr(entries, "now", lambda: "2999-01-01T00:00:00.000+00:00")
        assert list(seal_blocks(home, store)) == []
    prune(home, store, LATER, None)
    assert {match.match_id for match in waiting} < set(recorded(home))
    assert compare(home, store).problems == []  # nothing is missing that no pruning explains


def test_what_is_younger_stays(home: Home, store: Store) -> None:
    everything = recorded(home), logged(home)
    pruned = prune(home, store, "2001-01-01T00:00:00.000+00:00", "2001-01-01T00:00:00.000+00:00")
    assert (pruned.records, pruned.logs) == (0, 0)
    assert (recorded(home), logged(home)) == everything


def test_the_match_decides_how_old_its_record_is_whenever_it_was_put_in(home: Home, store: Store) -> None:
    """Where no match counts, as one that was to qualify a version, there is only the time at which its log was put in."""
    with closing(sqlite3.connect(home.archive)) as file, file:
        file.execute("update records set at = '1970-01-01'")
        file.execute("update logs set at = '1970-01-01'")
    pruned = prune(home, store, "2001-01-01T00:00:00.000+00:00", "2001-01-01T00:00:00.000+00:00")
    assert (pruned.records, pruned.logs) == (0, 1)
    assert "qualify-1-0" not in logged(home)


def test_what_is_pruned_gives_its_room_back_to_the_disk(home: Home, store: Store) -> None:
    before = home.archive.stat().st_size
    pruned = prune(home, store, LATER, LATER)
    assert before - home.archive.stat().st_size > 0.9 * (pruned.record_bytes + pruned.log_bytes) > 10_000


def test_old_positions_of_house_bots_that_failed_go_with_the_logs(home: Home, store: Store) -> None:
    home.positions.mkdir()
    old, new = home.position("a"), home.position("b")
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    prune(home, store, None, "2001-01-01T00:00:00.000+00:00")
    assert list(home.positions.iterdir()) == [new]


def test_a_dry_run_tells_what_a_pruning_does_and_does_nothing(
    dogana: Dogana, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.commands.prune.now", lambda: datetime.now(UTC) + timedelta(days=100))
    words = ["ladder", "prune", "--home", "home", "--records-older-than", "90d", "--logs-older-than", "30d", "--json"]
    would = json.loads(dogana(*words, "--dry-run").stdout)
    assert len(sealed(home)) == would["records"] > 0
    did = json.loads(dogana(*words).stdout)
    for found in (would, did):
        for key in ("dry_run", "records_before", "logs_before"):
            del found[key]
    assert did == would
    assert sealed(home) == []
    assert did["record_bytes"] > 1000 * did["records"] > 0
    assert did["logs"] > 0
    [act] = [
        one for one in json.loads(dogana("ladder", "audit", "--home", "home", "--json").stdout) if one["did"] == "prune"
    ]
    assert f"{did['records']} records before" in act["about"]
    nothing_left = json.loads(dogana(*words).stdout)
    assert (nothing_left["records"], nothing_left["logs"]) == (0, 0)


@pytest.mark.parametrize("age", ["90", "0d", "-1d", "1e3d", "٣d", "99999d", "d", "", "90d\n", "1w"])
def test_what_is_no_age_is_refused(dogana: Dogana, home: Home, age: str) -> None:
    for option in ("--records-older-than", "--logs-older-than"):
        said = dogana("ladder", "prune", "--home", "home", f"{option}={age}", status=1).stderr
        assert "write a number of days, such as 90d" in said
        assert len(said.splitlines()) == 1
    assert "say what is too old" in dogana("ladder", "prune", "--home", "home", status=1).stderr


def test_everybody_is_told_that_a_record_was_pruned_and_when(
    dogana: Dogana, home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = sealed(home)[0]
    exported = dogana("ladder", "export", "before.csv", "--home", "home").stdout
    with monkeypatch.context() as clock:
        clock.setattr(entries, "now", lambda: "2999-01-01T00:00:00.000+00:00")
        prune(home, store, LATER, LATER)
    with serving_pages(home, Site()) as url:
        for where in (["--home", "home"], ["--server", url]):
            ended = dogana("ladder", "match", gone, *where)
            assert "its record was pruned on 2999-01-01 by the organiser's retention" in ended.stdout
            assert ended.stderr == ""
            assert "score" in ended.stdout  # the results are there
            assert "look further" not in ended.stdout
            refused = dogana("ladder", "record", gone, "--to", "x.jsonl.zst", *where, status=1).stderr
            assert f"the record of match {gone} was pruned on 2999-01-01 by the organiser's retention" in refused
            assert len(refused.splitlines()) == 1
    said = dogana("ladder", "log", gone, "--home", "home", status=1).stderr
    assert f"the logs of match {gone} were pruned on 2999-01-01 by the organiser's retention" in said
    assert (
        "those from before 9999-01-01 were pruned" in dogana("ladder", "log", "bot0", "--home", "home", status=1).stderr
    )
    printed = dogana("ladder", "recompute", "--home", "home").stdout
    assert "by the organiser's retention" in printed
    assert "all ratings agree to the last digit" in printed
    assert "lost" not in printed
    assert dogana("ladder", "export", "after.csv", "--home", "home").stdout == exported.replace("before", "after")
    assert (home.folder.parent / "after.csv").read_bytes() == (home.folder.parent / "before.csv").read_bytes()


def test_who_has_kept_a_record_can_still_prove_it(dogana: Dogana, home: Home, store: Store, tmp_path: Path) -> None:
    match_id = sealed(home)[0]
    record = record_file(home, match_id, tmp_path)
    write(home, store, tmp_path / "before.jsonl")
    prune(home, store, LATER, LATER)
    dogana("ladder", "audit-log", "after.jsonl", "--previous", "before.jsonl", "--home", "home")
    dogana("verify-log", "after.jsonl", "--key", "home/key.pub")
    said = dogana("verify", record.name, "--key", "home/key.pub", "--audit-log", "after.jsonl").stdout
    assert "holds" in said
    assert "its result is entry" in said
    put_record(home, match_id, record.read_bytes())  # one that turns up is verified like all others
    assert compare(home, store).problems == []
    damage(home, match_id)
    assert len(compare(home, store).problems) == 1


def test_a_record_that_is_lost_is_not_called_pruned(home: Home, store: Store) -> None:
    prune(home, store, "2001-01-01T00:00:00.000+00:00", None)
    waiting = written(home)[0]
    lost = sealed(home)[0]
    remove_record(home, lost)
    assert len(compare(home, store).problems) == 1
    prune(home, store, LATER, None)
    remove_record(home, waiting)
    found = compare(home, store)
    assert [waiting in problem for problem in found.problems] == [True]


def test_a_pruning_that_is_killed_is_finished_by_the_next_one(
    home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, remove = len(sealed(home)), Archive.remove

    def killed(archive: Archive, table: str, match_ids: Collection[str]) -> None:
        if table == RECORDS:
            raise KeyboardInterrupt
        remove(archive, table, match_ids)

    monkeypatch.setattr(Archive, "remove", killed)
    with pytest.raises(KeyboardInterrupt):
        prune(home, store, LATER, LATER)
    monkeypatch.undo()
    assert logged(home) == []
    found = compare(home, store)
    assert (found.problems, found.pruned, len(sealed(home))) == ([], 0, whole)
    assert prune(home, store, LATER, None).records == whole
    found = compare(home, store)
    assert (found.problems, found.pruned) == ([], whole)


def test_what_cannot_be_noted_is_not_removed(dogana_process: Dogana, home: Home) -> None:
    """As on a full disk."""
    with sqlite3.connect(home.database) as database:
        database.execute("update results set finished_at = '2001-01-01T00:00:00.000+00:00'")
    before = sealed(home)
    words = ["ladder", "prune", "--home", "home", "--records-older-than", "90d"]
    ended = dogana_process(*words, status=1, max_bytes=1000)
    assert len(ended.stderr.splitlines()) == 1
    assert "nothing was changed" in ended.stderr
    assert sealed(home) == before
    assert f"{len(before)} records" in dogana_process(*words).stdout
    assert sealed(home) == []


def test_a_record_that_is_being_sent_arrives_whole(home: Home, store: Store) -> None:
    match_id = sealed(home)[0]
    ballast = random.Random(1).randbytes(PIECE_BYTES + 50_000).hex()  # two pieces when compressed
    change_record(home, match_id, lambda lines: lines[0].update(ballast=ballast))
    whole = zipped(record_of(home, match_id))
    pieces = Desk(home).ask(RecordRequest(match=match_id)).pieces
    data = next(pieces)
    prune(home, store, LATER, LATER)
    assert match_id not in recorded(home)
    assert data + b"".join(pieces) == whole
    assert len(data) < len(whole)


@pytest.mark.parametrize("meanwhile", ["a backup", "a comparison"])
def test_a_pruning_waits_for_those_who_need_all_records(
    home: Home, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    began = threading.Event()

    def prune_beside() -> None:
        with Store(home.database, create=False) as other:
            began.set()
            prune(home, other, LATER, LATER)

    beside = threading.Thread(target=prune_beside)

    def slowly(does: Callable[..., Any]) -> Callable[..., Any]:
        def does_slowly(*arguments: Any, **more: Any) -> Any:
            if not began.is_set():
                beside.start()
                began.wait()
            return does(*arguments, **more)

        return does_slowly

    monkeypatch.setattr(SqliteFile, "copy_to", slowly(SqliteFile.copy_to))
    monkeypatch.setattr(recompute, "verify", slowly(verify))
    records, logs = len(sealed(home)), [find_logs(home, match_id) for match_id in logged(home)]
    if meanwhile == "a comparison":
        assert compare(home, store).problems == []
        beside.join()
        return
    backup(home, store, tmp_path / "backup.tar")
    beside.join()
    assert sealed(home) == []
    unpack(tmp_path / "backup.tar", tmp_path / "restored")
    restored = Home(tmp_path / "restored")
    assert len(sealed(restored)) == records
    assert [find_logs(restored, match_id) for match_id in logged(restored)] == logs
    with Store(restored.database, create=False) as copy:
        assert compare(restored, copy).problems == []


@pytest.mark.parametrize(
    ("command", "waits_for"),
    mostly_long(
        [
            (["prune", "--logs-older-than", "1d"], "a backup, a recompute or another pruning"),
            (["backup", "backup.tar"], "a pruning"),
            (["recompute"], "a pruning"),
        ],
        2,
    ),
)
def test_whoever_waits_for_another_command_says_so_once(
    home: Home, tmp_path: Path, command: list[str], waits_for: str
) -> None:
    with home.files_stay(but_mine=True):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "ladder", "ladder", *command, "--home", str(home.folder)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        assert waiting.stderr.readline() == f"waits for {waits_for} of this ladder to end\n"
    _, more = waiting.communicate()
    assert (waiting.returncode, more) == (0, "")


def test_a_pruning_is_an_act_of_the_organiser_and_none_if_nothing_was_too_old(home: Home, store: Store) -> None:
    prune(home, store, "2001-01-01T00:00:00.000+00:00", "2001-01-01T00:00:00.000+00:00")
    with Authors(home.database, create=False) as authors:
        assert [act for act in authors.acts(10) if act.did == "prune"] == []
        pruned = prune(home, store, LATER, LATER)
        [act] = [act for act in authors.acts(10) if act.did == "prune"]
    assert act.who == "organiser"
    assert act.about == f"{pruned.records} records before 9999-01-01, logs of {pruned.logs} matches before 9999-01-01"
