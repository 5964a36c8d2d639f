"""The folder of a ladder, its files and its locks.

ladder.db        the database (`store.py`)
archive.db       the records of matches and the logs of their bots (`archive.py`)
versions/        the files of each version, by content
records/         the records that workers are writing, until their matches are over
positions/       the positions in which house bots failed, by match
runtimes/        runtimes of bots in addition to the usual programs: folders, or links to folders; the organiser makes it
key.pem          the private key for records and the audit log; only this user can read it (`key.py`)
key.pub          the public key that belongs to `key.pem`
pages/           the viewers of matches, with their pictures (`http/pictures/drawings.py`); they can be removed at any time
playing/         the address of each running match for spectators (`playing.py`)
tables/          the matches of people against bots (`tables/open_tables.py`); no rating, archive or backup includes them
run.lock         held during a run
checked          the records that an interrupted `recompute` has verified (`checked.py`)
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ladder.operation.errors import LadderError
from referee.files import make_folder, private_folder

_log = logging.getLogger(__name__)

QUALIFY = "qualify-"
"""The prefix of a qualifying match's id; the id of the version follows."""


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of a ladder."""

    folder: Path

    @property
    def database(self) -> Path:
        """The SQLite file with the facts of the ladder."""
        return self.folder / "ladder.db"

    @property
    def versions(self) -> Path:
        """The folder with the files of all versions."""
        return self.folder.absolute() / "versions"

    @property
    def archive(self) -> Path:
        """The SQLite file with the records and the logs of matches."""
        return self.folder.absolute() / "archive.db"

    @property
    def records(self) -> Path:
        """The folder with the records that workers are writing."""
        return self.folder.absolute() / "records"

    @property
    def positions(self) -> Path:
        """The folder with the positions in which house bots failed, by match."""
        return self.folder.absolute() / "positions"

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
        """The folder that contains a file for each running match."""
        return self.folder.absolute() / "playing"

    @property
    def tables(self) -> Path:
        """The folder that contains a folder for each match of a person."""
        return self.folder.absolute() / "tables"

    @property
    def checked(self) -> Path:
        """The file with the verified records of an unfinished `recompute`."""
        return self.folder.absolute() / "checked"

    def make(self) -> bool:
        """Make the folder, unless it exists; return True if there was no ladder in it.

        Raises:
            LadderError: if the folder contains anything other than a ladder.
        """
        inside = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        if self.folder.exists() and not self.folder.is_dir():
            raise LadderError(f"{self.folder} is a file; the home of a ladder is a folder")
        if inside - {self.versions.name} and self.database.name not in inside:
            raise LadderError(f"{self.folder} is neither a ladder nor an empty folder")
        make_folder(self.folder.parent)
        private_folder(self.folder)
        return self.database.name not in inside

    def runtimes(self) -> list[Path]:
        """Return the folders of the runtimes that the organiser offers."""
        folder = self.folder / "runtimes"
        return sorted(entry.resolve() for entry in folder.iterdir()) if folder.is_dir() else []

    @contextmanager
    def only_run(self) -> Iterator[None]:
        """Hold the lock of the ladder's runs in this context, so that there is only one run at a time.

        Raises:
            LadderError: if another process holds the lock.
        """
        lock_file = os.open(self.folder / "run.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(lock_file, "w") as lock:
            try:
                # The kernel releases the lock when the process ends, however it ends.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise LadderError(
                    f"another run is going on in {self.folder}, or it is served; wait until that ends, or end it"
                ) from error
            yield

    @contextmanager
    def files_stay(self, *, but_mine: bool = False) -> Iterator[None]:
        """Prevent pruning in this context; files may be added.

        If a pruning is running, wait for it to end, and report the wait.

        Args:
            but_mine: True for the pruning itself, which waits for all other holders.
        """
        mode = fcntl.LOCK_EX if but_mine else fcntl.LOCK_SH
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(folder, mode | fcntl.LOCK_NB)
            except BlockingIOError:
                others = "a backup, a recompute or another pruning" if but_mine else "a pruning"
                _log.warning("waits for %s of this ladder to end", others)
                fcntl.flock(folder, mode)
            yield
        finally:
            os.close(folder)

    @contextmanager
    def versions_alone(self) -> Iterator[None]:
        """Prevent other processes from adding versions, or removing their files, in this context."""
        folder = os.open(self.versions, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def record(self, match_id: str) -> Path:
        """Return the path of a match's record before it is moved into the archive."""
        return self.records / f"{match_id}.jsonl"

    def position(self, match_id: str) -> Path:
        """Return the path of the position in which a house bot failed in a match."""
        return self.positions / f"{match_id}.json"

    def sweep_records(self, match_id: str = "") -> None:
        """Remove the unfinished records that killed workers have left behind, for one match or for all matches."""
        for left in self.records.glob(f"{match_id}*"):
            left.unlink(missing_ok=True)
