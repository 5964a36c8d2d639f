"""`dogana ladder finalists`: the best bots of a ladder, for a tournament."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from ladder.commands.options import HomeOption, OnlyOptions
from ladder.facts.standings import Standing, Status, standings
from ladder.facts.store import Store
from ladder.intake.submission import Inspector
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.choosing import chosen_conditions
from referee.commands.options import ForceOption, read_options
from referee.commands.output import err, out, target
from referee.files import check_free, make_folder


def finalists(
    folder: Annotated[
        Path,
        typer.Argument(
            help="The folder for the copies of the bots, with a folder for each.", metavar="FOLDER", parser=target
        ),
    ],
    game: Annotated[str, typer.Option(help="The game.", metavar="GAME")],
    home: HomeOption,
    top: Annotated[int, typer.Option(help="The number of bots.", min=1, max=1000, metavar="NUMBER")] = 8,
    clock: Annotated[
        str | None, typer.Option(help="Use the standings under this clock.", metavar="BANK+INCREMENT/CAP")
    ] = None,
    option: OnlyOptions = None,
    force: ForceOption = False,
) -> None:
    """Copy the best bots of a ladder, for a tournament among them.

    It takes the scheduled version of each rated bot, best first, and prints the files as entrants for `dogana tournament new`.
    This order is the seeding of a knockout. House bots are left out, since they can be named; bots at home have no files here.

    Examples:

      dogana ladder finalists bots --game cargo_noir --top 8

      dogana ladder finalists bots --game cargo_noir --clock 600+5/60 --home ./ladder
    """
    check_free(folder, force=force, is_folder=True)
    place = Home(home)
    with Store(place.database, create=False) as store:
        best = _best(store, game, clock or "", option)
    inspector = Inspector(place.versions)
    # Tournaments start house bots by their names.
    chosen = [one.version for one in best if not (one.version.is_house or one.version.is_at_home)][:top]
    if not chosen:
        raise LadderError(f"no submitted bot has a rating in {game} yet; let the ladder play first")
    make_folder(folder)
    for version in chosen:
        inspector.check(version)  # so that the copy equals the submitted files
        copy = folder / f"{version.bot}-v{version.number}"
        if force and copy.exists():
            shutil.rmtree(copy)  # `copytree` cannot replace links, and keeps files that the version does not have
        # Links stay links: they could lead out of the folder.
        shutil.copytree(place.versions / version.content_hash, copy, symlinks=True)
        _let_change(copy)
        out.print(f"{copy.name}={copy}", soft_wrap=True, highlight=False)
    if len(chosen) < top:
        err.print(f"the ladder has only {len(chosen)} such bots", soft_wrap=True)


def _let_change(copy: Path) -> None:
    """Let the user change and remove a copy, which would otherwise be read-only, like a version's files on the ladder."""
    for path in (copy, *copy.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o200)


def _best(store: Store, game: str, clock: str, option: list[str] | None) -> list[Standing]:
    """Return the standings of the rated versions that are currently scheduled, best first.

    Raises:
        LadderError: if there are several standings of the game.
    """
    conditions = chosen_conditions(store, game, clock, read_options(option or []), option is not None)
    rated = {
        condition: [
            one for one, placing in standings(store, condition) if placing is not None and one.status is Status.ACTIVE
        ]
        for condition in conditions
    }
    found = {condition: best for condition, best in rated.items() if best}
    if len(found) > 1:
        raise LadderError(f"{game} has {len(found)} standings; choose with --clock and --option", f"top {game}")
    return next(iter(found.values()), [])
