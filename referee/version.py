"""The name and the version under which Dogana is installed."""

from __future__ import annotations

from importlib.metadata import version

DISTRIBUTION = "dogana-arena"
"""What packages and indexes call Dogana; `dogana` on PyPI is somebody else's."""


def installed_version() -> str:
    """Return the version of the Dogana that is running, as pyproject.toml has set it."""
    return version(DISTRIBUTION)
