"""The folder of a tournament: its file, its records, and the few facts that are fixed before the first match."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from referee.commands.plan_file import COMPARISON, LADDER, SERIES, TOURNAMENT
from referee.files import check_regular, in_words, make_folder, read_file, write_file, write_private
from referee.kit.document import parse_json
from referee.match.result import Result
from referee.records.claimed import claimed_result
from referee.sandbox.system import is_alive
from referee.tournament.plan import MAX_MATCHES, MAY_CHANGE, TournamentError, TournamentPlan, facts, read_plan

MAX_BYTES = 4 * 1024 * 1024
_MAX_RESULT_BYTES = 250 * MAX_MATCHES
"""The maximum number of bytes read from a final table, which has about 125 bytes for each record."""
_OTHERS = {
    SERIES: "a series of `dogana play`",
    COMPARISON: "a comparison of `dogana compare`",
    LADDER: "a ladder",
}
"""Other uses of a folder, by the file that indicates each use."""
_UNFINISHED = re.compile(r"round\d+-table\d+-.+-rotation\d+\.(\d+)(\.[0-9a-f]{8}\.part)?", re.ASCII)
MAX_LOCK_BYTES = 1000
LOCK_TRIES = 10


class TournamentFolder:
    """A folder with a tournament.

    Attributes:
        folder: the absolute path of the folder.
        file: the file of the plan, which people read and edit.
        records: the folder of the records.
        result: the file with the final table and the hashes of all records; it exists if the tournament is over.
        own: the folder, and everything that the tournament keeps in it; none of it is part of a bot.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.file = folder / TOURNAMENT
        self.records = self.folder / "records"
        self.result = self.folder / "result.json"
        self._fixed = self.folder / ".tournament.json"
        self._lock = self.folder / ".lock"
        self.own = [self.folder, folder.absolute() / TOURNAMENT, self.records, self.result, self._fixed, self._lock]

    def plan(self) -> TournamentPlan:
        """Read the plan.

        Raises:
            TournamentError: if the plan is missing or invalid.
        """
        return read_plan(self.text(), str(self.file))

    def text(self) -> str:
        """Read the file of the plan.

        Raises:
            TournamentError: if there is no such file, or it is not UTF-8.
        """
        try:
            return read_file(self.file, MAX_BYTES).decode()
        except (FileNotFoundError, NotADirectoryError):
            self.check_is_free()
            raise TournamentError(f"there is no {self.file}; `dogana tournament new` writes one") from None
        except UnicodeDecodeError as error:
            raise TournamentError(f"{self.file} is not UTF-8: {error.reason}") from error

    def check_is_free(self) -> None:
        """Check that the folder is not used for anything else.

        Raises:
            TournamentError: if the folder is used for something else.
        """
        for name, what in _OTHERS.items():
            if (self.folder / name).exists():
                raise TournamentError(f"{self.folder} has {what}; a tournament needs a folder of its own")

    def directory(self, plan: TournamentPlan) -> Path:
        """Return the folder to which the paths of entrants are relative, and in which their commands run.

        Raises:
            TournamentError: if there is no such folder.
        """
        path = self.folder / plan.directory
        if not path.is_dir():
            raise TournamentError(f"{self.file}: there is no folder directory = {plan.directory!r}, seen from the file")
        return path

    def results(self) -> dict[str, Result]:
        """Return the results that the records claim, by record name.

        Raises:
            RecordError: if a record is damaged.
        """
        return {path.stem: claimed_result(path) for path in self.recorded()}

    def recorded(self) -> list[Path]:
        """Return the paths of all records."""
        return sorted(path for path in self.records.glob("*.jsonl") if path.stat().st_size)

    def removed(self) -> list[str]:
        """Return a line for each record that the final table lists but the folder lacks.

        Raises:
            TournamentError: if the final table cannot be read.
        """
        result = self.read_result()
        records = result.get("records") if isinstance(result, dict) else None
        there = {path.stem for path in self.recorded()}
        names = records if isinstance(records, dict) else ()
        return [
            f"{self.result} has a record of {name}, but {self.records} has none; put it back"
            for name in names
            if name not in there
        ]

    # the facts fixed by the first match

    def fix(self, plan: TournamentPlan, hashes: Mapping[str, str]) -> None:
        """Store the plan and the hashes of the bots' files before the first match; `check` compares them later.

        Args:
            plan: the plan.
            hashes: the hash of each bot that is a file or a folder, by the name of its entrant.
        """
        make_folder(self.records)
        write_private(self._fixed, json.dumps({"plan": facts(plan), "bots": dict(hashes)}, indent=1).encode())

    def check(self, plan: TournamentPlan, hashes: Mapping[str, str]) -> None:
        """Check that neither the plan nor a bot has changed since the first match.

        Raises:
            TournamentError: if something has changed.
        """
        if not self.recorded():
            return
        fixed = self._read_fixed()
        for key, value in facts(plan).items():
            was = fixed["plan"].get(key)
            if was != value and not (key == "entrants" and self._have_joined(was, value)):
                free = ", ".join(MAY_CHANGE)
                raise TournamentError(
                    f"{self.file}: {key} has changed since the first match{_described(was, value)}; put it back, or begin"
                    f" another tournament (only comments and {free} may change; `dogana tournament add` adds entrants)"
                )
        for name, now in hashes.items():
            # A newcomer is not among the bots of the first match.
            if fixed["bots"].get(name, now) != now:
                raise TournamentError(
                    f"the files of {name} have changed since the first match; put them back, or begin another tournament"
                )

    def _have_joined(self, was: object, now: Sequence[Sequence[object]]) -> bool:
        """Return True if `now` is the list `was` with newcomers added at its end, and the tournament is not over."""
        began = len(was) if isinstance(was, list) else 0
        return list(now[:began]) == was and all(one[-1] is True for one in now[began:]) and not self.result.exists()

    def _read_fixed(self) -> dict[str, Any]:
        try:
            data = parse_json(read_file(self._fixed, MAX_BYTES))
        except FileNotFoundError:
            raise TournamentError(f"{self.records} has records, but {self._fixed} is missing; put it back") from None
        except (OSError, ValueError) as error:
            raise TournamentError(f"{self._fixed} cannot be read: {in_words(error)}") from error
        if not (isinstance(data, dict) and all(isinstance(data.get(key), dict) for key in ("plan", "bots"))):
            raise TournamentError(f"{self._fixed} is damaged; put a good copy back")
        return data

    # the final table

    def write_result(self, document: Mapping[str, Any]) -> None:
        """Write the final table."""
        write_file(self.result, json.dumps(document, indent=1) + "\n")

    def read_result(self) -> object:
        """Read the final table; None if there is none.

        Raises:
            TournamentError: if it cannot be read.
        """
        try:
            return parse_json(read_file(self.result, _MAX_RESULT_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise TournamentError(f"{self.result} cannot be read: {in_words(error)}") from error

    # one process at a time

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from running the tournament in this context; remove the leftovers of killed processes.

        Raises:
            TournamentError: if another process is running it; the text says which.
        """
        check_regular(self._lock)
        # "a": the line of the process that has the lock must stay until the lock is ours.
        with open(self._lock, "ab", buffering=0, opener=_open_no_link) as file:
            if not _locked(file):
                raise TournamentError(f"{self.folder} is being run by {self.runner()}; wait for its end")
            try:
                file.truncate(0)
                file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self._lock)) from error
            self._sweep()
            yield

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Keep other processes from changing the entrants or writing the final table; wait while one is doing so."""
        # This is not the lock of `alone`, which a run holds until its end, because entrants may join meanwhile.
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def runner(self) -> str:
        """Return a description of the process that is running the tournament, or was the last to run it."""
        with contextlib.suppress(OSError, ValueError):
            return read_file(self._lock, MAX_LOCK_BYTES).decode().strip() or "another process"
        return "another process"

    def is_running(self) -> bool:
        """Return True if a process is currently running the tournament."""
        try:
            check_regular(self._lock)
            with self._lock.open() as file:
                # The lock is shared, so that two commands that check it do not take each other for a run.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _sweep(self) -> None:
        """Remove the unfinished records of killed processes."""
        for path in self.records.iterdir() if self.records.is_dir() else ():
            found = _UNFINISHED.fullmatch(path.name)
            if found is not None and not is_alive(int(found[1])):
                path.unlink(missing_ok=True)


def _locked(file: IO[bytes]) -> bool:
    """Lock a file, unless another process holds its lock for more than a moment; return True if this has succeeded."""
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)  # `is_running` holds the lock while it checks, and must not be taken for another run run
        except OSError:
            return True  # a file system without locks, such as some network file systems
        else:
            return True
    return False


def _open_no_link(path: str, flags: int) -> int:
    """Open a file, but not through a link, because the folder may come from a stranger and the file is emptied."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _described(was: object, now: object) -> str:
    """Describe a short change in a few words; return nothing for a long one."""
    said = f" from {json.dumps(was)} to {json.dumps(now, default=str)}"
    return said if len(said) <= 80 else ""
