"""Errors of files, in words for people, and folders that one process at a time may change."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from referee.errors import DoganaError
from referee.files import in_words, locked_folder, read_file

NOT_THERE = os.strerror(errno.ENOENT)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOENT, NOT_THERE, "x"), "x: there is no such file or folder, nor can it be made"),
        (OSError(errno.ENOENT, "the archive has no such entry", "x"), "x: the archive has no such entry"),
        (OSError(errno.EIO, os.strerror(errno.EIO), "x"), f"x: {os.strerror(errno.EIO)}"),
        (OSError(errno.ENOENT, NOT_THERE), NOT_THERE),
        (OSError("the disk is gone"), "the disk is gone"),
        (ValueError("no number"), "no number"),
    ],
)
def test_an_error_is_a_sentence_only_where_the_system_is_too_brief(error: Exception, words: str) -> None:
    assert in_words(error) == words


def test_a_file_to_read_that_is_not_there_need_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read_file(tmp_path / "key.pub", 10)
    assert in_words(caught.value) == f"{tmp_path}/key.pub: there is no such file"


def test_a_folder_has_one_lock_until_its_holder_is_done(tmp_path: Path) -> None:
    with locked_folder(tmp_path, DoganaError("first")), pytest.raises(DoganaError, match=r"^busy$"):
        locked_folder(tmp_path, DoganaError("busy")).__enter__()
    with locked_folder(tmp_path, DoganaError("busy")):
        pass


def test_a_file_system_without_locks_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with locked_folder(tmp_path, DoganaError("busy")):
        pass
