"""`make demo` (docs/demo.sh): what it shows can be pasted, and no run touches what another one has made.

Only the script is run, with a `dogana` that notes how it was called.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone in a folder whose name a shell would read as something else."""
    folder = tmp_path / "it's a $HOME"
    (folder / "docs").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "demo.sh", folder / "docs")
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").write_text(f"PATH='{tmp_path}':$PATH\n")
    (tmp_path / "dogana").write_text('#!/bin/sh\nfor word; do echo "<$word>"; done\n')
    (tmp_path / "dogana").chmod(0o755)
    return folder


def start(clone: Path) -> subprocess.Popen[str]:
    environment = {"PATH": f"{clone.parent}:/usr/bin:/bin"}
    return subprocess.Popen(["/bin/sh", clone / "docs" / "demo.sh"], env=environment, stdout=subprocess.PIPE, text=True)


def test_the_lines_at_its_end_can_be_pasted(clone: Path, tmp_path: Path) -> None:
    printed, _ = start(clone).communicate(timeout=patient(60))
    lines = [line for line in printed.splitlines() if line.startswith("  . ")]
    assert len(lines) == 3
    for line, wanted in zip(lines[1:], ("web", "serve"), strict=True):
        ran = subprocess.run(["/bin/sh", "-c", line], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert ran.stdout.split("\n")[:4] == ["<ladder>", f"<{wanted}>", "<--home>", f"<{clone}/demo/1/ladder>"]
    where = subprocess.run(["/bin/sh", "-c", f"{lines[0]} && pwd"], capture_output=True, text=True)
    assert where.stdout == f"{clone}/demo/1\n"


def test_what_it_shows_is_what_it_runs(clone: Path) -> None:
    printed, _ = start(clone).communicate(timeout=patient(60))
    [play] = re.findall(r"^\$ (dogana play .*)$", printed, re.M)
    ran = subprocess.run(
        ["/bin/sh", "-c", play], env={"PATH": f"{clone.parent}:/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert "<cmd:python -m house_bots greedy>" in ran.stdout
    assert ran.stdout in printed
    assert "\x1b" not in printed, "escapes are for terminals only"


def test_another_run_and_one_at_the_same_time_have_folders_of_their_own(clone: Path) -> None:
    old = clone / "demo" / "1"
    old.mkdir(parents=True)
    (old / "ladder").write_text("mine")
    for process in [start(clone), start(clone)]:
        process.communicate(timeout=patient(60))
        assert process.returncode == 0
    assert (old / "ladder").read_text() == "mine"
    assert sorted(path.name for path in (clone / "demo").iterdir()) == ["1", "2", "3"]
    assert all((clone / "demo" / name / "mybot.py").exists() for name in "23")
