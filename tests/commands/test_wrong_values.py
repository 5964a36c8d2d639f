"""Values that cannot be: each is refused in a line that says what to give instead, before anything is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee import files as files_of_ours
from referee.bots.manifest import PROJECTS
from tests.commands.conftest import Dogana

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
PLAY = ("play", "cargo_noir", "greedy", "random")


@pytest.fixture
def here(here: Dogana, tmp_path: Path) -> Dogana:
    """Runs `dogana ...` in a folder with a bot, and one with a project that a compiler has filled."""
    (tmp_path / "mybot.py").write_text(BOT)
    (tmp_path / "empty").mkdir()
    source = tmp_path / "project" / "src" / "main.rs"
    source.parent.mkdir(parents=True)
    source.write_text("fn main() {}\n")
    (tmp_path / "project" / "Cargo.toml").write_text("[package]\n")
    return here


@pytest.mark.parametrize("command", [("doctor",), ("check", "mybot.py"), (*PLAY, "--isolate")], ids=lambda one: one[0])
@pytest.mark.parametrize(
    ("limit", "most"), [(("--cpus", "inf"), "1024"), (("--memory", 10**12), "4194304"), (("--tasks", 10**9), "4194304")]
)
def test_limits_that_no_machine_has_are_refused(
    here: Dogana, command: tuple[str, ...], limit: tuple[str, object], most: str
) -> None:
    assert most in here(*command, *limit, status=2).stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ((*PLAY, "--wait", "inf"), 2, "'--wait'"),
        (("ladder", "submit", ""), 2, "needs the name of a file or folder"),
        (("check", ""), 2, "needs the name of a file or folder"),
        ((*PLAY, "--tls-cert", "nosuch"), 1, "--tls-cert and --tls-key are for remote agents and watchers"),
        (("play", "cargo_noir"), 2, "such as: dogana play GAME mybot.py greedy"),
        (("play", "cargo_noir", "mybot", "greedy"), 1, "did you mean mybot.py?"),
        (("play", "cargo_noir", "./mybo.py", "greedy"), 1, "did you mean ./mybot.py?"),
        (("play", "cargo_noir", "project/src/main.rs", "greedy"), 1, f"build it ({PROJECTS['Cargo.toml']}), and give the program"),
        (("play", "--resume", "mybot.py"), 1, "mybot.py is a file, and a series has a folder of records"),
        ((*PLAY, "--logs", "mybot.py"), 1, "mybot.py: is a file; name a folder"),
        ((*PLAY, "--logs", "/proc/x"), 1, "/proc/x: there is no such file or folder, nor can it be made"),
        (("ladder", "submit", "mybot.py", "--home", "mybot.py"), 1, "mybot.py is a file; the home of a ladder is a folder"),
        (("ladder", "submit", "mybot.py", "--name", "b", "--author", "ann", "--home", "/proc/1/nothing"), 1, "/proc/1/nothing: there is no such file or folder"),
        (("play", "cargo_noir", "empty", "greedy"), 1, "empty is an empty folder; put the files of the bot there"),
        (("play", "cargo_noir", "mybot.py/", "greedy"), 1, "there is no file or folder 'mybot.py/' (did you mean mybot.py?)"),
        (("play", "cargo_noir", "cmd:mybot.py", "greedy"), 1, "mybot.py is a file, not a program; give it without cmd:, as mybot.py"),
        (("play", "--resume", "empty", "mybot.py", "greedy"), 1, "with --record if you name seats, too: --record empty --resume"),
        (("rules", "yunnan", "Y99"), 1, "has no rule 'Y99'"),
    ],
    ids=lambda one: " ".join(map(str, one)) if isinstance(one, tuple) else None,
)  # fmt: skip
def test_a_wrong_value_is_answered_with_what_to_give(
    here: Dogana, words: tuple[str, ...], status: int, message: str
) -> None:
    assert message in here(*words, status=status).stderr


@pytest.mark.parametrize(("words", "status"), [(("check", ""), 2), ((*PLAY, "--logs", "/proc/x"), 1)])
def test_a_process_ends_with_that_status(apart: Dogana, words: tuple[str, ...], status: int) -> None:
    apart(*words, status=status)


def test_a_pipe_is_not_replaced_by_a_private_file(tmp_path: Path) -> None:
    """As root would else do with /dev/null, where `dogana ladder record --to` can lead."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is not a regular file"):
        files_of_ours.write_private(tmp_path / "pipe", b"{}")
    assert (tmp_path / "pipe").is_fifo()


def test_what_is_large_in_a_folder_that_a_compiler_has_filled_is_named(here: Dogana, tmp_path: Path) -> None:
    (tmp_path / "project" / "bot").write_text(f"#!/usr/bin/env python3\n{BOT}")
    (tmp_path / "project" / "bot").chmod(0o755)
    (tmp_path / "project" / "target").mkdir()
    (tmp_path / "project" / "target" / "objects").touch()
    os.truncate(tmp_path / "project" / "target" / "objects", 300 * 1024 * 1024)
    said = here("ladder", "submit", "project", "--home", "home", status=1).stderr
    assert (
        "has more than 200 MiB, of which target has 300; give its program alone, or an archive without target" in said
    )


def test_a_chapter_of_the_rules_without_a_heading_is_printed(here: Dogana) -> None:
    lines = here("rules", "yunnan", "Y1").stdout.splitlines()
    assert lines[0].lstrip("- *").startswith("Y1.1")
    assert any("Y1.5" in line for line in lines)
    assert not any(line.lstrip("- *").startswith(("Y2", "Y10")) for line in lines)
