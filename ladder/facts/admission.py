"""Who may play: which versions have qualified, are retired, or were tried because workers died."""

from __future__ import annotations

from collections.abc import Collection

from ladder.facts.entries import now
from ladder.model.condition import Condition
from ladder.operation.sqlite_file import SqliteFile, among_ids


class Admission:
    """Who may play: qualifications, retirements, and trials."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def qualify(self, version: int, condition: Condition, *, passed: bool, reason: str) -> None:
        """Note whether a version got through its qualification."""
        with self._file.writing():
            self._note_qualification(version, condition, passed, reason)

    def let_qualify_again(self, version: int, condition: Condition) -> None:
        """Let a version try once more to qualify; the faults that it has had so far suspend it no more."""
        with self._file.writing():
            self._note_qualification(version, condition, None, "")
            self._file.write(
                "update tallies set faults_in_a_row = 0 where condition = ? and version = ?", [condition.id, version]
            )

    def _note_qualification(self, version: int, condition: Condition, passed: bool | None, reason: str) -> None:
        self._file.write(
            """
            insert into qualifications (condition, version, passed, reason, at, after_number)
            values (?, ?, ?, ?, ?, (select coalesce(max(number), 0) from results))
            """,
            [condition.id, version, passed, reason, now()],
        )

    def qualifications(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, tuple[bool, str]]:
        """Return for each version that has tried, and is not to try once more: whether it got through, and why not."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(
            # SQLite takes the other columns from the row that has the greatest id.
            f"""
            select version, passed, reason, max(id) from qualifications
            where condition = ? and {which} group by version
            """,  # noqa: S608
            [condition.id, *ids],
        )
        return {row["version"]: (bool(row["passed"]), row["reason"]) for row in rows if row["passed"] is not None}

    def retire(self, version: int, *, retired: bool) -> None:
        """Note that a version is taken out, or brought back."""
        with self._file.writing():
            self._file.write(
                "insert into retirements (version, retired, at) values (?, ?, ?)", [version, retired, now()]
            )

    def retired(self) -> set[int]:
        """Return the versions that are taken out."""
        rows = self._file.rows("select version, retired, max(id) from retirements group by version")
        return {row["version"] for row in rows if row["retired"]}

    def note_trial(self, cause: str, version: int, *, guilty: bool) -> None:
        """Note that a version was tried because the workers of a match had died."""
        with self._file.writing():
            self._file.write(
                "insert into trials (cause, version, guilty, at) values (?, ?, ?, ?)", [cause, version, guilty, now()]
            )

    def guilty(self) -> set[int]:
        """Return the versions that killed their workers in their last trial, and were not pardoned since."""
        # SQLite takes the other columns from the row that has the greatest id.
        rows = self._file.rows("select version, guilty, max(id) from trials group by version")
        return {row["version"] for row in rows if row["guilty"]}

    def pardon(self, version: int) -> None:
        """Lift the suspension of a version that was found guilty: note its last trial again, with the other end."""
        with self._file.writing():
            self._file.write(
                """
                insert into trials (cause, version, guilty, at)
                select cause, version, 0, ? from trials where version = ? order by id desc limit 1
                """,
                [now(), version],
            )
