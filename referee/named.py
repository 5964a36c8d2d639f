"""The members of enums that numbers in actions stand for. An action may come from anywhere, with any number in it."""

from __future__ import annotations

import enum
from typing import TypeVar

from referee.game import IllegalAction

_Member = TypeVar("_Member", bound=enum.IntEnum)


def named(names: type[_Member], number: int) -> _Member:
    """Return the member that a number stands for.

    Raises:
        IllegalAction: if it stands for none.
    """
    try:
        return names(number)
    except ValueError:
        raise IllegalAction(f"there is no {names.__name__.lower()} {number!r}") from None
