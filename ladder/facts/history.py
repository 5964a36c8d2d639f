"""Read-only queries about bots and matches."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from itertools import groupby, product
from operator import itemgetter
from typing import Any

from ladder.facts.roster import Roster
from ladder.facts.schedule import SEED
from ladder.model.condition import Condition
from ladder.model.match import Version, seed_of
from ladder.model.rating import Rating
from ladder.operation.errors import LadderError
from ladder.operation.sqlite_file import SqliteFile
from referee.match.result import Outcome

LAST_MATCHES = 200
"""The maximum number of recent matches from which a version's opponents, seats, charges and telemetry are taken."""
LAST_BLOCKS = 100
"""The maximum number of blocks in the history of a version's rating."""
LAST_VERSIONS = 20
"""The maximum number of a bot's versions in one rating history."""
LAST_TOGETHER = 2000
"""The maximum number of a version's most recent matches that are searched for matches with a second version."""

_LAST = "select number, seat from appearances where version = ? and condition = ? order by number desc limit ?"
"""The SQL for the numbers of a version's most recent matches, and its seats in them."""


@dataclass(frozen=True, slots=True)
class PlayedSeat:
    """The outcome of a counted match for one seat."""

    seat: int
    version: Version
    rank: int
    score: int
    outcome: Outcome
    detail: str
    """The details of the fault; empty for a seat that played to the end."""
    decisions: int
    think_ms: float
    """The time charged for all decisions of the seat, in milliseconds."""


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A counted match."""

    number: int
    """The number of the match, from 1, in the order in which matches were counted."""
    match_id: str
    condition: Condition
    block: int
    rotation: int
    """The index of the match in its block."""
    seed: int
    finished_at: str
    """The time when the match ended, in ISO 8601, UTC."""
    digest: str
    record_hash: str
    decisions: int
    """The total number of decisions of all seats."""
    rated: bool
    """False if the match belongs to an event, or repeats an earlier one between the same versions in the same seats."""
    event: str
    """The name of the event to which the match belongs; empty for a match of the ladder itself."""
    seats: tuple[PlayedSeat, ...]

    @property
    def labels(self) -> list[str]:
        """The label of the version in each seat, as in the record."""
        return [seat.version.label for seat in self.seats]


@dataclass(frozen=True, slots=True)
class Score:
    """The results of a version against another version."""

    matches: int
    ahead: int
    """The number of matches in which the first version was placed above the other."""
    tied: int
    behind: int


@dataclass(frozen=True, slots=True)
class TelemetryRow:
    """A bot's telemetry under one key, from output lines such as `dogana: nodes=51200 depth=7`."""

    key: str
    """The key in the bot's output lines, such as `nodes`."""
    matches: int
    """The number of matches in which the bot used this key."""
    values: int
    """The number of values under this key."""
    mean: float
    """The mean of the values under this key."""


@dataclass(frozen=True, slots=True)
class SeatTally:
    """The results of a version in one seat, at tables with one number of seats."""

    seats: int
    """The number of seats at the table."""
    seat: int
    """The number of the seat, from 0."""
    matches: int
    """The number of matches that the version played in this seat."""
    wins: int
    """The number of matches in which the version was first, including shared first places."""
    out: int
    """The number of matches in which the version was out."""
    mean_rank: float
    """The mean rank of the version in these matches."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The time charged to a version for its decisions."""

    matches: int
    """The number of the version's matches."""
    decisions: int
    """The number of the version's decisions in these matches."""
    mean_ms: float
    """The mean charge for a decision, in milliseconds."""
    most_ms: float
    """The highest total charge for one match, in milliseconds."""
    most_in: str
    """The id of the match with the highest total charge."""


