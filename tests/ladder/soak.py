"""`python -m tests.ladder.soak`: a run is killed and stopped again and again, while other commands use the same ladder.

DOGANA_SOAK_KILLS says how often (300 by default), DOGANA_SOAK_SEED makes the same choices again. It ends with status 0 if nothing was
lost or counted twice, all commands ended well, and everything agrees.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from ladder.archive.audit_log import write
from ladder.archive.key import ladder_key
from ladder.facts.store import Store
from ladder.operation.home import Home
from referee.records.audit_log import check as audit
from referee.records.verify import verify
from referee.registry import find
from tests.commands.conftest import ROOT
from tests.ladder.archived import record_of, recorded
from tests.soaking import soak_from_environment

GAME = "cargo_noir"
BOT = "import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"
PATIENCE = 120
"""Seconds that a command may take on a machine that is very busy."""


def soak(folder: Path, kills: int, seed: int) -> int:
    """Kill and stop a run this often; return how many matches count in the end."""
    chance = random.Random(seed)
    finish(submit(folder, "first", 0))
    done = 0
    for number in range(1, kills + 1):
        run = start_run(folder, 1000)
        if chance.random() < 0.7:  # otherwise it may be hit before it has begun
            wait_for_results(folder, done + 1)
        beside = [
            submit(folder, "second", number % 5),
            start(folder, "top", "--json"),
            start(folder, "recompute"),
        ]
        time.sleep(chance.random() * 0.8)
        stopped = chance.choice([0, 0, *workers_of(run.pid)])
        if stopped:
            os.kill(stopped, signal.SIGSTOP)
        run.send_signal(signal.SIGKILL if stopped else chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        run.communicate(timeout=PATIENCE)
        for command in beside:
            finish(command)
        assert results(folder) >= done, "a match that counted is lost"
        done = results(folder)
        print(f"{number} of {kills}: {done} matches", file=sys.stderr, flush=True)
    finish(start(folder, "run", "--game", GAME, "--matches", "1", "--unconfined"))
    check(folder)
    return results(folder)


def check(folder: Path) -> None:
    """Check that every match counts once, has one record that holds, and that all ratings and tallies follow."""
    home = Home(folder / "home")
    with Store(home.database, create=False) as store:
        counted = list(store.history.all_played())
        write(home, store, folder / "log.jsonl")
        log = audit(folder / "log.jsonl", ladder_key(home, store).public)
        assert (log.results, log.unfinished) == (len(counted), [])
        assert store.schedule.open_matches() == {}
        assert store.evidence.blocks_to_seal() == []
    assert len({match.match_id for match in counted}) == len(counted)
    assert [match.number for match in counted] == list(range(1, len(counted) + 1))
    records = [match_id for match_id in recorded(home) if not match_id.startswith("qualify-")]
    assert sorted(records) == sorted(match.match_id for match in counted)
    assert list(home.records.iterdir()) == []
    for match in counted:
        found = verify(home.archive, find, data=record_of(home, match.match_id))
        assert (found.is_sealed, found.result.digest) == (True, match.digest)
    assert "agree to the last digit" in finish(start(folder, "recompute"))


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `dogana ladder ...`, which heeds Ctrl-C even if this was started in the background of a script."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [sys.executable, "-m", "ladder", "ladder", *arguments, "--home", str(folder / "home")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def start_run(folder: Path, matches: int, workers: int = 2) -> subprocess.Popen[str]:
    return start(folder, "run", "--game", GAME, "--matches", str(matches), "--workers", str(workers), "--unconfined")


def submit(folder: Path, name: str, number: int) -> subprocess.Popen[str]:
    """Start to submit one of several versions of a bot."""
    (folder / f"{name}{number}.py").write_text(f"{BOT}# {number}\n")
    return start(folder, "submit", str(folder / f"{name}{number}.py"), "--name", name, "--author", name)


def finish(command: subprocess.Popen[str]) -> str:
    """Wait until a command has ended well; return what it said."""
    said, errors = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0, (command.args, said, errors)
    assert "Traceback" not in errors, errors
    return said


def results(folder: Path) -> int:
    """How many matches count."""
    try:
        with sqlite3.connect(folder / "home" / "ladder.db", timeout=PATIENCE) as database:
            return int(database.execute("select count(*) from results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def wait_for_results(folder: Path, count: int) -> None:
    """Wait until so many matches count, but not for ever."""
    deadline = time.monotonic() + 60
    while results(folder) < count and time.monotonic() < deadline:
        time.sleep(0.02)


def wait_for_unfinished_records(folder: Path, count: int) -> None:
    """Wait until so many records are being written, but not for ever."""
    deadline = time.monotonic() + 60
    while len(list((folder / "home" / "records").glob("*.part"))) < count and time.monotonic() < deadline:
        time.sleep(0.002)


def workers_of(pid: int) -> list[int]:
    """The worker processes of a run that end with it: not the resource tracker, and none that is still starting.

    One that is stopped before it could say that it wants to end with its parent stays, with the run's pipes, until it is continued.
    """
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if _has_begun(Path(f"/proc/{child}"))]
    except OSError:  # it has ended
        return []


def _has_begun(process: Path) -> bool:
    ignored = re.search(r"^SigIgn:\t(\w+)$", (process / "status").read_text(), re.MULTILINE)
    return (
        b"spawn_main" in (process / "cmdline").read_bytes()
        and ignored is not None
        and bool(int(ignored[1], 16) >> (signal.SIGINT - 1) & 1)
    )


if __name__ == "__main__":
    soak_from_environment(soak, 300, "a ladder", "everything agrees")
