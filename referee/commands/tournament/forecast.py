"""The size of a tournament, in words, before it begins."""

from __future__ import annotations

from referee.terminal import counted
from referee.tournament.course import course, evenness, matches_to_come
from referee.tournament.plan import Format, Preliminary, TournamentPlan


def forecast(plan: TournamentPlan) -> str:
    """Describe the tables and matches of a tournament, and how evenly its entrants meet."""
    known = course(plan, {})
    first = known.rounds[0]
    size = f"{counted(len(first.companies), 'table')}, {counted(len(first.fixtures), 'match', 'matches')}"
    in_all = f"{counted(len(first.fixtures) + matches_to_come(plan, known), 'match', 'matches')} in all"
    if plan.format is Format.SWISS:
        return f"{counted(plan.rounds, 'round')}, each of {size}; {in_all}"
    if plan.preliminary is not Preliminary.NONE:
        rounds = f"{plan.rounds} preliminary rounds, each" if plan.preliminary is Preliminary.SWISS else "a preliminary"
        return f"{rounds} of {size}; then a knockout of {plan.qualify or len(plan.entrants)}, seeded by it; {in_all}"
    if plan.format is Format.KNOCKOUT:
        onward = (
            "the best of each table advances" if plan.advance == 1 else f"the best {plan.advance} of each table advance"
        )
        return f"{size} in the first round; {onward}; {in_all}"
    if plan.format is Format.GAUNTLET:
        return size
    least, most = evenness(plan)
    if least == most:
        return f"{size}; every two entrants share {counted(least, 'table')}"
    return f"{size}; every two entrants share {least} to {counted(most, 'table')}: no even design with that number of tables is known"
