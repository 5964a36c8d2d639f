"""What bots wrote is packed with the records of older blocks, and everybody who may read it finds it as before."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ladder.archive import logs, packs
from ladder.archive.backup import backup
from ladder.archive.logs import MAX_FILES, MAX_LOG_BYTES, log_files, pack_logs
from ladder.archive.packs import Packer, pack_block
from ladder.archive.retention import prune
from ladder.archive.traces import traces_of, usages_of
from ladder.facts.chronicle import Chronicle
from ladder.operation.errors import Forbidden, LadderError
from ladder.operation.home import Home
from ladder.questions.asker import ANYBODY, Asker
from ladder.questions.bots import ShowRequest
from ladder.questions.desk import Desk
from ladder.questions.match import LogRequest, MatchRequest
from referee.records.record import RecordError, zipped
from tests.cases import mostly_long
from tests.ladder.sealed import BLOCKS, HOSTILE, LATER, USED, chronicle, home, sealed

__all__ = ["chronicle", "home", "sealed"]


def pack_all(home: Home, chronicle: Chronicle) -> None:
    for block in range(1, BLOCKS + 1):
        pack_logs(home, block, chronicle.matches_of(block))


def answers(home: Home, chronicle: Chronicle) -> list[object]:
    """All that can be asked about logs, without where they are."""
    found: list[object] = []
    bots = sorted({version.bot for match in chronicle.counted() for version in match.seats})
    for what in [*bots, *(match.match_id for match in chronicle.counted())]:
        answer = Desk(home).ask(LogRequest(what=what))
        found += [(log.match, log.seat, log.bot, list(log.lines)) for log in answer.logs]
    for match in chronicle.counted():
        answered = Desk(home).ask(MatchRequest(match=match.match_id))
        found.append(([log.seat for log in answered.logs], [str(seat.usage) for seat in answered.seats]))
    found += [str(list(Desk(home).ask(ShowRequest(bot=bot)).fared)) for bot in bots]
    return found


def test_what_is_packed_is_found_as_before(home: Home, chronicle: Chronicle) -> None:
    before = answers(home, chronicle)
    assert len([line for line in before if "last " in str(line)]) > BLOCKS
    room = sum(4096 for path in home.all_logs.rglob("*"))
    pack_all(home, chronicle)
    assert list(home.logged()) == []
    assert answers(home, chronicle) == before
    packed = list(home.packs.rglob("*.logs.zst"))
    assert [path.stat().st_mode & 0o777 for path in packed] == [0o600] * BLOCKS
    assert 4096 * len(packed) < room / 5
    first = chronicle.matches_of(1)[0]
    assert Desk(home).ask(LogRequest(what=first, seat=0)).logs[0].path == ""  # it has no file of its own


def test_a_packed_log_is_for_its_author_alone(home: Home, chronicle: Chronicle) -> None:
    pack_all(home, chronicle)
    match = next(chronicle.counted())
    seat, other = match.seats[0], match.seats[1]
    asked = LogRequest(what=match.match_id)
    assert [log.seat for log in Desk(home, Asker(seat.author)).ask(asked).logs] == [0]
    with pytest.raises(Forbidden):
        Desk(home, Asker(seat.author)).ask(LogRequest(what=other.bot))
    with pytest.raises(LadderError, match="has no log that you may read"):
        Desk(home, ANYBODY).ask(asked)


def test_a_run_packs_logs_with_records_and_those_of_records_that_are_packed_already(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an older version has left them, whose logs were not packed."""
    monkeypatch.setattr(packs, "UNPACKED_BLOCKS", 1)
    assert pack_block(home, 1, chronicle)
    packer = Packer(home, chronicle)
    packer.add(BLOCKS + 1)
    assert [home.log_pack(block).exists() for block in (1, 2, 3)] == [True, True, False]
    assert {chronicle.block_of(match_id) for match_id in home.logged()} == {3}


