"""Where a ladder keeps its things.

ladder.db        what is known (`store.py`)
versions/        the files of each version, by content
records/         a record for each match, in a folder for each beginning of an id
logs/            for each match what its bots wrote, a file for each seat; what they used; the position in which a house bot failed
runtimes/        what bots may use besides the usual programs: folders, or links to them; the organiser makes it
key.pem          what signs records and the audit log; only this user can read it (`key.py`)
key.pub          the public key that belongs to it
playing/         where each match can be watched that is being played (`playing.py`)
run.lock         held while a run goes on
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ladder.errors import LadderError
from referee.files import private_folder

_BEGINNING = re.compile(r"[A-Za-z0-9-]{2,}", re.ASCII)
"""What the id of a match can begin with; it leads nowhere else, and no character of it is a pattern."""


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
    def all_logs(self) -> Path:
        """The folder with a folder of logs for each match."""
        return self.folder.absolute() / "logs"

    @property
    def key(self) -> Path:
        """The file with the private key."""
        return self.folder / "key.pem"

    @property
    def public_key(self) -> Path:
        """The file with the public key."""
        return self.folder / "key.pub"

    @property
    def playing(self) -> Path:
        """The folder with a file for each match that is being played."""
        return self.folder.absolute() / "playing"

    def make(self) -> None:
        """Make the folder, unless it is there.

        Raises:
            LadderError: if it has something else in it than a ladder.
        """
        inside = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        if inside - {self.versions.name} and self.database.name not in inside:
            raise LadderError(f"{self.folder} is neither a ladder nor an empty folder")
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        private_folder(self.folder)

    def runtimes(self) -> list[Path]:
        """Return the folders of the runtimes that the organiser offers."""
        folder = self.folder / "runtimes"
        return sorted(entry.resolve() for entry in folder.iterdir()) if folder.is_dir() else []

    @contextmanager
    def only_run(self) -> Iterator[None]:
        """Hold the lock of the ladder's runs, so that there is one at a time.

        Raises:
            LadderError: if somebody else holds it.
        """
        lock_file = os.open(self.folder / "run.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(lock_file, "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise LadderError(
                    f"another run is going on in {self.folder}, or it is served; wait until that ends, or end it"
                ) from error
            yield

    def record(self, match_id: str) -> Path:
        """Return where the record of a match is written, in a folder that many matches share."""
        return self.records / match_id[:2] / f"{match_id}.jsonl"

    def sealed_record(self, match_id: str) -> Path:
        """Return where the record of a match is when its seed is revealed."""
        return self.records / match_id[:2] / f"{match_id}.jsonl.zst"

    def find_record(self, match_id: str) -> Path:
        """Return where the record of a match is now: sealed, as it was written, or where older versions kept it.

        If there is no record, return where it would be written.
        """
        places = (self.sealed_record(match_id), self.record(match_id), self.records / f"{match_id}.jsonl")
        return next((path for path in places if path.exists()), self.record(match_id))

    def recorded(self, beginning: str) -> list[str]:
        """Return the ids of the matches that have a record and begin like this, with two characters at least."""
        if not _BEGINNING.fullmatch(beginning):
            return []
        found = self.records.glob(f"{beginning[:2]}/{beginning}*.jsonl*")
        return sorted({path.name.partition(".")[0] for path in found if path.suffix != ".part"})

    def log(self, match_id: str, seat: int) -> Path:
        """Return where it is kept what the bot in a seat wrote."""
        return self.logs(match_id) / f"seat{seat}.log"

    def usage(self, match_id: str) -> Path:
        """Return where it is kept what the bots of a match used, as JSON by seat."""
        return self.logs(match_id) / "usage.json"

    def qualifications(self, version: int) -> list[str]:
        """Return the ids of the matches that were to qualify a version, as far as they have logs, the oldest first."""
        found = self.logs("").glob(f"qualify-{version}-*")
        return [path.name for path in sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))]

    def sweep_records(self, match_id: str = "*") -> None:
        """Remove what workers that were killed have left of records: of one match, or of all."""
        for left in self.records.glob(f"{match_id[:2]}/{match_id}.jsonl*.part"):
            left.unlink(missing_ok=True)

    def logs(self, match_id: str) -> Path:
        """Return the folder for what the bots of a match wrote."""
        return self.all_logs / match_id
