"""`dogana ladder recompute`."""

from __future__ import annotations

import typer

from ladder.commands.options import AsJson, HomeOption
from ladder.home import Home
from ladder.recompute import recompute as compare
from ladder.store import Store
from referee.commands.output import out, print_json
from referee.registry import games


def recompute(home: HomeOption, as_json: AsJson = False) -> None:
    """Verify all records, derive all ratings from them again, and compare.

    The exit status is 0 only if everything agrees, to the last digit.

    Example:

      dogana ladder recompute
    """
    with Store(Home(home).database, create=False) as store:
        problems = compare(Home(home), store)
        matches = sum(len(store.counted(game)) for game in games())
    if as_json:
        print_json({"agrees": not problems, "matches": matches, "problems": problems})
    elif problems:
        for problem in problems:
            out.print(f"differs: {problem}", markup=False, soft_wrap=True)
    else:
        out.print(f"{matches} matches verified; all ratings agree to the last digit", markup=False)
    if problems:
        raise typer.Exit(1)
