"""What can be wrong with the files of a bot."""

from __future__ import annotations

from referee.errors import DoganaError


class BadBot(DoganaError):
    """The files of a bot cannot be taken in."""


class BadManifest(BadBot):
    """Its `bot.toml` cannot be read, or says something that cannot be."""


class NoProgram(BadBot):
    """It is not clear how it is started, or it cannot be started in that way."""


class DiskFull(DoganaError):
    """There is no room for the files of a bot. Nothing is left of them, and it can be tried again when there is."""
