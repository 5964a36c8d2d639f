"""Errors of files, in words for people."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from referee.files import in_words, read_file

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
