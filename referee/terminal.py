"""Format text for terminals, and make untrusted text safe: it must not move the cursor, or hide or reorder output."""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
from collections.abc import Sequence

_CHUNK_BYTES = 512  # a ready pipe takes at least this much: POSIX's smallest PIPE_BUF

# `str.isprintable` is false for controls, escapes, bidirectional marks, line separators, lone surrogates and odd
# spaces. Unicode calls these printable although they are invisible: joiners, fillers, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def visible(text: str, limit: int | None = None) -> str:
    r"""Return a text with every invisible or misleading character escaped, such as `\x1b` or `\u202e`.

    Line breaks are escaped too, so the result is one line.

    Args:
        text: any text, including lone surrogates.
        limit: the maximum number of characters of `text`; a longer text is cut and ends with dots.
    """
    # The text is cut before anything is escaped, because the work must not grow with a stranger's text.
    if limit is not None and len(text) > limit:
        text = text[: limit - 3] + "..."
    if not text.isprintable():
        text = "".join(char if char.isprintable() else _escaped(char) for char in text)
    return _UNSEEN.sub(lambda found: _escaped(found[0]), text)


def counted(number: int, one: str, more: str = "") -> str:
    """Return a number with its noun, as in "1 match" and "2 matches"; the plural ends in s unless it is given."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Return one or more names joined, as in "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def visible_lines(text: str) -> str:
    """Return a text of several lines, each made safe by `visible`; tabs are kept."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()


class Remarks(io.TextIOBase):
    """A text stream to standard error that never makes the program wait.

    A referee must not stop because nobody reads its standard error. Text that does not fit into the pipe is dropped;
    when there is room again, a line says how much is missing. Writing never raises an error, because nobody could see
    it.
    """

    def __init__(self, descriptor: int = 2, *, styled: bool = False) -> None:
        """Write to a file descriptor.

        Args:
            descriptor: the descriptor; it stays open.
            styled: whether the text contains its own terminal escapes and has already passed `visible`; other text is made
                safe here.
        """
        self._descriptor = descriptor
        self._styled = styled
        self._dropped = 0
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has an attribute
        """The encoding, which is always UTF-8."""
        return "utf-8"

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return whether the descriptor is a terminal."""
        return os.isatty(self._descriptor)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def write(self, text: str) -> int:
        """Write a text, or the part of it that fits."""
        data = (text if self._styled else visible_lines(text)).encode(errors="backslashreplace")
        if (
            self._dropped
            and self._put(f"... {self._dropped} bytes were not shown: nobody read them ...\n".encode()) == 0
        ):
            self._dropped = 0
        # Nothing is written before the line that says how much is missing.
        self._dropped += len(data) if self._dropped else self._put(data)
        return len(text)

    def _put(self, data: bytes) -> int:
        """Write without waiting; return the number of bytes that did not fit."""
        left = memoryview(data)
        with contextlib.suppress(OSError):
            while left and any(event & select.POLLOUT for _, event in self._poll.poll(0)):
                left = left[os.write(self._descriptor, left[:_CHUNK_BYTES]) :]
        return len(left)
