"""Names that people could take for one another.

Names have ASCII letters, digits, dots, dashes and underscores, so a small table has all of them that look alike. Each digit
stands for another letter, so that bot1 and bot2 are never alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ORGANISER_NAME = "organiser"
"""Whom the list of changes names for the organiser; no author may be called so."""
_LOOKS_LIKE = str.maketrans("01234578i9", "olzeastblg")
_LETTERS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
"""Two letters that look like one."""
_SEPARATORS = re.compile(r"[._-]+", re.ASCII)
_VERSION = re.compile(r"([._-]+v[0-9lio]+|v[0-9]+)[._-]*", re.ASCII | re.IGNORECASE)
"""What reads like the version in `bot v1`, which is how tables and records call a bot."""


def skeleton(name: str) -> str:
    """Return what a name looks like at a glance: names with the same skeleton can be taken for one another."""
    text = _SEPARATORS.sub("", name.lower().translate(_LOOKS_LIKE))
    for letters, one in _LETTERS:
        text = text.replace(letters, one)
    return text


def without_version(name: str) -> str:
    """Return a name without a version at its end; empty if it is nothing else."""
    found = next((match for match in _VERSION.finditer(name) if match.end() == len(name)), None)
    return name if found is None else name[: found.start()]


def looks_like(name: str, others: Iterable[str]) -> str:
    """Return the first of some other names for which one could be taken, or for a version of which; empty if there is none."""
    own = {skeleton(name), skeleton(without_version(name))}
    return next((other for other in others if own & {skeleton(other), skeleton(without_version(other))}), "")
