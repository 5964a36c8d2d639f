"""Files that a user has named are replaced only with --force, and that is said before anything else is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.files import AlreadyThere, check_free, unused
from tests.commands.conftest import Dogana

PLAY = ("play", "cargo_noir", "random", "random", "--seed", 5, "-o", "last_turn=2")

WRITING = [
    (*PLAY, "--record", "mine"),
    ("replay", "m.jsonl", "--html", "mine"),
    ("replay", "m.jsonl", "--svg", "folder"),
    ("position", "p.json", "--svg", "mine"),
    ("ladder", "record", "3f09", "--to", "mine", "--home", "."),
    ("ladder", "export", "mine", "--home", "."),
    ("ladder", "finalists", "folder", "--game", "cargo_noir", "--home", "."),
    ("ladder", "backup", "mine", "--home", "."),
    ("ladder", "site", "public", "--home", "."),
]
"""Commands that write, without what they need besides: that would be missed if they looked for it first."""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    for folder in ("folder", "public"):
        (tmp_path / folder).mkdir()
    for name in ("mine", "folder/00001.svg"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "public" / "dogana-site.json").write_text('{"files": []}')
    return tmp_path


@pytest.mark.parametrize("words", WRITING, ids=[" ".join(map(str, words[:2])) + f" {words[-1]}" for words in WRITING])
def test_what_is_there_is_not_replaced_and_that_is_said_first(
    here: Dogana, mine: Path, words: tuple[str | int, ...]
) -> None:
    name = next(word for word in words if word in ("mine", "folder", "public"))
    ended = here(*words, status=1)
    assert ended.stderr == f"dogana: {name} is there already; --force replaces it\n"
    assert ended.stdout == ""
    assert [(mine / name).read_text() for name in ("mine", "folder/00001.svg")] == ["mine", "mine"]


@pytest.mark.parametrize("words", WRITING[1:], ids=[" ".join(map(str, words[:2])) for words in WRITING[1:]])
@pytest.mark.usefixtures("mine")
def test_with_force_a_command_goes_on_to_what_it_needs(here: Dogana, words: tuple[str, ...]) -> None:
    assert "is there already" not in here(*words, "--force", status=1).stderr


def test_with_force_a_record_and_a_page_are_replaced(dogana: Dogana, mine: Path) -> None:
    dogana(*PLAY, "--record", "mine", "--force")
    dogana("verify", "mine")
    (mine / "page.html").write_text("mine")
    dogana("replay", "mine", "--html", "page.html", "--force")
    assert (mine / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert not list(mine.glob("*.part"))


def test_records_in_a_folder_have_names_of_their_own(here: Dogana) -> None:
    for words in ((*PLAY, "--games", 2, "--record", "records"), PLAY):
        assert "--force is for the file of --record" in here(*words, "--force", status=1).stderr


def test_the_logs_of_a_match_that_is_played_again_are_kept_beside_the_first(dogana: Dogana, mine: Path) -> None:
    (mine / "bot.py").write_text("from dogana.sdk import play\nplay(lambda decision: 0)\n")
    for _ in range(2):
        dogana("play", "cargo_noir", "bot.py", "random", "--seed", 5, "-o", "last_turn=2", "--logs", "logs")
    assert len(list((mine / "logs").iterdir())) == 2


def test_empty_files_and_folders_devices_and_new_names_are_free(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("empty", "new", "pipe", "/dev/null", "/dev/zero"):
        check_free(tmp_path / name, force=False)
    for name in ("folder", "new"):
        check_free(tmp_path / name, force=False, is_folder=True)


def test_a_link_that_leads_nowhere_or_to_something_is_not_free(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to("mine")
    (tmp_path / "nowhere").symlink_to("nothing")
    (tmp_path / "circle").symlink_to("circle")
    for name in ("link", "nowhere", "circle"):
        with pytest.raises(AlreadyThere, match=f"{name} is there already; --force replaces it"):
            check_free(tmp_path / name, force=False)


def test_a_folder_is_no_file_and_a_file_no_folder_even_with_force(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="is a folder; name a file"):
        check_free(tmp_path, force=True)
    with pytest.raises(OSError, match="is a file; name a folder"):
        check_free(tmp_path / "file", force=True, is_folder=True)


def test_an_unused_name_keeps_its_ending(tmp_path: Path) -> None:
    assert unused(tmp_path / "a.log") == tmp_path / "a.log"
    (tmp_path / "a.log").touch()
    (tmp_path / "a-2.log").symlink_to("nowhere")
    assert unused(tmp_path / "a.log") == tmp_path / "a-3.log"
