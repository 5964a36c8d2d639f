"""What people ask a ladder about bots and matches. It only reads; `store.py` has what a run needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from heapq import nlargest
from itertools import groupby, product
from operator import itemgetter
from typing import Any

from ladder.condition import Condition
from ladder.errors import LadderError, NotFound
from ladder.match import Version
from ladder.rating import Rating
from ladder.store import Store
from referee.match.result import Outcome

TELEMETRY_MATCHES = 200
"""In how many of its last matches it is looked up what a version said of its thinking."""
MAX_NAMED = 5
"""How many names are listed where one was expected."""


@dataclass(frozen=True, slots=True)
class PlayedSeat:
    """How a match that counts went for one seat."""

    seat: int
    version: Version
    rank: int
    score: int
    outcome: Outcome
    detail: str
    """The fault's detail; empty for a seat that played to the end."""
    decisions: int
    think_ms: float
    """What all its decisions were charged, in milliseconds."""


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that counts."""

    number: int
    """Its place in the order in which matches count, from 1."""
    match_id: str
    condition: Condition
    block: int
    rotation: int
    """Counts the matches of the block, from 0."""
    finished_at: str
    """In ISO 8601, UTC."""
    digest: str
    rated: bool
    """False if the same was played before between the same versions in the same seats."""
    seats: tuple[PlayedSeat, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """How a version has fared in matches against another."""

    matches: int
    ahead: int
    """In how many of them it was placed before the other."""
    tied: int
    behind: int


@dataclass(frozen=True, slots=True)
class Said:
    """What a bot said of its thinking under one key."""

    matches: int
    """In how many matches."""
    values: int
    """How often."""
    mean: float


class Chronicle(Store):
    """A ladder that can be asked what has happened."""

    # names

    def versions_called(self, bot: str) -> list[Version]:
        """Return the versions of a bot by their number, or the one that is named as in `mybot v2`; empty if there is none."""
        return [version for version in self.versions().values() if bot in (version.bot, version.label)]

    def find_versions(self, bot: str) -> list[Version]:
        """Return the versions of a bot by their number, or the one that is named as in `mybot v2`.

        Raises:
            LadderError: if there is none; the text names those that are called alike.
        """
        found = self.versions_called(bot)
        if not found:
            names = dict.fromkeys(name for version in self.versions().values() for name in (version.bot, version.label))
            alike = get_close_matches(bot, names, MAX_NAMED)
            hint = f"did you mean {', '.join(map(repr, alike))}?" if alike else "see dogana ladder bots"
            raise NotFound(f"there is no bot {bot!r}; {hint}")
        return found

    def matches_beginning(self, beginning: str, limit: int) -> list[str]:
        """Return the ids of matches that were scheduled and whose ids begin like this, in their order."""
        rows = self._rows(
            "select id from matches where id between ? and ? order by id limit ?",
            [beginning, f"{beginning}\U0010ffff", limit],
        )
        return [row["id"] for row in rows]

    # matches

    def matches(
        self,
        limit: int,
        *,
        versions: Sequence[Version] = (),
        conditions: Sequence[Condition] | None = None,
        lost: bool = False,
        out: bool = False,
        before: str = "",
    ) -> list[PlayedMatch]:
        """Return the last matches that count, newest first. The cost does not grow with the history.

        Args:
            limit: the greatest number of matches.
            versions: only matches in which one of these sat; all if empty.
            conditions: only matches under one of these; all if left out.
            lost: only matches in which one of the versions was not first; it needs `versions`.
            out: only matches in which one of the versions was out, or anybody if no version is given.
            before: the id of a match; only those that counted before it.

        Raises:
            LadderError: if the match `before` does not count.
        """
        below = self._number_of(before) if before else 1 << 62
        chosen = list(self.conditions().values()) if conditions is None else conditions
        # Without "indexed by" SQLite walks through all matches of a version to find those few that it lost.
        if versions:
            index = " indexed by appearances_out" if out else " indexed by appearances_lost" if lost else ""
            flags = " and out = 1" * out + " and lost = 1" * lost
            keys = [("version = ? and condition = ?", [one.id, under.id]) for one, under in product(versions, chosen)]
        else:
            index = f" indexed by appearances_under{'_out' if out else ''}"
            flags = " and out = 1" if out else " and seat = 0"
            keys = [("condition = ?", [under.id]) for under in chosen]
        found = {
            row["number"]
            for key, values in keys
            for row in self._rows(
                f"""
                select distinct number from appearances{index}
                where {key} and number < ?{flags} order by number desc limit ?
                """,  # noqa: S608
                [*values, below, limit],
            )
        }
        return self.numbered(nlargest(limit, found))

    def _number_of(self, match_id: str) -> int:
        rows = self._rows("select number from results where match = ?", [match_id])
        if not rows:
            raise LadderError(f"match {match_id} does not count, so it has no place among the others")
        return int(rows[0]["number"])

    def numbered(self, numbers: Sequence[int]) -> list[PlayedMatch]:
        """Return the matches of these numbers, in the same order."""
        marks = ", ".join("?" * len(numbers))
        found = {match.number: match for match in self._played(f"where results.number in ({marks})", numbers)}
        return [found[number] for number in numbers]

    def all_played(self) -> Iterator[PlayedMatch]:
        """Read all matches that count, in the order in which they do."""
        return self._played("", [])

    def _played(self, where: str, parameters: Sequence[Any]) -> Iterator[PlayedMatch]:
        conditions, versions = self.conditions(), self.versions()
        rows = self._each(
            f"""
            select results.*, matches.block, matches.rotation, blocks.condition, seats.version,
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
            yield PlayedMatch(
                number=first["number"],
                match_id=first["match"],
                condition=conditions[first["condition"]],
                block=first["block"],
                rotation=first["rotation"],
                finished_at=first["finished_at"],
                digest=first["digest"],
                rated=bool(first["rated"]),
                seats=tuple(
                    PlayedSeat(
                        seat=row["seat"],
                        version=versions[row["version"]],
                        rank=row["rank"],
                        score=row["score"],
                        outcome=Outcome(row["outcome"]),
                        detail=row["detail"],
                        decisions=row["seat_decisions"],
                        think_ms=row["think_ms"],
                    )
                    for row in seats
                ),
            )

    def played(self, match_id: str) -> PlayedMatch | None:
        """Return a match that counts; None if it does not count."""
        return next(self._played("where results.match = ?", [match_id]), None)

    def voids(self, match_id: str) -> list[str]:
        """Return the reason of each attempt at a match that came to no result."""
        return [
            row["reason"] for row in self._rows("select reason from voids where match = ? order by rowid", [match_id])
        ]

    # bots

    def faults(self, version: Version, condition: Condition) -> dict[Outcome, int]:
        """Return how often a version was out, by the kind of its fault."""
        rows = self._rows(
            """
            select seat_results.outcome, count(*) as matches
            from appearances
            join results on results.number = appearances.number
            join seat_results on seat_results.match = results.match and seat_results.seat = appearances.seat
            where appearances.version = ? and appearances.condition = ? and appearances.out = 1
            group by seat_results.outcome order by matches desc, seat_results.outcome
            """,
            [version.id, condition.id],
        )
        return {Outcome(row["outcome"]): row["matches"] for row in rows}

    def rating_history(self, version: Version, condition: Condition) -> dict[int, Rating]:
        """Return the rating of a version after each block in which a match of it was rated, the first block first."""
        rows = self._rows(
            """
            select block, mu, sigma from block_ratings join blocks on blocks.id = block_ratings.block
            where version = ? and condition = ? order by block
            """,
            [version.id, condition.id],
        )
        return {row["block"]: Rating(row["mu"], row["sigma"]) for row in rows}

    def telemetry(self, version: Version, condition: Condition) -> dict[str, Said]:
        """Return what a version said of its thinking in its last matches, by key."""
        rows = self._rows(
            """
            select key, count(*) as matches, sum(telemetry.count) as count, sum(total) as total
            from (
                select number, seat from appearances
                where version = ? and condition = ? order by number desc limit ?
            ) as last
            join results on results.number = last.number
            join telemetry on telemetry.match = results.match and telemetry.seat = last.seat
            group by key order by key
            """,
            [version.id, condition.id, TELEMETRY_MATCHES],
        )
        return {row["key"]: Said(row["matches"], row["count"], row["total"] / row["count"]) for row in rows}

    def telemetry_of(self, match_id: str) -> dict[int, dict[str, Said]]:
        """Return what bots said of their thinking in a match that counts, by seat and key."""
        rows = self._rows(
            "select seat, key, count, total from telemetry where match = ? order by seat, key", [match_id]
        )
        return {
            seat: {row["key"]: Said(1, row["count"], row["total"] / row["count"]) for row in said}
            for seat, said in groupby(rows, key=itemgetter("seat"))
        }

    def submitted_at(self) -> dict[int, str]:
        """Return when each version was submitted, in ISO 8601, UTC, by the id of the version."""
        return {row["id"]: row["submitted_at"] for row in self._rows("select id, submitted_at from versions")}

    def met(self, version: Version, condition: Condition) -> dict[Version, Score]:
        """Return how a version has fared against each that it has met, the most frequent first."""
        versions = self.versions()
        rows = self._rows(
            """
            select seats.version, count(*) as matches, sum(own.rank < others.rank) as ahead,
                sum(own.rank = others.rank) as tied, sum(own.rank > others.rank) as behind
            from appearances
            join results on results.number = appearances.number
            join seat_results as own on own.match = results.match and own.seat = appearances.seat
            join seat_results as others on others.match = results.match and others.seat <> appearances.seat
            join seats on seats.match = others.match and seats.seat = others.seat
            where appearances.version = ? and appearances.condition = ?
            group by seats.version order by matches desc, seats.version
            """,
            [version.id, condition.id],
        )
        return {
            versions[row["version"]]: Score(row["matches"], row["ahead"], row["tied"], row["behind"]) for row in rows
        }
