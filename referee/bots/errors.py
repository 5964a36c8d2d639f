"""Errors in the files of a bot."""

from __future__ import annotations

from referee.errors import DoganaError


class BadBot(DoganaError):
    """The files of a bot cannot be accepted."""


class BadManifest(BadBot):
    """The bot's `bot.toml` cannot be read, or contains an impossible value."""


class NoProgram(BadBot):
    """The command that starts the bot is unclear, or cannot work."""


class DiskFull(DoganaError):
    """There is no room for the files of a bot. All of them are removed, so the submission can be repeated later."""
