"""The matches of a tournament that are still to come, in rounds that the results do not determine yet."""

from __future__ import annotations

from referee.tournament.course import TournamentCourse, TournamentRound
from referee.tournament.knockout import sizes
from referee.tournament.plan import Format, Preliminary, TournamentPlan


def matches_to_come(plan: TournamentPlan, course: TournamentCourse) -> int:
    """Return the number of matches of later rounds, if no entrant is struck out."""
    last = course.rounds[-1]
    seated = 0
    if plan.format is Format.SWISS or (last.is_preliminary and plan.preliminary is Preliminary.SWISS):
        here = sum(len(one.entrants) for one in last.companies)
        seated = (plan.rounds - last.number) * here
    if plan.format is Format.KNOCKOUT:
        seated += sum(map(sum, sizes(_entrants_left(plan, last), plan.seats, plan.advance)))
    return seated * plan.blocks * len(plan.games)  # a table of n has n rotations


def _entrants_left(plan: TournamentPlan, last: TournamentRound) -> int:
    """Return the number of entrants who go on in a knockout after a round; 0 after the final."""
    if last.is_preliminary:
        return plan.qualify or len(plan.competitors)
    if len(last.companies) == 1 and not last.byes:
        return 0
    return len(last.byes) + plan.advance * len(last.companies)
