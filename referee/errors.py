"""The base of all errors that a person can mend."""

from __future__ import annotations


class DoganaError(Exception):
    """Something that the user, the organiser or a bot's author can mend. The text says what was wrong, where, and what to do.

    Commands print it as one line and end with status 1. Errors of other classes are ours.
    """
