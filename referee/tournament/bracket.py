"""The bracket of a knockout: its tables round by round, with the points and tie-breaks that decided who goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from referee.tournament.course import TournamentCourse, table_order
from referee.tournament.fixtures import Company, PlayedFixture, Results
from referee.tournament.plan import TournamentPlan
from referee.tournament.scoring import counted, means


@dataclass(frozen=True, slots=True)
class BracketSeat:
    """An entrant at a table of a knockout."""

    name: str
    points: float | None = None
    """The entrant's points per match at this table; None if none of its matches count."""
    tie_breaks: Mapping[str, float] = field(default_factory=dict)
    """The value of each tie-break that was needed at this table, in the order of the tie-breaks."""
    goes_on: bool = False
    """True if the entrant goes on, or has won the final."""


@dataclass(frozen=True, slots=True)
class BracketTable:
    """A table of a knockout, or a bye."""

    seats: Sequence[BracketSeat]
    """The entrants at the table, in the order of their seeding."""
    is_played: bool
    """False for a bye."""


def bracket(plan: TournamentPlan, course: TournamentCourse, results: Results) -> list[list[BracketTable]]:
    """Return the tables of a knockout, round by round; an empty list before its first round is known."""
    rounds = [one for one in course.rounds if not one.is_preliminary]
    fields = [{entrant for each in one.companies for entrant in each.entrants} | {*one.byes} for one in rounds]
    winners = set(course.fallen[-1][0].entrants) if course.fallen else set()  # of the last round, once it is over
    played = defaultdict[Company, list[PlayedFixture]](list)
    for match in course.played(results):
        played[match.fixture.company].append(match)
    unfinished = {match.company for match in course.fixtures if match.name not in results}
    return [
        [
            *(_table(plan, each, played[each], going, is_over=each not in unfinished) for each in one.companies),
            *(BracketTable([BracketSeat(plan.names[bye], goes_on=bye in going)], is_played=False) for bye in one.byes),
        ]
        # Whoever sits in the next round, or has a bye there, has gone on from this one.
        for one, going in zip(rounds, [*fields[1:], winners], strict=True)
    ]


def _table(
    plan: TournamentPlan, company: Company, played: Sequence[PlayedFixture], going: Collection[int], *, is_over: bool
) -> BracketTable:
    points = means(plan.scoring, counted(plan, played))
    # Before its last match, a table has not decided anything.
    groups = table_order(plan, played, company) if is_over else []
    numbers = {entrant: group.numbers for group in groups for entrant in group.entrants}
    return BracketTable(
        [
            BracketSeat(
                plan.names[one],
                float(points[one]) if one in points else None,
                {kind.value: float(number) for kind, number in numbers.get(one, {}).items()},
                one in going,
            )
            for one in company.entrants
        ],
        is_played=True,
    )
