"""`dogana tournament new`: write the file of a tournament."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from referee.commands.options import (
    DEFAULT_CLOCK,
    ClockOption,
    CpusOption,
    GameOptions,
    MemoryOption,
    NoPonderingOption,
    RuntimeOption,
    TasksOption,
    read_options,
)
from referee.commands.output import out, target
from referee.commands.resume import NAME as SERIES
from referee.commands.seats import COMMAND
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.forecast import forecast
from referee.commands.tournament.players import check_field, players
from referee.files import make_folder, write_file
from referee.registry import is_house_bot
from referee.tournament.plan import (
    DEFAULT_TIE_BREAKS,
    MAX_BLOCKS,
    MAX_ROUNDS,
    MAX_SEATS,
    MIN_SEATS,
    SWISS_TIE_BREAKS,
    FaultRule,
    Format,
    Scoring,
    TournamentError,
    read_plan,
)

_NAMED = re.compile(r"([\w. -]+)=(.+)")
"""An entrant with a name: `ann=bots/ann.py`."""


def new(
    folder: Annotated[
        Path, typer.Argument(help="The folder of the tournament; it is made.", metavar="FOLDER", parser=target)
    ],
    entrants: Annotated[
        list[str],
        typer.Argument(
            help="Who takes part: a house bot's name, the path of a bot or cmd:'COMMAND'; NAME=PATH gives it a name.",
            metavar="ENTRANT",
        ),
    ],
    game: Annotated[
        list[str],
        typer.Option(help="The game; may be given several times, and each table plays all of them.", metavar="GAME"),
    ],
    form: Annotated[Format, typer.Option("--format", help="Who meets whom.")] = Format.ROUND_ROBIN,
    seats: Annotated[
        int, typer.Option(help="How many sit at a table.", min=MIN_SEATS, max=MAX_SEATS, metavar="NUMBER")
    ] = 2,
    blocks: Annotated[
        int,
        typer.Option(
            help="How many seeds each table plays, each in every rotation of the seats.",
            min=1,
            max=MAX_BLOCKS,
            metavar="NUMBER",
        ),
    ] = 10,
    hosts: Annotated[
        int | None,
        typer.Option(
            help="In a gauntlet: how many of the first entrants are the opponents of all others.",
            show_default="as many as a table needs",
            min=1,
            metavar="NUMBER",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="In a Swiss tournament: how many rounds.",
            show_default="as many as a knockout of two needs, and two more",
            min=1,
            max=MAX_ROUNDS,
            metavar="NUMBER",
        ),
    ] = None,
    advance: Annotated[
        int | None,
        typer.Option(
            help="In a knockout: how many of each table go on.", show_default="1", min=1, max=2, metavar="NUMBER"
        ),
    ] = None,
    scoring: Annotated[Scoring, typer.Option(help="The points of a match.")] = Scoring.WINS,
    faults: Annotated[FaultRule, typer.Option(help="The consequence for a bot that is put out.")] = FaultRule.FORFEIT,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The number that all chance comes from.", show_default="drawn", min=0, max=2**62, metavar="NUMBER"
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The name of the tournament.", metavar="NAME")] = "",
    clock: ClockOption = DEFAULT_CLOCK,
    option: GameOptions = None,
    isolate: Annotated[
        bool,
        typer.Option("--isolate", help="Run started agents in the sandbox of a ladder; this folder is /bot there."),
    ] = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    runtime: RuntimeOption = None,
) -> None:
    """Write the file of a tournament, with a comment on each entry.

    Nothing is played. Read the file, change it if you like, then run it. The names of entrants are those of their files.

    Examples:

      dogana tournament new cup greedy random --game cargo_noir

      dogana tournament new cup bots/ann.py bots/bob.py bots/cem.py greedy --game yunnan --seats 3 --blocks 20

      dogana tournament new cup ann=bots/ann/v2.py greedy random --game cargo_noir --game venezia --isolate

      dogana tournament new cup bots/ann.py bots/bob.py bots/cem.py bots/dee.py --game yunnan --format swiss --rounds 3

      dogana tournament new cup bots/ann.py bots/bob.py bots/cem.py bots/dee.py --game yunnan --format knockout

      dogana tournament new cup greedy search old.py new.py --game cargo_noir --format gauntlet --hosts 2
    """
    place = TournamentFolder(folder)
    if place.file.exists():
        raise TournamentError(f"{place.file} is there already: change it, or use another folder")
    if (folder / SERIES).exists():
        raise TournamentError(f"{folder} has a series of `dogana play`; a tournament needs a folder of its own")
    if option and len(game) > 1:
        raise TournamentError("--option is for a single game; write the options of several into the file")
    chosen = hosts or (seats - 1 if form is Format.GAUNTLET else 0)
    values = {
        "title": title,
        "format": form.value,
        "seats": seats,
        "games": _games(game, option or []),
        "blocks": blocks,
        "seed": secrets.randbits(62) if seed is None else seed,
        "clock": clock,
        "scoring": scoring.value,
        "tie_breaks": [one.value for one in (SWISS_TIE_BREAKS if form is Format.SWISS else DEFAULT_TIE_BREAKS)],
        "faults": faults.value,
        "directory": os.path.relpath(Path.cwd(), folder),
        "of_format": _of_format(form, len(entrants), rounds, advance),
        "entrants": written_entrants([named(word) for word in entrants], "", chosen),
        "isolation": _isolation(
            isolate=isolate, memory=memory, tasks=tasks, cpus=cpus, no_pondering=no_pondering, runtime=runtime or []
        ),
    }
    text = _FILE.format(**{key: value if key in _TABLES else _toml(value) for key, value in values.items()})
    plan = read_plan(text, str(place.file))
    check_field(plan, Path.cwd())
    with players(plan, Path.cwd()):
        pass  # each bot is there, and plays the games
    make_folder(folder)
    write_file(place.file, text)
    out.print(f"{place.file}: {forecast(plan)}", soft_wrap=True)
    out.print(f"run it: dogana tournament run {folder}", soft_wrap=True)


_OF_KNOCKOUT = """\
advance = {}  # how many of each table go on
# preliminary = "swiss"  # rounds before it that decide the seeding: swiss, or round-robin
# rounds = 5  # of a Swiss preliminary
# qualify = 8  # how many go on from the preliminary; all without it
"""
_TABLES = ("of_format", "games", "entrants", "isolation")
_FILE = """\
# A tournament. `dogana tournament run FOLDER` plays it, and goes on where it was if it is run again.
# After the first match only comments, title, wait and directory may change.

