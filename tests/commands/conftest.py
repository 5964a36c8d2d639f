"""Running the command `dogana` as a user does."""

from __future__ import annotations

import os
import resource
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


@pytest.fixture
def dogana(tmp_path: Path) -> Dogana:
    """Runs `dogana ...` in an empty folder; checks that nothing ever shows a traceback."""

    def run(
        *arguments: object, status: int = 0, stdout: IO[str] | int = subprocess.PIPE, max_bytes: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            if max_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))

        ended = subprocess.run(
            [sys.executable, "-m", "ladder", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "XDG_DATA_HOME": str(tmp_path / "data")},
            preexec_fn=limit,
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
