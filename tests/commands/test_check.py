"""`dogana check` as people use it: what it prints, what it refuses, and what is left when it is over."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana
from tests.patience import patient
from tests.sandbox.conftest import needs_bubblewrap

pytestmark = needs_bubblewrap
FAILS = 'import sys\nprint("\\x1b[2J[red]I \\u202egive up")\nsys.exit(3)\n'


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A bot that ends before it has joined, with last words that are not harmless."""
    folder = tmp_path / "failing"
    folder.mkdir()
    (folder / "bot.py").write_text(FAILS)
    (folder / "bot.toml").write_text('games = ["cargo_noir"]\n')
    return folder


def test_failures_come_with_how_to_mend_them_and_the_last_line_is_the_verdict(dogana: Dogana, failing: Path) -> None:
    lines = dogana("check", failing, status=1).stdout.splitlines()
    headings = [line for line in lines if re.fullmatch(r"[a-z]+", line)]
    assert headings == ["package", "start", "answers", "time", "compatibility", "end", "matches", "manners"]
    assert any(line.startswith("  reported size  ") for line in lines), "the longest word leaves room"
    at = lines.index("failed  joins")
    assert lines[at + 1 : at + 4] == [
        "  expected: it joins within 10 s",
        "  happened: it exited with status 3 instead of joining",
        "  fix:      connect to DOGANA_ADDRESS, call Play and send Join at once; load and warm up less before"
        " (docs/writing_a_bot.md, Other languages)",
    ]
    assert r"    | \x1b[2J[red]I \u202egive up" in lines
    assert re.fullmatch(r"4 steps passed, 1 failed, \d+ skipped, 2 reported", lines[-1])
    skipped = [line for line in lines if line.startswith("  skipped  ")]
    assert len(skipped) <= 2 * len(headings), "steps skipped for one reason share a line"


@pytest.mark.long
def test_a_bot_that_ends_with_an_error_is_told_to_mend_that(dogana: Dogana, failing: Path) -> None:
    (failing / "bot.py").write_text("pass\n")
    lines = dogana("check", failing, status=1).stdout.splitlines()
    at = lines.index("failed  joins")
    assert "it never called play; end the file with play(choose)" in lines[at + 2]
    assert lines[at + 3].startswith("  fix:      correct the error that ended it (")


def test_an_empty_folder_is_told_what_a_bot_is(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    printed = dogana("check", "empty", status=1).stdout
    assert (
        "  fix:      correct the named fault; a bot is a program called bot, or what run in bot.toml starts ("
        in printed
    )


@pytest.mark.long
def test_json_is_one_object_with_all_steps(dogana: Dogana, failing: Path) -> None:
    report = json.loads(dogana("check", failing, "--json", "--memory", "64", status=1).stdout)
    assert report["run"] == ["python", "bot.py"]
    assert report["limits"].startswith("64 MiB of memory")
    [failed] = [step for step in report["steps"] if step["outcome"] == "failed"]
    assert (failed["step"], failed["heading"], failed["transcript"]) == ("joins", "start", [])
    assert failed["wrote"] == [r"\x1b[2J[red]I \u202egive up"]
    assert len(report["steps"]) == sum(report[outcome] for outcome in ("passed", "failed", "skipped", "reported")) > 60


@pytest.mark.parametrize("manifest", mostly_long(['run = ["./nothing"]', "games = 3", "run = ["], 0))
def test_what_a_ladder_refuses_is_refused_with_the_same_words(dogana: Dogana, failing: Path, manifest: str) -> None:
    (failing / "bot.toml").write_text(manifest)
    refused = dogana("ladder", "submit", failing, "--name", "mine", "--author", "me", status=1).stderr
    printed = dogana("check", failing, status=1).stdout
    assert f"  happened: {refused.removeprefix('dogana: ').strip()}\n" in printed


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        (["failing", "--game", "poker"], "poker"),
        (["failing", "--game", "venezia"], "failing does not play venezia; its bot.toml names: cargo_noir"),
        (["failing", "--runtime", "failing"], "has no folder bin"),
    ],
)
@pytest.mark.usefixtures("failing")
def test_what_cannot_be_tried_is_reported_in_one_line(here: Dogana, arguments: list[str], reason: str) -> None:
    ended = here("check", *arguments, status=1)
    [line] = ended.stderr.splitlines()
    assert line.startswith("dogana: ")
    assert reason in line


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, of this test alone."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@contextlib.contextmanager
def checking() -> Iterator[subprocess.Popen[str]]:
    """A check in the middle of its work."""
    with subprocess.Popen(
        [sys.executable, "-m", "ladder", "check", ROOT / "agents" / "kits" / "python", "--game", "cargo_noir"],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "joins" in line:
                break
        try:
            yield process
        finally:
            process.kill()


def test_nothing_is_left_when_it_is_interrupted(temporary: Path) -> None:
    with checking() as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(patient(60)) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert not list(temporary.iterdir())


@pytest.mark.long
def test_what_a_killed_check_leaves_is_removed_by_the_next_which_leaves_its_neighbours_alone(
    temporary: Path, dogana: Dogana, failing: Path
) -> None:
    (failing / "bot.toml").write_text('run = ["./nothing"]')
    with checking() as process:
        [folder] = temporary.glob("dogana-check-*")
        dogana("check", failing, status=1)
        assert folder.exists()
        process.kill()
        process.wait(patient(60))
    assert folder.exists()
    dogana("check", failing, status=1)
    assert not list(temporary.glob("dogana-check-*"))
