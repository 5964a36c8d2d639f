"""The facts of a ladder, in one SQLite file: events, the views that follow from them, and private tables (`schema.py`).

Each part reads the views on its topic, and writes by adding an event (`entries.append`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self

from ladder.facts.admission import Admission
from ladder.facts.budgets import Budgets
from ladder.facts.entries import begin
from ladder.facts.evidence import Evidence
from ladder.facts.history import MatchHistory
from ladder.facts.log import Log
from ladder.facts.results import Results
from ladder.facts.roster import Roster
from ladder.facts.schedule import Schedule
from ladder.facts.schema import LAYOUT
from ladder.facts.tournaments import Tournaments
from ladder.operation.errors import BadHome
from ladder.operation.sqlite_file import SqliteFile


class Store:
    """The facts of a ladder. Use this object as a context manager, or close it after use.

    Attributes:
        file: the SQLite file, with its transactions.
        log: the events, and the list of changes.
        budgets: the budgets and quotas of authors.
        roster: bots, versions and conditions.
        admission: qualifications, retirements and verdicts of trials.
        schedule: blocks and their open matches.
        results: counted matches.
        tournaments: events, their entrants and results.
        evidence: the hashes of records; sealed blocks; lost and pruned records.
        history: queries about bots and counted matches.
    """

    def __init__(self, path: Path, *, create: bool, outwaits: bool = False) -> None:
        """Open the file of a ladder; see `open_file`.

        Raises:
            BadHome: if it is not a ladder, has another layout, or cannot be read.
        """
        self.file = open_file(path, create=create, outwaits=outwaits)
        self.log = Log(self.file)
        self.budgets = Budgets(self.file)
        self.roster = Roster(self.file, self.log)
        self.admission = Admission(self.file, self.log, self.roster)
        self.schedule = Schedule(self.file, self.log, self.roster)
        self.results = Results(self.file, self.log)
        self.tournaments = Tournaments(self.file, self.log, self.roster, self.schedule)
        self.evidence = Evidence(self.file, self.log, self.schedule)
        self.history = MatchHistory(self.file, self.roster)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def writing(self) -> AbstractContextManager[None]:
        """Run a transaction that writes; see `SqliteFile.writing`."""
        return self.file.writing()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read everything inside from one snapshot; see `SqliteFile.reading`.

        Most questions need all versions several times, so the versions are read once per snapshot, and none may be
        added meanwhile.
        """
        is_within = self.file.is_in_transaction
        with self.file.reading():
            # Within another `reading`, the versions are already cached; within `writing`, some may still be added.
            if is_within:
                yield
                return
            with self.roster.unchanged():
                yield


def open_file(path: Path, *, create: bool, outwaits: bool = False) -> SqliteFile:
    """Open the file of a ladder.

    Args:
        path: `ladder.db` in the folder of the ladder.
        create: True to make a ladder if there is no such file.
        outwaits: True if writing transactions wait for other writers without a limit, and log the wait.

    Raises:
        BadHome: if it is not a ladder, has another layout, or cannot be read.
    """
    if not create and not path.is_file():
        raise BadHome(
            f"{path.parent} is not a ladder: there is no {path.name}; name its folder with --home, or submit a bot to make one"
        )
    return SqliteFile(path, LAYOUT, create=create, outwaits=outwaits, begin=lambda db: begin(db.conn))
