"""The right to play: which versions have qualified, which are retired, and which were on trial because workers died."""

from __future__ import annotations

from collections.abc import Collection

from ladder.facts.fold import AGAIN, FAILED, PASSED
from ladder.facts.log import Log
from ladder.facts.roster import Roster
from ladder.model.condition import Condition
from ladder.operation.sqlite_file import SqliteFile, among_ids

MAX_REASON_CHARACTERS = 2000
"""The maximum length of the reason for a qualification's outcome, because log lines have a maximum length."""


class Admission:
    """The right to play: qualifications, retirements, and trials."""

    def __init__(self, file: SqliteFile, log: Log, roster: Roster) -> None:
        self._file = file
        self._log = log
        self._roster = roster

    def qualify(self, version: int, condition: Condition, *, passed: bool, reason: str) -> None:
        """Log the outcome of a version's qualification under a condition."""
        self._note_qualification(version, condition, PASSED if passed else FAILED, reason)

    def let_qualify_again(self, version: int, condition: Condition) -> None:
        """Let a version try to qualify again; its earlier faults no longer count towards a suspension."""
        self._note_qualification(version, condition, AGAIN, "")

    def _note_qualification(self, version: int, condition: Condition, outcome: str, reason: str) -> None:
        label = self._roster.label(version)
        self._log.append(
            "qualification",
            {"version": label, **condition.fields, "outcome": outcome, "reason": reason[:MAX_REASON_CHARACTERS]},
        )

    def qualifications(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, tuple[bool, str]]:
        """Return whether each version qualified and, if not, the reason; leave out versions that may still try."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(
            # SQLite takes the other columns from the row that has the greatest id.
            f"""
            select version, passed, reason, max(id) from qualifications
            where condition = ? and {which} group by version
            """,  # noqa: S608
            [condition.id, *ids],
        )
        # NULL means that the version may try again, so it has no final attempt.
        return {row["version"]: (bool(row["passed"]), row["reason"]) for row in rows if row["passed"] is not None}

    def retire(self, version: int, *, retired: bool) -> None:
        """Retire a version, or bring it back."""
        self._log.append("retirement", {"version": self._roster.label(version), "retired": retired})

    def retired(self) -> set[int]:
        """Return the ids of the retired versions."""
        rows = self._file.rows("select version, retired, max(id) from retirements group by version")
        return {row["version"] for row in rows if row["retired"]}

    def note_trial(self, cause: str, version: int, *, guilty: bool) -> None:
        """Log the verdict of a version's trial, which was held because workers died in a match."""
        self._log.append("trial", {"match": cause, "version": self._roster.label(version), "guilty": guilty})

    def guilty(self) -> set[int]:
        """Return the ids of the versions that killed workers in their latest trial and have not been pardoned since."""
        # SQLite takes the other columns from the row that has the greatest id.
        rows = self._file.rows("select version, guilty, max(id) from trials group by version")
        return {row["version"] for row in rows if row["guilty"]}

    def pardon(self, version: int) -> None:
        """Lift the suspension of a version that was found guilty.

        This adds its latest trial again, with the opposite verdict.
        """
        with self._file.writing():
            for row in self._file.rows(
                "select cause from trials where version = ? order by id desc limit 1", [version]
            ):
                self.note_trial(row["cause"], version, guilty=False)
