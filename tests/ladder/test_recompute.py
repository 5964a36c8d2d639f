"""A comparison goes on where it was broken off, verifies again what has changed, and may have only a sample verified."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.ladder import make
from ladder.archive import recompute
from ladder.archive.recompute import MAX_REPORTED, Comparison, Sample, compare
from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.operation.sqlite_file import batches
from referee.records.verify import verify as really_verify
from tests.commands.conftest import Dogana
from tests.ladder.archived import change_record, damage, recorded, remove_record, rewrite_result
from tests.ladder.in_process import dogana
from tests.ladder.made import ladder, next_matches
from tests.ladder.real_ladder import play_really
from tests.processes import wait_for_the_end

__all__ = ["dogana"]

MATCHES = 9
KILLED_AFTER = 7
"""At how many records it is killed; six are in chunks that were over."""
BROKEN_OFF = f"""
import os, signal, sys
from concurrent.futures import Future
from pathlib import Path
from ladder.archive import recompute
from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.facts.store import Store

verified = []

def verify(*arguments):
    verified.append(arguments)
    if len(verified) == {KILLED_AFTER}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments)

class InTurn:
    def __init__(self, *_, **__): pass
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def shutdown(self, **_): pass
    def submit(self, does, *arguments):
        future = Future()
        future.set_result(does(*arguments))
        return future

real, recompute.verify = recompute.verify, verify
recompute.ProcessPoolExecutor = InTurn
recompute._CHUNK = 2
recompute.processors = lambda: -1  # so that each chunk is settled before the next one
with Store(Home(Path(sys.argv[1])).database, create=False) as store:
    recompute.compare(Home(Path(sys.argv[1])), store)