@pytest.mark.parametrize("moment", mostly_long(["before the pack", "after the pack", "after the first file"]))
def test_whoever_is_killed_while_packing_loses_nothing_and_doubles_nothing(
    home: Home, chronicle: Chronicle, moment: str
) -> None:
    script = f"""
import os, signal, sys
from pathlib import Path
from ladder.archive import logs
from ladder.operation.home import Home

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def then_killed(*arguments):
    write(*arguments)
    killed()

def unlinked(path, **more):
    unlink(path)
    killed()

write, unlink, written = logs.write_pack, Path.unlink, logs._write
def written_then(*arguments):
    written(*arguments)
    Path.unlink = unlinked
moment = {moment!r}
if moment == "before the pack":
    logs.write_pack = killed
elif moment == "after the pack":
    logs.write_pack = then_killed
else:
    logs._write = written_then
logs.pack_logs(Home(Path(sys.argv[1])), 2, sys.argv[2:])
"""
    before = answers(home, chronicle)
    command = [sys.executable, "-c", script, str(home.folder), *chronicle.matches_of(2)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert home.log_pack(2).exists() == (moment != "before the pack")
    assert answers(home, chronicle) == before
    pack_all(home, chronicle)  # what the next run does
    assert list(home.logged()) == []
    assert answers(home, chronicle) == before


def test_what_cannot_be_packed_stays_as_it_is(home: Home, chronicle: Chronicle, tmp_path: Path) -> None:
    """A position, a log that is too long, a pipe in the place of one."""
    first, second = chronicle.matches_of(1)
    position = home.logs(first) / "position.json"
    position.write_text("{}")
    home.log(first, 0).write_bytes(b"x" * (MAX_LOG_BYTES + 1))
    pack_all(home, chronicle)
    assert {path.name for path in home.logs(first).iterdir()} == {"position.json", "seat0.log"}
    assert not home.logs(second).exists()
    assert [log.seat for log in traces_of(home, chronicle, first).logs] == [0, 1]
    pack_all(home, chronicle)
    assert position.exists()


def test_a_log_that_is_packed_or_pruned_while_somebody_is_about_to_read_it(home: Home, chronicle: Chronicle) -> None:
    first, second = chronicle.matches_of(1)
    found = {match_id: log_files(home, match_id, 1)["seat0.log"] for match_id in (first, second)}
    pack_logs(home, 1, [first])
    shutil.rmtree(home.logs(second))
    assert found[first].read() == HOSTILE
    with pytest.raises(FileNotFoundError):
        found[second].read()


def test_logs_that_are_too_much_for_a_pack_stay_files(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MAX_PACK_BYTES", 100)
    pack_all(home, chronicle)
    assert len(list(home.logged())) == 9
    assert list(home.packs.rglob("*.zst")) == []


def test_a_log_that_somebody_restores_beside_its_pack_counts(home: Home, chronicle: Chronicle) -> None:
    pack_all(home, chronicle)
    first = chronicle.matches_of(1)[0]
    home.logs(first).mkdir()
    home.log(first, 0).write_text("restored\n")
    answer = Desk(home).ask(LogRequest(what=first))
    assert [list(log.lines)[:1] for log in answer.logs] == [["restored"], []]
    home.log_pack(1).write_bytes(b"damaged")
    assert [list(log.lines) for log in Desk(home).ask(LogRequest(what=first)).logs] == [["restored"]]
    pack_all(home, chronicle)  # it is left as it is
    assert home.log(first, 0).exists()


def entry(match_id: object, name: object, size: object, data: bytes) -> bytes:
    return json.dumps({"match": match_id, "file": name, "bytes": size}).encode() + b"\n" + data + b"\n"


_ZEROS = b"\0" * MAX_LOG_BYTES
BAD = {
    "nothing compressed": b"x",
    "cut off": zipped(entry("a", "seat0.log", 3, b"abc"))[:-3],
    "a bomb": zipped(b"".join(entry(f"{number}", "seat0.log", MAX_LOG_BYTES, _ZEROS) for number in range(32))),
    "no header": zipped(b"abc\n"),
    "a header without an end": zipped(b"{" * 1000),
    "a header of other things": zipped(b"[]\n"),
    "deep": zipped(b"[" * 390 + b"\n"),
    "a log that is cut off": zipped(entry("a", "seat0.log", 4, b"abc")),
    "a log that is longer": zipped(entry("a", "seat0.log", 2, b"abc")),
    "a negative length": zipped(entry("a", "seat0.log", -1, b"")),
    "a length that is none": zipped(entry("a", "seat0.log", True, b"a")),
    "a length as text": zipped(entry("a", "seat0.log", "1", b"a")),
    "a name that leads out": zipped(entry("a", "../seat0.log", 1, b"a")),
    "a match that is none": zipped(entry(["a"], "seat0.log", 1, b"a")),
    "too many": zipped(b"".join(entry(f"{number}", "seat0.log", 0, b"") for number in range(MAX_FILES + 1))),
}


@pytest.mark.parametrize("what", BAD)
def test_a_pack_of_something_else_is_refused_in_a_line(home: Home, chronicle: Chronicle, what: str) -> None:
    pack_all(home, chronicle)
    match = next(chronicle.counted())
    home.log_pack(1).write_bytes(BAD[what])
    asked = LogRequest(what=match.match_id)
    with pytest.raises(RecordError, match=re.escape(str(home.log_pack(1)))) as refused:
        Desk(home).ask(asked)
    assert "\n" not in str(refused.value)
    with pytest.raises(LadderError, match=rf"^the logs of match {match.match_id} are damaged; tell the organiser$"):
        Desk(home, Asker(match.seats[0].author)).ask(asked)
    answer = Desk(home).ask(MatchRequest(match=match.match_id))  # how it went is told all the same
    assert (list(answer.logs), answer.seats[0].usage is not None) == ([], False)
    assert answer.is_recorded


def test_usages_that_are_something_else_are_none(home: Home, chronicle: Chronicle) -> None:
    first = chronicle.matches_of(1)[0]
    home.usage(first).write_text("[1]")
    pack_all(home, chronicle)
    assert usages_of(home, first, 1) == {}
    assert usages_of(home, chronicle.matches_of(1)[1], 1) == {0: USED}


@pytest.mark.parametrize("is_dry", [True, False])
def test_packed_logs_are_pruned_and_those_of_younger_matches_stay(
    home: Home, chronicle: Chronicle, is_dry: bool
) -> None:
    pack_all(home, chronicle)
    young = chronicle.matches_of(2)[0]
    with sqlite3.connect(home.database) as database:
        database.execute("update results set finished_at = '2001-01-01' where match <> ?", [young])
    before = {block: home.log_pack(block).stat().st_size for block in (1, 2, 3)}
    pruned = prune(home, chronicle, None, "2002-01-01", dry_run=is_dry)
    assert (pruned.records, pruned.logs) == (0, 8)
    assert before[1] + before[3] < pruned.log_bytes < sum(before.values())
    if is_dry:
        assert {block: home.log_pack(block).stat().st_size for block in (1, 2, 3)} == before
        return
    assert [home.log_pack(block).exists() for block in (1, 2, 3)] == [False, True, False]
    assert Desk(home).ask(LogRequest(what=young)).logs[0].lines
    with pytest.raises(LadderError, match=r"were pruned on .* by the organiser's retention"):
        Desk(home).ask(LogRequest(what=chronicle.matches_of(2)[1]))
    assert all(home.find_record(match.match_id).exists() for match in chronicle.counted())
    assert prune(home, chronicle, None, "2002-01-01").logs == 0


def test_a_pruning_of_records_leaves_packed_logs_and_one_of_logs_the_records(home: Home, chronicle: Chronicle) -> None:
    pack_all(home, chronicle)
    for block in (1, 2, 3):
        assert pack_block(home, block, chronicle)
    prune(home, chronicle, LATER, None)
    assert sorted(home.packed_blocks(".logs.zst")) == [1, 2, 3]
    assert list(home.packed_blocks(".zst")) == []
    home.log_pack(1).write_bytes(b"damaged")  # all of it is old: it goes, whatever is in it
    prune(home, chronicle, None, LATER)
    assert list(home.packed_blocks(".logs.zst")) == []


def test_a_backup_has_packed_logs(home: Home, chronicle: Chronicle, tmp_path: Path) -> None:
    before = answers(home, chronicle)
    pack_all(home, chronicle)
    backup(home, chronicle, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as archive:
        archive.extractall(tmp_path / "restored", filter="data")
    restored = Home(tmp_path / "restored")
    with Chronicle(restored.database, create=False) as copy:
        assert answers(restored, copy) == before
    assert log_files(restored, chronicle.matches_of(1)[0], None) == {}
