"""Names that people could confuse.

Names consist of ASCII letters, digits, dots, dashes and underscores, so a small table contains all characters that look
alike. Each digit stands for a different letter, so that bot1 and bot2 are never alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ORGANISER_NAME = "organiser"
"""The organiser's name in the list of changes; no author may have it."""
_LOOKS_LIKE = str.maketrans("01234578i9", "olzeastblg")
_LETTERS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
"""Pairs of letters that look like one letter."""
_SEPARATORS = re.compile(r"[._-]+", re.ASCII)
_VERSION = re.compile(r"([._-]+v[0-9lio]+|v[0-9]+)[._-]*", re.ASCII | re.IGNORECASE)
"""The pattern of text that looks like the version in `bot v1`, the name of a version in tables and records."""


def skeleton(name: str) -> str:
    """Return the visual skeleton of a name: names with the same skeleton can be confused."""
    # Separators are removed before the search for pairs, so that `r-n` looks like `m`, too.
    text = _SEPARATORS.sub("", name.lower().translate(_LOOKS_LIKE))
    for letters, one in _LETTERS:
        text = text.replace(letters, one)
    return text


def without_version(name: str) -> str:
    """Return a name without a version at its end; empty if the name is only a version."""
    found = next((match for match in _VERSION.finditer(name) if match.end() == len(name)), None)
    return name if found is None else name[: found.start()]


def looks_like(name: str, others: Iterable[str]) -> str:
    """Return the first of `others` that could be confused with a name, ignoring versions; empty if there is none."""
    own = {skeleton(name), skeleton(without_version(name))}
    return next((other for other in others if own & {skeleton(other), skeleton(without_version(other))}), "")
