"""`python -m tests.tournament.soak`: a tournament is killed again and again, then played to its end beside one that was left alone.

DOGANA_SOAK_KILLS says how often (100 by default), DOGANA_SOAK_SEED makes the same choices again. It ends with status 0 if no match was
lost or played twice, no record was touched, and both tournaments have the same results and the same table.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from referee.commands.tournament.folder import TournamentFolder
from referee.tournament.course import course
from tests.commands.conftest import ROOT
from tests.ladder.soak import workers_of
from tests.patience import patient, wait_until
from tests.soaking import soak_from_environment

BOT = "from dogana.sdk import play\nplay(lambda decision: decision.action_count - 1)\n"
SECONDS = 600
"""The time for a command on a machine that is very busy."""
MATCHES_FOR_A_KILL = 8
"""Enough for most kills to come before the end."""
LONGEST_PAUSE = 0.5
"""The longest time in seconds from a new record to a kill."""


def soak(folder: Path, kills: int, seed: int) -> int:
    """Kill a run this often, play to the end, compare; return how many matches were played."""
    chance = random.Random(seed)
    killed = make(folder, kills)
    alone = TournamentFolder(shutil.copytree(killed.folder, folder / "alone"))
    printed: list[str] = []
    recorded: dict[Path, tuple[int, bytes]] = {}
    for number in range(1, kills + 1):
        run = start(folder, "run", killed.folder.name, "--json", "--workers", "2")
        if chance.random() < 0.8:  # otherwise it may be hit before it has begun
            wait_until(lambda: len(killed.recorded()) > len(recorded) or run.poll() is not None, SECONDS)  # noqa: B023
            if chance.random() < 0.1:
                refused(folder, killed, run.pid)
        time.sleep(chance.random() * LONGEST_PAUSE)
        if (workers := workers_of(run.pid)) and chance.random() < 0.2:
            os.kill(chance.choice(workers), signal.SIGKILL)
            time.sleep(chance.random() * LONGEST_PAUSE)
        run.kill()
        said, errors = run.communicate(timeout=patient(SECONDS))
        assert run.returncode in (-signal.SIGKILL, 0), errors  # 0: it was over before
        printed += matches_in(said)
        check_recorded(recorded)
        recorded = contents(killed)
        print(f"{number} of {kills}: {len(recorded)} matches", file=sys.stderr, flush=True)
    printed += matches_in(finish(start(folder, "run", killed.folder.name, "--json", "--workers", "2")))
    check_recorded(recorded)
    assert len(set(printed)) == len(printed), "a match was played twice"
    finish(start(folder, "run", alone.folder.name, "--workers", "2"))
    check(killed, alone)
    assert "holds" in finish(start(folder, "verify", killed.folder.name))
    return len(killed.recorded())


def make(folder: Path, kills: int) -> TournamentFolder:
    """Write a Swiss tournament with enough matches: the results of each round decide the next."""
    for name in ("ann", "bob"):
        (folder / f"{name}.py").write_text(f"{BOT}# {name}\n")
    rounds, tables, rotations = 3, 2, 2
    blocks = -(-MATCHES_FOR_A_KILL * (kills + 1) // (rounds * tables * rotations))
    terms = ["--game", "cargo_noir", "-o", "last_turn=3", "--format", "swiss", "--rounds", rounds, "--blocks", blocks]
    finish(start(folder, "new", "killed", "greedy", "random", "ann.py", "bob.py", *map(str, terms), "--seed", "7"))
    return TournamentFolder(folder / "killed")


def refused(folder: Path, place: TournamentFolder, pid: int) -> None:
    """Start a second run beside the first: it refuses in one line, and changes nothing."""
    second = start(folder, "run", place.folder.name)
    _, errors = second.communicate(timeout=patient(SECONDS))
    assert second.returncode == 1, errors
    [line] = errors.splitlines()
    assert f"is being run by process {pid} on " in line, line


def contents(place: TournamentFolder) -> dict[Path, tuple[int, bytes]]:
    """The records with the times of their last change."""
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in place.recorded()}


def check_recorded(recorded: dict[Path, tuple[int, bytes]]) -> None:
    """Check that records are what they were."""
    for path, was in recorded.items():
        assert path.exists(), f"{path} is lost"
        assert (path.stat().st_mtime_ns, path.read_bytes()) == was, f"{path} was written again"


def check(killed: TournamentFolder, alone: TournamentFolder) -> None:
    """Check that a killed tournament has each match once, and the results and the table of one that was left alone."""
    results = killed.results()
    names = sorted(one.name for one in course(killed.plan(), results).fixtures)
    assert sorted(path.name for path in killed.records.iterdir()) == [f"{name}.jsonl" for name in names]
    others = alone.results()
    assert {name: one.digest for name, one in results.items()} == {name: one.digest for name, one in others.items()}
    mine, theirs = (json.loads(one.result.read_text()) for one in (killed, alone))
    assert (mine["table"], mine["verdict"]) == (theirs["table"], theirs["verdict"])
    assert sorted(mine["records"]) == names
    left = {path.name for path in killed.folder.iterdir()}
    assert left == {path.name for path in alone.folder.iterdir()}, "a kill left a file"


def matches_in(said: str) -> list[str]:
    """The names of the matches that a run has printed; the last line may be cut off."""
    lines = said.split("\n")[:-1]
    return [event["match"] for event in map(json.loads, lines) if event["event"] == "match"]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `dogana tournament ...`."""
    return subprocess.Popen(
        [sys.executable, "-m", "ladder", "tournament", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(command: subprocess.Popen[str]) -> str:
    """Wait until a command has ended well; return what it said."""
    said, errors = command.communicate(timeout=patient(SECONDS))
    assert command.returncode == 0, (command.args, said, errors)
    assert "Traceback" not in errors, errors
    return said


if __name__ == "__main__":
    soak_from_environment(soak, 100, "a tournament", "the table is that of a tournament that was left alone")
