"""The views of a ladder, rebuilt from its events in a temporary file, to compare them with the ladder's own views.

The file is in Python's folder for temporary files, and is about as large as `ladder.db`. Only the fits by which the
entrants of closed events were chosen are kept in memory. `recompute.py` makes the comparison.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Self

from ladder.facts.entering import entry_list
from ladder.facts.fold import Event, fold
from ladder.facts.log import Log
from ladder.facts.schema import VIEWS
from ladder.facts.store import Store
from ladder.operation.sqlite_file import SqliteFile
from referee.kit.chance import commitment
from referee.records.audit_book import unfit
from referee.records.audit_log import AuditError, Reader

_NAME = "audit log"
"""The name of the log in error messages."""


class Rebuilt:
    """The views of a ladder, rebuilt from its events. Close this object after use, or use it as a context manager.

    Attributes:
        views: the views, which can be read in the same way as a ladder's views. Events are read from the ladder, not
            copied.
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
        self.views = Store(self._path, create=True)
        self._file = self.views.file
        # Nobody needs this file after a crash.
        for pragma in ("journal_mode = off", "synchronous = off"):
            self._file.db.execute(f"pragma {pragma}").close()
        self._is_attached = False
        self._unearned: list[str] = []
        """A line for each event whose entrants are not the best-placed versions."""

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
            AuditError: at the first event that does not follow from those before it.
            NoRoom: if there is no room for temporary files.
        """
        with self._file.writing():
            for line in Log(self._ladder).lines(after=self._reader.number):
                event = self._reader.take(line.encode())
                try:
                    if event["type"] == "tournament_closed":
                        self._check_entrants(event)
                    fold(self._file.db.conn, event)
                # The organiser may have written anything into the log.
                except (LookupError, TypeError, ValueError, OverflowError, sqlite3.IntegrityError) as error:
                    raise AuditError(_NAME, self._reader.number, f"makes no sense here: {error}") from error
            self._check_numbers()
            # Events contain only the revealed seeds, but plans and matches in the views need all seeds.
            for block, seed in self._seeds().items():
                self._file.write("insert or replace into seeds (block, seed) values (?, ?)", [block, seed])
            for one, seed in self._tournament_seeds().items():
                self._file.write(
                    "insert or replace into tournament_seeds (tournament, seed) values (?, ?)", [one, seed]
                )

    def _check_entrants(self, event: Event) -> None:
        """Note a problem if the entrants of a closing event are not the best-placed versions.

        Call this before folding the close.
        """
        name = event["tournament"]
        best = entry_list(self.views, self.views.tournaments.find(name).terms).entrants
        pairs = zip_longest(
            ((one["version"], one["place"]) for one in event["entrants"]),
            ((one.version.label, one.place) for one in best),
            fillvalue=("nobody", 0),
        )
        for number, (entered, earned) in enumerate(pairs, 1):
            if entered != earned:
                entrants = [f"{label} (place {place})" for label, place in (entered, earned)]
                self._unearned.append(
                    f"event {name}: entrant {number} is {entrants[0]}; by the entries before its close it is {entrants[1]}"
                )
                return

    def _check_numbers(self) -> None:
        [row] = self._ladder.rows("select min(number) as first, max(number) as last, count(*) as events from events")
        if (row["first"], row["last"], row["events"]) != (1, self._reader.number, self._reader.number):
            raise AuditError(_NAME, 0, "its entries are not numbered one after another, from 1")

    def _seeds(self) -> dict[int, int]:
        """Return the seeds of the ladder's open blocks."""
        rows = self._ladder.rows("select block, seed from seeds")
        return {row["block"]: row["seed"] for row in rows if row["block"] in self._reader.commitments}

    def _tournament_seeds(self) -> dict[int, int]:
        """Return the seeds of the ladder's open events, by id."""
        rows = self._ladder.rows("select tournament, seed from tournament_seeds")
        committed = {one.id for one in self.views.tournaments.all() if one.seed is None}
        return {row["tournament"]: row["seed"] for row in rows if row["tournament"] in committed}

    def differences(self) -> Iterator[str]:
        """Yield a line for each difference between the ladder's views and these views, in both directions.

        Call this within `reading`.
        """
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
        """Describe the rows of a view that the database `one` contains and `other` does not."""
        same = " and ".join(f"theirs.{column} is own.{column}" for column in columns)  # `is`: NULL equals NULL
        rows = self._ladder.each(
            f"select * from {one}.{view} as own where not exists (select 1 from {other}.{view} as theirs where {same})"  # noqa: S608
        )
        return (", ".join(f"{name} {value!r}" for name, value in row.items()) for row in rows)

    def _differing_seeds(self) -> Iterator[str]:
        """Yield a line for each open block whose seed is missing, or contradicts its commitments in the log."""
        seeds = self._seeds()
        for block, commitments in self._reader.commitments.items():
            if block not in seeds:
                yield f"seeds: block {block} lacks its seed"
            elif unfit(seeds[block], commitments):
                yield f"seeds: block {block} has another seed than the log commits to"

    def _differing_tournament_seeds(self) -> Iterator[str]:
        """Yield a line for each open event whose seed is missing, or contradicts its commitment in the log."""
        seeds = self._tournament_seeds()
        for one in self.views.tournaments.all():
            if one.seed is None and one.id not in seeds:
                yield f"tournament_seeds: event {one.terms.name} lacks its seed"
            elif one.seed is None and commitment(one.terms.name, seeds[one.id]) != one.seed_commitment:
                yield f"tournament_seeds: event {one.terms.name} has another seed than the log commits to"

    def unplanned(self) -> list[str]:
        """Return a line for each event with wrong entrants, and for each contradiction between an event and its plan.

        Plans are compared only if no event's seed is missing or wrong.
        """
        planless = any(self._differing_tournament_seeds())
        return self._unearned + ([] if planless else self.views.tournaments.contradictions())

    def _differing_commands(self) -> Iterator[str]:
        """Yield a line for each version whose command is missing, or contradicts its hash in the log."""
        for row in self._ladder.each(
            "select id, run_hash, run from again.versions left join main.commands on version = id"
        ):
            if row["run"] is None or hashlib.sha256(row["run"].encode()).hexdigest() != row["run_hash"]:
                yield f"commands: version {row['id']} has no command, or another one than the log says"

    def replace_views(self) -> None:
        """Replace the ladder's views with the rebuilt ones, inside a writing transaction of the ladder."""
        self._attach()
        self._ladder.write("pragma defer_foreign_keys = on")  # private tables refer to views
        # Rows refer only to views earlier in the list.
        for view in reversed(VIEWS):
            self._ladder.write(f"delete from main.{view}")  # noqa: S608
        for view in VIEWS:
            # "where true" keeps SQLite from copying whole pages, which would miss rows to which private tables refer.
            self._ladder.write(f"insert into main.{view} select * from again.{view} where true")  # noqa: S608

    def _attach(self) -> None:
        if not self._is_attached:
            self._ladder.write("attach database ? as again", [str(self._path)])
            self._is_attached = True

    def detach(self) -> None:
        """Detach the temporary file. While it is attached, a writing transaction of the ladder would also lock it."""
        if self._is_attached:
            self._ladder.write("detach database again")
            self._is_attached = False
