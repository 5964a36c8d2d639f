"""Archives that tests have made, unpacked on every Python from 3.11 on."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path, filter_name: str = "data") -> None:
    """Unpack an archive through a filter of `tarfile`; Python 3.11.0 to 3.11.3, as in Debian 12, have no filters."""
    with tarfile.open(archive) as whole:
        whole.extraction_filter = getattr(tarfile, f"{filter_name}_filter", lambda member, _: member)
        whole.extractall(folder)  # noqa: S202 filtered
