"""Where a ladder keeps its things.

ladder.db        what is known (`store.py`)
versions/        the files of each version, by content
records/         a record for each match
logs/            what bots wrote in a match, a file for each seat, for their authors
run.lock         held while a run goes on
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ladder.errors import LadderError


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of a ladder."""

    folder: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "ladder.db"

    @property
    def versions(self) -> Path:
        """The folder with the files of all versions."""
        return self.folder.absolute() / "versions"

    @property
    def records(self) -> Path:
        """The folder with all records."""
        return self.folder.absolute() / "records"

    @contextmanager
    def only_run(self) -> Iterator[None]:
        """Hold the lock of the ladder's runs, so that there is one at a time.

        Raises:
            LadderError: if somebody else holds it.
        """
        with (self.folder / "run.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise LadderError(f"another run is going on in {self.folder}; wait until it ends") from error
            yield

    def record(self, match_id: str) -> Path:
        """Return the path of a match's record."""
        return self.records / f"{match_id}.jsonl"

    def logs(self, match_id: str) -> Path:
        """Return the folder of what the bots of a match wrote."""
        return self.folder.absolute() / "logs" / match_id
