"""The parts of a page in docs/ that a command writes, each between two marks in the page; the rest is written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def marks(command: str, part: str = "") -> tuple[str, str]:
    """Return the lines before and after a part that a command writes; `part` is empty if it writes only one."""
    begin, end = (f"<!-- written by `{command}`{part and f', {part}'}: {side} -->" for side in ("begin", "end"))
    return begin, end


def fill(page: Path, command: str, parts: Mapping[str, str]) -> None:
    """Replace parts of a page.

    Args:
        page: the file, in Markdown.
        command: the command that writes the parts, such as ``make luck``.
        parts: their texts by name.

    Raises:
        ValueError: if the page has no marks for a part.
    """
    text = page.read_text(encoding="utf-8")
    for name, written in parts.items():
        begin, end = marks(command, name)
        # Unpacking fails unless the page contains the mark exactly once.
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{written}\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")
