"""What an organiser keeps no longer is removed; what was played stays, and everybody is told what has become of the rest."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ladder.archive import recompute, retention
from ladder.archive.audit_log import write
from ladder.archive.backup import backup
from ladder.archive.key import ladder_key
from ladder.archive.recompute import compare
from ladder.archive.retention import prune
from ladder.archive.sealing import seal_blocks
from ladder.facts.chronicle import Chronicle
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.questions.match import RecordRequest
from ladder.service.beside import serving
from referee.live.matches.server import Listen
from referee.records.verify import verify
from tests.commands.conftest import Dogana
from tests.commands.conftest import dogana as dogana_process
from tests.ladder.in_process import dogana
from tests.ladder.made import ladder, next_matches
from tests.ladder.told import play_really, write_log

__all__ = ["dogana", "dogana_process"]

LATER = "9999"
"""A time after everything that a test does."""
TODAY = datetime.now(UTC).isoformat()[:10]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder with sealed blocks, and the last one not over."""
    home = Home(tmp_path_factory.mktemp("played") / "home")
    home.make()
    home.records.mkdir()
    with ladder(home.folder), Chronicle(home.database, create=False) as chronicle:
        ladder_key(home, chronicle)
        blocks = [next_matches(chronicle, number) for number in range(4)]
        for match in [*blocks[0], *blocks[1], *blocks[2], blocks[3][0]]:
            play_really(home, chronicle, match)
        assert list(seal_blocks(home, chronicle)) == []
        sealed, waiting = len(list(home.records.rglob("*.zst"))), len(chronicle.not_sealed())
    write_log(home, "qualify-1-0", 0)
    assert sealed >= 4
    assert waiting >= 1
    return home.folder


@pytest.fixture
def home(played: Path, tmp_path: Path) -> Home:
    """A copy of it."""
    shutil.copytree(played, tmp_path / "home")
    return Home(tmp_path / "home")


@pytest.fixture
def chronicle(home: Home) -> Iterator[Chronicle]:
    with Chronicle(home.database, create=False) as chronicle:
        yield chronicle


def sealed(home: Home) -> list[Path]:
    return sorted(home.records.rglob("*.zst"))


def written(home: Home) -> list[Path]:
    """The records of the block that is not over."""
    return sorted(home.records.rglob("*.jsonl"))


def test_old_records_go_when_their_seed_is_revealed_and_their_matches_stay(home: Home, chronicle: Chronicle) -> None:
    gone, kept, logs = sealed(home), written(home), sorted(home.all_logs.rglob("*"))
    before = list(chronicle.all_played())
    pruned = prune(home, chronicle, LATER, None)
    assert (pruned.records, pruned.logs) == (len(gone), 0)
    assert sealed(home) == []
    assert written(home) == kept
    assert sorted(home.all_logs.rglob("*")) == logs
    assert list(chronicle.all_played()) == before
    found = compare(home, chronicle)
    assert (found.problems, found.lost.count, found.pruned) == ([], 0, len(gone))


def test_what_is_younger_stays(home: Home, chronicle: Chronicle) -> None:
    everything = sorted(home.folder.rglob("*"))
    pruned = prune(home, chronicle, "2001-01-01", "2001-01-01")
    assert (pruned.records, pruned.logs) == (0, 0)
    assert [path for path in sorted(home.folder.rglob("*")) if "ladder.db" not in path.name] == [
        path for path in everything if "ladder.db" not in path.name
    ]


def test_the_match_decides_how_old_a_file_is_whatever_has_copied_it(home: Home, chronicle: Chronicle) -> None:
    """Where no match counts, as one that was to qualify a version, there is only the time of the file."""
    qualifying = home.logs("qualify-1-0")
    assert qualifying.is_dir()
    for path in (qualifying, sealed(home)[0], home.logs(sealed(home)[0].name.partition(".")[0])):
        os.utime(path, (0, 0))
    pruned = prune(home, chronicle, "2001-01-01", "2001-01-01")
    assert (pruned.records, pruned.logs) == (0, 1)
    assert not qualifying.exists()


