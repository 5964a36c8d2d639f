"""Where a ladder keeps its things.

ladder.db        what is known (`store.py`)
versions/        the files of each version, by content
records/         a record for each match
logs/            what bots wrote in a match, a file for each seat, for their authors
run.lock         held while a run goes on
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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

    @property
    def lock(self) -> Path:
        """The file that a run locks, so that there is one run at a time."""
        return self.folder / "run.lock"

    def record(self, match_id: str) -> Path:
        """Return the path of a match's record."""
        return self.records / f"{match_id}.jsonl"

    def logs(self, match_id: str) -> Path:
        """Return the folder of what the bots of a match wrote."""
        return self.folder.absolute() / "logs" / match_id
