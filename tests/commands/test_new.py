"""`dogana new` writes a bot that plays, and never into what is there already. (`make kits` builds and plays those of all languages.)"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from referee.bots.errors import NoProgram
from referee.bots.manifest import read_manifest
from referee.commands import new
from referee.sandbox.runtimes import search_path
from tests.commands.conftest import ROOT, Dogana

HEADINGS = [
    "What this is",
    "What you need",
    "Build",
    "Play a match",
    "What to change first",
    "Submit",
    "When it goes wrong",
]
PROGRAMS = {"typescript": "bot.js", "go": "./bot", "rust": "./bot", "java": "bot.jar", "cpp": "./bot"}


def test_there_is_a_kit_for_each_language_and_a_language_for_each_kit() -> None:
    """And one for a bot that searches."""
    assert {path.name for path in (ROOT / "agents" / "kits").iterdir()} == {*new.BUILDS, "search"}


def test_the_typescript_kit_names_one_version_of_node() -> None:
    kit = ROOT / "agents" / "kits" / "typescript"
    package = json.loads((kit / "package.json").read_text())
    [named] = re.findall(r"Node (\d+) or newer", (kit / "README.md").read_text())
    assert package["engines"] == {"node": f">={named}"}
    assert f"--target=node{named} " in package["scripts"]["build"]


@pytest.mark.parametrize("language", [*new.BUILDS, "search"])
def test_a_kit_has_a_page_a_command_and_all_messages(language: str, tmp_path: Path) -> None:
    new.write_kit(language, tmp_path / "mybot")
    page = (tmp_path / "mybot" / "README.md").read_text().splitlines()
    assert [line.removeprefix("## ") for line in page if line.startswith("## ")] == HEADINGS
    assert tomllib.loads((tmp_path / "mybot" / "bot.toml").read_text())["run"]
    assert (tmp_path / "mybot" / ".gitignore").is_file()
    written = {str(path.relative_to(tmp_path / "mybot")) for path in (tmp_path / "mybot").rglob("*.proto")}
    assert written == {str(path.relative_to(ROOT)) for path in (ROOT / "proto").rglob("*.proto")}


@pytest.mark.parametrize("language", new.BUILDS)
def test_it_says_in_three_lines_what_to_do_next(dogana: Dogana, language: str) -> None:
    lines = dogana("new", "my bot", "--language", language).stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"my bot now has a bot in {language} (")
    build = new.BUILDS[language]
    assert lines[1] == (f"build it:      cd 'my bot' && {build}" if build else "go there:      cd 'my bot'")
    assert lines[2].startswith("play a match:  dogana play ")


def test_the_python_kit_is_ready_to_be_submitted_as_it_is_written(tmp_path: Path) -> None:
    new.write_kit("python", tmp_path)
    run = read_manifest(tmp_path, tmp_path, ":".join(search_path([]))).run
    assert run == ("python", "bot.py")


@pytest.mark.parametrize("language", [language for language, build in new.BUILDS.items() if build])
def test_a_kit_that_is_not_built_is_refused_with_the_command_of_its_page(language: str, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("java", "node"):
        (programs / name).write_text("")
        (programs / name).chmod(0o755)
    new.write_kit(language, tmp_path / "mybot")
    build = new.BUILDS[language]
    with pytest.raises(
        NoProgram, match=re.escape(f"there is no file {PROGRAMS[language]} to run; build it first ({build})")
    ):
        read_manifest(tmp_path / "mybot", tmp_path / "mybot", str(programs))
    page = (tmp_path / "mybot" / "README.md").read_text().replace("\n$ ", " && ")
    assert build in page


def test_a_bot_that_searches_is_written_and_plays(dogana: Dogana, tmp_path: Path) -> None:
    dogana("new", "thinker", "--search")
    printed = dogana("play", "venezia", "thinker/bot.py", "greedy", "-o", "max_rounds=4", "--json").stdout
    assert [seat["outcome"] for seat in json.loads(printed)["seats"]] == ["played", "played"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "name a language: --language is one of python, typescript, go, rust, java, cpp; or write --search"),
        (["--search", "--language", "go"], "the bot that searches is in Python: leave --language out"),
    ],
)
def test_a_kit_needs_a_language_or_is_the_one_that_searches(dogana: Dogana, words: list[str], why: str) -> None:
    assert dogana("new", "thinker", *words, status=1).stderr == f"dogana: {why}\n"


def test_what_is_in_the_folder_is_left_alone(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot" / "bot.py").write_text("mine")
    refused = dogana("new", "mybot", "--language", "python", status=1).stderr
    assert refused == "dogana: mybot is not empty; name a folder that is not there yet\n"
    assert [path.read_text() for path in (tmp_path / "mybot").iterdir()] == ["mine"]
    refused = dogana("new", "mybot/bot.py", "--language", "python", status=1).stderr
    assert refused == "dogana: mybot/bot.py is there already; name a folder that is not there yet\n"


@pytest.mark.parametrize("name", ["\x1b[31mred", "two\nlines", "\udcff"])
def test_a_name_that_no_command_would_take_is_refused(here: Dogana, tmp_path: Path, name: str) -> None:
    before = list(tmp_path.iterdir())
    refused = here("new", name, "--language", "python", status=1).stderr
    assert refused == f"dogana: the name {name!r} has characters that cannot be printed; choose another\n"
    assert list(tmp_path.iterdir()) == before


def test_an_empty_folder_is_filled(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "mybot").mkdir()
    dogana("new", "mybot", "--language", "python")
    assert (tmp_path / "mybot" / "bot.py").is_file()


def test_a_language_without_a_kit_is_refused_with_those_that_have_one(dogana: Dogana, tmp_path: Path) -> None:
    refused = dogana("new", "mybot", "--language", "co\x1b[31mbol", status=1).stderr
    assert "there is no kit for 'co\\x1b[31mbol'; --language is one of python" in refused
    assert not list(tmp_path.iterdir())


def test_two_commands_at_the_same_moment_do_not_mix_their_kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy, theirs = shutil.copyfileobj, tmp_path / "proto" / "dogana" / "v1" / "referee.proto"

    def late(reading: Any, writing: Any) -> None:
        """Copies the first file when the other command has written another one."""
        if not theirs.exists():
            theirs.parent.mkdir(parents=True)
            theirs.write_text("theirs")
        copy(reading, writing)

    monkeypatch.setattr(shutil, "copyfileobj", late)
    with pytest.raises(new.NewError, match="is there already; name a folder"):
        new.write_kit("python", tmp_path)
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["theirs"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy, copied = shutil.copyfileobj, []

    def full(reading: Any, writing: Any) -> None:
        copied.append(reading)
        if len(copied) == 4:
            raise OSError(28, os.strerror(28))
        copy(reading, writing)

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(OSError, match="No space left"):
        new.write_kit("python", tmp_path / "mybot")
    assert not list((tmp_path / "mybot").iterdir())
