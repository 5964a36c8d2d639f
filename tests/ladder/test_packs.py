"""The records of older blocks are together in one file, and come out of it byte for byte, whatever was killed when."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ladder.archive import packs, retention
from ladder.archive.backup import backup
from ladder.archive.packs import NoRecord, Packer, find_record, pack_block, take_out
from ladder.archive.recompute import compare
from ladder.archive.retention import prune
from ladder.archive.traces import traces_of
from ladder.facts.chronicle import Chronicle
from ladder.facts.evidence import KeptRecords
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.asker import ANYBODY
from ladder.questions.desk import Desk
from ladder.questions.match import LogRequest, MatchRequest, RecordRequest
from referee.records.chain import FIRST_HASH, body, link_body
from referee.records.pack import MAX_RECORDS, packed, unpacked_record, unpacked_records
from referee.records.record import MAX_LINE_BYTES, MAX_LINES, RecordError, read_lines, zipped
from referee.records.verify import verify
from referee.registry import find
from tests.cases import mostly_long
from tests.ladder.in_process import in_process
from tests.ladder.made import CONDITION, next_matches
from tests.ladder.sealed import BLOCKS, LATER, chronicle, home, sealed
from tests.ladder.told import play_really

__all__ = ["chronicle", "home", "sealed"]


def files(home: Home) -> dict[str, bytes]:
    """The records that have a file, by match."""
    return {path.name.partition(".")[0]: path.read_bytes() for path in home.records.glob("??/*.zst")}


def pack_all(home: Home, chronicle: Chronicle) -> None:
    for block in range(1, BLOCKS + 1):
        assert pack_block(home, block, chronicle)


def test_what_is_packed_is_had_and_verified_as_before(home: Home, chronicle: Chronicle, tmp_path: Path) -> None:
    before = files(home)
    room = sum(map(len, before.values()))
    pack_all(home, chronicle)
    assert files(home) == {}
    assert sum(path.stat().st_size for path in home.packs.rglob("*.zst")) < 0.4 * room
    desk = Desk(home)
    for match_id, data in before.items():
        record = desk.ask(RecordRequest(match=match_id))
        assert record.name == f"{match_id}.jsonl.zst"
        had = b"".join(record.pieces)
        assert had == data
        (tmp_path / record.name).write_bytes(had)
        assert verify(tmp_path / record.name, find).is_sealed
        answer = desk.ask(MatchRequest(match=match_id))
        assert (answer.is_recorded, answer.record, answer.problem) == (True, "", "")
        assert len(answer.seats[0].breakdown) > 0
    found = compare(home, chronicle)
    assert (found.problems, found.matches) == ([], len(before))


def test_a_pack_that_is_damaged_is_told_and_one_that_is_gone(home: Home, chronicle: Chronicle) -> None:
    pack_all(home, chronicle)
    home.pack(1).write_bytes(home.pack(1).read_bytes()[:-20])
    home.pack(2).unlink()
    found = compare(home, chronicle)
    assert list(chronicle.broken()) == [match.match_id for match in chronicle.counted() if match.block in (1, 2)]
    assert [str(home.pack(1)) in text for text in found.broken.told] == [True, True, False, False, False]
    asked = RecordRequest(match=chronicle.matches_of(1)[0])
    with pytest.raises(RecordError, match=re.escape(str(home.pack(1)))):
        Desk(home).ask(asked)
    with pytest.raises(LadderError, match=r"^the record of match [0-9a-f]{16} is damaged; tell the organiser$"):
        Desk(home, ANYBODY).ask(asked)
    for block, is_recorded in ((1, True), (2, False)):
        traces = traces_of(home, chronicle, chronicle.matches_of(block)[0])
        assert (traces.is_recorded, traces.record, traces.account) == (is_recorded, None, None)


def test_a_record_in_a_pack_that_was_changed_does_not_hold(home: Home, chronicle: Chronicle) -> None:
    records = {one: find_record(home, one, 1).data for one in chronicle.matches_of(1)}
    lines = packed(home.pack(1), records.values())
    kept = list(unpacked_records(home.pack(1), lines).values())
    forged = packed(home.pack(1), [kept[0], kept[0]])  # twice the same match
    pack_all(home, chronicle)
    home.pack(1).write_bytes(forged)
    compare(home, chronicle)
    assert list(chronicle.broken()) == [chronicle.matches_of(1)[1]]


@pytest.mark.parametrize("moment", mostly_long(["before the pack", "after the pack", "after the first file"]))
def test_whoever_is_killed_while_packing_loses_nothing(home: Home, chronicle: Chronicle, moment: str) -> None:
    script = f"""
