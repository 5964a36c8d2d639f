"""The running matches, with their addresses for spectators. Each match has a small file while it lasts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from ladder.model.match import Match
from ladder.operation.home import Home
from referee.files import private_folder, read_file, unfinished

_MAX_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Playing:
    """A running match."""

    match_id: str
    address: str
    """The address of the referee, in the match's worker."""
    started_at: str
    """The time at which the agents of the match were started, in ISO 8601, UTC."""


@contextmanager
def announced(home: Home, match: Match, address: str) -> Iterator[None]:
    """List a match as running in this context, if it belongs to a block.

    Qualifying matches and trials are not for spectators.
    """
    if match.block is None:
        yield
        return
    private_folder(home.playing)
    file = home.playing / match.match_id
    part = unfinished(file)
    part.write_text(json.dumps({"address": address, "started_at": datetime.now(UTC).isoformat(timespec="seconds")}))
    part.replace(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def playing(home: Home) -> list[Playing]:
    """Return the running matches, oldest first."""
    found = []
    for file in home.playing.iterdir() if home.playing.is_dir() else ():
        if file.suffix == ".part":  # see `unfinished`
            continue
        try:
            found.append(Playing(file.name, **json.loads(read_file(file, _MAX_BYTES))))
        except (OSError, ValueError, TypeError):  # the match has just ended, or the file is incomplete
            continue
    return sorted(found, key=lambda one: (one.started_at, one.match_id))


def sweep(home: Home) -> None:
    """Remove the files that killed workers have left behind; call it while no match is running."""
    for file in home.playing.iterdir() if home.playing.is_dir() else ():
        file.unlink(missing_ok=True)
