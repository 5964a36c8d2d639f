"""docs/adding_a_game.md works: the test does what the page says, in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding_a_game.md").read_text()
FILES = re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PACKAGES = ("proto", "dogana", "referee", "agents", "ladder")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the files of the page."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "bin", "gen")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for path, text in FILES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    run(folder, "proto/generate.py")
    return folder


def run(folder: Path, *arguments: str, status: int = 0) -> str:
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{folder}:{folder / 'agents'}",
            "HOME": os.environ.get("HOME", "/"),
        },
        capture_output=True,
        text=True,
        timeout=patient(120),
    )
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stderr if status else ended.stdout


def test_the_page_adds_nothing_outside_the_games_folder_and_its_messages() -> None:
    assert len(FILES) == 5
    for path, _ in FILES:
        assert path.startswith("referee/games/nim/") or path == "proto/dogana/games/nim/v1/nim.proto"


def test_the_game_is_found_and_keeps_the_contract(copy: Path) -> None:
    assert "Nim" in run(copy, "-m", "ladder", "games")
    snippet = PAGE.split("## 5. The contract suite")[1].split("```python\n")[1].split("```")[0]
    run(copy, "-c", snippet)


def test_its_rules_are_tested(copy: Path) -> None:
    assert "4 passed" in run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "referee/games/nim/tests")


def test_it_is_played_over_the_wire_recorded_verified_and_drawn(copy: Path) -> None:
    seat = f"cmd:{sys.executable} -m house_bots random"
    run(copy, "-m", "ladder", "play", "nim", seat, "random", seat, "--record", "match.jsonl", "--seed", "1")
    assert "holds" in run(copy, "-m", "ladder", "verify", "match.jsonl")
    assert "place 1" in run(copy, "-m", "ladder", "replay", "match.jsonl", "--svg", "pictures")
    assert "take(1)" in run(copy, "-m", "ladder", "replay", "match.jsonl", "--at", "0")


@pytest.mark.long
def test_its_code_is_in_the_projects_style(copy: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", copy)
    run(copy, "-m", "ruff", "format", "--check", "referee/games/nim")
    run(copy, "-m", "ruff", "check", "referee/games/nim")
    run(copy, "-m", "mypy", "--strict", "-p", "referee.games.nim")
    style = "import sys; sys.path.insert(0, 'proto'); import check, pathlib; print(check.style_problems(pathlib.Path('proto')), check.collisions(check.load(pathlib.Path('proto'))))"
    assert run(copy, "-c", style) == "[] []\n"