class MatchHistory:
    """Read-only queries about bots and matches."""

    def __init__(self, file: SqliteFile, roster: Roster) -> None:
        self._file = file
        self._roster = roster

    def matches(self, limit: int, **which: Any) -> list[PlayedMatch]:
        """Return the last counted matches, newest first; see `numbers` for the arguments."""
        return self.numbered(self.numbers(limit, **which))

    def numbers(
        self,
        limit: int,
        *,
        versions: Sequence[Version] = (),
        conditions: Sequence[Condition] | None = None,
        lost: bool = False,
        out: bool = False,
        before: str = "",
        after: str = "",
    ) -> list[int]:
        """Return the numbers of the last counted matches, or of the first ones after a given match, newest first.

        The cost does not grow with the history.

        Args:
            limit: the maximum number of matches.
            versions: only matches in which one of these versions sat; all matches if empty.
            conditions: only matches under one of these conditions; all matches if left out.
            lost: only matches in which one of the versions was not first; ignored if `versions` is empty.
            out: only matches in which one of the versions was out; if `versions` is empty, in which any version was.
            before: the id of a match; only matches that were counted before it.
            after: the id of a match; only the first matches that were counted after it.

        Raises:
            LadderError: if the match `before` or `after` does not count.
        """
        below = self._number_of(before) if before else 1 << 62  # above all numbers
        above = self._number_of(after) if after else 0
        order, nearest = ("asc", nsmallest) if after else ("desc", nlargest)
        chosen = list(self._roster.conditions().values()) if conditions is None else conditions
        # Without "indexed by" SQLite walks through all matches of a version to find the few that it lost.
        if versions:
            index = " indexed by appearances_out" if out else " indexed by appearances_lost" if lost else ""
            flags = " and out = 1" * out + " and lost = 1" * lost
            keys = [("version = ? and condition = ?", [one.id, under.id]) for one, under in product(versions, chosen)]
        else:
            index = f" indexed by appearances_under{'_out' if out else ''}"
            flags = " and out = 1" if out else " and seat = 0"  # one row for each match
            keys = [("condition = ?", [under.id]) for under in chosen]
        # A query for each key reads at most `limit` entries of an index; a query for all keys would read and sort all matches.
        found = {
            row["number"]
            for key, values in keys
            for row in self._file.rows(
                f"""
                select distinct number from appearances{index}
                where {key} and number > ? and number < ?{flags} order by number {order} limit ?
                """,  # noqa: S608
                [*values, above, below, limit],
            )
        }
        return sorted(nearest(limit, found), reverse=True)

    def _number_of(self, match_id: str) -> int:
        rows = self._file.rows("select number from results where match = ?", [match_id])
        if not rows:
            raise LadderError(f"match {match_id} does not count, so it has no place among the others")
        return int(rows[0]["number"])

    def numbered(self, numbers: Sequence[int]) -> list[PlayedMatch]:
        """Return the matches with these numbers, in the same order."""
        # Only the versions in these matches are read, because a ladder may have thousands.
        which, ids = "where results.number in (select value from json_each(?))", [json.dumps(list(numbers))]
        [among] = self._file.rows(
            f"select json_group_array(distinct version) as versions from results join seats using (match) {which}",  # noqa: S608
            ids,
        )
        found = {
            one.number: one for one in self._played(which, ids, self._roster.versions(json.loads(among["versions"])))
        }
        return [found[number] for number in numbers]

    def all_played(self) -> Iterator[PlayedMatch]:
        """Read all counted matches, in the order in which they were counted."""
        return self._played("", [], self._roster.versions())

    def _played(self, where: str, parameters: Sequence[Any], versions: Mapping[int, Version]) -> Iterator[PlayedMatch]:
        conditions = self._roster.conditions()
        rows = self._file.each(
            f"""
            select results.*, matches.block, matches.rotation, blocks.condition, {SEED}, seats.version,
                coalesce((select name from tournaments where id = blocks.tournament), '') as event,
                seat_results.seat, seat_results.rank, seat_results.score, seat_results.outcome, seat_results.detail,
                seat_results.decisions as seat_decisions, seat_results.think_ms
            from results
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seat_results on seat_results.match = results.match
            join seats on seats.match = results.match and seats.seat = seat_results.seat
            {where} order by results.number, seat_results.seat
            """,  # noqa: S608
            parameters,
        )
        for _, group in groupby(rows, key=itemgetter("number")):
            seats = list(group)
            first = seats[0]
            played_by = [versions[row["version"]] for row in seats]
            yield PlayedMatch(
                number=first["number"],
                match_id=first["match"],
                condition=conditions[first["condition"]],
                block=first["block"],
                rotation=first["rotation"],
                seed=seed_of(first["seed"], first["rotation"], [version.content_hash for version in played_by]),
                finished_at=first["finished_at"],
                digest=first["digest"],
                record_hash=first["record_hash"],
                decisions=first["decisions"],
                rated=bool(first["rated"]),
                event=first["event"],
                seats=tuple(
                    PlayedSeat(
                        seat=row["seat"],
                        version=version,
                        rank=row["rank"],
                        score=row["score"],
                        outcome=Outcome(row["outcome"]),
                        detail=row["detail"],
                        decisions=row["seat_decisions"],
                        think_ms=row["think_ms"],
                    )
                    for row, version in zip(seats, played_by, strict=True)
                ),
            )

    def played(self, match_id: str) -> PlayedMatch | None:
        """Return the counted match with this id; None if there is none."""
        rows = self._file.rows("select number from results where match = ?", [match_id])
        return next(iter(self.numbered([row["number"] for row in rows])), None)

    def played_with(self, match: PlayedMatch) -> list[PlayedMatch]:
        """Return the counted matches in the block of a match, including the match itself, in the order of rotations."""
        rows = self._file.rows(
            "select number from matches join results on results.match = matches.id where block = ? order by rotation",
            [match.block],
        )
        return self.numbered([row["number"] for row in rows])

    def voids(self, match_id: str) -> list[str]:
        """Return the reason for each void attempt at a match."""
        return [
            row["reason"]
            for row in self._file.rows("select reason from voids where match = ? order by rowid", [match_id])
        ]

    def faults(self, version: Version, condition: Condition) -> dict[Outcome, int]:
        """Return the number of times that a version was out, by kind of fault."""
        rows = self._file.rows(
            """
            select seat_results.outcome, count(*) as matches
            from appearances indexed by appearances_out
            cross join results on results.number = appearances.number
            join seat_results on seat_results.match = results.match and seat_results.seat = appearances.seat
            where appearances.version = ? and appearances.condition = ? and appearances.out = 1
            group by seat_results.outcome order by matches desc, seat_results.outcome
            """,
            [version.id, condition.id],
        )
        return {Outcome(row["outcome"]): row["matches"] for row in rows}

    def rating_history(
        self, versions: Collection[int], condition: Condition, limit: int
    ) -> dict[int, dict[int, Rating]]:
        """Return the rating of each version after each of its last blocks with a rated match, by version and block.

        Args:
            versions: the ids of the versions.
            condition: the condition of the blocks.
            limit: the maximum number of blocks for each version.
        """
        # The limit applies to each version, so each version needs a subquery of its own.
        rows = self._file.rows(
            """
            select ratings.version, ratings.block, ratings.mu, ratings.sigma
            from json_each(?) as chosen
            join block_ratings as ratings on ratings.version = chosen.value and ratings.condition = ?2 and ratings.block in (
                select block from block_ratings
                where version = chosen.value and condition = ?2 order by block desc limit ?3
            )
            order by ratings.version, ratings.block
            """,
            [json.dumps(list(versions)), condition.id, limit],
        )
        return {
            version: {row["block"]: Rating(row["mu"], row["sigma"]) for row in blocks}
            for version, blocks in groupby(rows, key=itemgetter("version"))
        }

    def block_changes(self, matches: Iterable[PlayedMatch]) -> dict[tuple[int, int], tuple[Rating, Rating]]:
        """Return the ratings of versions before and after the blocks of the given matches, by version and block.

        A block in which a version was first rated is left out.
        """
        changes = {}
        keys = {(seat.version.id, match.condition.id, match.block) for match in matches for seat in match.seats}
        for version, condition, block in keys:
            rows = self._file.rows(
                """
                select block, mu, sigma from block_ratings
                where version = ? and condition = ? and block <= ? order by block desc limit 2
                """,
                [version, condition, block],
            )
            # The first row belongs to an earlier block if no match of this block rated the version.
            if len(rows) > 1 and rows[0]["block"] == block:
                after, before = (Rating(row["mu"], row["sigma"]) for row in rows)
                changes[version, block] = before, after
        return changes

    def seat_tallies(self, version: Version, condition: Condition) -> list[SeatTally]:
        """Return the results of a version in its most recent matches, by seat, smaller tables first."""
        rows = self._file.rows(
            f"""
            select blocks.seats, last.seat, count(*) as matches, sum(rank = 1) as wins, sum(outcome <> 'played') as out,
                avg(rank) as mean_rank
            from ({_LAST}) as last
            join results on results.number = last.number
            join matches on matches.id = results.match
            join blocks on blocks.id = matches.block
            join seat_results on seat_results.match = results.match and seat_results.seat = last.seat
            group by blocks.seats, last.seat order by blocks.seats, last.seat
            """,  # noqa: S608
            [version.id, condition.id, LAST_MATCHES],
        )
        return [SeatTally(**row) for row in rows]

    def thinking(self, version: Version, condition: Condition) -> Thinking | None:
        """Return the time charged to a version in its most recent matches; None if it made no decision."""
        [row] = self._file.rows(
            # SQLite takes the match from the row that has the greatest time.
            f"""
            select count(*) as matches, sum(seat_results.decisions) as decisions,
                sum(think_ms) / sum(seat_results.decisions) as mean_ms, max(think_ms) as most_ms, results.match as most_in
            from ({_LAST}) as last
            join results on results.number = last.number
            join seat_results on seat_results.match = results.match and seat_results.seat = last.seat
            """,  # noqa: S608
            [version.id, condition.id, LAST_MATCHES],
        )
        return Thinking(**row) if row["decisions"] else None

    def last_seats(self, version: Version, condition: Condition, limit: int) -> list[tuple[str, int]]:
        """Return the match id and the seat for each of the most recent matches of a version, newest first."""
        rows = self._file.rows(
            f"select match, last.seat from ({_LAST}) as last join results on results.number = last.number",  # noqa: S608
            [version.id, condition.id, limit],
        )
        return [(row["match"], row["seat"]) for row in rows]

    def scores(self, condition: Condition, among: Collection[int]) -> dict[tuple[int, int], Score]:
        """Return the results of the given versions against each other in all their matches, by ordered pair of ids."""
        ids = json.dumps(list(among))
        rows = self._file.rows(
            """
            select one, other, matches, ahead, tied from scores
            where condition = ? and one in (select value from json_each(?)) and other in (select value from json_each(?))
            """,
            [condition.id, ids, ids],
        )
        found = {}
        for row in rows:
            matches, ahead, tied = row["matches"], row["ahead"], row["tied"]
            # Each pair is stored once, and mirrored here.
            behind = matches - ahead - tied
            found[row["one"], row["other"]] = Score(matches, ahead, tied, behind)
            found[row["other"], row["one"]] = Score(matches, behind, tied, ahead)
        return found

    def together(self, one: Version, other: Version, condition: Condition, limit: int) -> list[PlayedMatch]:
        """Return those of the most recent matches of `one` in which `other` also sat, newest first."""
        rows = self._file.rows(
            f"""
            select last.number from ({_LAST}) as last
            where exists (select 1 from appearances where version = ? and condition = ? and number = last.number)
            limit ?
            """,  # noqa: S608
            [one.id, condition.id, LAST_TOGETHER, other.id, condition.id, limit],
        )
        return self.numbered([row["number"] for row in rows])

    def telemetry(self, version: Version, condition: Condition) -> list[TelemetryRow]:
        """Return the telemetry of a version from its most recent matches, by key, without keys whose sum overflows."""
        rows = self._file.rows(
            # 9e999 is infinity; a sum that overflows is infinite, or null.
            f"""
            select key, count(*) as matches, sum(telemetry.count) as count, sum(total) as total
            from ({_LAST}) as last
            join results on results.number = last.number
            join telemetry on telemetry.match = results.match and telemetry.seat = last.seat
            group by key having abs(sum(total)) < 9e999 order by key
            """,  # noqa: S608
            [version.id, condition.id, LAST_MATCHES],
        )
        return [TelemetryRow(row["key"], row["matches"], row["count"], row["total"] / row["count"]) for row in rows]

    def telemetry_of(self, match_id: str) -> dict[int, list[TelemetryRow]]:
        """Return the telemetry of bots in a counted match, by seat and key."""
        rows = self._file.rows(
            "select seat, key, count, total from telemetry where match = ? order by seat, key", [match_id]
        )
        return {
            seat: [TelemetryRow(row["key"], 1, row["count"], row["total"] / row["count"]) for row in said]
            for seat, said in groupby(rows, key=itemgetter("seat"))
        }

    def met(self, version: Version, condition: Condition) -> dict[Version, Score]:
        """Return the results of a version against each opponent in its most recent matches, the most frequent first."""
        rows = self._file.rows(
            f"""
            select seats.version, count(*) as matches, sum(own.rank < others.rank) as ahead,
                sum(own.rank = others.rank) as tied, sum(own.rank > others.rank) as behind
            from ({_LAST}) as last
            join results on results.number = last.number
            join seat_results as own on own.match = results.match and own.seat = last.seat
            join seat_results as others on others.match = results.match and others.seat <> last.seat
            join seats on seats.match = others.match and seats.seat = others.seat
            group by seats.version order by matches desc, seats.version
            """,  # noqa: S608
            [version.id, condition.id, LAST_MATCHES],
        )
        versions = self._roster.versions([row["version"] for row in rows])
        return {
            versions[row["version"]]: Score(row["matches"], row["ahead"], row["tied"], row["behind"]) for row in rows
        }
