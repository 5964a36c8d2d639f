"""Running the command `dogana` as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Dogana = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def dogana(tmp_path: Path) -> Dogana:
    """Runs `dogana ...` in an empty folder; checks that nothing ever shows a traceback."""

    def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            [sys.executable, "-m", "ladder", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "XDG_DATA_HOME": str(tmp_path / "data")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        ours = [line for line in ended.stderr.splitlines() if not line.startswith("  | ")]  # the rest is a bot's log
        assert "Traceback" not in ended.stdout + "".join(ours), ended.stderr
        assert ended.returncode == status, (ended.stdout, ended.stderr)
        return ended

    return run
