"""The scheduled matches, and the open ones among them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ladder.facts.log import Log
from ladder.facts.roster import Roster
from ladder.model.condition import Condition
from ladder.model.match import HOUSE, Match, Version, seed_of
from ladder.operation.sqlite_file import SqliteFile, among_ids
from referee.kit.chance import commitment


class Schedule:
    """The scheduled matches, and the open ones among them."""

    def __init__(self, file: SqliteFile, log: Log, roster: Roster) -> None:
        self._file = file
        self._log = log
        self._roster = roster

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
            condition: the condition of its matches.
            seed: the seed of the block.
            tables: the version in each seat, by match id, in the order of the rotations.
            schedule_seed: the seed from which the pairings were drawn.
            lowest: the lowest round in which any version was due.
            due: the next due times of the versions in the block, and the first due times of versions that have joined.
            guests: True if bots at home are guests in the block.
        """
        found = self._roster.versions({*due, *(version for table in tables.values() for version in table)})
        with self._file.writing():
            # The commitments to the seed are on the disk before the first match begins (decision 25).
            block = self.next_block()
            self._log.append(
                "block",
                {
                    "block": block,
                    **condition.fields,
                    "guests": guests,
                    "round": lowest,
                    "schedule_seed": schedule_seed,
                    "due": {found[version].label: moment for version, moment in due.items()},
                    "matches": [
                        planned(match_id, seed, rotation, [found[version] for version in table])
                        for rotation, (match_id, table) in enumerate(tables.items())
                    ],
                },
            )
            self._file.write("insert into seeds (block, seed) values (?, ?)", [block, seed])
            return [match for match in self.unfinished(condition) if match.block == block]

    def next_block(self) -> int:
        """Return the number of the next block."""
        [row] = self._file.rows("select 1 + coalesce(max(id), 0) as block from blocks")
        return int(row["block"])

    def unfinished(self, condition: Condition) -> list[Match]:
        """Return the open matches under a condition: those scheduled, but neither counted nor given up, in order."""
        # "cross" keeps SQLite from walking through all matches in order to avoid a sort.
        rows = self._file.rows(
            f"""
            select {MATCH}, seats.version, (select count(*) from voids where voids.match = matches.id) as voids
            from open_matches
            cross join matches on matches.id = open_matches.match
            join blocks on blocks.id = matches.block
            join seats on seats.match = matches.id
            where open_matches.condition = ?
            order by matches.block, matches.rotation, seats.seat
            """,  # noqa: S608
            [condition.id],
        )
        conditions, versions = self._roster.conditions(), self._roster.versions({row["version"] for row in rows})
        return [match_of(list(seats), conditions, versions) for _, seats in groupby(rows, key=itemgetter("match_id"))]

    def playing(self, condition: Condition) -> set[int]:
        """Return the ids of the versions in open matches under a condition."""
        rows = self._file.rows(
            "select version from open_matches cross join seats using (match) where condition = ?", [condition.id]
        )
        return {row["version"] for row in rows}

    def is_over(self, block: int) -> bool:
        """Return True if every match of a block is counted or given up."""
        return not self._file.rows(
            "select 1 from matches join open_matches on open_matches.match = matches.id where block = ? limit 1",
            [block],
        )

    def blocks_since(self, condition: Condition, block: int) -> int:
        """Return the number of the ladder's own blocks under a condition after a given block; for 0, count them all."""
        if not block:
            # A view already contains this number.
            return sum(self.blocks_by_seats(condition).values())
        [row] = self._file.rows(
            # "+" keeps SQLite from walking through all blocks of the condition
            "select count(*) as blocks from blocks where +condition = ? and id > ? and tournament is null",
            [condition.id, block],
        )
        return int(row["blocks"])

    def newcomers_since_the_last_block(self) -> int:
        """Return the number of completed qualifications of submitted versions since the last scheduled block."""
        [row] = self._file.rows(
            """
            select count(*) as newcomers from qualifications
            join versions on versions.id = qualifications.version join bots on bots.id = versions.bot
            where passed is not null and bots.author != ?
            and at >= coalesce(
                (select created_at from blocks where tournament is null order by id desc limit 1), ''
            )
            """,
            [HOUSE],
        )
        return int(row["newcomers"])

    def last_round(self, condition: Condition) -> int:
        """Return the round of the last block under a condition; 0 if there was none."""
        [row] = self._file.rows("select max(round) as round from blocks where condition = ?", [condition.id])
        return row["round"] or 0

    def dues(self, condition: Condition, among: Collection[int] | None = None) -> dict[int, int]:
        """Return the due time of each version that was ever in the queue, or only of those in `among`."""
        which, ids = among_ids(among, "version in {}")
        rows = self._file.rows(f"select version, due from dues where condition = ? and {which}", [condition.id, *ids])  # noqa: S608
        return {row["version"]: row["due"] for row in rows}

    def match(self, match_id: str) -> Match | None:
        """Return the scheduled match with this id; None if there is none."""
        rows = self._file.rows(
            f"""
            select {MATCH}, seats.version
            from matches join blocks on blocks.id = matches.block join seats on seats.match = matches.id
            where matches.id = ? order by seats.seat
            """,  # noqa: S608
            [match_id],
        )
        return (
            match_of(rows, self._roster.conditions(), self._roster.versions({row["version"] for row in rows}))
            if rows
            else None
        )

    def matches_beginning(self, beginning: str, limit: int) -> list[str]:
        """Return the scheduled match ids that begin with this text, in order."""
        rows = self._file.rows(
            # A range uses the primary key, and needs no escapes, unlike a pattern.
            "select id from matches where id between ? and ? order by id limit ?",
            [beginning, f"{beginning}\U0010ffff", limit],
        )
        return [row["id"] for row in rows]

    def open_matches(self) -> dict[Condition, int]:
        """Return the number of open matches for each condition that has any."""
        conditions = self._roster.conditions()
        rows = self._file.rows(
            "select condition, count(*) as matches from open_matches group by condition order by condition"
        )
        return {conditions[row["condition"]]: row["matches"] for row in rows}

    def meetings(self, condition: Condition, some: Collection[int], others: Collection[int]) -> dict[int, int]:
        """Return, for each version in `some`, the number of blocks in which it met versions in `others`.

        Versions without such a block are left out.
        """
        # `cross` makes SQLite look up the few pairs by the primary key, instead of reading all pairs of the condition.
        rows = self._file.rows(
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
        """Return the number of scheduled blocks, by number of seats."""
        rows = self._file.rows("select seats, blocks from table_sizes where condition = ?", [condition.id])
        return {row["seats"]: row["blocks"] for row in rows}


SEED = "coalesce(blocks.seed, (select seed from seeds where block = blocks.id)) as seed"
"""The SQL for the seed of a row of `blocks`, revealed or not."""
MATCH = f"matches.id as match_id, matches.block, matches.rotation, blocks.condition, {SEED}, blocks.guests, blocks.tournament"
"""The SQL for the columns that `match_of` needs, in addition to the version in the seat."""


def planned(match_id: str, block_seed: int, rotation: int, seats: Sequence[Version]) -> dict[str, Any]:
    """Return a match as it appears in the log event of its block, with a commitment to its seed instead of the seed."""
    seed = seed_of(block_seed, rotation, [version.content_hash for version in seats])
    labels = [version.label for version in seats]
    return {"match": match_id, "seed_commitment": commitment(match_id, seed), "seats": labels}


def match_of(
    rows: Sequence[Mapping[str, Any]], conditions: Mapping[int, Condition], versions: Mapping[int, Version]
) -> Match:
    """Build a match from its rows, one for each seat."""
    first = rows[0]
    seats = tuple(versions[row["version"]] for row in rows)
    return Match(
        match_id=first["match_id"],
        block=first["block"],
        condition=conditions[first["condition"]],
        seats=seats,
        seed=seed_of(first["seed"], first["rotation"], [version.content_hash for version in seats]),
        guests=bool(first["guests"]),
        tournament=first["tournament"],
        voids=first.get("voids", 0),  # only the rows of `unfinished` contain them
    )
