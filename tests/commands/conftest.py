"""Running the command `dogana` as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

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


@pytest.fixture
def dogana(tmp_path: Path) -> Dogana:
    """Runs `dogana ...` in an empty folder; checks that nothing ever shows a traceback."""

    def run(
        *arguments: object, status: int = 0, stdout: IO[str] | int = subprocess.PIPE, max_bytes: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        limit = [] if max_bytes is None else [sys.executable, "-c", LIMIT, str(max_bytes)]
        ended = subprocess.run(
            [*limit, sys.executable, "-m", "ladder", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "XDG_DATA_HOME": str(tmp_path / "data")},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        ours = [line for line in ended.stderr.splitlines() if not line.startswith("  | ")]  # the rest is a bot's log
        assert "Traceback" not in (ended.stdout or "") + "".join(ours), ended.stderr
        assert ended.returncode == status, (ended.stdout, ended.stderr)
        return ended

    return run
