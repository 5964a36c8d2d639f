"""The results of matches, with the ratings and tallies that follow from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ladder.facts.log import Log
from ladder.facts.schema import MAX_VOIDS
from ladder.model.condition import Condition
from ladder.model.match import Match
from ladder.model.rating import Rating
from ladder.operation.sqlite_file import SqliteFile, among_ids
from referee.live.seats.telemetry import KeyValues
from referee.match.result import Result, milliseconds

MAX_REASON_CHARACTERS = 500
"""The maximum length of the reason for a void match."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The tally of a version's matches under one condition."""

    matches: int = 0
    """The number of counted matches."""
    different: int = 0
    """The number of counted matches that differ from all earlier ones between the same versions in the same seats."""
    wins: int = 0
    """The number of matches in which the version was first, including shared first places."""
    faults: int = 0
    """The number of matches in which the version was out through its own fault."""
    faults_in_a_row: int = 0
    """The number of the version's latest consecutive matches that it did not play to the end."""
    last_block: int = 0
    """The id of the last block in which the version was scheduled; 0 if it never was."""
    blocks: int = 0
    """The number of blocks in which the version was scheduled."""


class Results:
    """The results of matches, with the ratings and tallies that follow from them."""

    def __init__(self, file: SqliteFile, log: Log) -> None:
        self._file = file
        self._log = log

    def count_of_matches(self) -> int:
        """Return the number of counted matches."""
        # Results are numbered without gaps, and `count(*)` would read all of them.
        [row] = self._file.rows("select coalesce(max(number), 0) as count from results")
        return int(row["count"])

    def count_of_voids(self) -> int:
        """Return the number of void attempts at matches."""
        [row] = self._file.rows("select count(*) as count from voids")
        return int(row["count"])

    def is_counted(self, match: Match) -> bool:
        """Return True if a match is already counted."""
        return bool(self._file.rows("select 1 from results where match = ?", [match.match_id]))

    def count(self, match: Match, result: Result, record_hash: str) -> None:
        """Count a match, and rate its versions.

        Args:
            match: a match that does not count yet.
            result: its result.
            record_hash: the hash of the line of its record that contains the result.
        """
        seats = result.seats
        self._log.append(
            "result",
            {
                "match": match.match_id,
                "record": record_hash,
                "digest": result.digest,
                "all_decisions": result.decisions,
                "ranks": [seat.rank for seat in seats],
                "scores": [seat.score for seat in seats],
                "outcomes": [seat.outcome.value for seat in seats],
                "decisions": [seat.decisions for seat in seats],
                "think_ms": [milliseconds(seat.think_seconds) for seat in seats],
                "details": [seat.detail for seat in seats],
            },
        )

    def note_telemetry(self, match_id: str, telemetry: Mapping[int, Mapping[str, KeyValues]]) -> None:
        """Store the telemetry of bots in a counted match, by seat and key."""
        with self._file.writing():
            self._file.write_each(
                "insert into telemetry (match, seat, key, count, total) values (?, ?, ?, ?, ?)",
                (
                    [match_id, seat, key, series.count, series.total]
                    for seat, said in telemetry.items()
                    for key, series in said.items()
                ),
            )

    def void(self, match: Match, reason: str) -> int:
        """Log a void attempt at a match; return the number of its void attempts so far."""
        with self._file.writing():
            [row] = self._file.rows("select 1 + count(*) as attempt from voids where match = ?", [match.match_id])
            attempt = int(row["attempt"])
            fields = {"match": match.match_id, "attempt": attempt, "given_up": attempt >= MAX_VOIDS}
            self._log.append("void", {**fields, "reason": reason[:MAX_REASON_CHARACTERS]})
            return attempt

    def give_up(self, match: Match, reason: str) -> None:
        """Give up a match, so that it is not played again."""
        with self._file.writing():
            # A match with this number of void attempts is given up; `Tournaments.results` counts the attempts, too.
            while self.void(match, reason) < MAX_VOIDS:
                pass

    def tallies(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, Tally]:
        """Return the tally of every version that was ever scheduled, or only of those in `among`."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(f"select * from tallies where condition = ? and {which}", [condition.id, *ids])  # noqa: S608
        return {
            row["version"]: Tally(**{key: row[key] for key in row.keys() - {"condition", "version"}}) for row in rows
        }

    def ratings(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, Rating]:
        """Return the rating of every version that a match has rated, or only of those in `among`."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(
            f"select version, mu, sigma from ratings where condition = ? and {which}",  # noqa: S608
            [condition.id, *ids],
        )
        return {row["version"]: Rating(row["mu"], row["sigma"]) for row in rows}
