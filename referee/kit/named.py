"""Numbers in actions that must stand for something: an action may come from anywhere, with any number in it."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeVar

from referee.game import IllegalAction

N = TypeVar("N", bound=IntEnum)


def named(names: type[N], number: int) -> N:
    """Return what a number in an action stands for.

    Raises:
        IllegalAction: if it stands for nothing.
    """
    try:
        return names(number)
    except ValueError:
        raise IllegalAction(f"there is no {names.__name__.lower()} {number!r}") from None
