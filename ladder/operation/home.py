"""Where a ladder keeps its things.

ladder.db        what is known (`store.py`)
versions/        the files of each version, by content
records/         a record for each match, in a folder for each beginning of an id; packs/ has those of older blocks, and their
                 logs (`packs.py`, `logs.py`)
logs/            for each match what its bots wrote, a file for each seat; what they used; the position in which a house bot failed
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
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ladder.operation.errors import LadderError
from referee.files import private_folder, sync_folder

_log = logging.getLogger(__name__)

QUALIFY = "qualify-"
"""How the id of a match begins that is to qualify a version; the id of the version follows."""
_SEALED = ".jsonl.zst"
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
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
    def qualifying(self) -> Path:
        """The folder in it for matches that were to qualify versions: to find those of a version, not all logs are listed."""
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
        """Return where the record of a match is written, in a folder that many matches share."""
        return self.records / match_id[:2] / f"{match_id}.jsonl"

    def sealed_record(self, match_id: str) -> Path:
        """Return where the record of a match is when its seed is revealed."""
        return self.records / match_id[:2] / f"{match_id}.jsonl.zst"

    def find_record(self, match_id: str) -> Path:
        """Return where the record of a match is now, sealed or not; if there is none, where it would be written."""
        sealed = self.sealed_record(match_id)
        return sealed if sealed.exists() else self.record(match_id)

    @property
    def packs(self) -> Path:
        """The folder with the packs of records; each thousand blocks have a folder in it."""
        return self.records / "packs"

    def pack(self, block: int) -> Path:
        """Return where the records of a block are together, once they are packed."""
        return self.packs / f"{block // 1000:06}" / f"{block}.zst"

    def log_pack(self, block: int) -> Path:
        """Return where the logs of a block are together, once they are packed."""
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
        """Let nobody else change packs meanwhile: a run and a pruning go on beside each other."""
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
        found = self.qualifying.glob(f"{QUALIFY}{version}-*")
        return [path.name for path in sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))]

    def sweep_records(self, match_id: str = "") -> None:
        """Remove what workers that were killed have left of records: of one match, or of all."""
        for folder in self.records.glob(f"{match_id[:2]}*/"):
            with os.scandir(folder) as files:  # `glob` takes ten times as long, 1 s for a hundred thousand records
                left = [file.path for file in files if file.name.endswith(".part") and match_id in file.name]
            for path in left:
                Path(path).unlink(missing_ok=True)

    def logs(self, match_id: str) -> Path:
        """Return the folder for what the bots of a match wrote."""
        return (self.qualifying if match_id.startswith(QUALIFY) else self.all_logs) / match_id

    def logged(self) -> Iterator[str]:
        """Yield the ids of the matches that have logs of their own, not in a pack, except of those that were to qualify versions."""
        if self.all_logs.is_dir():
            with os.scandir(self.all_logs) as folders:
                yield from (folder.name for folder in folders if folder.name != self.qualifying.name)

    def sealed_records(self) -> Iterator[str]:
        """Yield the ids of the matches that have a sealed record of their own, not in a pack."""
        for folder in self.records.glob("??/"):
            with os.scandir(folder) as files:
                yield from (name[: -len(_SEALED)] for file in files if (name := file.name).endswith(_SEALED))
