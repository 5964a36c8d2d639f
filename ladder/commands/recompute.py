"""`dogana ladder recompute`."""

from __future__ import annotations

from typing import Annotated

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.home import Home
from ladder.recompute import compare
from ladder.recompute import repair as compare_and_repair
from ladder.store import Store
from referee.commands.output import out, print_json


def recompute(
    home: HomeOption,
    repair: Annotated[
        bool, typer.Option("--repair", help="Replace ratings and tallies that differ, if all records hold.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify all records, derive ratings and tallies from the matches again, and compare.

    Nothing is changed without --repair, so a run may go on meanwhile. The exit status is 0 only if everything agrees, to
    the last digit; with --repair it tells what was found, not what is left.

    Examples:

      dogana ladder recompute

      dogana ladder recompute --repair
    """
    with Store(Home(home).database, create=False) as store:
        found = (compare_and_repair if repair else compare)(Home(home), store)
    problems = found.broken + found.differences
    repaired = repair and not found.broken and bool(found.differences)
    if as_json:
        print_json({"agrees": not problems, "matches": found.matches, "problems": problems, "repaired": repaired})
    elif problems:
        for problem in problems:
            out.print(f"differs: {problem}", markup=False, soft_wrap=True)
        if repaired:
            out.print("repaired: ratings and tallies now follow from the matches", markup=False)
        elif repair:
            out.print("nothing was repaired: first restore the records that do not hold", markup=False)
    else:
        out.print(f"{found.matches} matches verified; all ratings agree to the last digit", markup=False)
    if problems:
        raise typer.Exit(1)
