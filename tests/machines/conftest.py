"""Commands on machines that are not Linux, as far as Linux can play them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BOT = "import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"
Mac = Callable[..., subprocess.CompletedProcess[str]]


def environment(system: str, folder: Path) -> Mapping[str, str]:
    """Return the environment of a command on a system, whose names `tests/machines/<system>/sitecustomize.py` takes away."""
    path = os.pathsep.join(map(str, (HERE / system, ROOT, ROOT / "agents")))
    places = {f"XDG_{kind}_HOME": str(folder / "xdg") for kind in ("CACHE", "CONFIG", "DATA")}
    return {**os.environ, **places, "HOME": str(folder), "PYTHONPATH": path, "COLUMNS": "200"}


@pytest.fixture
def mac(tmp_path: Path) -> Mac:
    """Runs `dogana ...` on a simulated Mac, in a folder with a bot, `mybot.py`."""
    (tmp_path / "mybot.py").write_text(BOT)

    def run(*words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            [sys.executable, "-m", "ladder", *map(str, words)],
            cwd=tmp_path,
            env=environment("mac", tmp_path),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
        assert ended.returncode == status, (ended.stdout, ended.stderr)
        return ended

    return run
