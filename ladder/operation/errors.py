"""What can be wrong with a ladder or a bot."""

from __future__ import annotations

from referee.errors import DoganaError


class LadderError(DoganaError):
    """A ladder cannot do what it was asked for."""


class BadHome(LadderError):
    """The files of the ladder cannot be used. The text names them: it is for who has them, and for nobody elsewhere."""


class Busy(BadHome):
    """Another program keeps the file of the ladder locked. Nothing was changed, and it can be tried again."""


class NoRoom(BadHome):
    """The disk of the ladder is full. Nothing was changed, and it can be tried again when there is room."""


class NotFound(LadderError):
    """There is nothing of that name; the text names what is alike."""


class Forbidden(LadderError):
    """Who asks may not see or do that."""


class Unauthenticated(LadderError):
    """The token that was shown is worth nothing."""


class TooMuch(LadderError):
    """Who asks has asked for too much; the text says when to come back.

    Attributes:
        seconds: the same for programs: after how many seconds.
    """

    def __init__(self, text: str, seconds: int = 60) -> None:
        super().__init__(text)
        self.seconds = seconds


class Replaced(LadderError):
    """A newer connection has taken the place of this one."""


class Silent(LadderError):
    """Nothing is heard any more of who was connected."""


class CannotPlay(LadderError):
    """A version or a match that was scheduled cannot be played."""


class TooFew(LadderError):
    """There are too few bots for a match."""


class SealBroken(LadderError):
    """The seed of a match cannot be revealed, because its record is not the one that was counted."""
