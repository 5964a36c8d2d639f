"""The figures of a table in words, for terminals and pages."""

from __future__ import annotations

from referee.tournament.plan import Scoring, TieBreak, TournamentPlan
from referee.tournament.standings import TableRow


def points_text(plan: TournamentPlan, row: TableRow) -> str:
    """Return the points per match and their interval."""
    digits = 1 if plan.scoring is Scoring.SCORE else 3
    if not row.matches:
        return "-"
    mean = f"{float(row.points):.{digits}f}"
    return mean if row.interval is None else f"{mean} ({row.interval[0]:.{digits}f} to {row.interval[1]:.{digits}f})"


def tie_break_text(row: TableRow, kind: TieBreak) -> str:
    """Return the value of a tie-break; empty if the tie-break was not needed."""
    number = row.numbers.get(kind)
    if number is None:
        return ""
    return str(number) if number.denominator == 1 else f"{float(number):.3f}"


def used_tie_breaks(plan: TournamentPlan, rows: list[TableRow]) -> list[TieBreak]:
    """Return the tie-breaks that were needed, in their order."""
    return [one for one in plan.tie_breaks if any(one in row.numbers for row in rows)]