title = {title}
# round-robin: everybody meets everybody. gauntlet: all others meet the hosts. swiss: in each round, those with like points
# meet. knockout: the best of each table go on; the order of the entrants is their seeding.
format = {format}
{of_format}seats = {seats}  # how many sit at a table
blocks = {blocks}  # seeds for each table and game; each is played in every rotation of the seats
seed = {seed}  # all chance comes from it: luck, order of seats, lots
clock = {clock}  # of each seat, in seconds: bank+increment/cap

# wins: a win is a point, shared first places share it. places: 1 for the first, 0 for the last, in equal steps.
# score: the points of the game.
scoring = {scoring}

# What separates entrants with the same points, in this order: head-to-head, opponents, score-difference,
# last-seat-wins, lots.
tie_breaks = {tie_breaks}

# forfeit: a bot that is put out has no points in that match. strike-out: none of its matches counts, for anybody.
faults = {faults}

directory = {directory}  # where paths and commands are, seen from this file

{games}
{entrants}
{isolation}"""


def _toml(value: str | float | Sequence[str]) -> str:
    """Write a value as TOML: strings, numbers and lists of strings are written as in JSON."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def _of_format(form: Format, entrants: int, rounds: int | None, advance: int | None) -> str:
    """Write the entry that only this format has, if any."""
    if (rounds is not None and form is not Format.SWISS) or (advance is not None and form is not Format.KNOCKOUT):
        raise TournamentError("--rounds is for --format swiss, --advance for --format knockout")
    if form is Format.SWISS:
        return f"rounds = {rounds or (entrants - 1).bit_length() + 2}\n"
    return _OF_KNOCKOUT.format(advance or 1) if form is Format.KNOCKOUT else ""


def _games(names: Sequence[str], options: Sequence[str]) -> str:
    chosen = read_options(options)
    given = ", ".join(
        f"{_toml(name)} = {value if value.isdecimal() else _toml(value)}" for name, value in chosen.items()
    )
    written = f"options = {{ {given} }}\n" if given else ""
    return "\n".join(f"[[games]]\ngame = {_toml(name)}\n{written}" for name in names)


def written_entrants(entrants: Sequence[tuple[str, str]], more: str, hosts: int = 0) -> str:
    """Write entrants, given by name and seat, each with further lines; the first are the hosts of a gauntlet."""
    rows = []
    for number, (name, seat) in enumerate(entrants):
        host = "host = true\n" if number < hosts else ""
        rows.append(f"[[entrants]]\nname = {_toml(name)}\nseat = {_toml(seat)}\n{host}{more}")
    return "\n".join(rows)


def named(word: str) -> tuple[str, str]:
    """Return the name of an entrant, and the word for its seat."""
    if (found := _NAMED.fullmatch(word)) and not Path(word).exists():
        return found[1], found[2]
    if is_house_bot(word) or word.startswith(COMMAND):
        return word, word
    return Path(word).stem, word


def _isolation(
    *,
    isolate: bool,
    memory: int | None,
    tasks: int | None,
    cpus: float | None,
    no_pondering: bool,
    runtime: Sequence[Path],
) -> str:
    if not isolate:
        if (memory, tasks, cpus, no_pondering, list(runtime)) != (None, None, None, False, []):
            raise TournamentError("--memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate")
        return "[isolation]\nisolate = false  # true: run bots in the sandbox of a ladder\n"
    limits = {"memory": memory, "tasks": tasks, "cpus": cpus}
    lines = [f"{name} = {_toml(value)}" for name, value in limits.items() if value is not None]
    folders = f"runtimes = {_toml([str(one.absolute()) for one in runtime])}"
    return "\n".join(["[isolation]", "isolate = true", *lines, f"pondering = {_toml(not no_pondering)}", folders, ""])
