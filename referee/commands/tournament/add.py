"""`dogana tournament add`: let entrants join."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer

from referee.commands.output import out
from referee.commands.plan_file import running
from referee.commands.seats import COMMAND
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.forecast import forecast
from referee.commands.tournament.new import named, written_entrants
from referee.commands.tournament.players import bot_hashes, check_versions, players
from referee.commands.tournament.run import FolderArgument
from referee.files import write_file
from referee.registry import is_house_bot
from referee.tournament.course import course
from referee.tournament.plan import TournamentError, TournamentPlan, read_plan


def add(
    folder: FolderArgument,
    entrants: Annotated[
        list[str],
        typer.Argument(
            help="A new entrant: a house bot's name, the path of a bot or cmd:'COMMAND'; NAME=PATH gives it a name.",
            metavar="ENTRANT",
        ),
    ],
) -> None:
    """Let entrants join a tournament, even while it runs.

    In a round robin at tables of two, a newcomer meets everybody; in a gauntlet, it is a challenger and meets the
    hosts. Existing matches do not change. Other tournaments accept no entrants after the first match, and no tournament
    accepts any after its end. The command prints the new tables. A `dogana tournament run` in progress plays them after
    the others.

    Examples:

      dogana tournament add cup bots/late.py

      dogana tournament add cup late=bots/ann/v3.py cem=bots/cem.py
    """
    place = TournamentFolder(folder)
    place.plan()  # without it, there is no folder to lock
    # The file is read again under the lock: another `add` may have written it meanwhile.
    with place.changing(), ExitStack() as stack:
        if place.result.exists():
            raise TournamentError(
                f"{place.folder} is over, and its table is published; newcomers need another tournament"
            )
        before = place.plan()
        directory = place.directory(before)
        more = "joined = true\n" if _has_begun(place, stack) else ""
        text = (
            f"{place.text().rstrip()}\n\n{written_entrants([_seen_from(directory, word) for word in entrants], more)}"
        )
        # The new text is read and its bots are tried before it replaces the file.
        plan = read_plan(text, str(place.file))
        with players(place, plan, directory):  # checks that each bot is there, and plays the games
            check_versions(plan, bot_hashes(plan, directory, place.own))
        write_file(place.file, text)
        out.print(f"{place.file}: {forecast(plan)}", soft_wrap=True)
        if more:
            _print_new_tables(before, plan)
        later = "the running `dogana tournament run` plays them after the others"
        out.print(later if place.is_running() and more else f"run it: {running(folder)}", soft_wrap=True)


def _has_begun(place: TournamentFolder, stack: ExitStack) -> bool:
    """Return True if the first match has begun; if it has not, no match begins before the stack is closed."""
    if place.recorded():
        return True
    with suppress(TournamentError):
        # The lock keeps a run, whose first match would fix the old entrants, from beginning before the file is written.
        stack.enter_context(place.alone())
        return False
    return True


def _seen_from(directory: Path, word: str) -> tuple[str, str]:
    """Return the name of an entrant, and the word for its seat, in which a path is relative to `directory`."""
    name, seat = named(word)
    if not (is_house_bot(seat) or seat.startswith(COMMAND) or Path.cwd().samefile(directory)):
        seat = f"./{os.path.relpath(seat, directory.resolve())}"
    return name, seat


def _print_new_tables(before: TournamentPlan, plan: TournamentPlan) -> None:
    known = {one.number for one in course(before, {}).rounds[0].companies}
    for one in course(plan, {}).rounds[0].companies:
        if one.number not in known:
            out.print(
                f"table {one.number}: {', '.join(plan.names[entrant] for entrant in one.entrants)}", soft_wrap=True
            )
