"""The errors of a ladder."""

from __future__ import annotations

from collections.abc import Sequence

from referee.errors import DoganaError


class LadderError(DoganaError):
    """A ladder cannot carry out a request.

    Attributes:
        command: the `dogana ladder` command that helps, such as `bots`; empty if none does. Only commands print it,
            after `lead`.
        lead: the words before the command.
    """

    def __init__(self, text: str, command: str = "", lead: str = "see") -> None:
        super().__init__(text)
        self.command = command
        self.lead = lead


class BadName(LadderError):
    """The name of a bot or an author is not allowed, or is already taken."""


class BadHome(LadderError):
    """The files of the ladder cannot be used. The text names the files, so only people on the ladder's machine may read it."""


class Busy(BadHome):
    """Another program keeps the database locked. Nothing was changed, and the caller can try again."""


class NoRoom(BadHome):
    """The disk of the ladder is full. Nothing was changed, and the caller can try again when there is room."""


class NotFound(LadderError):
    """Nothing has that name; the text suggests similar names."""


def no_such(thing: str, alike: Sequence[str], command: str) -> NotFound:
    """Return the error for a name that does not exist.

    Args:
        thing: the kind of thing with the name, such as `bot 'mybot'`.
        alike: similar names; if there are none, the error contains the command.
        command: the `dogana ladder` command that lists all names.
    """
    if alike:
        return NotFound(f"there is no {thing}; did you mean {', '.join(map(repr, alike))}?")
    return NotFound(f"there is no {thing}", command)


class Forbidden(LadderError):
    """The caller may not see or do this."""


class Unauthenticated(LadderError):
    """The caller's token is not valid."""


class TooMuch(LadderError):
    """The caller has exceeded a limit; the text says when to come back.

    Attributes:
        seconds: the number of seconds to wait, for programs.
    """

    def __init__(self, text: str, seconds: int = 60) -> None:
        super().__init__(text)
        self.seconds = seconds


class Replaced(LadderError):
    """A newer connection has replaced this one."""


class Silent(LadderError):
    """A connected program no longer responds."""


class CannotPlay(LadderError):
    """A scheduled version or match cannot be played."""


class TooFew(LadderError):
    """There are too few bots for a match."""


class SealBroken(LadderError):
    """The seed of a match cannot be revealed, because its record is not the one that was counted."""
