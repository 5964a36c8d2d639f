"""The table of a tournament: places, points, the tie-breaks that decided, and the sentence to quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from referee.tournament.certainty import Certainty, certainty
from referee.tournament.course import TournamentCourse, matches_to_come, swiss_points
from referee.tournament.fixtures import PlayedFixture, Results
from referee.tournament.plan import Format, Scoring, TieBreak, TournamentPlan
from referee.tournament.scoring import SharedPlace, counted, in_order, is_out, means, struck_out


@dataclass(slots=True)
class TableRow:
    """An entrant in the table."""

    entrant: int
    place: int
    """The place, from 1; entrants that no tie-break separates share a place."""
    matches: int
    """The number of the entrant's matches that count."""
    points: Fraction
    """The entrant's points per match."""
    interval: tuple[float, float] | None
    """The 95 % interval of the points per match; None in a knockout, and with fewer than two blocks."""
    best: float | None
    """The chance that the entrant is the best or, in a knockout, the best in the final; None while that is unknown.

    It is unknown before the final, and with fewer than two blocks.
    """
    outs: int
    """The number of matches in which the entrant was out."""
    byes: int
    is_struck: bool
    """True if the entrant's matches count for nobody."""
    numbers: dict[TieBreak, Fraction] = field(default_factory=dict)
    """The tie-breaks that were needed, in their order, and the entrant's value for each."""


@dataclass(frozen=True, slots=True)
class FinalTable:
    """The table after the matches played so far."""

    rows: Sequence[TableRow]
    """The rows, best first."""
    played: int
    total: int
    """The number of matches in all rounds, including later ones, if no entrant is struck out."""
    is_final: bool


def final_table(plan: TournamentPlan, course: TournamentCourse, results: Results) -> FinalTable:
    """Return the table after the matches that have results."""
    played = course.played(results)
    valid, struck = counted(plan, played), struck_out(plan, played)
    swiss = plan.format is Format.SWISS
    points = swiss_points(plan, course.rounds, results) if swiss else means(plan.scoring, valid)
    placed = [entrant for entrant in plan.competitors if entrant not in struck]
    knockout = plan.format is Format.KNOCKOUT
    groups = _knockout_order(course, placed) if knockout else in_order(plan, valid, points, placed)
    sure = _certainty_of_final(plan, course, valid) if knockout else certainty(plan, valid, placed)
    rows: list[TableRow] = []
    for group in [*groups, *([SharedPlace(sorted(struck))] if struck else [])]:
        place = len(rows) + 1
        for entrant in group.entrants:
            rows.append(
                TableRow(
                    entrant=entrant,
                    place=place,
                    matches=sum(entrant in one.fixture.seats for one in valid),
                    points=points.get(entrant, Fraction(0)),  # perhaps none of its matches count
                    interval=None if sure is None or knockout else sure.intervals.get(entrant),
                    best=None if sure is None else sure.best.get(entrant),
                    outs=_outs(played, entrant),
                    byes=sum(entrant in one.byes for one in course.rounds),
                    is_struck=entrant in struck,
                    numbers=group.numbers,
                )
            )
    # After the end, no matches are left to play, even if a Swiss tournament has ended early for lack of entrants.
    is_final = course.next_round(results) is None
    total = len(course.fixtures) + (0 if is_final else matches_to_come(plan, course))
    return FinalTable(rows, len(played), total, is_final)


def _knockout_order(course: TournamentCourse, placed: Sequence[int]) -> list[SharedPlace]:
    """Order the entrants of a knockout by the round of their elimination, then by their place at the table."""
    fallen = [group for groups in reversed(course.fallen) for group in groups]
    gone = {entrant for group in fallen for entrant in group.entrants}
    left = SharedPlace([entrant for entrant in placed if entrant not in gone])
    groups = [SharedPlace([one for one in group.entrants if one in placed], group.numbers) for group in fallen]
    return [group for group in [left, *groups] if group.entrants]


def _certainty_of_final(
    plan: TournamentPlan, course: TournamentCourse, valid: Sequence[PlayedFixture]
) -> Certainty | None:
    """Return the certainty of the final of a knockout; None before the final."""
    last = course.rounds[-1]
    # After a round of one table and a bye, there is another round.
    if last.is_preliminary or len(last.companies) > 1 or last.byes:
        return None
    here = [one for one in valid if one.fixture.company.round == last.number]
    return certainty(
        plan, here, [one for one in last.companies[0].entrants if any(one in each.fixture.seats for each in here)]
    )


def _outs(played: Sequence[PlayedFixture], entrant: int) -> int:
    return sum(is_out(seat) for one in played for seat in one.result.seats if one.fixture.seats[seat.seat] == entrant)


def chance_text(chance: float | None) -> str:
    """Return a chance to two decimals, such as `0.93`, or `over 0.99` or `under 0.01`, because no chance is certain."""
    if chance is None:
        return "-"
    return "over 0.99" if chance >= 0.995 else "under 0.01" if chance < 0.005 else f"{chance:.2f}"


def table_texts(plan: TournamentPlan, table: FinalTable) -> tuple[list[str], list[list[str]]]:
    """Return the headings of the columns, and the cells of each row, for terminals and pages."""
    used = [one for one in plan.tie_breaks if any(one in row.numbers for row in table.rows)]
    heads = ["place", "entrant", "matches", f"{plan.scoring.value} per match", *(one.value for one in used), "best"]
    rows = [
        [
            "struck out" if row.is_struck else str(row.place),
            plan.names[row.entrant],
            str(row.matches),
            _points_text(plan, row),
            *(_tie_break_text(row, one) for one in used),
            chance_text(row.best),
        ]
        for row in table.rows
    ]
    return heads, rows


def _points_text(plan: TournamentPlan, row: TableRow) -> str:
    """Return the points per match and their interval."""
    digits = 1 if plan.scoring is Scoring.SCORE else 3
    if not row.matches:
        return "-"
    mean = f"{float(row.points):.{digits}f}"
    return mean if row.interval is None else f"{mean} ({row.interval[0]:.{digits}f} to {row.interval[1]:.{digits}f})"


def _tie_break_text(row: TableRow, kind: TieBreak) -> str:
    """Return the value of a tie-break; empty if the tie-break was not needed."""
    number = row.numbers.get(kind)
    if number is None:
        return ""
    return str(number) if number.denominator == 1 else f"{float(number):.3f}"


def verdict_sentence(plan: TournamentPlan, table: FinalTable) -> str:
    """Return the sentence to quote: the winner, and the chance that it is the best."""
    names = plan.names
    if not table.played:
        return "no match has been played"
    first = [row for row in table.rows if row.place == 1]
    if first[0].is_struck:
        return "nobody wins: all entrants are struck out"
    if len(first) > 1:
        shared = " and ".join(names[row.entrant] for row in first)
        if plan.format is Format.KNOCKOUT:
            return f"{len(first)} entrants are left after {table.played} of {table.total} matches"
        return f"{shared} {'share' if table.is_final else 'would share'} the first place"
    winner = names[first[0].entrant]
    said = f"{winner} wins" if table.is_final else f"{winner} leads after {table.played} of {table.total} matches"
    decided = "".join(
        " by drawing lots" if one is TieBreak.LOTS else f" by {one.value}" for one in list(first[0].numbers)[-1:]
    )
    chance = first[0].best
    of = "the final" if plan.format is Format.KNOCKOUT else "these"
    sure = "" if chance is None else f"; the chance that {winner} is the best of {of} is {chance_text(chance)}"
    return said + decided + sure
