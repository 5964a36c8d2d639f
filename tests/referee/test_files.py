"""Errors of files, in words for people."""

from __future__ import annotations

import errno
import os

import pytest

from referee.files import in_words

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
