"""`dogana ladder recompute`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.errors import LadderError
from ladder.home import Home
from ladder.recompute import Comparison, compare
from ladder.recompute import repair as compare_and_repair
from ladder.store import Store
from referee.commands.output import out, print_json


def recompute(
    home: HomeOption,
    repair: Annotated[
        bool, typer.Option("--repair", help="Replace ratings and tallies that differ, if all records hold.")
    ] = False,
    count_lost: Annotated[
        bool,
        typer.Option(
            "--count-lost",
            help="With --repair: note records that are missing or do not hold as lost for good. Their matches count on as"
            " the ladder has them.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify all records, derive ratings and tallies from the matches again, and compare.

    Nothing is changed without --repair, so a run may go on meanwhile. The exit status is 0 only if everything agrees, to
    the last digit; with --repair it tells what was found, not what is left. Records that were noted as lost are named
    each time, but no longer count as a difference.

    Examples:

      dogana ladder recompute

      dogana ladder recompute --repair

      dogana ladder recompute --repair --count-lost
    """
    if count_lost and not repair:
        raise LadderError("--count-lost changes the ladder: say --repair, too")
    with Store(Home(home).database, create=False) as store:
        found = compare_and_repair(Home(home), store, count_lost=count_lost) if repair else compare(Home(home), store)
    if as_json:
        print_json(
            {
                "agrees": not found.problems,
                "matches": found.matches,
                "problems": found.problems,
                "lost": found.lost,
                "repaired": found.repaired,
            }
        )
    else:
        _print(found, tried=repair)
    if found.problems:
        raise typer.Exit(1)


def _print(found: Comparison, *, tried: bool) -> None:
    lines = [f"differs: {problem}" for problem in found.problems]
    lines += [f"lost: {record}" for record in found.lost]
    if tried and found.log:
        lines.append(
            "the audit log is never repaired, because others may have copies of it; restore a backup that agrees with it"
        )
    if found.repaired:
        lines.append("repaired: ratings and tallies now follow from the matches")
        if found.broken:
            lines.append(
                f"matches that count without a record from now on, as the ladder has them: {len(found.broken)}"
            )
    elif tried and found.contradicting:
        lines.append("nothing was repaired: first restore the records that were counted; others are in their place")
    elif tried and found.broken:
        lines.append(
            "nothing was repaired: first restore the records that do not hold; if they are lost for good, say"
            " --repair --count-lost, and their matches count on as the ladder has them"
        )
    elif not found.problems and found.lost:
        lines.append(
            f"{found.matches} matches, {len(found.lost)} of them without a record; the others are verified;"
            " all ratings agree to the last digit"
        )
    elif not found.problems:
        lines.append(f"{found.matches} matches verified; all ratings agree to the last digit")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
