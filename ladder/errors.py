"""What can be wrong with a ladder or a bot."""

from __future__ import annotations

from referee.errors import DoganaError


class LadderError(DoganaError):
    """A ladder cannot do what it was asked for."""


class BadBot(DoganaError):
    """A submitted bot cannot be taken in."""
