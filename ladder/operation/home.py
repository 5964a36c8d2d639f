"""Where a ladder keeps its things.

ladder.db        what is known (`store.py`)
archive.db       the records of matches, and what their bots wrote (`archive.py`)
versions/        the files of each version, by content
records/         the records that workers are writing, until their matches are over
positions/       the positions in which house bots failed
runtimes/        what bots may use besides the usual programs: folders, or links to them; the organiser makes it
key.pem          what signs records and the audit log; only this user can read it (`key.py`)
key.pub          the public key that belongs to it
pages/           the drawn viewers of matches (`web/drawings.py`); they can be removed at any time
playing/         where each match can be watched that is being played (`playing.py`)
tables/          the matches of people against bots (`tables/hall.py`); no rating, record or backup of the ladder has them
run.lock         held while a run goes on
checked          which records a `recompute` that was broken off has verified (`checked.py`)
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
from referee.files import private_folder

_log = logging.getLogger(__name__)

QUALIFY = "qualify-"
"""How the id of a match begins that is to qualify a version; the id of the version follows."""


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
        """The folder with a file for each match that is being played."""
        return self.folder.absolute() / "playing"

    @property
    def tables(self) -> Path:
        """The folder with a folder for each match that a person has played."""
        return self.folder.absolute() / "tables"

    @property
    def checked(self) -> Path:
        """The file in which it is noted which records were verified, until all are."""
        return self.folder.absolute() / "checked"

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

    @contextmanager
    def files_stay(self, *, but_mine: bool = False) -> Iterator[None]:
        """Let nothing be pruned meanwhile; wait until a pruning is over, and say so. Files may be added.

        Args:
            but_mine: whether this is the pruning: then it waits for all others.
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
        """Let nobody else enter versions, or remove their files, meanwhile."""
        folder = os.open(self.versions, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def record(self, match_id: str) -> Path:
        """Return where the record of a match is until it is in the archive."""
        return self.records / f"{match_id}.jsonl"

    def position(self, match_id: str) -> Path:
        """Return where the position is written in which a house bot fails in a match."""
        return self.positions / f"{match_id}.json"

    def sweep_records(self, match_id: str = "") -> None:
        """Remove what workers that were killed have left of records: of one match, or of all."""
        for left in self.records.glob(f"{match_id}*"):
            left.unlink(missing_ok=True)
