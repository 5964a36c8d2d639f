"""The options of a game: settings that are agreed before a match."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mypy_extensions import mypyc_attr

OptionValue = str | int | bool
"""The value of an option."""


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Distinct:
    """The values of an option that is a list of distinct words, such as `red+green+blue`."""

    words: tuple[str, ...]
    """The words that the list may contain, each at most once, in any order."""


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Option:
    """A setting that is agreed before a match, such as a variant of the rules."""

    name: str
    """The option's name, in lower case with underscores."""
    values: tuple[str | bool | range | Distinct, ...]
    """The possible values: words, `True` and `False`, ranges of integers, and lists of distinct words."""
    default: OptionValue
    """The value that the option has if none is given."""
    help: str
    """A description of the option, in one line."""
    rule: str
    """The number of the rule that describes the option."""

    def parse(self, value: object) -> OptionValue:
        """Convert a value from a command line or a file.

        Raises:
            ValueError: if the option cannot have this value; the text names the possible values.
        """
        for choice in self.values:
            if isinstance(choice, range):
                if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value, re.ASCII) and int(value) in choice:
                    return int(value)
                if type(value) is int and value in choice:
                    return value
            elif isinstance(choice, Distinct):
                chosen = value.split("+") if isinstance(value, str) else []
                if isinstance(value, str) and set(chosen) <= set(choice.words) and len(set(chosen)) == len(chosen):
                    return value
            elif (type(value) is type(choice) and value == choice) or value == str(choice).lower():
                return choice
        raise ValueError(f"option {self.name} can be {self.describe_values()}, not {value!r}")

    def describe_values(self) -> str:
        """Return the possible values in words, such as `random or a number from 0 to 4`."""
        return " or ".join(map(_described, self.values))


OPENINGS = "openings"
"""The name of the option for the number of random decisions at the start of a match."""
MAX_OPENINGS = 50


def openings(usual: int) -> Option:
    """Return the option for random decisions at the start, which the seed determines (`referee/match/opening.py`).

    Args:
        usual: the default. A game without chance after the start needs some: otherwise, bots without chance would
            repeat their matches.
    """
    return Option(
        OPENINGS, (range(MAX_OPENINGS + 1),), usual, "the number of random decisions at the start of a match", ""
    )


def _described(choice: str | bool | range | Distinct) -> str:
    if isinstance(choice, range):
        return f"a number from {choice.start} to {choice.stop - 1}"
    if isinstance(choice, Distinct):
        return f"a list of {', '.join(choice.words)}, such as {'+'.join(choice.words[:3])}"
    return str(choice).lower()
