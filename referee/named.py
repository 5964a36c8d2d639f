"""Convert numbers in actions to enum members. An action may come from anywhere and contain any number."""

from __future__ import annotations

import enum
from typing import TypeVar

from referee.game import IllegalAction

_Member = TypeVar("_Member", bound=enum.IntEnum)


def named(names: type[_Member], number: int) -> _Member:
    """Return the enum member with a given number.

    Raises:
        IllegalAction: if the enum has no such member.
    """
    try:
        return names(number)
    except ValueError:
        raise IllegalAction(f"there is no {names.__name__.lower()} {number!r}") from None
