"""The budgets of authors: how many matches a day each may have, and how many are scheduled today.

Days are UTC days, and a match counts towards the day on which its block was scheduled. All matches in the ladder's own
blocks count, whatever their condition, and each counts once for every author in it. Blocks are never split, so the last
block of a day may exceed the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

from ladder.facts.entries import now
from ladder.operation.sqlite_file import SqliteFile

NEXT_DAY = "00:00 UTC"
"""The time at which budgets are renewed, in words."""


@dataclass(frozen=True, slots=True)
class Budget:
    """An author's daily budget, and the part of it that is used today."""

    author: str
    matches: int
    """The maximum number of the author's matches a day."""
    today: int
    """The number of the author's matches that were scheduled today."""

    @property
    def is_used_up(self) -> bool:
        """True if no more matches of the author's bots will be scheduled today."""
        return self.today >= self.matches


class Budgets:
    """The limits for authors: how many matches they may have a day, and how many bytes on disk."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def quotas(self) -> dict[str, int | None]:
        """Return the quota, in bytes, of each author who has an individual quota; None means no limit."""
        rows = self._file.rows("select author, bytes, max(id) from quotas group by author order by author")
        return {row["author"]: row["bytes"] for row in rows}

    def of_today(self) -> dict[str, Budget]:
        """Return today's budgets, by author."""
        # NULL cancels an earlier budget.
        rows = self._file.rows(
            # SQLite takes the other columns from the row that has the greatest id.
            """
            select latest.author, latest.matches, coalesce(days.matches, 0) as today
            from (select author, matches, max(id) from budgets group by author) as latest
            left join days on days.author = latest.author and days.day = ?
            where latest.matches is not null order by latest.author
            """,
            [now()[:10]],
        )
        return {row["author"]: Budget(**row) for row in rows}

    def out_of_budget(self) -> set[str]:
        """Return the authors who have used up their budgets for today, so that their bots are not scheduled."""
        return {author for author, budget in self.of_today().items() if budget.is_used_up}
