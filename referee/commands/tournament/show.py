"""`dogana tournament show`: the table of a tournament so far."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.commands.output import out, print_json
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.run import FolderArgument
from referee.commands.tournament.tables import (
    MAX_COLUMNS,
    crosstable_table,
    matches_left,
    result_document,
    standings_table,
)
from referee.tournament.course import course
from referee.tournament.crosstable import crosstable
from referee.tournament.scoring import counted
from referee.tournament.standings import FinalTable, final_table, verdict_sentence

_RECENT = 50
"""The number of latest matches from which the speed is estimated."""


def show(
    folder: FolderArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the table of a tournament, finished or not.

    It also prints the crosstable, the number of matches left, and the time that they will take. Results are read from
    the records without verifying them: `dogana tournament verify` does that.

    Examples:

      dogana tournament show cup

      dogana tournament show cup --json
    """
    place = TournamentFolder(folder)
    plan = place.plan()
    results = place.results()
    known = course(plan, results)
    table = final_table(plan, known, results)
    if as_json:
        # Without results there are no hashes to look up; that entry is left out below.
        document = result_document(plan, known, {}, table, {})
        del document["records"]
        print_json(
            {"title": plan.title, **document, "played": table.played, "total": table.total, "final": table.is_final}
        )
        return
    out.print(standings_table(plan, table))
    if len(table.rows) <= MAX_COLUMNS:
        valid = counted(plan, known.played(results))
        out.print(crosstable_table(plan, crosstable(valid, [row.entrant for row in table.rows])))
    out.print(verdict_sentence(plan, table), soft_wrap=True)
    if not table.is_final:
        out.print(_left(place, table), soft_wrap=True)


def _left(place: TournamentFolder, table: FinalTable) -> str:
    """Return a sentence with the number of matches left and the time that they will take at the latest speed."""
    left = matches_left(table)
    times = sorted(path.stat().st_mtime for path in place.recorded())[-_RECENT:]
    if len(times) > 1:
        minutes = (times[-1] - times[0]) / (len(times) - 1) * (table.total - table.played) / 60
        left += f", about {max(1, round(minutes))} min at the speed of the last {len(times)}"
    running = f"run by {place.runner()}" if place.is_running() else "not running now"
    return f"{left}; {running}"
