"""`dogana ladder`: submit bots, run matches among them, look at the standings."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import platformdirs
import typer
from rich.progress import Progress
from rich.table import Table

from ladder.errors import LadderError
from ladder.ladder import Ladder
from referee.commands.output import err, out, print_json
from referee.errors import DoganaError
from referee.match.clock import TimeControl
from referee.registry import find, games

app = typer.Typer(help="Submit bots, run matches among them, look at the standings.", no_args_is_help=True)

Home = Annotated[
    Path,
    typer.Option(
        help="The folder of the ladder.",
        metavar="DIR",
        default_factory=lambda: default_home(),
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def default_home() -> Path:
    """Where the ladder is if nothing is said."""
    return Path(platformdirs.user_data_dir("dogana")) / "ladder"


@contextmanager
def _open(home: Path, *, create: bool = False) -> Iterator[Ladder]:
    ladder = Ladder(home, create=create)
    try:
        yield ladder
    finally:
        ladder.close()


@app.command()
def submit(
    path: Annotated[Path, typer.Argument(help="An executable, a .py file, a folder, or a .zip or .tar archive.")],
    name: Annotated[str, typer.Option(help="The bot's name.")],
    author: Annotated[str, typer.Option(help="Its author.")],
    home: Home,
    as_json: AsJson = False,
) -> None:
    """Submit a bot, or a new version of it.

    A version never changes: it is kept by its content. A folder or archive can have a bot.toml with
    run = ["./program"] and games = ["cargo_noir"]; without it the program is the file bot or bot.py, or the only file.

    Examples:

      dogana ladder submit mybot.py --name mybot --author me

      dogana ladder submit build/mybot.zip --name mybot --author me --home ./ladder
    """
    for value, what in ((name, "--name"), (author, "--author")):
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", value, re.ASCII):
            raise LadderError(f"{what} must be 1 to 40 letters, digits, dots, dashes and underscores, not {value!r}")
    if not path.exists():
        raise LadderError(f"there is no file or folder {path}")
    existed = home.exists()
    try:
        with _open(home, create=True) as ladder:
            version, is_new = ladder.submit(path, name, author)
            newest = max(one.number for one in ladder.store.versions().values() if one.bot == version.bot)
    except DoganaError:
        if not existed:  # a bot that is refused must not leave an empty ladder
            shutil.rmtree(home, ignore_errors=True)
        raise
    if as_json:
        print_json(
            {
                "bot": version.bot,
                "version": version.number,
                "content_hash": version.content_hash,
                "new": is_new,
            }
        )
    elif is_new:
        out.print(f"{version.label} by {version.author} is in; it qualifies with the next run", markup=False)
    else:
        later = "" if newest == version.number else f"; v{newest} is the newest"
        out.print(f"nothing new: these files are {version.label} already{later}", markup=False)


@app.command()
def run(
    home: Home,
    game: Annotated[list[str], typer.Option(help="The game; several, taken in turn, if it is given several times.")],
    matches: Annotated[int, typer.Option(help="Play at least so many matches, in whole blocks.", min=1, max=1_000_000)],
    workers: Annotated[int, typer.Option(help="Play so many matches at a time.", min=1, max=256)] = os.cpu_count() or 1,
    clock: Annotated[str, typer.Option(help="bank+increment/cap in seconds, for each seat.")] = "60+0.5/10",
    same_author: Annotated[bool, typer.Option("--same-author", help="Let bots of one author meet.")] = False,
    unconfined: Annotated[
        bool, typer.Option("--unconfined", help="Run submitted bots with your rights on this machine.")
    ] = False,
) -> None:
    """Play matches among the submitted bots and the house bots, and rate them.

    A block is one seed, played in every rotation of the seats. A run that was interrupted is taken up again by the next one.

    Examples:

      dogana ladder run --game cargo_noir --matches 100 --unconfined

      dogana ladder run --game cargo_noir --game yunnan --matches 200 --workers 4 --unconfined
    """
    chosen = [find(name) for name in dict.fromkeys(game)]
    try:
        control = TimeControl.parse(clock)
    except ValueError as error:
        raise LadderError(str(error)) from error
    if not unconfined:
        raise LadderError(
            "submitted bots would run unconfined, with your rights on this machine; say --unconfined if you trust them all"
        )
    with _open(home) as ladder, Progress(console=err, transient=True) as progress:
        progress.console.print("bots run unconfined: with your rights on this machine", style="yellow")
        bar = progress.add_task(f"{' and '.join(one.title for one in chosen)} matches", total=matches)
        for step in ladder.run(chosen, matches, workers, str(control), same_author=same_author):
            if step.text:
                progress.console.print(step.text, markup=False, soft_wrap=True)
            if step.planned:
                progress.update(bar, completed=step.played, total=step.planned)
            played = step.played
    names = chosen[0].name if len(chosen) == 1 else ""
    out.print(f"{played} matches played; look at the standings: dogana ladder top {names}".rstrip(), markup=False)


@app.command()
def top(
    home: Home,
    game: Annotated[str | None, typer.Argument(help="One game; all of them if left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the standings, best first by mu - 3 sigma: the skill that a bot has almost certainly.

    Examples:

      dogana ladder top

      dogana ladder top cargo_noir --json
    """
    if game is not None:
        find(game)
    with _open(home) as ladder:
        names = [name for name in games() if game in (None, name)]
        listed = {name: _entries(ladder, name) for name in names}
    if as_json:
        print_json([entry for name in names for entry in listed[name]])
        return
    for name in names:
        if not listed[name] and game is None:
            continue
        table = Table(
            "place",
            "bot",
            "author",
            "mu",
            "sigma",
            "mu - 3 sigma",
            "matches",
            "wins",
            "out",
            "",
            title=find(name).title,
        )
        for entry in listed[name]:
            rated = entry["mu"] is not None
            numbers = [f"{entry[key]:.2f}" if rated else "-" for key in ("mu", "sigma", "low")]
            table.add_row(
                str(entry["place"] or "-"),
                f"{entry['bot']} v{entry['version']}",
                str(entry["author"]),
                *numbers,
                *(str(entry[key]) for key in ("matches", "wins", "out", "status")),
            )
        out.print(table)


