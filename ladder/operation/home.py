"""The folder of a ladder, its files and its locks.

ladder.db        the database (`store.py`)
versions/        the files of each version, by content
records/         a record for each match, in a folder for each beginning of an id; packs/ has those of older blocks, and their
                 logs (`packs.py`, `logs.py`)
logs/            for each match: the output of each seat, the use of resources, and the position in which a house bot failed
runtimes/        runtimes of bots besides the usual programs: folders, or links to them; the organiser makes it
key.pem          the private key for records and the audit log; only this user can read it (`key.py`)
key.pub          the public key that belongs to it
pages/           the drawn viewers of matches (`web/drawings.py`); they can be removed at any time
playing/         the address of each running match for spectators (`playing.py`)
tables/          the matches of people against bots (`tables/hall.py`); no rating, record or backup of the ladder has them
run.lock         held during a run
checked          the records that an interrupted `recompute` has verified (`checked.py`)
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ladder.operation.errors import LadderError
from referee.files import make_folder, private_folder, sync_folder

_log = logging.getLogger(__name__)

QUALIFY = "qualify-"
"""The beginning of the id of a qualifying match; the id of the version follows."""
_SEALED = ".jsonl.zst"
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
_BEGINNING = re.compile(r"[A-Za-z0-9-]{2,}", re.ASCII)
"""The beginning of a match's id; it cannot name another folder, and has no characters of a pattern."""


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
    def qualifying(self) -> Path:
        """The folder for logs of qualifying matches: a search for those of a version need not list all logs."""
        return self.all_logs / "qualifying"

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
        """The folder with a file for each running match."""
        return self.folder.absolute() / "playing"

    @property
    def tables(self) -> Path:
        """The folder with a folder for each match of a person."""
        return self.folder.absolute() / "tables"

    @property
    def checked(self) -> Path:
        """The file with the verified records of an unfinished `recompute`."""
        return self.folder.absolute() / "checked"

    def make(self) -> None:
        """Make the folder, unless it exists.

        Raises:
            LadderError: if it contains anything but a ladder.
        """
        inside = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        if self.folder.exists() and not self.folder.is_dir():
            raise LadderError(f"{self.folder} is a file; the home of a ladder is a folder")
        if inside - {self.versions.name} and self.database.name not in inside:
            raise LadderError(f"{self.folder} is neither a ladder nor an empty folder")
        make_folder(self.folder.parent)
        private_folder(self.folder)

    def runtimes(self) -> list[Path]:
        """Return the folders of the runtimes that the organiser offers."""
        folder = self.folder / "runtimes"
        return sorted(entry.resolve() for entry in folder.iterdir()) if folder.is_dir() else []

    @contextmanager
    def only_run(self) -> Iterator[None]:
        """Hold the lock of the ladder's runs, so that there is one at a time.

        Raises:
            LadderError: if another process holds it.
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
        """Prevent pruning in this context; wait for the end of a running one, and report that. Files may be added.

        Args:
            but_mine: True for the pruning itself, which waits for all others.
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
        """Prevent others from adding versions, or removing their files, in this context."""
        folder = os.open(self.versions, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def record(self, match_id: str) -> Path:
        """Return the path of a match's record before it is sealed, in a folder that many matches share."""
        return self.records / match_id[:2] / f"{match_id}.jsonl"

    def sealed_record(self, match_id: str) -> Path:
        """Return the path of a match's sealed record, which reveals its seed."""
        return self.records / match_id[:2] / f"{match_id}.jsonl.zst"

    def find_record(self, match_id: str) -> Path:
        """Return the present path of a match's record: sealed, unsealed, or in the place of older versions.

        If there is no record, return the path of a new one.
        """
        places = (self.sealed_record(match_id), self.record(match_id), self.records / f"{match_id}.jsonl")
        return next((path for path in places if path.exists()), self.record(match_id))

    @property
    def packs(self) -> Path:
        """The folder with the packs of records; it has a folder for each thousand blocks."""
        return self.records / "packs"

    def pack(self, block: int) -> Path:
        """Return the path of the pack with the records of a block."""
        return self.packs / f"{block // 1000:06}" / f"{block}.zst"

    def log_pack(self, block: int) -> Path:
        """Return the path of the pack with the logs of a block."""
        return self.pack(block).with_suffix(".logs.zst")

    def packed_blocks(self, suffix: str) -> Iterator[int]:
        """Yield the blocks that have a pack with this suffix: `.zst` for records, `.logs.zst` for logs."""
        for folder in self.packs.glob("*/"):
            with os.scandir(folder) as files:
                for file in files:
                    number, dot, rest = file.name.partition(".")
                    if dot + rest == suffix and _NUMBER.fullmatch(number):
                        yield int(number)

    @contextmanager
    def packs_alone(self) -> Iterator[None]:
        """Prevent others from changing packs in this context: a run and a pruning may be concurrent."""
        if not self.packs.exists():
            private_folder(self.packs)
            sync_folder(self.packs.parent)
        folder = os.open(self.packs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def recorded(self, beginning: str) -> list[str]:
        """Return the ids of matches with a record that begin with `beginning`, of at least two characters."""
        if not _BEGINNING.fullmatch(beginning):
            return []
        found = self.records.glob(f"{beginning[:2]}/{beginning}*.jsonl*")
        return sorted({path.name.partition(".")[0] for path in found if path.suffix != ".part"})

    def log(self, match_id: str, seat: int) -> Path:
        """Return the path of the output of the bot in a seat."""
        return self.logs(match_id) / f"seat{seat}.log"

    def usage(self, match_id: str) -> Path:
        """Return the path of the resources that a match's bots used, as JSON by seat."""
        return self.logs(match_id) / "usage.json"

    def qualifications(self, version: int) -> list[str]:
        """Return the ids of a version's qualifying matches with logs, the oldest first."""
        folder = self.qualifying if self.qualifying.is_dir() else self.all_logs  # where older versions kept them
        found = folder.glob(f"{QUALIFY}{version}-*")
        return [path.name for path in sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))]

    def sweep_records(self, match_id: str = "") -> None:
        """Remove the unfinished records of killed workers: of one match, or of all."""
        for folder in self.records.glob(f"{match_id[:2]}*/"):
            with os.scandir(folder) as files:  # `glob` takes ten times as long, 1 s for a hundred thousand records
                left = [file.path for file in files if file.name.endswith(".part") and match_id in file.name]
            for path in left:
                Path(path).unlink(missing_ok=True)

    def logs(self, match_id: str) -> Path:
        """Return the folder for the output of a match's bots."""
        older = self.all_logs / match_id
        return self.qualifying / match_id if match_id.startswith(QUALIFY) and not older.exists() else older

    def gather_qualifications(self) -> None:
        """Move the logs of qualifying matches from the place of older versions, among all others."""
        if self.all_logs.is_dir() and not self.qualifying.is_dir():
            with os.scandir(self.all_logs) as found:
                names = [entry.name for entry in found if entry.name.startswith(QUALIFY)]
            part = self.all_logs / f"{self.qualifying.name}.part"  # one that was left is taken up
            private_folder(part)
            for name in names:
                (self.all_logs / name).rename(part / name)
            part.rename(self.qualifying)

    def logged(self) -> Iterator[str]:
        """Yield the ids of matches with unpacked logs, except qualifying matches."""
        if self.all_logs.is_dir():
            with os.scandir(self.all_logs) as folders:
                yield from (folder.name for folder in folders if folder.name != self.qualifying.name)

    def sealed_records(self) -> Iterator[str]:
        """Yield the ids of matches with an unpacked sealed record."""
        for folder in self.records.glob("??/"):
            with os.scandir(folder) as files:
                yield from (name[: -len(_SEALED)] for file in files if (name := file.name).endswith(_SEALED))
