"""The files of a submitted version come back as they were, to its author and the organiser only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.model.match import HOUSE, HOUSE_PREFIX, Version
from ladder.operation.errors import Forbidden, LadderError, NotFound
from ladder.operation.home import Home
from ladder.questions.caller import ANYBODY, ORGANISER, Caller
from ladder.questions.desk import Desk
from ladder.questions.files import FilesRequest
from referee.bots.files import make_writable, taken_in
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana

__all__ = ["dogana"]

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def submitted(home: Home, path: Path, author: str = "ann") -> Version:
    version, _ = submit(home, path, "mybot", author, author, at_tables=False)
    return version


def sent(home: Home, bot: str, caller: Caller = ORGANISER) -> bytes:
    return b"".join(Desk(home, caller).ask(FilesRequest(bot=bot)).pieces)


def folder_of_all_kinds(folder: Path) -> Path:
    (folder / "däta").mkdir(parents=True)
    (folder / "bot.py").write_text(BOT)
    (folder / "bot.toml").write_text('games = ["yunnan"]\n')
    (folder / "däta" / "weights").write_bytes(bytes(range(256)) * 100)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "latest").symlink_to("däta/weights")
    return folder


def test_an_archive_has_all_that_was_submitted(home: Home, tmp_path: Path) -> None:
    version = submitted(home, folder_of_all_kinds(tmp_path / "mybot"))
    archive = tmp_path / "old.tar.gz"
    archive.write_bytes(sent(home, "mybot"))
    with taken_in(archive) as (_, artefact):
        assert (artefact.content_hash, artefact.run, artefact.games) == (
            version.content_hash,
            version.run,
            version.games,
        )


def test_a_bot_of_one_file_comes_back_as_a_bot(home: Home, tmp_path: Path) -> None:
    (tmp_path / "swift.py").write_text(BOT)
    version = submitted(home, tmp_path / "swift.py")
    archive = tmp_path / "old.tar.gz"
    archive.write_bytes(sent(home, "mybot v1"))
    with taken_in(archive) as (_, artefact):
        assert (artefact.content_hash, artefact.run) == (version.content_hash, version.run)


def test_a_bot_has_the_files_of_its_newest_version(home: Home, tmp_path: Path) -> None:
    for text in (BOT, BOT + "\n"):
        (tmp_path / "mybot.py").write_text(text)
        submitted(home, tmp_path / "mybot.py")
    assert sent(home, "mybot") == sent(home, "mybot v2") != sent(home, "mybot v1")


def test_an_archive_says_nothing_of_the_machine_and_is_the_same_each_time(home: Home, tmp_path: Path) -> None:
    submitted(home, folder_of_all_kinds(tmp_path / "mybot"))
    assert sent(home, "mybot") == sent(home, "mybot")
    archive = tmp_path / "old.tar.gz"
    archive.write_bytes(sent(home, "mybot"))
    for path in home.versions.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1, 1))
    assert archive.read_bytes() == sent(home, "mybot")


def test_only_its_author_and_the_organiser_get_a_bot(home: Home, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(BOT)
    submitted(home, tmp_path / "mybot.py")
    assert sent(home, "mybot", Caller("ann")) == sent(home, "mybot")
    for other in (Caller("eve"), ANYBODY):
        with pytest.raises(Forbidden, match="mybot is another author's bot"):
            sent(home, "mybot", other)
    with pytest.raises(NotFound, match="there is no bot 'mybt'; did you mean"):
        sent(home, "mybt")


def test_a_ladder_without_the_files_says_why(home: Home, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(BOT)
    version = submitted(home, tmp_path / "mybot.py")
    with Store(home.database, create=False) as facts, facts.writing():
        facts.roster.add_version("greedy", HOUSE, f"{HOUSE_PREFIX}greedy", [], ["yunnan"], "Python")
    with pytest.raises(LadderError, match="it comes with Dogana"):
        sent(home, "greedy")
    make_writable(home.versions)
    (home.versions / version.content_hash).rename(home.versions / "gone")
    with pytest.raises(LadderError, match="the files of mybot v1 are gone; submit it again"):
        sent(home, "mybot")


@pytest.mark.long
def test_an_old_version_takes_a_seat_against_the_new_one(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(BOT)
    dogana("ladder", "submit", "mybot.py", "--home", "home", "--author", "ann")
    written = dogana("ladder", "files", "mybot v1", "--to", "old.tar.gz", "--home", "home").stdout
    assert "old.tar.gz has" in written
    (tmp_path / "mybot.py").write_text(BOT + "\n")
    compared = dogana("compare", "mybot.py", "old.tar.gz", "--game", "yunnan", "--max", "10", status=2).stderr
    assert "both have played identically in 10 blocks" in compared
    again = dogana("ladder", "files", "mybot v1", "--to", "old.tar.gz", "--home", "home", status=1).stderr
    assert "--force" in again
