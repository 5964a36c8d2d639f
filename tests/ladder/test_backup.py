"""A copy of a ladder, taken while it runs, is a whole ladder."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.backup import backup
from ladder.archive.key import ladder_key, new_key
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.operation.sqlite_file import SqliteFile
from referee.bots.files import hash_of
from tests.archives import unpack
from tests.commands.conftest import Dogana, dogana
from tests.ladder.archived import find_logs, logged
from tests.ladder.made import ladder, next_matches
from tests.ladder.soak import finish, results, start_run, submit, wait_for_results
from tests.ladder.test_intake import linked

__all__ = ["dogana"]


@pytest.mark.long
def test_a_backup_that_is_taken_while_a_run_goes_on_is_a_whole_ladder(dogana: Dogana, tmp_path: Path) -> None:
    finish(submit(tmp_path, "mybot", 0))
    run = start_run(tmp_path, 1000)
    try:
        wait_for_results(tmp_path, 3)
        assert "to restore it, unpack it" in dogana("ladder", "backup", "monday.tar", "--home", "home").stdout
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate()
    archive = tmp_path / "monday.tar"
    assert archive.stat().st_mode & 0o777 == 0o600
    unpack(archive, tmp_path / "restored" / "home")
    home, restored = Home(tmp_path / "home"), Home(tmp_path / "restored" / "home")
    assert logged(restored)
    assert all(find_logs(restored, match_id) == find_logs(home, match_id) for match_id in logged(restored))
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "restored/home").stdout
    found = results(tmp_path / "restored")
    assert 3 <= found <= results(tmp_path)
    dogana("ladder", "run", "--game", "cargo_noir", "--matches", 1, "--home", "restored/home", "--unconfined")
    assert results(tmp_path / "restored") > found


def test_a_backup_never_replaces_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.tar"
    file.write_text("mine")
    (tmp_path / "home").mkdir()
    with ladder(tmp_path / "home") as store, pytest.raises(LadderError, match=r"mine\.tar is there already"):
        backup(Home(tmp_path / "home"), store, file)
    assert file.read_text() == "mine"


def test_a_backup_does_not_replace_a_file_that_has_appeared_while_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.tar"
    copy_to = SqliteFile.copy_to

    def neighbour(*arguments: Any) -> None:
        copy_to(*arguments)
        file.write_text("mine")

    monkeypatch.setattr(SqliteFile, "copy_to", neighbour)
    (tmp_path / "home").mkdir()
    with ladder(tmp_path / "home") as store, pytest.raises(LadderError, match=r"mine\.tar is there already"):
        backup(Home(tmp_path / "home"), store, file)
    assert file.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"home", "mine.tar"}


def test_a_backup_has_the_key_that_its_database_names_though_another_one_replaces_it_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, copy_to = Home(tmp_path / "home"), SqliteFile.copy_to
    home.make()

    def neighbour(*arguments: Any) -> None:
        copy_to(*arguments)
        monkeypatch.undo()
        with Store(home.database, create=False) as own:
            new_key(home, own, replace=True)

    with ladder(home.folder) as store:
        ladder_key(home, store)
        monkeypatch.setattr(SqliteFile, "copy_to", neighbour)
        backup(home, store, tmp_path / "mine.tar")
    unpack(tmp_path / "mine.tar", tmp_path / "restored")
    restored = Home(tmp_path / "restored")
    assert restored.key.stat().st_mode & 0o777 == 0o600
    with Store(restored.database, create=False) as store:
        assert ladder_key(restored, store).public.text == store.log.key()


def test_a_backup_replaces_the_file_that_a_link_leads_to(tmp_path: Path) -> None:
    link, file = tmp_path / "monday.tar", tmp_path / "other disk" / "backup.tar"
    file.parent.mkdir()
    file.touch()
    link.symlink_to(file)
    (tmp_path / "home").mkdir()
    with ladder(tmp_path / "home") as store:
        size = backup(Home(tmp_path / "home"), store, link, replaces=True)
    assert link.is_symlink()
    assert file.stat().st_size == size > 0
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("max_bytes", [40_000, 1_000_000], ids=["the copy of the database", "the archive"])
def test_a_backup_that_finds_no_room_says_so_in_one_line_and_leaves_nothing(
    dogana: Dogana, tmp_path: Path, max_bytes: int
) -> None:
    (tmp_path / "home").mkdir()
    with ladder(tmp_path / "home") as store:
        for seed in range(100):
            next_matches(store, seed)
    version = Home(tmp_path / "home").versions / "abc"
    version.mkdir(parents=True)
    (version / "data").write_bytes(bytes(2_000_000))
    before = sorted(tmp_path.rglob("*"))
    ended = dogana("ladder", "backup", "full.tar", "--home", "home", status=1, max_bytes=max_bytes)
    assert len(ended.stderr.splitlines()) == 1
    assert "full.tar" in ended.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_the_links_of_a_bot_are_links_in_a_backup(dogana: Dogana, tmp_path: Path) -> None:
    """Copies of the files that they lead to would be another version."""
    [folder, *_] = linked(tmp_path, {"tool": "bot", "lib64": "data", "python3": "/usr/bin/env", "nowhere": "data/x"})
    dogana("ladder", "submit", folder, "--name", "mybot", "--author", "me", "--home", "home")
    dogana("ladder", "backup", "monday.tar", "--home", "home")
    unpack(tmp_path / "monday.tar", tmp_path / "restored", "tar")
    [version] = (tmp_path / "restored" / "versions").iterdir()
    assert hash_of(version) == version.name
