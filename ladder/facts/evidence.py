"""The state of a ladder's records: sealed (their seeds are revealed), lost, or pruned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from ladder.facts.entries import now
from ladder.facts.log import Log
from ladder.facts.schedule import SEED, Schedule
from ladder.model.match import seed_of
from ladder.operation.sqlite_file import SqliteFile, batches


@dataclass(frozen=True, slots=True)
class RetainedRecords:
    """The records that a pruning keeps, whatever their age."""

    bots: tuple[str, ...] = ()
    """The bots whose matches keep their records."""
    one_block_of: int = 0
    """A match keeps its record if the number of its block is divisible by this number; 0 retains no blocks."""


NONE_RETAINED = RetainedRecords()
_AT_A_TIME = 1000
"""The maximum number of ids in one parameter of an SQL statement."""
# The remainder is NULL if `one_block_of` is 0; the comparison with '[]' avoids the search if no bots are named.
_RETAINED = """(
    coalesce(matches.block % nullif({one_block_of}, 0) = 0, 0) or {bots} <> '[]' and exists (
        select 1 from seats join versions on versions.id = seats.version join bots on bots.id = versions.bot
        where seats.match = matches.id and bots.name in (select value from json_each({bots}))
    ))"""
"""The SQL condition that selects the rows of `matches` whose records a pruning retains."""


class Evidence:
    """The state of a ladder's records: sealed, lost, or pruned."""

    def __init__(self, file: SqliteFile, log: Log, schedule: Schedule) -> None:
        self._file = file
        self._log = log
        self._schedule = schedule

    def blocks_to_seal(self) -> list[int]:
        """Return the blocks that are over and whose seeds are not revealed yet."""
        # A partial index contains only these blocks, so a long history costs nothing.
        rows = self._file.rows("select id from blocks where sealed_at is null order by id")
        return [row["id"] for row in rows if self._schedule.is_over(row["id"])]

    def records_of(self, block: int) -> list[tuple[str, int, str]]:
        """Return the match id, seed and record hash of each counted match in a block, unless its record was lost."""
        rows = self._file.rows(
            f"""
            select results.match, {SEED}, matches.rotation, results.record_hash, versions.content_hash
            from blocks join matches on matches.block = blocks.id join results on results.match = matches.id
            join seats on seats.match = matches.id join versions on versions.id = seats.version
            where blocks.id = ? and results.match not in (select match from lost_records) order by matches.rotation
            """,  # noqa: S608
            [block],
        )
        found = []
        for match_id, of_match in groupby(rows, key=itemgetter("match")):
            seats = list(of_match)
            seed = seed_of(seats[0]["seed"], seats[0]["rotation"], [row["content_hash"] for row in seats])
            found.append((match_id, seed, seats[0]["record_hash"]))
        return found

    def note_sealed(self, block: int) -> None:
        """Reveal the seed of a block."""
        with self._file.writing():
            # One transaction: the seed is either in the private table or in an event.
            [row] = self._file.rows("select seed from seeds where block = ?", [block])
            self._log.append("seed", {"block": block, "seed": row["seed"]})
            self._file.write("delete from seeds where block = ?", [block])

    def note_lost(self, match_ids: Iterable[str]) -> None:
        """Mark the records of matches as lost for good."""
        with self._file.writing():
            for match_id in match_ids:
                self._log.append("lost", {"match": match_id})

    def forget_broken(self) -> None:
        """Clear the list of invalid records, a temporary table on disk that may have a million rows."""
        self._file.write("create temp table if not exists broken (match text)")
        self._file.write("delete from temp.broken")

    def note_broken(self, match_id: str) -> None:
        """Add a counted match to the list of those with a missing or invalid record.

        The list lasts until this file is closed.
        """
        self._file.write("insert into temp.broken (match) values (?)", [match_id])

    def broken(self) -> Iterator[str]:
        """Return the matches that `note_broken` has listed, in the order in which they were added."""
        return (row["match"] for row in self._file.each("select match from temp.broken order by rowid"))

    def lost_at(self, match_id: str) -> str:
        """Return the time when the record of a match was marked as lost, in ISO 8601, UTC; empty if it never was."""
        rows = self._file.rows("select at from lost_records where match = ?", [match_id])
        return rows[0]["at"] if rows else ""

    def note_pruning(
        self, records_before: str | None, logs_before: str | None, retained: RetainedRecords = NONE_RETAINED
    ) -> None:
        """Log the removal of the records and logs of matches that ended before two given times; None for no removal."""
        self._log.append(
            "pruning",
            {
                "records_before": records_before or "",
                "logs_before": logs_before or "",
                "retained_bots": list(retained.bots),
                "one_block_of": retained.one_block_of,
            },
        )

    def record_pruned_at(self, match_id: str) -> str:
        """Return the time when the record of a match was pruned, in ISO 8601, UTC; empty if it never was."""
        # A pruning keeps records whose seed is not revealed yet, because sealing adds the seed and a signature to them.
        rows = self._file.rows(
            f"""
            select min(prunings.at) as at
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join prunings on results.finished_at < prunings.records_before and blocks.sealed_at <= prunings.at
            where results.match = ? and not {_RETAINED.format(bots="retained_bots", one_block_of="one_block_of")}
            """,  # noqa: S608
            [match_id],
        )
        return rows[0]["at"] or ""

    def logs_pruned_at(self, match_id: str) -> str:
        """Return the time when the logs of a match were pruned, in ISO 8601, UTC; empty if they never were."""
        rows = self._file.rows(
            """
            select min(prunings.at) as at
            from results join prunings on results.finished_at < prunings.logs_before where results.match = ?
            """,
            [match_id],
        )
        return rows[0]["at"] or ""

    def logs_pruned_before(self) -> str:
        """Return the latest time before which logs were pruned, in ISO 8601, UTC; empty if they never were."""
        [row] = self._file.rows("select max(logs_before) as before from prunings")
        return row["before"] or ""

    def ended(
        self, match_ids: Iterable[str], retained: RetainedRecords = NONE_RETAINED
    ) -> Iterator[tuple[str, str | None, bool]]:
        """Yield, for each match in a list of ids, the time when it ended, and whether a pruning keeps its record.

        Yields:
            The id; the time when the match ended, in ISO 8601, UTC, or None if the match does not count; and True if a
            pruning keeps the record, because the seed of its block is not revealed yet or the record is retained. If a
            seed was revealed while the clock was ahead, it counts as revealed only from that time on: see
            `record_pruned_at`.
        """
        for some in batches(match_ids, _AT_A_TIME):
            # Left joins: the matches of qualifications and trials are in none of these tables.
            rows = self._file.rows(
                f"""
                select named.value as match, finished_at, matches.id is not null and (
                    sealed_at is null or sealed_at > :now or {_RETAINED.format(bots=":bots", one_block_of=":one_block_of")}
                ) as stays
                from json_each(:matches) as named
                left join matches on matches.id = named.value
                left join blocks on blocks.id = matches.block
                left join results on results.match = matches.id
                """,  # noqa: S608
                {
                    "matches": json.dumps(some),
                    "now": now(),
                    "bots": json.dumps(list(retained.bots)),
                    "one_block_of": retained.one_block_of,
                },
            )
            yield from ((row["match"], row["finished_at"], bool(row["stays"])) for row in rows)
