"""The views of a ladder, built again from its events in a temporary file, and compared with those that it has (`recompute.py`).

The file is where Python puts temporary files, and about as large as `ladder.db`; nothing of it is kept in memory.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from ladder.facts.evidence import Evidence
from ladder.facts.fold import fold
from ladder.facts.log import Log
from ladder.facts.results import Results
from ladder.facts.roster import Roster
from ladder.facts.schedule import Schedule
from ladder.facts.schema import LAYOUT, VIEWS
from ladder.facts.tournaments import Tournaments
from ladder.operation.sqlite_file import SqliteFile
from referee.kit.chance import commitment
from referee.records.audit_book import unfit
from referee.records.audit_log import AuditError, Reader

_NAME = "audit log"
"""The log in errors."""


class Rebuilt:
    """The views of a ladder, built again from its events. Close it, or use it as a context manager.

    Attributes:
        roster, results, evidence, tournaments: what the events say, as the parts of `Store` with these names read it.
    """

    def __init__(self, ladder: SqliteFile) -> None:
        """Begin with empty views.

        Args:
            ladder: the file of the ladder.
        """
        self._ladder = ladder
        self._reader = Reader(_NAME)
        self._folder = tempfile.TemporaryDirectory(prefix="dogana-views-")
        self._path = Path(self._folder.name) / "views.db"
        self._file = SqliteFile(self._path, LAYOUT, create=True)
        for pragma in ("journal_mode = off", "synchronous = off"):
            self._file.db.execute(f"pragma {pragma}").close()
        self._is_attached = False
        log = Log(self._file)
        self.roster = Roster(self._file, log)
        self.results = Results(self._file, log, self.roster)
        schedule = Schedule(self._file, log, self.roster)
        self.evidence = Evidence(self._file, log, schedule)
        self.tournaments = Tournaments(self._file, log, self.roster, schedule)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file."""
        self.detach()
        self._file.close()
        self._folder.cleanup()

    def take_events(self) -> None:
        """Check and fold all events of the ladder that are not folded yet.

        Raises:
            AuditError: at the first one that does not follow from those before it.
            NoRoom: if there is no room for temporary files.
        """
        with self._file.writing():
            for line in Log(self._ladder).lines(after=self._reader.number):
                event = self._reader.take(line.encode())
                try:
                    fold(self._file.db.conn, event)
                except (LookupError, TypeError, ValueError, OverflowError, sqlite3.IntegrityError) as error:
                    raise AuditError(_NAME, self._reader.number, f"makes no sense here: {error}") from error
            self._check_numbers()
            for block, seed in self._seeds().items():
                self._file.write("insert or replace into seeds (block, seed) values (?, ?)", [block, seed])
            for one, seed in self._tournament_seeds().items():
                self._file.write(
                    "insert or replace into tournament_seeds (tournament, seed) values (?, ?)", [one, seed]
                )

    def _check_numbers(self) -> None:
        [row] = self._ladder.rows("select min(number) as first, max(number) as last, count(*) as events from events")
        if (row["first"], row["last"], row["events"]) != (1, self._reader.number, self._reader.number):
            raise AuditError(_NAME, 0, "its entries are not numbered one after another, from 1")

    def _seeds(self) -> dict[int, int]:
        """Return the seeds that the ladder has of the blocks that are not over."""
        rows = self._ladder.rows("select block, seed from seeds")
        return {row["block"]: row["seed"] for row in rows if row["block"] in self._reader.commitments}

    def _tournament_seeds(self) -> dict[int, int]:
        """Return the seeds that the ladder has of the events that are not over, by their ids."""
        rows = self._ladder.rows("select tournament, seed from tournament_seeds")
        committed = {one.id for one in self.tournaments.all() if one.seed is None}
        return {row["tournament"]: row["seed"] for row in rows if row["tournament"] in committed}

    def differences(self) -> Iterator[str]:
        """Yield what of the ladder does not follow from its events, and what is missing, a line each; inside of `reading`."""
        self._attach()
        for view in VIEWS:
            columns = [row["name"] for row in self._file.rows("select name from pragma_table_info(?)", [view])]
            for row in self._missing(view, columns, "main", "again"):
                yield f"{view}: has {row}, which does not follow from the log"
            for row in self._missing(view, columns, "again", "main"):
                yield f"{view}: lacks {row}, which follows from the log"
        yield from self._differing_seeds()
        yield from self._differing_tournament_seeds()
        yield from self._differing_commands()

    def _missing(self, view: str, columns: Sequence[str], one: str, other: str) -> Iterator[str]:
        """Yield the rows of a view in one database that another one lacks, in words."""
        same = " and ".join(f"theirs.{column} is own.{column}" for column in columns)
        rows = self._ladder.each(
            f"select * from {one}.{view} as own where not exists (select 1 from {other}.{view} as theirs where {same})"  # noqa: S608
        )
        return (", ".join(f"{name} {value!r}" for name, value in row.items()) for row in rows)

    def _differing_seeds(self) -> Iterator[str]:
        """Yield the blocks that are not over whose seeds are not those to which the log commits."""
        seeds = self._seeds()
        for block, commitments in self._reader.commitments.items():
            if block not in seeds:
                yield f"seeds: block {block} lacks its seed"
            elif unfit(seeds[block], commitments):
                yield f"seeds: block {block} has another seed than the log commits to"

    def _differing_tournament_seeds(self) -> Iterator[str]:
        """Yield the events that are not over whose seeds are not those to which the log commits."""
        seeds = self._tournament_seeds()
        for one in self.tournaments.all():
            if one.seed is None and one.id not in seeds:
                yield f"tournament_seeds: event {one.terms.name} lacks its seed"
            elif one.seed is None and commitment(one.terms.name, seeds[one.id]) != one.seed_commitment:
                yield f"tournament_seeds: event {one.terms.name} has another seed than the log commits to"

    def unplanned(self) -> list[str]:
        """Return the matches of events that are not those of their plans, a line each; nothing if a seed is missing."""
        return [] if any(self._differing_tournament_seeds()) else self.tournaments.contradictions()

    def _differing_commands(self) -> Iterator[str]:
        """Yield the versions whose commands are not those of which the log has the hashes."""
        for row in self._ladder.each(
            "select id, run_hash, run from again.versions left join main.commands on version = id"
        ):
            if row["run"] is None or hashlib.sha256(row["run"].encode()).hexdigest() != row["run_hash"]:
                yield f"commands: version {row['id']} has no command, or another one than the log says"

    def replace_views(self) -> None:
        """Put these views in the place of those of the ladder, inside of a transaction of the ladder that writes."""
        self._attach()
        self._ladder.write("pragma defer_foreign_keys = on")  # private tables refer to views
        for view in reversed(VIEWS):
            self._ladder.write(f"delete from main.{view}")  # noqa: S608
        for view in VIEWS:
            self._ladder.write(f"insert into main.{view} select * from again.{view}")  # noqa: S608

    def _attach(self) -> None:
        if not self._is_attached:
            self._ladder.write("attach database ? as again", [str(self._path)])
            self._is_attached = True

    def detach(self) -> None:
        """Let go of the ladder. While it holds on, a transaction that writes would lock this file, too."""
        if self._is_attached:
            self._ladder.write("detach database again")
            self._is_attached = False
