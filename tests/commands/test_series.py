"""`dogana play --games`: several processes, the same results; interrupted, killed, resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.commands.plan_file import SERIES
from referee.live.matches.series import unsaved
from referee.match.plan import match_id_for
from referee.registry import find, shipped_board
from tests.commands.conftest import Dogana, start
from tests.patience import patient
from tests.processes import children, wait_for_the_end, wait_for_work

QUICK = ("--option", "last_turn=3")
PLAY = ("play", "cargo_noir", "random", "greedy")


KILLER = """
import os, signal
from pathlib import Path
from dogana.sdk import play
def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
def choose(decision):
    os.kill(parent(parent(os.getpid())), signal.SIGKILL)  # the supervisor's parent: the referee
play(choose)
"""


def matches(output: str) -> list[dict[str, Any]]:
    """What `--json` printed, without what differs from run to run."""
    found = [json.loads(line) for line in output.splitlines()]
    for match in found:
        del match["lag_share"]
        for seat in match["seats"]:
            del seat["think_ms"]
    return found


def workers(series: subprocess.Popen[str]) -> list[int]:
    """The processes that play the matches."""
    return children(series.pid, "spawn_main")


def test_any_number_of_workers_plays_the_same_matches_in_the_same_order(dogana: Dogana, tmp_path: Path) -> None:
    series = (*PLAY, *QUICK, "--games", 3, "--rotate", "--seed", 5, "--json")
    one = matches(dogana(*series, "--workers", 1).stdout)
    three = matches(dogana(*series, "--workers", 3).stdout)
    assert one == three
    assert [match["seed"] for match in one] == [5, 5, 6, 6, 7, 7]
    assert [match["seats"][0]["bot"] for match in one] == ["random", "greedy"] * 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_series_of_house_bots_ends_at_once_and_says_what_was_played(tmp_path: Path, number: int) -> None:
    series = start(tmp_path, *PLAY, "--games", 100_000, "--record", "matches")
    wait_for_work(series, lambda: len(list((tmp_path / "matches").glob("*.jsonl"))) >= 2)  # so the first one is counted
    series.send_signal(number)
    out, err = series.communicate(timeout=patient(30))
    assert series.returncode == 128 + number
    assert "of 100000 matches were played" in err
    assert "Traceback" not in err
    played = len(list((tmp_path / "matches").glob("[!.]*")))
    assert not [path for path in (tmp_path / "matches").glob("[!.]*") if path.suffix != ".jsonl"]
    assert "mean rank" in out
    assert played >= 1


def test_a_record_that_was_complete_but_had_no_name_yet_is_swept_when_a_series_is_interrupted(tmp_path: Path) -> None:
    seat = f"cmd:sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000'"
    series = start(
        tmp_path, "play", "cargo_noir", seat, "random", "--games", 2, "--wait", 1000, "--seed", 7, "--record", "matches"
    )
    wait_for_work(series, (tmp_path / "pid").exists)
    game = find("cargo_noir")
    name = f"cargo_noir-{match_id_for(game, game.setup(2, {}, shipped_board(game)), 7)}"
    [worker] = workers(series)
    (tmp_path / "matches" / unsaved(name, worker)).write_text("{}\n")
    (tmp_path / "matches" / unsaved(name, 1)).write_text("{}\n")  # of another series
    series.send_signal(signal.SIGTERM)
    series.communicate(timeout=patient(120))
    assert [path.name for path in (tmp_path / "matches").glob("[!.]*")] == [unsaved(name, 1)]


def test_an_interrupted_series_ends_its_agents_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    seat = f"cmd:sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000'"
    series = start(tmp_path, "play", "cargo_noir", seat, "random", "--games", 2, "--wait", 1000)
    pid = tmp_path / "pid"
    agent = int(wait_for_work(series, lambda: pid.read_text().strip() if pid.exists() else ""))
    series.send_signal(signal.SIGINT)
    out, err = series.communicate(timeout=patient(30))
    assert (series.returncode, out) == (128 + signal.SIGINT, "")
    assert err.strip() == "with --record FOLDER, a series can go on after an interruption"
    assert not Path(f"/proc/{agent}").exists()
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.long
def test_a_worker_that_is_killed_costs_nothing_but_time(dogana: Dogana, tmp_path: Path) -> None:
    arguments = (*PLAY, "--games", 12, "--seed", 1, "--workers", 2)
    series = start(tmp_path, *arguments, "--json", "--record", "matches")
    for _ in range(2):
        wait_for_work(series, lambda: list((tmp_path / "matches").glob("*.part")))
        [killed, *_] = wait_for_work(series, lambda: workers(series))
        os.kill(killed, signal.SIGKILL)
        wait_for_the_end([killed])  # else it might be the one that is found next, and be gone before its second signal
    out, err = series.communicate(timeout=patient(120))
    assert (series.returncode, err.strip()) == (0, "")
    records = sorted((tmp_path / "matches").glob("[!.]*"))
    assert len(records) == 12
    assert all(path.suffix == ".jsonl" for path in records)
    expected = matches(dogana(*arguments, "--json").stdout)
    assert [match["digest"] for match in matches(out)] == [match["digest"] for match in expected]


@pytest.mark.long
def test_a_match_that_kills_every_worker_ends_the_series_in_one_line(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "killer.py").write_text(KILLER)
    ended = dogana("play", "cargo_noir", f"cmd:{sys.executable} killer.py", "random", "--games", 2, status=1)
    last = ended.stderr.splitlines()[-1]
    assert "match 1 of 2 cannot be played: its worker was killed by SIGKILL, 3 times" in last


def test_a_series_is_resumed_where_it_was(dogana: Dogana, tmp_path: Path) -> None:
    series = (*PLAY, *QUICK, "--rotate", "--seed", 3, "--json", "--record", "matches", "--workers", 1)
    first = matches(dogana(*series, "--games", 1).stdout)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "matches").glob("[!.]*")}
    whole = matches(dogana(*series, "--games", 3, "--resume").stdout)
    assert whole[:2] == first
    assert len(whole) == len(list((tmp_path / "matches").glob("[!.]*"))) == 6
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert {tmp_path / match["record"] for match in whole} == set((tmp_path / "matches").glob("[!.]*"))
    fresh = matches(dogana(*PLAY, *QUICK, "--rotate", "--seed", 3, "--json", "--games", 3, "--workers", 1).stdout)
    assert [match["digest"] for match in whole] == [match["digest"] for match in fresh]


@pytest.mark.long
def test_records_without_a_plan_of_another_series_are_not_taken_for_its_own(dogana: Dogana, tmp_path: Path) -> None:
    series = ("--games", 2, "--seed", 3, *QUICK, "--record", "matches", "--workers", 1)
    dogana(*PLAY, *series)
    (tmp_path / "matches" / SERIES).unlink()
    for words, reason in (
        (("random", "random"), "has the bots ['random', 'greedy'], not ['random', 'random']"),
        (("random", "greedy", "--clock", "1+1/1"), "has the clock 60+0.5/10, not 1+1/1"),
    ):
        ended = dogana("play", "cargo_noir", *words, *series, "--resume", status=1)
        assert reason in ended.stderr
        assert "use another folder" in ended.stderr
        assert not (tmp_path / "matches" / SERIES).exists()


@pytest.mark.long
def test_a_damaged_record_is_not_taken_for_a_match(dogana: Dogana, tmp_path: Path) -> None:
    series = (*PLAY, "--games", 2, "--seed", 3, *QUICK, "--record", "matches", "--workers", 1)
    dogana(*series)
    path = min((tmp_path / "matches").glob("[!.]*"))
    path.write_bytes(path.read_bytes()[:-30])
    ended = dogana(*series, "--resume", status=1)
    assert str(path.name) in ended.stderr
    assert "remove the file to play the match again" in ended.stderr


def test_a_folder_for_temporary_files_that_is_too_deep_is_said_in_one_line(
    dogana: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    ended = dogana("play", "cargo_noir", "random", "random", "--games", 2, "--workers", 1, status=1)
    assert "set TMPDIR to a shorter one" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
