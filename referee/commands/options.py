"""What several commands are told in the same words: a clock, and the options of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from referee.errors import DoganaError
from referee.match.clock import TimeControl

DEFAULT_CLOCK = "60+0.5/10"
ClockOption = Annotated[str, typer.Option(help="bank+increment/cap in seconds, for each seat.")]
GameOptions = Annotated[
    list[str] | None, typer.Option("--option", "-o", help="Set an option of the game.", metavar="K=V")
]


class BadOption(DoganaError):
    """An option of a command cannot be read; the text says why."""


def read_clock(text: str) -> TimeControl:
    """Read a clock.

    Raises:
        BadOption: if it is none.
    """
    try:
        return TimeControl.parse(text)
    except ValueError as error:
        raise BadOption(str(error)) from error


def read_options(entries: Sequence[str]) -> dict[str, str]:
    """Read options of a game, each written as NAME=VALUE; the game judges them.

    Raises:
        BadOption: if one is written in another way, or given twice.
    """
    chosen: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise BadOption(f"option {entry!r} must be written as NAME=VALUE")
        if name in chosen:
            raise BadOption(f"option {name} is given twice")
        chosen[name] = value
    return chosen