"""


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Home(tmp_path_factory.mktemp("shared"))
    with ladder(home.folder), Store(home.database, create=False) as store:
        for number in range(3):  # blocks of two, three and four
            for match in next_matches(store, number):
                play_really(home, store, match)
    return home.folder


@pytest.fixture
def home(shared_home: Path, tmp_path: Path) -> Home:
    """A ladder whose matches have their records; the ratings are those that they give."""
    shutil.copytree(shared_home, tmp_path / "home")
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store(home.database, create=False) as store:
        yield store


def break_off(home: Home) -> None:
    """Compare in a process that is killed while it verifies the seventh record."""
    ended = subprocess.run([sys.executable, "-c", BROKEN_OFF, str(home.folder)], check=False)
    assert ended.returncode == -signal.SIGKILL


def counted_verifications(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The records that are verified from now on."""
    verified: list[Path] = []
    verify = really_verify

    def noted(path: Path, *more: object) -> object:
        verified.append(path)
        return verify(path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(recompute, "verify", noted)
    return verified


def records(store: Store) -> list[str]:
    return [match.match_id for match in store.history.all_played()]


def whole(found: Comparison) -> bool:
    return found.problems == [] and found.matches == MATCHES


def test_a_comparison_that_was_killed_goes_on_where_it_was(
    home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_off(home)
    verified = counted_verifications(monkeypatch)
    found = compare(home, store)
    assert whole(found)
    assert found.verified_before == KILLED_AFTER - 1
    assert [path.name for path in verified] == records(store)[KILLED_AFTER - 1 :]
    verified.clear()
    assert compare(home, store).verified_before == 0  # it came to its end: everything is verified again
    assert len(verified) == MATCHES


def test_what_has_changed_since_is_verified_again(home: Home, store: Store) -> None:
    """A record, a result, and what was noted itself."""
    break_off(home)
    first, second, third, *_ = records(store)
    change_record(home, first, lambda lines: lines[-1].update(note=1))
    rewrite_result(home, second, record="another")
    with home.checked.open("r+b") as notes:
        notes.seek(2 * 16)
        notes.write(b"\xff" * 16)
    found = compare(home, store)
    assert found.verified_before == KILLED_AFTER - 1 - 3
    assert list(store.evidence.broken()) == [first]
    assert [second in problem for problem in found.contradicting.reported] == [True]
    assert [second in problem for problem in found.differences.reported] == [True, True]  # the view is as it was
    assert third not in str(found.problems)


def test_a_record_that_does_not_hold_is_reported_each_time(home: Home, store: Store) -> None:
    first = records(store)[0]
    damage(home, first)
    break_off(home)
    compare(home, store)
    assert list(store.evidence.broken()) == [first]


@pytest.mark.parametrize("planted", ["a link", "a folder", "a pipe", "half of it"])
def test_notes_that_are_something_else_only_cost_time(home: Home, store: Store, planted: str, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("mine")
    match planted:
        case "a link":
            home.checked.symlink_to(target)
        case "a folder":
            home.checked.mkdir()
        case "a pipe":
            os.mkfifo(home.checked)
        case _:
            break_off(home)
            os.truncate(home.checked, 40)
    found = compare(home, store)
    assert whole(found)
    assert found.verified_before == (2 if planted == "half of it" else 0)
    assert target.read_text() == "mine"


def test_notes_that_cannot_be_removed_do_not_spoil_the_comparison(
    home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder that has become read-only since a comparison was broken off."""

    def refused(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    assert whole(compare(home, store))


def test_as_many_processes_verify_as_there_are_processors_that_they_may_use(
    home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Noted(ProcessPoolExecutor):
        def __init__(self, processes: int, **more: Any) -> None:
            started.append(processes)
            super().__init__(processes, **more)

    monkeypatch.setattr(recompute, "ProcessPoolExecutor", Noted)
    monkeypatch.setattr(recompute, "batches", lambda values, _: batches(values, MATCHES - 1))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert whole(compare(home, store))
    assert started == [1]


def test_processes_that_verify_end_with_the_one_that_is_killed() -> None:
    script = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from referee.live.matches.worker import become_worker
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=become_worker) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600).result()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        worker = int(starter.stdout.readline())
        os.kill(worker, 0)
        starter.kill()
    wait_for_the_end([worker])


def test_a_sample_verifies_as_many_records_as_it_says_and_the_same_for_the_same_seed(
    home: Home, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = counted_verifications(monkeypatch)
    found = compare(home, store, Sample(7, 5))
    assert (found.problems, found.matches, found.left_out) == ([], MATCHES, MATCHES - 5)
    chosen = list(verified)
    assert len(chosen) == 5
    verified.clear()
    compare(home, store, Sample(7, 5))
    assert verified == chosen
    seen = {number for seed in range(40) for number in Sample(seed, 5).numbers(MATCHES)}
    assert seen == set(range(1, MATCHES + 1))
    assert len(list(Sample(1, share=0.21).numbers(MATCHES))) == 2
    assert list(Sample(1, 1000).numbers(MATCHES)) == list(range(1, MATCHES + 1))
    assert not home.checked.exists()


def test_a_sample_finds_what_is_in_it_and_all_ratings_that_differ(home: Home, store: Store) -> None:
    [bad] = Sample(3, 1).numbers(MATCHES)
    remove_record(home, records(store)[bad - 1])
    assert len(compare(home, store, Sample(3, 1)).problems) == 1
    other = next(seed for seed in range(100) if list(Sample(seed, 1).numbers(MATCHES)) != [bad])
    assert compare(home, store, Sample(other, 1)).problems == []
    with sqlite3.connect(home.database) as database:
        database.execute("update ratings set mu = mu + 1e-12 where version = 1")
    assert [line.partition(" condition")[0] for line in compare(home, store, Sample(other, 1)).problems] == [
        "ratings: has",
        "ratings: lacks",
    ]


def test_the_command_says_what_a_sample_has_not_looked_at(home: Home, dogana: Dogana) -> None:
    said = dogana("ladder", "recompute", "--home", "home", "--sample", "25%", "--sample-seed", "5", status=3).stdout
    assert "9 matches; no record of the sample differs; all ratings agree to the last digit" in said
    assert "sample: 3 of 9 records were looked at; 6 were NOT; the same again: --sample 25% --sample-seed 5" in said
    found = json.loads(dogana("ladder", "recompute", "--home", "home", "--sample", "4", "--json", status=3).stdout)
    assert (found["agrees"], found["whole"], found["not_verified"]) == (True, False, 5)
    assert isinstance(found["sample_seed"], int)
    found = json.loads(dogana("ladder", "recompute", "--home", "home", "--sample", "100%", "--json").stdout)
    assert (found["whole"], found["not_verified"]) == (True, 0)
    remove_record(home, recorded(home)[0])
    assert dogana("ladder", "recompute", "--home", "home", "--sample", "100%", status=1).stdout.startswith("differs: ")
    break_off(home)
    assert "verified before: " in dogana("ladder", "recompute", "--home", "home", status=1).stdout


@pytest.mark.long
def test_the_first_problems_are_reported_and_the_others_counted_and_all_can_be_noted_as_lost(
    tmp_path: Path, dogana: Dogana
) -> None:
    """A made ladder has no records at all, and its ratings are drawn: after a repair they follow from the matches."""
    with make(tmp_path, MAX_REPORTED + 50) as store:
        matches = sum(1 for _ in store.history.all_played())
    words = ("ladder", "recompute", "--home", f"{MAX_REPORTED + 50}")
    lines = dogana(*words, status=1).stdout.splitlines()
    missing = [": there is no such record" in line for line in lines]
    assert missing[: MAX_REPORTED + 1] == [True] * MAX_REPORTED + [False]
    found = json.loads(dogana(*words, "--json", status=1).stdout)
    ratings = len(found["problems"]) - MAX_REPORTED
    assert 0 < ratings <= MAX_REPORTED
    assert lines[-1] == f"differs: {found['problems_unreported']} more, which are not printed"
    assert found["problems_unreported"] >= matches - MAX_REPORTED
    repaired = dogana(*words, "--repair", "--count-lost", status=1).stdout
    assert f"matches that count without a record from now on, as the ladder has them: {matches}" in repaired
    lines = dogana(*words).stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[: MAX_REPORTED + 1]] == ["lost"] * (MAX_REPORTED + 1)
    assert lines[MAX_REPORTED] == f"lost: {matches - MAX_REPORTED} more, which are not printed"
    found = json.loads(dogana(*words, "--json").stdout)
    assert (found["agrees"], len(found["lost"]), found["lost_unreported"]) == (
        True,
        MAX_REPORTED,
        matches - MAX_REPORTED,
    )


def test_records_in_a_format_that_is_not_read_are_reported_in_one_line_with_the_way_on(
    home: Home, dogana: Dogana
) -> None:
    """As after an update of a ladder from before the first release."""
    for match_id in recorded(home):
        change_record(home, match_id, lambda lines: lines[0].update(format=1))
    printed = dogana("ladder", "recompute", "--home", "home", status=1).stdout.splitlines()
    assert len(printed) == 1
    assert printed[0].startswith(
        f"differs: {MATCHES} records are in a format that this version does not read, such as that from before"
    )
    assert printed[0].endswith("say --repair --count-lost")
    said = dogana("ladder", "recompute", "--home", "home", "--repair", status=1).stdout
    assert "nothing was repaired" in said
    said = dogana("ladder", "recompute", "--home", "home", "--repair", "--count-lost", status=1).stdout
    assert f"matches that count without a record from now on, as the ladder has them: {MATCHES}" in said
    printed = dogana("ladder", "recompute", "--home", "home").stdout.splitlines()
    assert [line.partition(":")[0] for line in printed[:MATCHES]] == ["lost"] * MATCHES


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sample", "0"], "'0' is not a sample: write how many records, such as 1000, or which share, such as 5%"),
        (["--sample", "0%"], "is not a sample"),
        (["--sample", "101%"], "is not a sample"),
        (["--sample", "\x1b[2J"], "is not a sample"),
        (["--sample", "-5"], "is not a sample"),
        (["--sample", "5", "--repair"], "--repair needs all records to hold: leave out --sample"),
        (["--sample-seed", "5"], "--sample-seed belongs to --sample"),
    ],
)
def test_a_sample_that_makes_no_sense_is_refused_in_a_line(
    home: Home, dogana: Dogana, options: list[str], said: str
) -> None:
    ended = dogana("ladder", "recompute", "--home", "home", *options, status=1)
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
