"""The base of all errors that a person can fix."""

from __future__ import annotations


class DoganaError(Exception):
    """An error that the user, the organiser or a bot's author can fix. The text names the place, the cause and the remedy.

    Commands print it as one line and exit with status 1. Errors of other classes are bugs in Dogana.
    """
