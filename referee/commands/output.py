"""The output of all commands: tables, JSON, remarks, and the names of files.

All output goes through this module, which escapes text from strangers (`referee.terminal`): names, details, file names
and last words of bots cannot send escape sequences to the terminal, whatever a command prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from referee.terminal import Remarks, visible, visible_lines


class _VisibleConsole(Console):
    """A console that prints strings literally: without markup, emoji codes or escape sequences."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **arguments)

    @override
    def render_str(self, text: str, **arguments: Any) -> Text:
        return super().render_str(visible(text), **arguments)

    @override
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        # Only plain strings pass through `render_str`. Control segments are the console's own.
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible_lines(segment.text))


SEAT_OUT = 3
"""The exit status of `dogana play` if a seat was put out in a match; docs/writing_a_bot.md lists all statuses."""

# Rich would print only 80 columns into a pipe or a file.
out = _VisibleConsole(width=None if sys.stdout.isatty() else 120)
"""The console for results."""
err = _VisibleConsole(file=Remarks(styled=True))
"""The console for progress and remarks; printing never waits for the reader."""


def styled(*parts: str | tuple[str, str]) -> Text:
    """Join texts, with or without a style, into one line."""
    return Text.assemble(*(visible(part) if isinstance(part, str) else (visible(part[0]), part[1]) for part in parts))


def frame(*parts: str | Text | Table) -> RenderableType:
    """Stack lines and tables, for a terminal that is redrawn; long lines are cut."""
    lines = [styled(part) if isinstance(part, str) else part for part in parts]
    for line in lines:
        if isinstance(line, Text):
            line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)


def print_json(value: Any) -> None:
    """Print one JSON value on a line of its own, in ASCII."""
    sys.stdout.write(
        json.dumps(value).replace("\x7f", "\\u007f") + "\n"
    )  # the only control character that JSON does not escape
    sys.stdout.flush()  # a program may read each line as it comes, but a pipe is buffered


def target(text: str) -> Path:
    """Read the name of a file or folder; refuse an empty one, which `Path` would take for the current folder."""
    if not text:
        raise typer.BadParameter("needs the name of a file or folder")
    return Path(text)