import os, signal, sys
from pathlib import Path
from ladder.archive import packs
from ladder.archive import retention
from ladder.operation.home import Home
from ladder.facts.store import Store

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def then_killed(*arguments, **more):
    write(*arguments)
    killed()

def unlinked(path, **more):
    unlink(path)
    killed()

write, unlink = packs.write_pack, Path.unlink
moment = {moment!r}
if moment == "before the pack":
    packs.write_pack = killed
elif moment == "after the pack":
    packs.write_pack = then_killed
else:
    written = packs._write
    def written_then(*arguments):
        written(*arguments)
        Path.unlink = unlinked
    packs._write = written_then
home = Home(Path(sys.argv[1]))
with Store(home.database, create=False) as store:
    packs.pack_block(home, 2, store)
"""
    before = files(home)
    ended = subprocess.run([sys.executable, "-c", script, str(home.folder)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(before) - len(files(home)) == (1 if moment == "after the first file" else 0)
    assert home.pack(2).exists() == (moment != "before the pack")
    assert {one: find_record(home, one, 2).sealed for one in chronicle.matches_of(2)} == {
        one: before[one] for one in chronicle.matches_of(2)
    }
    assert compare(home, chronicle).problems == []
    pack_all(home, chronicle)  # what the next run does
    assert files(home) == {}
    assert compare(home, chronicle).problems == []


def test_a_run_packs_the_oldest_when_newer_ones_are_over(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those that an older version has left, two at a time."""
    monkeypatch.setattr(packs, "UNPACKED_BLOCKS", 1)
    home.packs.mkdir()
    (home.packs / "000000").mkdir()
    (home.packs / "000000" / "7.zst.abc.part").touch()
    packer = Packer(home, chronicle)
    assert list((home.packs / "000000").iterdir()) == []
    packer.add(BLOCKS + 1)
    assert [home.pack(block).exists() for block in (1, 2, 3)] == [True, True, False]
    packer.add(BLOCKS + 2)
    assert home.pack(3).exists()


def test_what_is_not_revealed_is_not_packed(home: Home, chronicle: Chronicle) -> None:
    matches = next_matches(chronicle)
    play_really(home, chronicle, matches[0])
    assert chronicle.sealed_blocks_of([*files(home), matches[0].match_id, "qualify-1-0"]) == [1, 2, 3]
    assert pack_block(home, matches[0].block or 0, chronicle)
    assert home.record(matches[0].match_id).exists()
    assert not home.packs.exists()


def test_a_damaged_record_keeps_its_block_as_it_is(home: Home, chronicle: Chronicle) -> None:
    bad = home.sealed_record(chronicle.matches_of(2)[1])
    bad.write_bytes(bad.read_bytes()[:-5])
    before = files(home)
    assert not pack_block(home, 2, chronicle)
    assert files(home) == before
    assert not home.pack(2).exists()


def test_a_backup_has_the_packs(home: Home, chronicle: Chronicle, tmp_path: Path) -> None:
    pack_all(home, chronicle)
    backup(home, chronicle, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as archive:
        archive.extractall(tmp_path / "restored", filter="data")
    with Chronicle(tmp_path / "restored" / "ladder.db", create=False) as copy:
        assert compare(Home(tmp_path / "restored"), copy).problems == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}\n",
        b'{"type":"header",\n',
        b'{"type":"header","match":1}',
        b'{"type":"header"}\n',
        b'{"type":"start"}\n{"type":"header","match":"a"}\n',
        b'{"type":"header",' + b'"a":[' * 100_000 + b"\n",
    ],
)
def test_a_pack_of_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError, match="pack: "):
        unpacked_record(Path("pack"), zipped(data), "a")
    with pytest.raises(RecordError, match="pack: is damaged"):
        unpacked_record(Path("pack"), data, "a")


def test_a_pack_that_would_fill_the_memory_is_refused() -> None:
    """Of few bytes that become many lines, each of which would get a hash, or one long one."""
    beginning = b'{"type":"header","match":"a"}\n'
    for many in (beginning + b"\n" * (MAX_RECORDS * MAX_LINES), beginning[:-2] + b" " * MAX_LINE_BYTES + b"}\n"):
        data = zipped(many)
        assert len(data) < 1000
        with pytest.raises(RecordError, match=r"^pack: has (a line of )?more than [0-9]+ "):
            unpacked_record(Path("pack"), data, "a")


