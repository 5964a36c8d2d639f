"""The tables of a tournament for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from referee.tournament.course import TournamentCourse
from referee.tournament.crosstable import MeetingTable
from referee.tournament.fixtures import Results
from referee.tournament.plan import TournamentPlan
from referee.tournament.standings import FinalTable, TableRow, table_texts, verdict_sentence

MAX_COLUMNS = 12
"""The maximum number of entrants for which a terminal shows the crosstable."""


def standings_table(plan: TournamentPlan, table: FinalTable) -> Table:
    """Return the final table, or the table so far."""
    heads, rows = table_texts(plan, table)
    state = "final table" if table.is_final else f"after {table.played} of {table.total} matches"
    printed = Table(*heads, "out", title=": ".join(filter(None, [plan.title, state])))
    for row, cells in zip(table.rows, rows, strict=True):
        printed.add_row(*cells, str(row.outs) if row.outs else "-")
    return printed


def crosstable_table(plan: TournamentPlan, cross: MeetingTable) -> Table:
    """Return the crosstable: the share of matches in which the row's entrant came before the column's entrant."""
    printed = Table("", *(str(place) for place in range(1, len(cross.order) + 1)), title="row before column")
    for place, row in enumerate(cross.order, start=1):
        cells = [cross.text(row, column) for column in cross.order]
        printed.add_row(f"{place}  {plan.names[row]}", *cells)
    return printed


def result_document(
    plan: TournamentPlan, course: TournamentCourse, results: Results, table: FinalTable, hashes: Mapping[str, str]
) -> dict[str, Any]:
    """Return the table as JSON values, with the hash of each record."""
    return {
        "verdict": verdict_sentence(plan, table),
        "table": [_row(plan, row) for row in table.rows],
        "records": {one.name: hashes[one.name] for one in course.fixtures if one.name in results},
    }


def matches_left(table: FinalTable) -> str:
    """Return the number of matches left, in words."""
    left = table.total - table.played
    return "1 match is left" if left == 1 else f"{left} matches are left"


def _row(plan: TournamentPlan, row: TableRow) -> dict[str, Any]:
    return {
        "place": row.place,
        "entrant": plan.names[row.entrant],
        "matches": row.matches,
        "points": str(row.points),
        "interval": None if row.interval is None else [round(end, 6) for end in row.interval],
        "best": None if row.best is None else round(row.best, 6),
        "outs": row.outs,
        "byes": row.byes,
        "struck_out": row.is_struck,
        "tie_breaks": {kind.value: str(number) for kind, number in row.numbers.items()},
    }
