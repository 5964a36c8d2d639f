"""Records and logs are in one file, come out of it byte for byte, and are checked as if a stranger had written them."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ladder.archive import archive
from ladder.archive.archive import LOGS, USAGE, Archive, NoRecord, find_logs, find_record
from ladder.archive.backup import backup
from ladder.archive.recompute import compare
from ladder.archive.retention import prune
from ladder.archive.traces import usages_of
from ladder.facts.evidence import RetainedRecords
from ladder.facts.store import Store
from ladder.operation.errors import Busy, LadderError, NoRoom
from ladder.operation.home import Home
from ladder.questions.caller import ANYBODY
from ladder.questions.desk import Desk
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from referee.records.record import MAX_LINE_BYTES, MAX_LINES, RecordError, zipped
from referee.records.verify import verify
from referee.registry import find
from tests.ladder.archived import (
    change_record,
    damage,
    logged,
    put_logs,
    put_record,
    record_of,
    recorded,
    remove_record,
    rewrite_result,
)
from tests.ladder.in_process import in_process
from tests.ladder.made import CONDITION
from tests.ladder.sealed import BLOCKS, HOSTILE, LATER, USED, home, sealed, store

__all__ = ["home", "sealed", "store"]


def of_block(store: Store, block: int) -> list[str]:
    return [match.match_id for match in store.history.all_played() if match.block == block]


def test_a_record_comes_out_as_it_went_in_and_takes_little_room(home: Home, store: Store, tmp_path: Path) -> None:
    desk = Desk(home)
    room = 0
    for match_id in recorded(home):
        record = desk.ask(RecordRequest(match=match_id))
        file = tmp_path / record.name
        assert file.name == f"{match_id}.jsonl.zst"
        file.write_bytes(b"".join(record.pieces))
        assert verify(file, find).is_sealed
        room += file.stat().st_size
        answer = desk.ask(MatchRequest(match=match_id))
        assert (answer.is_recorded, answer.problem) == (True, "")
        assert len(answer.seats[0].breakdown) > 0
    with Archive(home.archive, create=False) as archive:
        assert sum(size for _, _, size in archive.sizes("records")) < 0.3 * room
    assert {path.name for path in home.folder.iterdir() if path.is_file()} >= {"ladder.db", "archive.db"}
    assert list(home.records.iterdir()) == []
    found = compare(home, store)
    assert (found.problems, found.matches) == ([], 2 + 3 + 4)


def test_what_is_put_in_again_takes_the_place_of_what_was_there(home: Home, store: Store) -> None:
    one, other = of_block(store, 2)[:2]
    put_record(home, one, record_of(home, other))
    assert record_of(home, one) == record_of(home, other)
    assert recorded(home).count(one) == 1
    put_logs(home, one, {"seat0.log": b"again"})
    assert find_logs(home, one) == {"seat0.log": b"again"}


def test_a_record_that_is_damaged_is_reported_and_one_that_is_gone(home: Home, store: Store) -> None:
    damaged, gone, *_ = of_block(store, 3)
    damage(home, damaged)
    remove_record(home, gone)
    found = compare(home, store)
    assert list(store.evidence.broken()) == [damaged, gone]
    assert [f"{home.archive}/{one}: " in text for one, text in zip((damaged, gone), found.broken.reported, strict=True)]
    with pytest.raises(RecordError, match=re.escape(f"{home.archive}/{damaged}: is damaged")):
        Desk(home).ask(RecordRequest(match=damaged))
    with pytest.raises(LadderError, match=r"^the record of match [0-9a-f]{16} is damaged; tell the organiser$"):
        Desk(home, ANYBODY).ask(RecordRequest(match=damaged))
    for match_id, is_recorded in ((damaged, True), (gone, False)):
        answer = Desk(home).ask(MatchRequest(match=match_id))
        assert (answer.is_recorded, answer.moment) == (is_recorded, "")


@pytest.mark.parametrize("what", ["something else", "another layout", "nothing"])
def test_an_archive_that_is_something_else_is_refused_in_a_line(home: Home, what: str) -> None:
    [match_id, *_] = recorded(home)
    if what == "something else":
        home.archive.write_bytes(b"something else" * 100)
    else:
        with closing(sqlite3.connect(home.archive)) as file:
            file.execute("pragma user_version = 9" if what == "another layout" else "pragma application_id = 9")
    for find_it in (find_record, find_logs):
        with pytest.raises(RecordError) as caught:
            find_it(home, match_id)
        assert str(caught.value).startswith(f"{home.archive}: ")
        assert len(str(caught.value).splitlines()) == 1
    answer = Desk(home).ask(MatchRequest(match=match_id))
    assert (answer.is_recorded, answer.logs, answer.moment) == (True, [], "")
    assert answer.seats


@pytest.mark.parametrize("reason", [Busy, NoRoom])
def test_an_archive_that_cannot_be_read_now_is_not_taken_for_a_damaged_one(
    home: Home, monkeypatch: pytest.MonkeyPatch, reason: type[LadderError]
) -> None:
    [match_id, *_] = recorded(home)

    def fail(*_: object, **__: object) -> None:
        raise reason("not now")

    monkeypatch.setattr(archive, "SqliteFile", fail)
    for find_it in (find_record, find_logs, usages_of):
        with pytest.raises(reason):
            find_it(home, match_id)
    with pytest.raises(reason):
        Desk(home).ask(MatchRequest(match=match_id))


def test_without_an_archive_there_is_no_record(home: Home, store: Store) -> None:
    [match_id, *_] = recorded(home)
    for path in home.folder.glob("archive.db*"):
        path.unlink()
    with pytest.raises(NoRecord):
        find_record(home, match_id)
    assert find_logs(home, match_id) == {}
    assert compare(home, store).broken.count == 2 + 3 + 4
    assert not home.archive.exists()


def test_a_record_of_another_match_does_not_count_for_it(home: Home, store: Store) -> None:
    one, other = of_block(store, 1)
    with closing(sqlite3.connect(home.archive)) as file, file:
        file.execute(
            "update records set data = (select data from records where match = ?) where match = ?", [one, other]
        )
    found = compare(home, store)
    assert found.contradicting.reported == [f"match {other}: the record is of another match"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_whoever_is_killed_while_a_record_is_put_in_has_it_whole_or_not_at_all(home: Home, moment: str) -> None:
    script = f"""
