"""What follows from the facts, derived again and compared with what is kept (`recompute.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ladder.facts.tallies import DERIVED, REPEATED, begin_again, derive, differences, differing_after_blocks
from ladder.model.match import Match
from ladder.model.rating import History, Rating
from ladder.operation.sqlite_file import SqliteFile


class Derivation:
    """What follows from the facts, derived again and compared."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def begin_again(self) -> None:
        """Begin to derive the ratings after blocks again, and to note which records do not hold. What was noted before is forgotten.

        Both are kept in temporary files of SQLite that only this connection sees: there may be a million of each.
        """
        with self._file.explained():
            begin_again(self._file.db)

    def repeated(self) -> Iterator[int]:
        """Return the numbers of the results at which the same had been played before, ascending: they are not rated."""
        return (row["number"] for row in self._file.each(REPEATED))

    def note_again(self, match: Match, ratings: Mapping[int, Rating]) -> None:
        """Note what ratings follow from a match, for the versions that it rates, in the order in which matches count."""
        self._file.write_each(
            """
            insert into temp.again (version, condition, block, mu, sigma) values (?, ?, ?, ?, ?)
            on conflict do update set mu = excluded.mu, sigma = excluded.sigma
            """,
            (
                [version, match.condition.id, match.block, rating.mu, rating.sigma]
                for version, rating in ratings.items()
            ),
        )

    def differing_after_blocks(self) -> Iterator[tuple[int, int, Rating | None, Rating | None]]:
        """Yield version, block, the rating that is kept, and the one that was derived again, where they differ."""
        with self._file.explained():
            yield from differing_after_blocks(self._file.db)

    def note_broken(self, match_id: str) -> None:
        """Note that a match counts whose record is missing or does not hold."""
        self._file.write("insert into temp.broken (match) values (?)", [match_id])

    def broken(self) -> Iterator[str]:
        """Return the matches of which that was noted, in the order in which it was."""
        return (row["match"] for row in self._file.each("select match from temp.broken order by rowid"))

    def differences(self) -> Iterator[str]:
        """Compare every tally but the ratings with the facts; yield what does not agree, a line each."""
        with self._file.explained():
            for table in DERIVED:
                yield from differences(self._file.db, table)

    def repair(self, history: History) -> None:
        """Put what follows from the facts in the place of all tallies.

        Args:
            history: the ratings that follow from all matches; those after blocks were noted.
        """
        with self._file.writing():
            self._file.write("update results set rated = 1 where rated = 0")
            self._file.write(f"update results set rated = 0 where number in ({REPEATED})")  # noqa: S608
            self._file.write("delete from ratings")
            self._file.write_each(
                "insert into ratings (condition, version, mu, sigma) values (?, ?, ?, ?)",
                (
                    [condition, version, rating.mu, rating.sigma]
                    for condition, under_it in history.ratings.items()
                    for version, rating in under_it.items()
                ),
            )
            self._file.write("delete from block_ratings")
            self._file.write(
                "insert into block_ratings (version, condition, block, mu, sigma)"
                " select version, condition, block, mu, sigma from temp.again"
            )
            for table in DERIVED:
                derive(self._file.db, table)