def test_a_dry_run_tells_what_a_pruning_does_and_does_nothing(
    dogana: Dogana, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.commands.prune.now", lambda: datetime.now(UTC) + timedelta(days=100))
    words = ["ladder", "prune", "--home", "home", "--records-older-than", "90d", "--logs-older-than", "30d", "--json"]
    would = json.loads(dogana(*words, "--dry-run").stdout)
    assert len(sealed(home)) == would["records"] > 0
    did = json.loads(dogana(*words).stdout)
    for told in (would, did):
        for key in ("dry_run", "records_before", "logs_before"):
            del told[key]
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
    dogana: Dogana, home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = sealed(home)[0].name.partition(".")[0]
    exported = dogana("ladder", "export", "before.csv", "--home", "home").stdout
    prune(home, chronicle, LATER, LATER)
    with serving(home, Listen("127.0.0.1:0")) as port:
        for where in (["--home", "home"], ["--server", f"127.0.0.1:{port}"]):
            shown = dogana("ladder", "match", gone, *where)
            assert f"its record was pruned on {TODAY} by the organiser's retention" in shown.stdout
            assert shown.stderr == ""
            assert "score" in shown.stdout  # the results are there
            assert "look further" not in shown.stdout
            refused = dogana("ladder", "record", gone, "--to", "x.jsonl.zst", *where, status=1).stderr
            assert f"the record of match {gone} was pruned on {TODAY} by the organiser's retention" in refused
            assert len(refused.splitlines()) == 1
    said = dogana("ladder", "log", gone, "--home", "home", status=1).stderr
    assert f"the logs of match {gone} were pruned on {TODAY} by the organiser's retention" in said
    assert "those from before 9999 were pruned" in dogana("ladder", "log", "bot0", "--home", "home", status=1).stderr
    told = dogana("ladder", "recompute", "--home", "home").stdout
    assert "by the organiser's retention" in told
    assert "all ratings agree to the last digit" in told
    assert "lost" not in told
    assert dogana("ladder", "export", "after.csv", "--home", "home").stdout == exported.replace("before", "after")
    assert (home.folder.parent / "after.csv").read_bytes() == (home.folder.parent / "before.csv").read_bytes()


def test_who_has_kept_a_record_can_still_prove_it(
    dogana: Dogana, home: Home, chronicle: Chronicle, tmp_path: Path
) -> None:
    record = sealed(home)[0]
    (tmp_path / record.name).write_bytes(record.read_bytes())
    write(home, chronicle, tmp_path / "before.jsonl")
    prune(home, chronicle, LATER, LATER)
    dogana("ladder", "audit-log", "after.jsonl", "--previous", "before.jsonl", "--home", "home")
    dogana("verify-log", "after.jsonl", "--key", "home/key.pub")
    said = dogana("verify", record.name, "--key", "home/key.pub", "--audit-log", "after.jsonl").stdout
    assert "holds" in said
    assert "its result is entry" in said
    record.parent.mkdir(exist_ok=True)
    record.write_bytes((tmp_path / record.name).read_bytes())  # one that turns up is verified like all others
    assert compare(home, chronicle).problems == []
    record.write_bytes(b"something else")
    assert len(compare(home, chronicle).problems) == 1


def test_a_record_that_is_lost_is_not_called_pruned(home: Home, chronicle: Chronicle) -> None:
    prune(home, chronicle, "2001-01-01", None)
    waiting = written(home)[0]
    lost = sealed(home)[0]
    lost.unlink()
    assert len(compare(home, chronicle).problems) == 1
    prune(home, chronicle, LATER, None)
    waiting.unlink()
    found = compare(home, chronicle)
    assert [waiting.name.partition(".")[0] in problem for problem in found.problems] == [True]


def test_a_pruning_that_is_killed_is_finished_by_the_next_one(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = len(sealed(home))
    removed: list[Path] = []
    remove = retention._remove

    def killed(path: Path) -> None:
        if len(removed) == 2:
            raise KeyboardInterrupt
        removed.append(path)
        remove(path)

    monkeypatch.setattr(retention, "_remove", killed)
    with pytest.raises(KeyboardInterrupt):
        prune(home, chronicle, LATER, None)
    monkeypatch.undo()
    found = compare(home, chronicle)
    assert (found.problems, found.pruned, len(sealed(home))) == ([], 2, whole - 2)
    assert prune(home, chronicle, LATER, None).records == whole - 2
    assert compare(home, chronicle).problems == []


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


def test_links_are_removed_and_not_what_they_lead_to(home: Home, chronicle: Chronicle, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "seat0.log").write_text("mine")
    (home.all_logs / "qualify-9-9").symlink_to(mine)
    first = sealed(home)[0]
    first.rename(tmp_path / first.name)
    first.symlink_to(tmp_path / first.name)
    prune(home, chronicle, LATER, LATER)
    assert (mine / "seat0.log").read_text() == "mine"
    assert (tmp_path / first.name).exists()
    assert list(home.all_logs.iterdir()) == [home.qualifying]
    assert list(home.qualifying.iterdir()) == []
    assert not first.is_symlink()


def test_a_record_that_is_being_sent_arrives_whole(
    home: Home, chronicle: Chronicle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.questions.question.PIECE_BYTES", 1000)
    record = sealed(home)[0]
    whole = record.read_bytes()
    pieces = Desk(home).ask(RecordRequest(match=record.name.partition(".")[0])).pieces
    data = next(pieces)
    prune(home, chronicle, LATER, LATER)
    assert not record.exists()
    assert data + b"".join(pieces) == whole
    assert len(whole) > 1000


@pytest.mark.parametrize("meanwhile", ["a backup", "a comparison"])
def test_a_pruning_waits_for_those_who_need_all_records(
    home: Home, chronicle: Chronicle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    began = threading.Event()

    def prune_beside() -> None:
        with Chronicle(home.database, create=False) as other:
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

    monkeypatch.setattr(tarfile.TarFile, "addfile", slowly(tarfile.TarFile.addfile))
    monkeypatch.setattr(recompute, "verify", slowly(verify))
    records = len(sealed(home))
    if meanwhile == "a comparison":
        assert compare(home, chronicle).problems == []
        beside.join()
        return
    backup(home, chronicle, tmp_path / "backup.tar")
    beside.join()
    assert sealed(home) == []
    with tarfile.open(tmp_path / "backup.tar") as archive:
        archive.extractall(tmp_path / "restored", filter="data")
    restored = Home(tmp_path / "restored")
    assert len(sealed(restored)) == records
    with Chronicle(restored.database, create=False) as copy:
        assert compare(restored, copy).problems == []


@pytest.mark.parametrize(
    ("command", "waits_for"),
    [
        (["backup", "backup.tar"], "a pruning"),
        (["recompute"], "a pruning"),
        (["prune", "--logs-older-than", "1d"], "a backup, a recompute or another pruning"),
    ],
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


def test_a_backup_is_made_though_files_vanish_meanwhile(
    home: Home, chronicle: Chronicle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever removes them by hand."""
    is_symlink = Path.is_symlink

    def removed(path: Path) -> bool:
        if path.parent == home.records and home.records.exists():
            shutil.rmtree(home.records)
        return is_symlink(path)

    monkeypatch.setattr(Path, "is_symlink", removed)
    backup(home, chronicle, tmp_path / "backup.tar")
    assert not home.records.exists()
    with tarfile.open(tmp_path / "backup.tar") as archive:
        assert "ladder.db" in archive.getnames()
        assert any(name.startswith("logs/") for name in archive.getnames())


def test_a_pruning_is_an_act_of_the_organiser_and_none_if_nothing_was_too_old(home: Home, chronicle: Chronicle) -> None:
    prune(home, chronicle, "2001-01-01", "2001-01-01")
    with Authors(home.database, create=False) as authors:
        assert [act for act in authors.acts(10) if act.did == "prune"] == []
        pruned = prune(home, chronicle, LATER, LATER)
        [act] = [act for act in authors.acts(10) if act.did == "prune"]
    assert act.who == "organiser"
    assert act.about == f"{pruned.records} records before 9999, logs of {pruned.logs} matches before 9999"
