"""Style sheets and scripts under names that change with their content, so that browsers may cache them for ever."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    """A style sheet or script."""

    path: str
    """The path of the file, such as `static/dogana-0123456789ab.css`."""
    content: bytes
    media_type: str


@cache
def assets() -> dict[str, Asset]:
    """Return all files in `static/` by name."""
    found = {}
    for file in sorted(resources.files("ladder.http").joinpath("static").iterdir(), key=lambda file: file.name):
        content = file.read_bytes()
        stem, _, ending = file.name.rpartition(".")
        digest = hashlib.sha256(content).hexdigest()[:12]
        found[file.name] = Asset(f"static/{stem}-{digest}.{ending}", content, _TYPES[ending])
    return found


@cache
def assets_by_path() -> dict[str, Asset]:
    """Return all files in `static/` by path."""
    return {asset.path: asset for asset in assets().values()}