def test_a_file_that_does_not_hold_one_record_is_not_packed(home: Home, chronicle: Chronicle) -> None:
    one = find_record(home, chronicle.matches_of(1)[0], 1)
    bodies = [body(line) for line in read_lines(one.path, one.data).whole()]

    def chained(bodies: list[bytes]) -> bytes:
        lines, previous = b"", FIRST_HASH
        for data in bodies:
            line, previous = link_body(previous, data)
            lines += line + b"\n"
        return lines

    assert unpacked_records(home.pack(1), packed(home.pack(1), [chained(bodies)])) == {
        chronicle.matches_of(1)[0]: chained(bodies)
    }
    for wrong in ([*bodies, *bodies], bodies[1:]):
        with pytest.raises(RecordError, match="does not begin like a record"):
            packed(home.pack(1), [chained(wrong)])


# --- logs -----------------------------------------------------------------------------------------------------


def test_logs_of_qualifications_are_found_where_older_versions_kept_them_and_gathered(home: Home) -> None:
    for name in ("qualify-1-a", "qualify-11-b", "0123456789abcdef"):
        (home.all_logs / name).mkdir(parents=True)
    (home.all_logs / "qualifying.part").mkdir()  # somebody was killed
    assert home.qualifications(1) == ["qualify-1-a"]
    assert home.logs("qualify-1-a") == home.all_logs / "qualify-1-a"
    home.gather_qualifications()
    home.gather_qualifications()
    assert home.qualifications(1) == ["qualify-1-a"]
    assert home.logs("qualify-11-b") == home.qualifying / "qualify-11-b"
    assert home.logs("qualify-11-b").is_dir()
    assert home.logs("0123456789abcdef").is_dir()
    assert not list(home.all_logs.glob("qualify-*"))
    assert not list(home.all_logs.glob("*.part"))


