"""What came out of matches, and what follows from it at once: ratings and tallies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, permutations
from operator import itemgetter

from ladder.facts.entries import note, now
from ladder.facts.roster import Roster
from ladder.facts.schedule import MATCH, match_of
from ladder.facts.schema import MAX_VOIDS
from ladder.model.condition import Condition
from ladder.model.match import Match
from ladder.model.rating import Rating
from ladder.operation.sqlite_file import SqliteFile, among_ids
from referee.live.seats.telemetry import KeyValues
from referee.match.result import Outcome, Result, milliseconds


@dataclass(frozen=True, slots=True)
class Tally:
    """What is kept of a version's matches under one condition."""

    matches: int = 0
    """Matches that count."""
    different: int = 0
    """Those of them that were played differently from every earlier one between the same versions in the same seats."""
    wins: int = 0
    """Matches in which it was first, shared first places included."""
    faults: int = 0
    """Matches in which it was out by a fault of its own."""
    faults_in_a_row: int = 0
    """How many of its last matches that was, without one that it played to the end."""
    last_block: int = 0
    """The id of the last block in which it was scheduled; 0 if it never was."""
    blocks: int = 0
    """In how many blocks it was scheduled."""


class Results:
    """What came out, and what follows from it at once."""

    def __init__(self, file: SqliteFile, roster: Roster) -> None:
        self._file = file
        self._roster = roster

    def count_of_matches(self) -> int:
        """Return how many matches count."""
        [row] = self._file.rows("select coalesce(max(number), 0) as count from results")
        return int(row["count"])

    def count_of_voids(self) -> int:
        """Return how many attempts at matches came to no result."""
        [row] = self._file.rows("select count(*) as count from voids")
        return int(row["count"])

    def is_counted(self, match: Match) -> bool:
        """Return whether a match counts already."""
        return bool(self._file.rows("select 1 from results where match = ?", [match.match_id]))

    def was_played(self, match: Match, digest: str) -> bool:
        """Return whether the same was played before: digest, condition, and the version in each seat."""
        rows = self._file.rows(
            """
            select results.match, seats.version
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = results.match
            where results.digest = ? and results.rated = 1 and blocks.condition = ?
            order by results.match, seats.seat
            """,
            [digest, match.condition.id],
        )
        played = {tuple(row["version"] for row in seats) for _, seats in groupby(rows, key=itemgetter("match"))}
        return match.versions in played

    def count(self, match: Match, result: Result, record_hash: str, ratings: Mapping[int, Rating] | None) -> None:
        """Make a match count.

        Args:
            match: a match that does not count yet.
            result: what came out.
            record_hash: the hash of its record's result.
            ratings: those that follow from it; None if it is not rated, because the same was played before.
        """
        rated = ratings is not None
        with self._file.writing():
            self._file.write(
                """
                insert into results (match, digest, record_hash, decisions, finished_at, rated)
                values (?, ?, ?, ?, ?, ?)
                """,
                [match.match_id, result.digest, record_hash, result.decisions, now(), rated],
            )
            self._file.write_each(
                """
                insert into seat_results (match, seat, rank, score, outcome, decisions, think_ms, detail)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (
                    [
                        match.match_id,
                        seat.seat,
                        seat.rank,
                        seat.score,
                        seat.outcome.value,
                        seat.decisions,
                        milliseconds(seat.think_seconds),
                        seat.detail,
                    ]
                    for seat in result.seats
                ),
            )
            self._file.write_each(
                """
                insert into appearances (version, condition, number, seat, lost, out)
                values (?, ?, (select number from results where match = ?), ?, ?, ?)
                """,
                (
                    [
                        version,
                        match.condition.id,
                        match.match_id,
                        seat.seat,
                        seat.rank > 1,
                        seat.outcome is not Outcome.PLAYED,
                    ]
                    for version, seat in zip(match.versions, result.seats, strict=True)
                ),
            )
            self._file.write("delete from open_matches where match = ?", [match.match_id])
            self._file.write_each(
                """
                update tallies set matches = matches + 1, different = different + ?1, wins = wins + ?2,
                    faults = faults + ?3, faults_in_a_row = (faults_in_a_row + 1) * ?3
                where condition = ?4 and version = ?5
                """,
                (
                    [rated, seat.rank == 1, seat.outcome is not Outcome.PLAYED, match.condition.id, version]
                    for version, seat in zip(match.versions, result.seats, strict=True)
                ),
            )
            self._file.write_each(
                """
                insert into ratings (condition, version, mu, sigma) values (?, ?, ?, ?)
                on conflict do update set mu = excluded.mu, sigma = excluded.sigma
                """,
                ([match.condition.id, version, rating.mu, rating.sigma] for version, rating in (ratings or {}).items()),
            )
            self._file.write_each(
                """
                insert into block_ratings (version, condition, block, mu, sigma) values (?, ?, ?, ?, ?)
                on conflict do update set mu = excluded.mu, sigma = excluded.sigma
                """,
                (
                    [version, match.condition.id, match.block, rating.mu, rating.sigma]
                    for version, rating in (ratings or {}).items()
                ),
            )
            self._file.write_each(
                """
                insert into scores (condition, one, other, matches, ahead, tied) values (?, ?, ?, 1, ?, ?)
                on conflict do update set matches = matches + 1, ahead = ahead + excluded.ahead, tied = tied + excluded.tied
                """,
                (
                    [match.condition.id, one, other, first.rank < second.rank, first.rank == second.rank]
                    for (one, first), (other, second) in permutations(zip(match.versions, result.seats, strict=True), 2)
                    if one < other
                ),
            )
            [row] = self._file.rows("select number from results where match = ?", [match.match_id])
            note(self._file.db, "result", row["number"])

    def note_telemetry(self, match: Match, telemetry: Mapping[int, Mapping[str, KeyValues]]) -> None:
        """Keep what bots said of their thinking in a match that counts, by seat and key."""
        with self._file.writing():
            self._file.write_each(
                "insert into telemetry (match, seat, key, count, total) values (?, ?, ?, ?, ?)",
                (
                    [match.match_id, seat, key, series.count, series.total]
                    for seat, said in telemetry.items()
                    for key, series in said.items()
                ),
            )

    def void(self, match: Match, reason: str) -> int:
        """Note that an attempt at a match was void; return how often by now."""
        with self._file.writing():
            self._file.write("insert into voids (match, reason, at) values (?, ?, ?)", [match.match_id, reason, now()])
            [row] = self._file.rows(
                "select count(*) as n, max(rowid) as id from voids where match = ?", [match.match_id]
            )
            note(self._file.db, "void", row["id"])
            if row["n"] >= MAX_VOIDS:
                self._file.write("delete from open_matches where match = ?", [match.match_id])
            return int(row["n"])

    def give_up(self, match: Match, reason: str) -> None:
        """Note that a match cannot be played at all: it is not tried again."""
        with self._file.writing():
            while self.void(match, reason) < MAX_VOIDS:
                pass

    def counted(self) -> Iterator[Match]:
        """Read all matches that count, in the order in which they do; inside of `reading`, all of one moment."""
        conditions, versions = self._roster.conditions(), self._roster.versions()
        rows = self._file.each(
            f"""
            select {MATCH}, seats.version, results.number, results.digest, results.record_hash, results.rated,
                results.decisions as decisions_in_all, seat_results.*
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = results.match
            join seat_results on seat_results.match = seats.match and seat_results.seat = seats.seat
            order by results.number, seats.seat
            """  # noqa: S608
        )
        for _, seats in groupby(rows, key=itemgetter("number")):
            yield match_of(list(seats), conditions, versions)

    def tallies(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, Tally]:
        """Return what is kept of every version that was ever scheduled."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(f"select * from tallies where condition = ? and {which}", [condition.id, *ids])  # noqa: S608
        return {
            row["version"]: Tally(**{key: row[key] for key in row.keys() - {"condition", "version"}}) for row in rows
        }

    def ratings(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, Rating]:
        """Return the rating of every version that has a match that counts."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(
            f"select version, mu, sigma from ratings where condition = ? and {which}",  # noqa: S608
            [condition.id, *ids],
        )
        return {row["version"]: Rating(row["mu"], row["sigma"]) for row in rows}
