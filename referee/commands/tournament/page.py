"""`dogana tournament page`: write a tournament as pages for any web host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from referee.commands.options import ForceOption
from referee.commands.output import err, out, target
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.run import FolderArgument
from referee.files import check_free, make_folder, write_file
from referee.pages.match import make_page
from referee.pages.tournament import tournament_page
from referee.records.record import read_lines
from referee.registry import find
from referee.tournament.course import course
from referee.tournament.plan import TournamentError
from referee.tournament.standings import final_table


def page(
    folder: FolderArgument,
    pages: Annotated[
        Path,
        typer.Argument(
            help="The folder for the pages: a new one, or one with earlier pages.", metavar="FOLDER", parser=target
        ),
    ],
    force: ForceOption = False,
) -> None:
    """Write a tournament as pages, for any web host.

    index.html has the final table, the crosstable, the bracket of a knockout, faults and times, and all matches;
    each match has a page that steps through it, and plays its record again by the rules first.

    A tournament may go on meanwhile. With --force, pages are written into the same folder again; a match is drawn only once.

    Examples:

      dogana tournament page cup public

      dogana tournament page cup public --force
    """
    check_free(pages, force=force, is_folder=True)
    place = TournamentFolder(folder)
    plan = place.plan()
    results = place.results()
    known = course(plan, results)
    names = [one.fixture.name for one in known.played(results)]
    make_folder(pages / "matches")
    with Progress(console=err, transient=True) as progress:
        for name in progress.track(names, description="matches"):
            _draw(place.records / f"{name}.jsonl", pages / "matches" / f"{name}.html")
    text = tournament_page(plan, known, results, final_table(plan, known, results), set(names))
    # Last, since it links to the pages of the matches.
    write_file(pages / "index.html", text)
    out.print(f"{pages / 'index.html'}: {len(names)} matches", soft_wrap=True)


def _draw(record: Path, drawn: Path) -> None:
    """Write the page of a match, unless it already exists.

    Raises:
        TournamentError: if the record does not hold.
    """
    # A page contains the hash of its record, so a page of another record is drawn again.
    if drawn.exists() and read_lines(record)[-1].hash in drawn.read_text(encoding="utf-8", errors="replace"):
        return
    made = make_page(record, find, lambda done, of: None)
    if made.broken:
        raise TournamentError(f"{record}: {made.broken}; nothing is written of a tournament that does not hold")
    write_file(drawn, made.html)
