"""What a ladder knows, in one SQLite file. `schema.py` says what is a fact, `tallies.py` what follows from facts.

Who takes part is in `register.py`, which records there are in `evidence.py`.

Whatever changes a fact changes all tallies that follow from it in the same transaction (`database.py`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations
from operator import itemgetter
from typing import Any

from ladder.facts.entries import note, now
from ladder.facts.evidence import Evidence
from ladder.facts.schema import MAX_VOIDS
from ladder.facts.tallies import DERIVED, REPEATED, begin_again, derive, differences, differing_after_blocks
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Count, Match, Version, seed_of
from ladder.model.rating import History, Rating
from ladder.operation.sqlite_file import among_ids
from referee.live.seats.telemetry import Series
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


class Store(Evidence):
    """What was scheduled, what came out, and what follows from it."""

    # scheduling

    def add_block(
        self,
        condition: Condition,
        seed: int,
        tables: Mapping[str, Sequence[int]],
        schedule_seed: int,
        lowest: int,
        due: Mapping[int, int],
        *,
        guests: bool = False,
    ) -> list[Match]:
        """Schedule a block; return its matches.

        Args:
            condition: what is played.
            seed: the seed of all its matches.
            tables: for each match id the version in each seat, in the order of the rotations.
            schedule_seed: the seed from which it was drawn who meets whom.
            lowest: the lowest round in which any version was due.
            due: when the versions in it are due again, and those that have joined, for the first time.
            guests: whether bots at home are guests in it.
        """
        first = next(iter(tables.values()))
        with self.writing():
            self.write(
                """
                insert into blocks (condition, seats, seed, created_at, schedule_seed, round, guests, after_number)
                values (?, ?, ?, ?, ?, ?, ?, (select coalesce(max(number), 0) from results))
                """,
                [condition.id, len(first), seed, now(), schedule_seed, lowest, guests],
            )
            [row] = self.rows("select max(id) as id from blocks")
            block = row["id"]
            for rotation, (match_id, versions) in enumerate(tables.items()):
                self.write("insert into matches (id, block, rotation) values (?, ?, ?)", [match_id, block, rotation])
                self.write("insert into open_matches (match, condition) values (?, ?)", [match_id, condition.id])
                self.write_each(
                    "insert into seats (match, seat, version) values (?, ?, ?)",
                    ([match_id, seat, version] for seat, version in enumerate(versions)),
                )
            self.write_each(
                """
                insert into tallies (condition, version, last_block, blocks) values (?, ?, ?, 1)
                on conflict do update set last_block = excluded.last_block, blocks = blocks + 1
                """,
                ([condition.id, version, block] for version in first),
            )
            self.write_each(
                "insert into turns (block, version, due) values (?, ?, ?)",
                ([block, version, moment] for version, moment in due.items()),
            )
            self.write_each(
                """
                insert into dues (condition, version, due) values (?, ?, ?)
                on conflict do update set due = excluded.due
                """,
                ([condition.id, version, moment] for version, moment in due.items()),
            )
            self.write_each(
                """
                insert into meetings (condition, one, other, blocks) values (?, ?, ?, 1)
                on conflict do update set blocks = blocks + 1
                """,
                ([condition.id, one, other] for one, other in permutations(first, 2) if one < other),
            )
            self.write(
                """
                insert into table_sizes (condition, seats, blocks) values (?, ?, 1)
                on conflict do update set blocks = blocks + 1
                """,
                [condition.id, len(first)],
            )
            which, ids = among_ids(first, "versions.id in {}")
            self.write(
                f"""
                insert into days (day, author, matches)
                select distinct substr(blocks.created_at, 1, 10), bots.author, blocks.seats
                from blocks, versions join bots on bots.id = versions.bot where blocks.id = ? and {which}
                on conflict do update set matches = matches + excluded.matches
                """,  # noqa: S608
                [block, *ids],
            )
            note(self._db, "block", block)
            return [match for match in self.unfinished(condition) if match.block == block]

    def unfinished(self, condition: Condition) -> list[Match]:
        """Return the matches under a condition that were scheduled, do not count yet and are not given up, in their order."""
        # "cross" keeps SQLite from walking through all matches in their order, which would save it the sorting.
        rows = self.rows(
            f"""
            select {_MATCH}, seats.version, (select count(*) from voids where voids.match = matches.id) as voids
            from open_matches
            cross join matches on matches.id = open_matches.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = matches.id
            where open_matches.condition = ?
            order by matches.block, matches.rotation, seats.seat
            """,  # noqa: S608
            [condition.id],
        )
        conditions, versions = self.conditions(), self.versions({row["version"] for row in rows})
        return [_match(list(seats), conditions, versions) for _, seats in groupby(rows, key=itemgetter("match_id"))]

    def playing(self, condition: Condition) -> set[int]:
        """Return the versions in matches under a condition that are still to be played."""
        rows = self.rows(
            "select version from open_matches cross join seats using (match) where condition = ?", [condition.id]
        )
        return {row["version"] for row in rows}

    def blocks_since(self, condition: Condition, block: int) -> int:
        """Return how many blocks there were under a condition after one of them; all of them for 0."""
        if not block:
            return sum(self.blocks_by_seats(condition).values())
        [row] = self.rows(
            # "+" keeps SQLite from walking through all blocks of the condition
            "select count(*) as blocks from blocks where +condition = ? and id > ?",
            [condition.id, block],
        )
        return int(row["blocks"])

    def newcomers_since_the_last_block(self) -> int:
        """Return how often a version that somebody has submitted got through its qualification, or not, since a block was scheduled."""
        [row] = self.rows(
            """
            select count(*) as newcomers from qualifications
            join versions on versions.id = qualifications.version join bots on bots.id = versions.bot
            where passed is not null and bots.author != ?
            and at >= coalesce((select created_at from blocks order by id desc limit 1), '')
            """,
            [HOUSE],
        )
        return int(row["newcomers"])

    def last_round(self, condition: Condition) -> int:
        """Return the round of the last block under a condition; 0 if there was none."""
        [row] = self.rows("select max(round) as round from blocks where condition = ?", [condition.id])
        return row["round"] or 0

    def dues(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, int]:
        """Return when versions are due, for those that ever were in the queue."""
        which, ids = among_ids(among, "version in {}")
        rows = self.rows(f"select version, due from dues where condition = ? and {which}", [condition.id, *ids])  # noqa: S608
        return {row["version"]: row["due"] for row in rows}

    def match(self, match_id: str) -> Match | None:
        """Return a match that was scheduled, without its count; None if it was not."""
        rows = self.rows(
            f"""
            select {_MATCH}, seats.version
            from matches join blocks on blocks.id = matches.block join seats on seats.match = matches.id
            where matches.id = ? order by seats.seat
            """,  # noqa: S608
            [match_id],
        )
        return _match(rows, self.conditions(), self.versions({row["version"] for row in rows})) if rows else None

    def open_matches(self) -> dict[Condition, int]:
        """Return how many matches are unfinished, for each condition that has any."""
        conditions = self.conditions()
        rows = self.rows(
            "select condition, count(*) as matches from open_matches group by condition order by condition"
        )
        return {conditions[row["condition"]]: row["matches"] for row in rows}

    def meetings(self, condition: Condition, some: Collection[int], others: Collection[int]) -> dict[int, int]:
        """Return how often each of some versions has met any of some others in a block, for those that have."""
        rows = self.rows(
            """
            select some.value as version, sum(blocks) as blocks
            from json_each(?) as some cross join json_each(?) as others cross join meetings
            on condition = ? and one = min(some.value, others.value) and other = max(some.value, others.value)
            group by some.value
            """,
            [json.dumps(list(some)), json.dumps(list(others)), condition.id],
        )
        return {row["version"]: row["blocks"] for row in rows}

    def blocks_by_seats(self, condition: Condition) -> dict[int, int]:
        """Return how many blocks were scheduled, by number of seats."""
        rows = self.rows("select seats, blocks from table_sizes where condition = ?", [condition.id])
        return {row["seats"]: row["blocks"] for row in rows}

    # what came out

    def note_telemetry(self, match: Match, telemetry: Mapping[int, Mapping[str, Series]]) -> None:
        """Keep what bots said of their thinking in a match that counts, by seat and key."""
        with self.writing():
            self.write_each(
                "insert into telemetry (match, seat, key, count, total) values (?, ?, ?, ?, ?)",
                (
                    [match.match_id, seat, key, series.count, series.total]
                    for seat, said in telemetry.items()
                    for key, series in said.items()
                ),
            )

    def count_of_matches(self) -> int:
        """Return how many matches count."""
        [row] = self.rows("select coalesce(max(number), 0) as count from results")
        return int(row["count"])

    def count_of_voids(self) -> int:
        """Return how many attempts at matches came to no result."""
        [row] = self.rows("select count(*) as count from voids")
        return int(row["count"])

    def is_counted(self, match: Match) -> bool:
        """Return whether a match counts already."""
        return bool(self.rows("select 1 from results where match = ?", [match.match_id]))

    def was_played(self, match: Match, digest: str) -> bool:
        """Return whether the same was played before: digest, condition, and the version in each seat."""
        rows = self.rows(
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
        with self.writing():
            self.write(
                """
                insert into results (match, digest, record_hash, decisions, finished_at, rated)
                values (?, ?, ?, ?, ?, ?)
                """,
                [match.match_id, result.digest, record_hash, result.decisions, now(), rated],
            )
            self.write_each(
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
            self.write_each(
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
            self.write("delete from open_matches where match = ?", [match.match_id])
            self.write_each(
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
            self.write_each(
                """
                insert into ratings (condition, version, mu, sigma) values (?, ?, ?, ?)
                on conflict do update set mu = excluded.mu, sigma = excluded.sigma
                """,
                ([match.condition.id, version, rating.mu, rating.sigma] for version, rating in (ratings or {}).items()),
            )
            self.write_each(
                """
                insert into block_ratings (version, condition, block, mu, sigma) values (?, ?, ?, ?, ?)
                on conflict do update set mu = excluded.mu, sigma = excluded.sigma
                """,
                (
                    [version, match.condition.id, match.block, rating.mu, rating.sigma]
                    for version, rating in (ratings or {}).items()
                ),
            )
            self.write_each(
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
            [row] = self.rows("select number from results where match = ?", [match.match_id])
            note(self._db, "result", row["number"])

    def void(self, match: Match, reason: str) -> int:
        """Note that an attempt at a match was void; return how often by now."""
        with self.writing():
            self.write("insert into voids (match, reason, at) values (?, ?, ?)", [match.match_id, reason, now()])
            [row] = self.rows("select count(*) as n, max(rowid) as id from voids where match = ?", [match.match_id])
            note(self._db, "void", row["id"])
            if row["n"] >= MAX_VOIDS:
                self.write("delete from open_matches where match = ?", [match.match_id])
            return int(row["n"])

    def give_up(self, match: Match, reason: str) -> None:
        """Note that a match cannot be played at all: it is not tried again."""
        with self.writing():
            while self.void(match, reason) < MAX_VOIDS:
                pass

    # trials

    def note_trial(self, cause: str, version: int, *, guilty: bool) -> None:
        """Note that a version was tried because the workers of a match had died."""
        with self.writing():
            self.write(
                "insert into trials (cause, version, guilty, at) values (?, ?, ?, ?)", [cause, version, guilty, now()]
            )

    def guilty(self) -> set[int]:
        """Return the versions that killed their workers in their last trial, and were not pardoned since."""
        # SQLite takes the other columns from the row that has the greatest id.
        rows = self.rows("select version, guilty, max(id) from trials group by version")
        return {row["version"] for row in rows if row["guilty"]}

    def pardon(self, version: int) -> None:
        """Lift the suspension of a version that was found guilty: note its last trial again, with the other end."""
        with self.writing():
            self.write(
                """
                insert into trials (cause, version, guilty, at)
                select cause, version, 0, ? from trials where version = ? order by id desc limit 1
                """,
                [now(), version],
            )

    def counted(self) -> Iterator[Match]:
        """Read all matches that count, in the order in which they do; inside of `reading`, all of one moment."""
        conditions, versions = self.conditions(), self.versions()
        rows = self.each(
            f"""
            select {_MATCH}, seats.version, results.number, results.digest, results.record_hash, results.rated,
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
            yield _match(list(seats), conditions, versions)

    # what follows from it

    def tallies(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, Tally]:
        """Return what is kept of every version that was ever scheduled."""
        which, ids = among_ids(among, "version in {}")
        rows = self.rows(f"select * from tallies where condition = ? and {which}", [condition.id, *ids])  # noqa: S608
        return {
            row["version"]: Tally(**{key: row[key] for key in row.keys() - {"condition", "version"}}) for row in rows
        }

    def ratings(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, Rating]:
        """Return the rating of every version that has a match that counts."""
        which, ids = among_ids(among, "version in {}")
        rows = self.rows(
            f"select version, mu, sigma from ratings where condition = ? and {which}",  # noqa: S608
            [condition.id, *ids],
        )
        return {row["version"]: Rating(row["mu"], row["sigma"]) for row in rows}

    # what follows from it, derived again

    def begin_again(self) -> None:
        """Begin to derive the ratings after blocks again, and to note which records do not hold. What was noted before is forgotten.

        Both are kept in temporary files of SQLite that only this connection sees: there may be a million of each.
        """
        with self._explained():
            begin_again(self._db)

    def repeated(self) -> Iterator[int]:
        """Return the numbers of the results at which the same had been played before, ascending: they are not rated."""
        return (row["number"] for row in self.each(REPEATED))

    def note_again(self, match: Match, ratings: Mapping[int, Rating]) -> None:
        """Note what ratings follow from a match, for the versions that it rates, in the order in which matches count."""
        self.write_each(
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
        with self._explained():
            yield from differing_after_blocks(self._db)

    def note_broken(self, match_id: str) -> None:
        """Note that a match counts whose record is missing or does not hold."""
        self.write("insert into temp.broken (match) values (?)", [match_id])

    def broken(self) -> Iterator[str]:
        """Return the matches of which that was noted, in the order in which it was."""
        return (row["match"] for row in self.each("select match from temp.broken order by rowid"))

    def differences(self) -> Iterator[str]:
        """Compare every tally but the ratings with the facts; yield what does not agree, a line each."""
        with self._explained():
            for table in DERIVED:
                yield from differences(self._db, table)

    def repair(self, history: History) -> None:
        """Put what follows from the facts in the place of all tallies.

        Args:
            history: the ratings that follow from all matches; those after blocks were noted.
        """
        with self.writing():
            self.write("update results set rated = 1 where rated = 0")
            self.write(f"update results set rated = 0 where number in ({REPEATED})")  # noqa: S608
            self.write("delete from ratings")
            self.write_each(
                "insert into ratings (condition, version, mu, sigma) values (?, ?, ?, ?)",
                (
                    [condition, version, rating.mu, rating.sigma]
                    for condition, under_it in history.ratings.items()
                    for version, rating in under_it.items()
                ),
            )
            self.write("delete from block_ratings")
            self.write(
                "insert into block_ratings (version, condition, block, mu, sigma)"
                " select version, condition, block, mu, sigma from temp.again"
            )
            for table in DERIVED:
                derive(self._db, table)


_MATCH = "matches.id as match_id, matches.block, matches.rotation, blocks.condition, blocks.seed, blocks.guests"
"""What `_match` needs of every row, beside the version in the seat."""


def _match(
    rows: Sequence[Mapping[str, Any]], conditions: Mapping[int, Condition], versions: Mapping[int, Version]
) -> Match:
    """Return a match, from a row for each seat."""
    first = rows[0]
    count = None
    if "number" in first:
        count = Count(
            number=first["number"],
            ranks=tuple(row["rank"] for row in rows),
            scores=tuple(row["score"] for row in rows),
            outcomes=tuple(Outcome(row["outcome"]) for row in rows),
            details=tuple(row["detail"] for row in rows),
            decisions=tuple(row["decisions"] for row in rows),
            think_ms=tuple(row["think_ms"] for row in rows),
            decisions_in_all=first["decisions_in_all"],
            digest=first["digest"],
            record_hash=first["record_hash"],
            rated=bool(first["rated"]),
        )
    seats = tuple(versions[row["version"]] for row in rows)
    return Match(
        match_id=first["match_id"],
        block=first["block"],
        condition=conditions[first["condition"]],
        seats=seats,
        seed=seed_of(first["seed"], first["rotation"], [version.content_hash for version in seats]),
        guests=bool(first["guests"]),
        voids=first.get("voids", 0),
        count=count,
    )
