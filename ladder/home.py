"""Where a ladder keeps its things.

ladder.db        what is known (`store.py`)
versions/        the files of each version, by content
records/         a record for each match, in a folder for each beginning of an id
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
        """Return where the record of a match is written, in a folder that many matches share."""
        return self.records / match_id[:2] / f"{match_id}.jsonl"

    def sealed_record(self, match_id: str) -> Path:
        """Return where the record of a match is when its seed is revealed."""
        return self.records / match_id[:2] / f"{match_id}.jsonl.zst"

    def find_record(self, match_id: str) -> Path:
        """Return where the record of a match is now: sealed, as it was written, or where older versions kept it."""
        for path in (self.sealed_record(match_id), self.record(match_id)):
            if path.exists():
                return path
        return self.records / f"{match_id}.jsonl"

    def logs(self, match_id: str) -> Path:
        """Return the folder of what the bots of a match wrote."""
        return self.folder.absolute() / "logs" / match_id
