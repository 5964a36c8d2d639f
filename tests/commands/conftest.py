"""Running the command `dogana` as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import IO, Any

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
Dogana = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def bot(tmp_path: Path) -> str:
    """A seat for a bot that takes any arguments."""
    (tmp_path / "bot.py").write_text("from dogana.sdk import play\nplay(lambda decision: 0)\n")
    return f"cmd:{sys.executable} bot.py"


LIMIT = """
import os, resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Limits the size of files, then becomes the command. With `preexec_fn` the tests' own process would fork, and gRPC's threads in it
can abort a fork before it has become anything."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Dogana:
    """Runs `dogana ...` as the fixture `dogana` does, but in this process: for what is said before anything begins."""
    from tests.ladder.in_process import in_process  # which needs this module

    def begins() -> None:  # from then on all children of a process are taken for what agents have left
        pytest.fail("it begins to play: it needs a process of its own")

    for command in ("play", "again"):
        monkeypatch.setattr(f"referee.commands.{command}.adopt_orphans", begins)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return in_process(tmp_path, monkeypatch, capfd)


STARTS_NOTHING = {"games", "new", "position", "replay", "verify", "verify-log", "watch"}
"""The commands that start no process, and take no part in a match."""
PLAYS_OR_SERVES = {"connect", "run", "serve", "site", "web"}
"""The commands of a ladder that do more than that."""


PLAYS_OR_DRAWS = {"page", "run"}
"""The commands of a tournament that do."""


HOUSE_BOTS = {"random", "greedy"}
NEEDS_A_PROCESS = {"--games", "--isolate", "--listen", "--ray", "--resume", "--rotate", "--watch"}
"""Options of `dogana play` with which it starts processes, or takes part in what others do."""


def plays_here(words: Sequence[str]) -> bool:
    """Whether a command plays a single match of house bots, which takes no other process."""
    if words[:1] != ["play"] or NEEDS_A_PROCESS.intersection(words):
        return False
    seats = list(takewhile(lambda word: not word.startswith("-"), words[2:]))
    return bool(seats) and HOUSE_BOTS.issuperset(seats)


def needs_a_process(words: Sequence[str]) -> bool:
    """Whether a command starts processes or takes signals, so that the process of the tests will not do."""
    if plays_here(words):
        return False
    if "--bot" in words or "--html" in words or "--svg" in words:  # bots are started, and pictures drawn side by side
        return True
    if words[:1] == ["ladder"]:
        return words[1:2] == [] or words[1] in PLAYS_OR_SERVES
    if words[:1] == ["tournament"]:
        return words[1:2] == [] or words[1] in PLAYS_OR_DRAWS
    return words[:1] == [] or words[0] not in STARTS_NOTHING


@pytest.fixture
def apart(tmp_path: Path) -> Dogana:
    """Runs `dogana ...` in an empty folder, in a process of its own; checks that nothing ever shows a traceback."""
    return in_a_process(tmp_path)


@pytest.fixture
def dogana(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Dogana:
    """The same, but in this process if the command starts none: a process would take longer to start than most commands run."""
    from tests.ladder.in_process import in_process  # which needs this module

    process, here = in_a_process(tmp_path), in_process(tmp_path, monkeypatch, capfd)

    def run(*arguments: object, status: int = 0, **rest: Any) -> subprocess.CompletedProcess[str]:
        if rest or needs_a_process(list(map(str, arguments))):
            return process(*arguments, status=status, **rest)
        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", "200")
            patch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
            patch.setattr("referee.commands.play.adopt_orphans", lambda: None)  # no bot can leave any
            return here(*arguments, status=status)

    return run


def in_a_process(folder: Path) -> Dogana:
    """Runs `dogana ...` in a folder, in a process of its own."""

    def run(
        *arguments: object, status: int = 0, stdout: IO[str] | int = subprocess.PIPE, max_bytes: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        limit = [] if max_bytes is None else [sys.executable, "-c", LIMIT, str(max_bytes)]
        ended = subprocess.run(
            [*limit, sys.executable, "-m", "ladder", *map(str, arguments)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "XDG_DATA_HOME": str(folder / "data")},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=patient(120),
        )
        ours = [line for line in ended.stderr.splitlines() if not line.startswith("  | ")]  # the rest is a bot's log
        assert "Traceback" not in (ended.stdout or "") + "".join(ours), ended.stderr
        assert ended.returncode == status, (ended.stdout, ended.stderr)
        return ended

    return run


def start(folder: Path, *words: object, **more: Any) -> subprocess.Popen[str]:
    """Start `dogana ...` in a folder, with more arguments of `Popen`."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    return subprocess.Popen(
        [sys.executable, "-m", "ladder", *map(str, words)], cwd=folder, text=True, **{**pipes, **more}
    )
