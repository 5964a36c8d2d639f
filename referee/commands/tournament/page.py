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
from referee.terminal import counted
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
    each match has a page that steps through it. Each record is replayed under the rules before its page is written.

    A tournament may go on meanwhile. With --force, pages are written into the same folder again; a match is drawn only
    once.

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
    paths = [(place.records / f"{name}.jsonl", pages / "matches" / f"{name}.html") for name in names]
    to_draw = [(record, drawn) for record, drawn in paths if not _is_drawn(record, drawn)]
    if to_draw:
        err.print(f"{counted(len(to_draw), 'match', 'matches')} to draw", style="dim")
    with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
        for record, drawn in progress.track(to_draw, description="matches"):
            _draw(record, drawn)
    text = tournament_page(plan, known, results, final_table(plan, known, results), set(names))
    # This comes last, because it links to the pages of the matches.
    write_file(pages / "index.html", text)
    out.print(f"{pages / 'index.html'}: {counted(len(names), 'match', 'matches')}", soft_wrap=True)


def _is_drawn(record: Path, drawn: Path) -> bool:
    """Return True if the page of a match exists, and contains the hash of the match's record."""
    return drawn.exists() and read_lines(record)[-1].hash in drawn.read_text(encoding="utf-8", errors="replace")


def _draw(record: Path, drawn: Path) -> None:
    """Write the page of a match.

    Raises:
        TournamentError: if the record is not valid.
    """
    made = make_page(record, find, lambda done, of: None)
    if made.broken:
        raise TournamentError(f"{record}: {made.broken}; nothing is written of a tournament that does not hold")
    write_file(drawn, made.html)
