"""Events: their terms, entrants, scheduled matches, and results.

The pairings are not stored, because they follow from the entrants, the seed and the results (`referee/tournament`).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from operator import itemgetter
from typing import Any

from ladder.facts.log import Log
from ladder.facts.roster import Roster
from ladder.facts.schedule import MATCH, Schedule, match_of, planned
from ladder.facts.schema import MAX_VOIDS
from ladder.model.condition import Condition
from ladder.model.match import Match, Version
from ladder.model.tournament import EnteredVersion, LadderTournament, TournamentTerms, plan_of
from ladder.operation.errors import no_such
from ladder.operation.sqlite_file import SqliteFile
from referee.kit.chance import commitment
from referee.match.result import Outcome, Result, SeatResult
from referee.terminal import counted
from referee.tournament.course import TournamentCourse, course
from referee.tournament.fixtures import Fixture
from referee.tournament.plan import Format, Scoring, TournamentPlan


class Tournaments:
    """The events of a ladder."""

    def __init__(self, file: SqliteFile, log: Log, roster: Roster, schedule: Schedule) -> None:
        self._file = file
        self._log = log
        self._roster = roster
        self._schedule = schedule

    def announce(self, terms: TournamentTerms, at: str) -> None:
        """Announce an event: draw its seed, and commit to it.

        `at` is the time of the announcement in the ladder's format; it must be before the close.
        """
        seed = secrets.randbits(62)
        with self._file.writing():
            self._log.append("tournament", {**terms.fields, "seed_commitment": commitment(terms.name, seed)}, at)
            [one] = [one for one in self.all() if one.terms.name == terms.name]
            self._file.write("insert into tournament_seeds (tournament, seed) values (?, ?)", [one.id, seed])

    def close(
        self,
        one: LadderTournament,
        entrants: Sequence[EnteredVersion],
        left_out: Sequence[tuple[Version, str]],
        at: str,
    ) -> None:
        """Close an event, at or after its announced closing time.

        Args:
            one: the event.
            entrants: the entrants, in the order of their seeding.
            left_out: the versions left out, with the reasons.
            at: the time, in the ladder's format.
        """
        fields = {
            "tournament": one.terms.name,
            "entrants": [{"version": each.version.label, "place": each.place} for each in entrants],
            "left_out": [{"version": version.label, "reason": reason} for version, reason in left_out],
        }
        self._log.append("tournament_closed", fields, at)

    def end(self, one: LadderTournament) -> None:
        """End an event, or cancel it before its close, and reveal its seed."""
        with self._file.writing():
            self._log.append("tournament_over", {"tournament": one.terms.name, "seed": self.seed(one)})
            self._file.write("delete from tournament_seeds where tournament = ?", [one.id])

    def add_block(self, one: LadderTournament, fixtures: Sequence[Fixture]) -> list[Match]:
        """Schedule a block of an event: the fixtures of one table, which share a seed, in the order of rotations."""
        entered = [each.version for each in self.entrants(one)]
        condition = one.terms.conditions[fixtures[0].game]
        with self._file.writing():
            block = self._schedule.next_block()
            seed = fixtures[0].seed
            self._log.append(
                "tournament_block",
                {
                    "tournament": one.terms.name,
                    "block": block,
                    **condition.fields,
                    "fixture": block_name(fixtures[0]),
                    "matches": [
                        planned(secrets.token_hex(8), seed, rotation, [entered[entrant] for entrant in fixture.seats])
                        for rotation, fixture in enumerate(fixtures)
                    ],
                },
            )
            self._file.write("insert into seeds (block, seed) values (?, ?)", [block, seed])
            return [match for match in self._schedule.unfinished(condition) if match.block == block]

    def all(self) -> list[LadderTournament]:
        """Return all events, in the order in which they were announced."""
        conditions = self._conditions()
        return [
            LadderTournament(
                id=row["id"],
                terms=TournamentTerms(
                    name=row["name"],
                    conditions=conditions[row["id"]],
                    format=Format(row["format"]),
                    scoring=Scoring(row["scoring"]),
                    same_author=bool(row["same_author"]),
                    **{name: row[name] for name in ("seats", "blocks", "rounds", "advance", "top", "share", "closes")},
                ),
                **{name: row[name] for name in ("seed_commitment", "announced_at", "closed_at", "ended_at", "seed")},
            )
            for row in self._file.rows("select * from tournaments order by id")
        ]

    def _conditions(self) -> dict[int, tuple[Condition, ...]]:
        """Return the conditions of each event by its id."""
        known = self._roster.conditions()
        rows = self._file.rows("select tournament, condition from tournament_conditions order by tournament, number")
        groups = groupby(rows, key=itemgetter("tournament"))
        return {tournament: tuple(known[row["condition"]] for row in group) for tournament, group in groups}

    def find(self, name: str) -> LadderTournament:
        """Return the event with this name.

        Raises:
            NotFound: if there is no event with that name; the text lists similar names.
        """
        found = {one.terms.name: one for one in self.all()}
        if name in found:
            return found[name]
        raise no_such(f"event {name!r}", get_close_matches(name, found, 3), "event list")

    def of_match(self, match_id: str) -> str:
        """Return the name of the event to which a match belongs; empty if it belongs to none."""
        rows = self._file.rows(
            """
            select tournaments.name from matches join blocks on blocks.id = matches.block
            join tournaments on tournaments.id = blocks.tournament where matches.id = ?
            """,
            [match_id],
        )
        return rows[0]["name"] if rows else ""

    def seed(self, one: LadderTournament) -> int:
        """Return the seed of an event, revealed or not."""
        if one.seed is not None:
            return one.seed
        [row] = self._file.rows("select seed from tournament_seeds where tournament = ?", [one.id])
        return int(row["seed"])

    def entrants(self, one: LadderTournament) -> list[EnteredVersion]:
        """Return the entered versions, in the order of their seeding; empty before the close."""
        rows = self._file.rows("select version, place from entrants where tournament = ? order by number", [one.id])
        versions = self._roster.versions({row["version"] for row in rows})
        return [EnteredVersion(versions[row["version"]], row["place"]) for row in rows]

    def left_out(self, one: LadderTournament) -> list[tuple[Version, str]]:
        """Return the versions that were not entered, with the reasons; empty before the close."""
        rows = self._file.rows("select version, reason from left_out where tournament = ? order by version", [one.id])
        versions = self._roster.versions({row["version"] for row in rows})
        return [(versions[row["version"]], row["reason"]) for row in rows]

    def needed_versions(self) -> set[int]:
        """Return the ids of the entrants of all events in progress."""
        rows = self._file.rows(
            "select version from entrants join tournaments on tournaments.id = tournament where ended_at = ''"
        )
        return {row["version"] for row in rows}

    def plan(self, one: LadderTournament) -> TournamentPlan:
        """Return the plan of an event after its close."""
        return plan_of(one.terms, [each.version.label for each in self.entrants(one)], self.seed(one))

    def course(self, one: LadderTournament) -> TournamentCourse:
        """Return the rounds of an event that its results determine; no rounds if too few versions are entered."""
        plan = self.plan(one)
        return course(plan, self.results(one)) if len(plan.entrants) >= plan.seats else TournamentCourse([])

    def scheduled(self, one: LadderTournament) -> dict[str, Match]:
        """Return the scheduled matches of an event by the names of their fixtures, in the order of the schedule."""
        rows = self._file.rows(
            f"""
            select blocks.fixture || '-rotation' || matches.rotation as name, {MATCH}, seats.version
            from blocks join matches on matches.block = blocks.id join seats on seats.match = matches.id
            where blocks.tournament = ? order by matches.block, matches.rotation, seats.seat
            """,  # noqa: S608
            [one.id],
        )
        conditions, versions = self._roster.conditions(), self._roster.versions({row["version"] for row in rows})
        return {
            name: match_of(list(seats), conditions, versions) for name, seats in groupby(rows, key=itemgetter("name"))
        }

    def is_sealed(self, one: LadderTournament) -> bool:
        """Return True if the seeds of all blocks of an event are revealed."""
        return not self._file.rows("select 1 from blocks where tournament = ? and sealed_at is null limit 1", [one.id])

    def results(self, one: LadderTournament) -> dict[str, Result]:
        """Return the results of an event by fixture name, including one for each match that is given up.

        A match that is given up is a draw between all its seats, except that versions that were suspended at that time
        because workers had died are out.
        """
        # The verdict at the time when the match was given up counts, so a later pardon changes no result.
        rows = self._file.rows(
            """
            select blocks.fixture || '-rotation' || matches.rotation as name, seats.seat, results.digest,
                results.decisions as all_decisions, seat_results.rank, score, outcome, seat_results.decisions,
                think_ms, detail, (
                    select guilty from trials
                    where version = seats.version and at <= (select max(at) from voids where match = matches.id)
                    order by id desc limit 1
                ) as is_guilty
            from blocks join matches on matches.block = blocks.id join seats on seats.match = matches.id
            left join results on results.match = matches.id
            left join seat_results on seat_results.match = matches.id and seat_results.seat = seats.seat
            where blocks.tournament = ? and (results.match is not null or (
                select count(*) from voids where voids.match = matches.id) >= ?)
            order by matches.block, matches.rotation, seats.seat
            """,
            [one.id, MAX_VOIDS],
        )
        return {name: _result(list(seats)) for name, seats in groupby(rows, key=itemgetter("name"))}

    def contradictions(self) -> list[str]:
        """Return a line for each contradiction between an event's plan and its scheduled matches."""
        lines = []
        for one in self.all():
            try:
                lines += self._contradictions_of(one) if one.closed_at else []
            except (LookupError, TypeError, ValueError) as error:  # the organiser may have written anything
                lines.append(f"event {one.terms.name}: its plan makes no sense: {error!r}")
        return lines

    def _contradictions_of(self, one: LadderTournament) -> list[str]:
        plan = self.plan(one)
        fixtures = {fixture.name: fixture for fixture in self.course(one).fixtures}
        scheduled, lines = self.scheduled(one), []
        for name, match in scheduled.items():
            fixture = fixtures.get(name)
            where = f"event {one.terms.name}: match {match.match_id}, as {name},"
            if fixture is None:
                lines.append(f"{where} is of no round that follows from the results")
            elif match.condition != one.terms.conditions[fixture.game]:
                lines.append(f"{where} was not scheduled under the condition of its game")
            elif match.labels != [plan.names[entrant] for entrant in fixture.seats]:
                lines.append(f"{where} has other seats than follow from its entrants, its seed and the results")
            elif match.seed != fixture.seed:
                lines.append(f"{where} has another seed than follows from that of the event")
        missing = len(fixtures.keys() - scheduled.keys()) if one.ended_at else 0
        if missing:
            lines.append(f"event {one.terms.name}: never scheduled: {counted(missing, 'match', 'matches')}")
        return lines


