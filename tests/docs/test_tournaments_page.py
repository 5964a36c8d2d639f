"""docs/tournaments.md works: its commands run as they stand, and what it quotes is printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patient
from tests.sandbox.conftest import needs_bubblewrap

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournaments.md").read_text()
BOT = "import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"
FIRST, FINAL = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def run(script: str, folder: Path) -> str:
    """Run a block of the page in a shell that finds this Dogana."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "dogana").write_text(f'#!/bin/sh\nexec {sys.executable} -m ladder "$@"\n')
    (programs / "dogana").chmod(0o755)
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=patient(300),
        check=False,
    )
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    return ended.stdout


@pytest.mark.long
def test_the_first_commands_of_the_page_run(tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(BOT)
    said = run(FIRST, tmp_path)
    assert re.search(r"\w+ wins; the chance that \w+ is the best of these is (over )?\d\.\d\d", said)
    assert "holds  12 matches" in said
    assert "the best of these" in (tmp_path / "public" / "index.html").read_text()
    written = {path.name for path in (tmp_path / "cup").iterdir()}
    assert written == {"tournament.toml", "records", "result.json", ".tournament.json", ".lock"}
    assert all(f"`{name}" in PAGE for name in written)


@pytest.mark.long
@needs_bubblewrap
def test_the_final_of_a_course_runs_as_it_stands(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "bots").mkdir()
    for name in ("ann", "bob", "cem", "dee"):
        (tmp_path / "bots" / f"{name}.py").write_text(f"# {name}\n{BOT}")
    said = run(FINAL, tmp_path)
    quoted = re.search(r"`(\d+ tables, \d+ matches; every two entrants share \d tables)`", PAGE)
    assert quoted
    assert quoted[1] in said
    table = json.loads((tmp_path / "final" / "table.json").read_text())["table"]
    assert {row["entrant"] for row in table} == {"ann", "bob", "cem", "dee"}