def _entries(ladder: Ladder, game: str) -> list[dict[str, object]]:
    """Everybody on the ladder of a game: the rated ones, then those who are not rated."""
    suspended = ladder.suspended(find(game))
    qualified = ladder.store.qualifications(game)
    versions = ladder.store.versions()
    active = {version.id for version in ladder.active(find(game))}
    waiting = {version.id for version in ladder.waiting(find(game))}
    entries: list[dict[str, object]] = []
    for place, standing in enumerate(ladder.store.standings(game), start=1):
        version = standing.version
        status = "suspended" if version.id in suspended else "" if version.id in active else "replaced"
        entries.append(
            {
                "game": game,
                "place": place,
                "bot": version.bot,
                "version": version.number,
                "author": version.author,
                "mu": standing.rating.mu,
                "sigma": standing.rating.sigma,
                "low": standing.rating.low,
                "matches": standing.matches,
                "wins": standing.wins,
                "out": standing.faults,
                "status": status,
            }
        )
    rated = {(entry["bot"], entry["version"]) for entry in entries}
    for version in versions.values():
        if (version.bot, version.number) in rated or game not in version.games:
            continue
        passed, reason = qualified.get(version.id, (True, ""))
        status = "waits for its first match" if version.id in waiting else "replaced"
        if version.id in suspended:
            status = "suspended"
        entries.append(
            {
                "game": game,
                "place": None,
                "bot": version.bot,
                "version": version.number,
                "author": version.author,
                "mu": None,
                "sigma": None,
                "low": None,
                "matches": 0,
                "wins": 0,
                "out": 0,
                "status": status if passed else f"not qualified: {reason}",
            }
        )
    return entries


@app.command()
def recompute(home: Home, as_json: AsJson = False) -> None:
    """Verify all records, derive all ratings from them again, and compare.

    The exit status is 0 only if everything agrees, to the last digit.

    Example:

      dogana ladder recompute
    """
    with _open(home) as ladder:
        problems = ladder.recompute()
        matches = len(ladder.store.counted())
    if as_json:
        print_json({"agrees": not problems, "matches": matches, "problems": problems})
    elif problems:
        for problem in problems:
            out.print(f"differs: {problem}", markup=False, soft_wrap=True)
    else:
        out.print(f"{matches} matches verified; all ratings agree to the last digit", markup=False)
    if problems:
        raise typer.Exit(1)