def block_name(fixture: Fixture) -> str:
    """Return the common name of the fixtures of a block: a fixture's name without the rotation."""
    return fixture.name.removesuffix(f"-rotation{fixture.rotation}")


def _result(rows: Sequence[Mapping[str, Any]]) -> Result:
    """Build the result of a match from its rows, one for each seat; if the match was given up, the result is a draw."""
    if rows[0]["digest"] is not None:
        seats = [_seat_result(row["seat"], row["rank"], row) for row in rows]
        return Result(tuple(seats), rows[0]["all_decisions"], rows[0]["digest"], None)
    stayed = sum(not row["is_guilty"] for row in rows)
    out = {"outcome": Outcome.CRASH.value, "detail": "suspended because workers died", "score": 0}
    drawn = {"outcome": Outcome.PLAYED.value, "detail": "", "score": 0}
    nothing = {"decisions": 0, "think_ms": 0.0}
    made = [
        _seat_result(
            row["seat"], 1 + stayed if row["is_guilty"] else 1, {**(out if row["is_guilty"] else drawn), **nothing}
        )
        for row in rows
    ]
    return Result(tuple(made), 0, "", None)


def _seat_result(seat: int, rank: int, row: Mapping[str, Any]) -> SeatResult:
    return SeatResult(
        seat=seat,
        bot="",  # the plan names it
        rank=rank,
        score=row["score"],
        outcome=Outcome(row["outcome"]),
        decisions=row["decisions"],
        think_seconds=row["think_ms"] / 1000,
        wall_seconds=0.0,
        lag_seconds=0.0,
        detail=row["detail"],
    )
