"""The name and version of the installed Dogana."""

from __future__ import annotations

from importlib.metadata import version

DISTRIBUTION = "dogana-arena"
"""The name of Dogana's distribution on package indexes; `dogana` on PyPI belongs to somebody else."""


def installed_version() -> str:
    """Return the version of the running Dogana, as set in pyproject.toml."""
    return version(DISTRIBUTION)