import os, signal, sys
from pathlib import Path
from ladder.archive.archive import Archive

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if {moment!r} == "before":
    Archive.put_logs = killed
with Archive(Path(sys.argv[1]), create=True) as archive:
    record = archive.record(sys.argv[2]).data
    archive.add("new", record, {{"seat0.log": b"x"}})
    killed()
"""
    [one, *_] = recorded(home)
    ended = subprocess.run([sys.executable, "-c", script, str(home.archive), one], check=False)
    assert ended.returncode == -signal.SIGKILL
    is_there = moment == "after"
    assert ("new" in recorded(home)) == ("new" in logged(home)) == is_there
    if is_there:
        assert record_of(home, "new") == record_of(home, one)
        assert find_logs(home, "new") == {"seat0.log": b"x"}


def test_a_backup_has_the_archive(home: Home, store: Store, tmp_path: Path) -> None:
    backup(home, store, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as archive:
        archive.extractall(tmp_path / "restored", filter="data")
    restored = Home(tmp_path / "restored")
    with Store(restored.database, create=False) as copy:
        assert compare(restored, copy).problems == []
    assert [find_logs(restored, one) for one in logged(home)] == [find_logs(home, one) for one in logged(home)]


def hostile(home: Home, match_id: str, table: str, data: bytes) -> None:
    """Put bytes of a stranger in the place of what is compressed; without a dictionary all that is in them is their own."""
    with closing(sqlite3.connect(home.archive)) as file, file:
        file.execute(f"update {table} set data = ? where match = ?", [data, match_id])  # noqa: S608


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"\n" * (MAX_LINES + 1),
        b'{"type":"header",' + b" " * MAX_LINE_BYTES + b"}\n",
        b'{"type":"header",' + b'"a":[' * 100_000 + b"\n",
        b"x" * (1 << 25),
    ],
    ids=["nothing", "no line", "lines", "a long line", "deep", "too much"],
)
def test_a_record_of_something_else_is_refused(home: Home, data: bytes) -> None:
    [one, *_] = recorded(home)
    packed = zipped(data)
    assert len(packed) < 5000
    hostile(home, one, "records", packed)
    with pytest.raises(RecordError, match=re.escape(f"{home.archive}/{one}: ")):
        verify(home.archive / one, find, data=find_record(home, one).data)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"[" * 100_000, b'{"seat0.log": 7}', b'{"seat0.log": "\xc4\x80"}', b'"' + b"x" * (1 << 26) + b'"'],
    ids=["nothing", "a list", "deep", "a number", "no bytes", "too much"],
)
def test_logs_of_something_else_are_refused_in_a_line(home: Home, data: bytes) -> None:
    [one, *_] = recorded(home)
    hostile(home, one, LOGS, zipped(data))
    with pytest.raises(RecordError, match=re.escape(f"{home.archive}/{one}: ")):
        find_logs(home, one)
    assert Desk(home).ask(MatchRequest(match=one)).logs == []
    assert usages_of(home, one) == {}


def test_logs_have_the_names_of_logs_and_any_bytes(home: Home) -> None:
    [one, *_] = recorded(home)
    assert find_logs(home, one)["seat0.log"] == HOSTILE
    assert usages_of(home, one) == {0: USED}
    put_logs(home, one, {"seat1.log": bytes(range(256)), "../seat0.log": b"x", "seat0.log\n": b"x", "seat٣.log": b"x"})
    assert find_logs(home, one) == {"seat1.log": bytes(range(256))}
    [log] = Desk(home).ask(MatchRequest(match=one)).logs
    assert log.seat == 1


@pytest.mark.parametrize(
    "data",
    [
        b'{"0": 3}',
        b"[" * 200_000,
        b'{"0": {"x": ' + b"[" * 200_000,
        b'{"0": {"cpu_seconds": "x"}}',
        b'{"0": {"memory_peak": 1' + b"0" * 400 + b"}}",
    ],
    ids=["a number", "deep", "deep inside", "a text", "too large"],
)
def test_usages_of_something_else_are_left_out(home: Home, data: bytes) -> None:
    [one, *_] = recorded(home)
    put_logs(home, one, {USAGE: data})
    assert usages_of(home, one) == {}


def test_a_dictionary_that_is_too_short_is_reported_as_damage(home: Home, store: Store) -> None:
    [match_id, *_] = recorded(home)
    with closing(sqlite3.connect(home.archive)) as file, file:
        file.execute("update dictionaries set data = ?", [zipped(b"abc")])
    with pytest.raises(RecordError, match="dictionary 1 is damaged"):
        find_record(home, match_id)
    assert compare(home, store).broken.count


def test_what_is_no_record_is_not_put_in(home: Home) -> None:
    [one, *_] = recorded(home)
    whole = record_of(home, one)
    for data in (b"", whole[:-5], whole.replace(b'"score":', b'"score": ', 1), b"something else"):
        with pytest.raises(RecordError):
            put_record(home, "new", data)
    assert "new" not in recorded(home)


def test_a_game_after_one_that_could_not_be_put_in_has_its_own_dictionary(home: Home, tmp_path: Path) -> None:
    """SQLite gives the number of the dictionary that was rolled back to the next one."""
    [one, *_] = recorded(home)
    whole = record_of(home, one)
    change_record(home, one, lambda lines: lines[0].update(dogana="another version", match_id=secrets.token_hex(4000)))
    changed = record_of(home, one)
    path = tmp_path / "new.db"
    with Archive(path, create=True) as archive:
        with pytest.raises(RecordError):
            archive.put_records({"changed": changed, "damaged": whole[:-5]})
        archive.put_records({"whole": whole})
    with Archive(path, create=False) as archive:
        assert archive.record("whole").data == whole


def test_a_bot_that_has_not_qualified_has_the_log_of_the_match_in_which_it_failed(home: Home, store: Store) -> None:
    version = store.roster.find_versions("bot1")[0]
    store.admission.qualify(version.id, CONDITION, passed=False, reason="it crashed")
    for name, text in ((f"qualify-{version.id}-0", b"a line"), (f"qualify-{version.id}1-0", b"another")):
        put_logs(home, name, {"seat0.log": text})
    assert list(Desk(home).ask(LogRequest(what="bot1")).logs[0].lines) == ["a line"]


def test_who_may_not_write_reads_what_is_in_the_archive(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    [one, *_] = recorded(home)
    whole = record_of(home, one)
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert record_of(home, one) == whole


# --- retention ------------------------------------------------------------------------------------------------


def left(home: Home, store: Store) -> list[int]:
    """The blocks of which all records are left."""
    return [block for block in range(1, BLOCKS + 1) if set(of_block(store, block)) <= set(recorded(home))]


def test_records_are_pruned_and_a_dry_run_says_which(home: Home, store: Store) -> None:
    would = prune(home, store, LATER, None, dry_run=True)
    assert left(home, store) == [1, 2, 3]
    assert prune(home, store, LATER, None) == would
    assert would.records == 2 + 3 + 4
    assert recorded(home) == []
    assert len(logged(home)) == 2 + 3 + 4
    found = compare(home, store)
    assert (found.problems, found.lost.count, found.pruned) == ([], 0, 9)
    assert prune(home, store, LATER, None).records == 0


LONG_AGO = "2001-01-01T00:00:00.000+00:00"


def test_of_a_block_only_the_matches_that_are_old_are_pruned(home: Home, store: Store) -> None:
    first, second, third = of_block(store, 2)
    with sqlite3.connect(home.database) as database:
        database.execute("update results set finished_at = ? where match = ?", [LONG_AGO, second])
    rewrite_result(home, second, at=LONG_AGO)
    before = {one: record_of(home, one) for one in (first, third)}
    assert prune(home, store, "2002-01-01T00:00:00.000+00:00", "2002-01-01T00:00:00.000+00:00").logs == 1
    assert {one: record_of(home, one) for one in (first, third)} == before
    assert (second in recorded(home), second in logged(home)) == (False, False)
    assert compare(home, store).pruned == 1
    assert prune(home, store, "2002-01-01T00:00:00.000+00:00", None).records == 0


def test_records_of_some_bots_and_of_one_block_of_so_many_are_kept(home: Home, store: Store) -> None:
    assert prune(home, store, LATER, None, RetainedRecords(one_block_of=2)).records == 2 + 4
    assert left(home, store) == [2]
    found = compare(home, store)
    assert (found.problems, found.pruned) == ([], 6)
    sat = next(match for match in store.history.all_played() if match.block == 2).seats
    assert prune(home, store, LATER, None, RetainedRecords(bots=(sat[0].version.bot,))).records == 0
    remove_record(home, *of_block(store, 2))
    assert len(compare(home, store).problems) == 3  # what should have been kept is lost, not pruned
    nobody = next(one.bot for one in store.roster.versions().values() if one not in [seat.version for seat in sat])
    store.evidence.note_pruning(LATER, None, RetainedRecords(bots=(nobody,)))
    assert (compare(home, store).problems, compare(home, store).pruned) == ([], 9)


def test_very_many_are_removed_some_at_a_time_while_somebody_else_writes(home: Home) -> None:
    [one, *others] = logged(home)
    ids = [f"{number:016x}" for number in range(1234)]
    with closing(sqlite3.connect(home.archive)) as file, file:
        copied = "insert into logs (match, at, data) select ?, at, data from logs where match = ?"
        file.executemany(copied, ([match_id, one] for match_id in ids))
    with Archive(home.archive, create=True) as writer, Archive(home.archive, create=False) as archive:
        archive.remove(LOGS, [*ids, one])
        writer.put_logs("new", {"seat0.log": b"x"})
    assert logged(home) == [*others, "new"]


def test_a_damaged_record_does_not_keep_others_from_being_pruned(home: Home, store: Store) -> None:
    damage(home, of_block(store, 2)[0])
    assert prune(home, store, LATER, None).records == 2 + 3 + 4
    assert compare(home, store).problems == []


def test_the_command_tells_what_is_kept_and_refuses_what_it_does_not_know(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DOGANA_LADDER", raising=False)
    monkeypatch.setattr("ladder.commands.prune.now", lambda: datetime.now(UTC) + timedelta(days=100))
    dogana = in_process(tmp_path, monkeypatch, capfd)
    words = ["ladder", "prune", "--home", "home", "--records-older-than", "90d"]
    assert "there is no bot 'bto1'" in dogana(*words, "--keep-bot", "bto1", status=1).stderr
    assert "name it without one" in dogana(*words, "--keep-bot", "bot1 v1", status=1).stderr
    alone = dogana("ladder", "prune", "--home", "home", "--logs-older-than", "9d", "--keep-bot", "bot1", status=1)
    assert "say --records-older-than, too" in alone.stderr
    report = json.loads(dogana(*words, "--keep-one-block-of", "2", "--keep-bot", "bot1", "--json").stdout)
    assert report["retained"] == {"bots": ["bot1"], "one_block_of": 2}
    [act] = json.loads(dogana("ladder", "audit", "--home", "home", "--json").stdout)
    assert act["about"].endswith("but those of bot1, but one block of 2")
