"""Folders in which no ladder can be."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Dogana


def test_a_home_that_cannot_be_made_is_reported_in_words(dogana: Dogana, tmp_path: Path) -> None:
    """As in a file system that is read-only; nobody can make a folder in /proc either."""
    for words in (["serve", "--listen", "127.0.0.1:0"], ["submit", "bot.py", "--name", "b", "--author", "ann"]):
        (tmp_path / "bot.py").write_text("print()")
        said = dogana("ladder", *words, "--home", "/proc/1/nothing", status=1).stderr
        assert "/proc/1/nothing: " in said
        assert "Errno" not in said
        assert len(said.splitlines()) == 1