def test_a_bot_that_has_not_qualified_has_its_log_without_a_look_at_all_others(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.gather_qualifications()
    version = chronicle.find_versions("bot1")[0]
    chronicle.qualify(version.id, CONDITION, passed=False, reason="it crashed")
    log = home.log(f"qualify-{version.id}-0", 0)
    log.parent.mkdir(parents=True)
    log.write_text("a line\n")
    listed: list[Path] = []
    scandir = os.scandir

    def noted(path: str) -> object:
        listed.append(Path(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    answer = Desk(home).ask(LogRequest(what="bot1"))
    assert list(answer.logs[0].lines) == ["a line"]
    assert home.all_logs not in listed


# --- retention ------------------------------------------------------------------------------------------------


def in_files_and_packs(home: Home, chronicle: Chronicle) -> list[int]:
    """The blocks of which all records are left."""
    return [
        block
        for block in range(1, BLOCKS + 1)
        if all(not isinstance(had(home, one, block), NoRecord) for one in chronicle.matches_of(block))
    ]


def had(home: Home, match_id: str, block: int) -> object:
    try:
        return find_record(home, match_id, block)
    except NoRecord as error:
        return error


def test_packed_records_are_pruned_like_others(home: Home, chronicle: Chronicle) -> None:
    pack_all(home, chronicle)
    room = sum(path.stat().st_size for path in home.packs.rglob("*.zst"))
    would = prune(home, chronicle, LATER, None, dry_run=True)
    assert in_files_and_packs(home, chronicle) == [1, 2, 3]
    assert prune(home, chronicle, LATER, None) == would
    assert (would.records, would.record_bytes) == (2 + 3 + 4, room)
    assert not list(home.packs.rglob("*.zst"))
    found = compare(home, chronicle)
    assert (found.problems, found.lost.count, found.pruned) == ([], 0, 9)
    assert prune(home, chronicle, LATER, None).records == 0


def test_of_a_block_only_the_matches_that_are_old_are_pruned(home: Home, chronicle: Chronicle) -> None:
    first, second, third = chronicle.matches_of(2)
    with sqlite3.connect(home.database) as database:
        database.execute("update results set finished_at = '2001-01-01' where match = ?", [second])
    pack_all(home, chronicle)
    before = {one: find_record(home, one, 2).sealed for one in (first, third)}
    assert prune(home, chronicle, "2002-01-01", None).records == 1
    assert {one: find_record(home, one, 2).sealed for one in (first, third)} == before
    assert isinstance(had(home, second, 2), NoRecord)
    assert compare(home, chronicle).pruned == 1
    assert prune(home, chronicle, "2002-01-01", None).records == 0


@pytest.mark.parametrize("is_packed", [True, False])
def test_records_of_some_bots_and_of_one_block_of_so_many_are_kept(
    home: Home, chronicle: Chronicle, is_packed: bool
) -> None:
    if is_packed:
        pack_all(home, chronicle)
    assert prune(home, chronicle, LATER, None, KeptRecords(one_block_of=2)).records == 2 + 4
    assert in_files_and_packs(home, chronicle) == [2]
    found = compare(home, chronicle)
    assert (found.problems, found.pruned) == ([], 6)
    sat = next(match for match in chronicle.all_played() if match.block == 2).seats
    assert prune(home, chronicle, LATER, None, KeptRecords(bots=(sat[0].version.bot,))).records == 0
    if is_packed:
        home.pack(2).unlink()
    else:
        for one in chronicle.matches_of(2):
            home.find_record(one).unlink()
    assert len(compare(home, chronicle).problems) == 3  # what should have been kept is lost, not pruned
    nobody = next(one.bot for one in chronicle.versions().values() if one not in [seat.version for seat in sat])
    chronicle.note_pruning(LATER, None, KeptRecords(bots=(nobody,)))
    assert (compare(home, chronicle).problems, compare(home, chronicle).pruned) == ([], 9)


def test_a_pruning_that_is_killed_among_packs_is_finished_by_the_next_one(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack_all(home, chronicle)

    def killed(home: Home, block: int, match_ids: tuple[str, ...] | None) -> None:
        if block == 2:
            raise KeyboardInterrupt
        take_out(home, block, match_ids)

    monkeypatch.setattr(retention, "take_out", killed)
    with pytest.raises(KeyboardInterrupt):
        prune(home, chronicle, LATER, None)
    monkeypatch.undo()
    assert compare(home, chronicle).problems == []
    assert in_files_and_packs(home, chronicle) == [2, 3]
    assert prune(home, chronicle, LATER, None).records == 3 + 4
    assert compare(home, chronicle).problems == []


def test_a_damaged_pack_does_not_keep_others_from_being_pruned(home: Home, chronicle: Chronicle) -> None:
    """It goes with them if all of it is old; if some of its records are to stay, nobody can tell them apart."""
    pack_all(home, chronicle)
    young = chronicle.matches_of(2)[0]
    with sqlite3.connect(home.database) as database:
        database.execute("update results set finished_at = '2001-01-01' where match <> ?", [young])
    for block in (1, 2):
        home.pack(block).write_bytes(b"damaged")
    assert prune(home, chronicle, "2002-01-01", None).records == 2 + 4
    assert [home.pack(block).exists() for block in (1, 2, 3)] == [False, True, False]
    compare(home, chronicle)
    assert list(chronicle.broken()) == chronicle.matches_of(2)


def test_a_run_that_begins_leaves_the_pack_that_a_pruning_is_writing(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack_all(home, chronicle)
    first, *others = chronicle.matches_of(2)
    beginning = threading.Event()

    def begin() -> None:
        with Chronicle(home.database, create=False) as other:
            home.sweep_records()
            beginning.set()
            Packer(home, other)

    beside = threading.Thread(target=begin)
    replace = Path.replace

    def beside_a_beginning(part: Path, path: Path) -> Path:
        beside.start()
        beginning.wait()
        beside.join(0.5)  # it waits for us
        return replace(part, path)

    monkeypatch.setattr(Path, "replace", beside_a_beginning)
    take_out(home, 2, [first])
    beside.join()
    assert list(unpacked_records(home.pack(2), home.pack(2).read_bytes())) == others


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
    told = json.loads(dogana(*words, "--keep-one-block-of", "2", "--keep-bot", "bot1", "--json").stdout)
    assert told["kept"] == {"bots": ["bot1"], "one_block_of": 2}
    [act] = json.loads(dogana("ladder", "audit", "--home", "home", "--json").stdout)
    assert act["about"].endswith("but those of bot1, but one block of 2")
