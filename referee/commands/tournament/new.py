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
    IsolateOption,
    MemoryOption,
    NoPonderingOption,
    RuntimeOption,
    TasksOption,
    read_options,
)
from referee.commands.output import out, target
from referee.commands.plan_file import running
from referee.commands.seats import COMMAND
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.forecast import forecast
from referee.commands.tournament.options import (
    AdvanceOption,
    BlocksOption,
    FormatOption,
    GamesOption,
    ScoringOption,
    SeatsOption,
)
from referee.commands.tournament.players import bot_hashes, check_versions, players
from referee.files import make_folder, write_new
from referee.registry import is_house_bot
from referee.tournament.plan import (
    DEFAULT_TIE_BREAKS,
    MAX_ENTRANTS,
    MAX_ROUNDS,
    NAME_RULE,
    SWISS_TIE_BREAKS,
    FaultRule,
    Format,
    Preliminary,
    Scoring,
    TournamentError,
    is_name,
    read_plan,
)

Value = str | float | Sequence[str] | None
_NAMED = re.compile(r"[\w. -]+")
"""A name before `=`, as in `ann=bots/ann.py`; a name with other characters needs a bot after it."""
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
"""A whole number in TOML; other digits, as in `03`, stay text, which a game reads as well."""


def new(
    folder: Annotated[Path, typer.Argument(help="The new folder of the tournament.", metavar="FOLDER", parser=target)],
    entrants: Annotated[
        list[str],
        typer.Argument(
            help="A house bot's name, the path of a bot or cmd:'COMMAND'; NAME=PATH gives it a name.",
            metavar="ENTRANT",
        ),
    ],
    game: GamesOption,
    form: FormatOption = Format.ROUND_ROBIN,
    seats: SeatsOption = 2,
    blocks: BlocksOption = 10,
    hosts: Annotated[
        int | None,
        typer.Option(
            help="In a gauntlet: the number of hosts, which are the first entrants and meet all others.",
            show_default="as many as a table needs",
            min=1,
            metavar="NUMBER",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="In a Swiss tournament: the number of rounds.",
            show_default="as many as a knockout of two needs, and two more",
            min=1,
            max=MAX_ROUNDS,
            metavar="NUMBER",
        ),
    ] = None,
    advance: AdvanceOption = None,
    preliminary: Annotated[
        Preliminary, typer.Option(help="In a knockout: the rounds before it, which decide its seeding.")
    ] = Preliminary.NONE,
    qualify: Annotated[
        int | None,
        typer.Option(
            help="The number of entrants that advance from the preliminary to the knockout.",
            show_default="all",
            min=2,
            max=MAX_ENTRANTS,
            metavar="NUMBER",
        ),
    ] = None,
    scoring: ScoringOption = Scoring.WINS,
    faults: Annotated[FaultRule, typer.Option(help="The consequence for a bot that is put out.")] = FaultRule.FORFEIT,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The seed of all chance in the tournament.", show_default="drawn", min=0, max=2**62, metavar="NUMBER"
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The name of the tournament.", metavar="NAME")] = "",
    clock: ClockOption = DEFAULT_CLOCK,
    option: GameOptions = None,
    isolate: IsolateOption = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    runtime: RuntimeOption = None,
) -> None:
    """Write the file of a tournament, with a comment on each entry.

    Nothing is played. Read the file, change it if you like, then run it. The names of entrants are those of their
    files.

    Examples:

      dogana tournament new cup greedy random --game cargo_noir

      dogana tournament new cup bots/ann.py bots/bob.py bots/cem.py greedy --game yunnan --seats 3 --blocks 20

      dogana tournament new cup ann=bots/ann/v2.py greedy random --game cargo_noir --game venezia --isolate

      dogana tournament new cup bots/ann.py bots/bob.py bots/cem.py bots/dee.py --game yunnan --format swiss --rounds 3

      dogana tournament new cup bots/ann.py bots/bob.py bots/cem.py bots/dee.py --game yunnan --format knockout

      dogana tournament new cup bots/*.py --game yunnan --format knockout --preliminary swiss --rounds 4 --qualify 8

      dogana tournament new cup greedy search old.py new.py --game cargo_noir --format gauntlet --hosts 2
    """
    place = TournamentFolder(folder)
    taken = TournamentError(f"{place.file} is there already: change it, or use another folder")
    if place.file.exists():
        raise taken
    place.check_is_free()
    if place.recorded():
        raise TournamentError(f"{place.records} has records of another tournament; use another folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise TournamentError(f"{folder} is not empty; name a folder that is not there yet")
    if option and len(game) > 1:
        raise TournamentError("--option is for a single game; write the options of several into the file")
    chosen = hosts or (seats - 1 if form is Format.GAUNTLET else 0)
    is_swiss = form is Format.SWISS or preliminary is Preliminary.SWISS
    values = {
        "title": title,
        "format": form.value,
        "seats": seats,
        "games": _games(game, option or []),
        "blocks": blocks,
        "seed": secrets.randbits(62) if seed is None else seed,
        "clock": clock,
        "scoring": scoring.value,
        "tie_breaks": [one.value for one in (SWISS_TIE_BREAKS if is_swiss else DEFAULT_TIE_BREAKS)],
        "faults": faults.value,
        "directory": os.path.relpath(Path.cwd(), folder.resolve()),  # as the kernel goes up: a link leads elsewhere
        "of_format": _of_format(form, len(entrants), rounds, advance, preliminary, qualify),
        "entrants": written_entrants([named(word) for word in entrants], "", chosen),
        "isolation": _isolation(
            isolate=isolate, memory=memory, tasks=tasks, cpus=cpus, no_pondering=no_pondering, runtime=runtime or []
        ),
    }
    text = _FILE.format(**{key: value if key in _TABLES else _toml(value) for key, value in values.items()})
    # The text passes through the reader of all plans, so that the file can be run or is refused in the same words.
    plan = read_plan(text, str(place.file))
    with players(place, plan, Path.cwd()):  # each bot is there, and plays the games
        check_versions(plan, bot_hashes(plan, Path.cwd(), place.own))
    make_folder(folder)
    try:
        write_new(place.file, text)
    except FileExistsError:  # another command has written it meanwhile
        raise taken from None
    out.print(f"{place.file}: {forecast(plan)}", soft_wrap=True)
    out.print(f"run it: {running(folder)}", soft_wrap=True)


_TABLES = ("of_format", "games", "entrants", "isolation")
_FILE = """\
# A tournament. `dogana tournament run FOLDER` plays it; after an interruption, run it again to go on.
# After the first match only comments, title, wait and directory may change.
# A line that begins with # and an entry shows an entry that is not set; remove the # to set it.

title = {title}
# round-robin: everybody meets everybody. gauntlet: all others meet the hosts. swiss: in each round, those with similar
# points meet. knockout: the best of each table advance; the order of the entrants is their seeding.
format = {format}
{of_format}seats = {seats}  # the number of entrants at a table
blocks = {blocks}  # seeds for each table and game; each is played in every rotation of the seats
seed = {seed}  # all chance comes from it: luck, order of seats, lots
clock = {clock}  # of each seat, in seconds: bank+increment/cap
# wait = 10  # seconds that a bot has to join

# wins: a win is a point, shared first places share it. places: 1 for the first, 0 for the last, in equal steps.
# score: the points of the game.
scoring = {scoring}

# Tie-breaks separate entrants with the same points, in this order: head-to-head, opponents, score-difference,
# last-seat-wins, lots.
tie_breaks = {tie_breaks}

# forfeit: a bot that is put out has no points in that match. strike-out: none of its matches counts, for anybody.
faults = {faults}

directory = {directory}  # the folder of paths and commands, relative to this file

{games}
{entrants}
{isolation}"""


def _toml(value: Value) -> str:
    """Write a value as TOML: strings, numbers and lists of strings are written as in JSON."""
    return json.dumps(value).replace("\x7f", "\\u007f")  # JSON leaves DEL as it is, and TOML forbids it


def _of_format(
    form: Format,
    entrants: int,
    rounds: int | None,
    advance: int | None,
    preliminary: Preliminary,
    qualify: int | None,
) -> str:
    """Write the entries that only this format has; those that are not set become comments."""
    is_swiss = form is Format.SWISS or preliminary is Preliminary.SWISS
    if form is not Format.KNOCKOUT and (advance is not None or preliminary is not Preliminary.NONE):
        raise TournamentError("--advance and --preliminary are for --format knockout")
    if qualify is not None and preliminary is Preliminary.NONE:
        raise TournamentError("--qualify needs rounds before a knockout: add --preliminary swiss or round-robin")
    if rounds is not None and not is_swiss:
        raise TournamentError("--rounds is for --format swiss and --preliminary swiss")
    usual = (entrants - 1).bit_length() + 2  # the rounds of a knockout at tables of two, and two more
    counted = _entry("rounds", rounds or usual, "the number of rounds of the Swiss part", is_set=is_swiss)
    balance = _entry("balance", "near", "fewer tables of a round robin, with pairs that meet more often than others")
    if form is not Format.KNOCKOUT:
        return {Format.SWISS: counted, Format.ROUND_ROBIN: balance}.get(form, "")
    before = preliminary is not Preliminary.NONE
    chosen = preliminary.value if before else Preliminary.SWISS.value
    return (
        _entry("advance", advance or 1, "the number from each table that advance", is_set=True)
        + _entry("preliminary", chosen, "rounds before it that decide the seeding: swiss, round-robin", is_set=before)
        + counted
        + balance
        + _entry(
            "qualify", qualify or 8, "the number that go on from the preliminary; all if not set", is_set=bool(qualify)
        )
    )


def _entry(key: str, value: Value, comment: str, *, is_set: bool = False) -> str:
    """Write an entry; if it is not set, write it as a comment."""
    return f"{'' if is_set else '# '}{key} = {_toml(value)}  # {comment}\n"


def _games(names: Sequence[str], options: Sequence[str]) -> str:
    chosen = read_options(options)
    given = ", ".join(
        f"{_toml(name)} = {value if _NUMBER.fullmatch(value) else _toml(value)}" for name, value in chosen.items()
    )
    written = f"options = {{ {given} }}\n" if given else "# options = { openings = 4 }  # `dogana games` lists them\n"
    return "\n".join(f"[[games]]\ngame = {_toml(name)}\n{written}" for name in names)


def written_entrants(entrants: Sequence[tuple[str, str]], more: str, hosts: int = 0) -> str:
    """Write entrants, given by name and seat, each followed by the lines in `more`.

    The first `hosts` entrants are the hosts of a gauntlet.
    """
    rows = []
    for number, (name, seat) in enumerate(entrants):
        host = "host = true\n" if number < hosts else ""
        rows.append(f"[[entrants]]\nname = {_toml(name)}\nseat = {_toml(seat)}\n{host}{more}")
    return "\n".join(rows)


def named(word: str) -> tuple[str, str]:
    """Return the name of an entrant, and the word for its seat.

    Raises:
        TournamentError: if an entrant cannot have this name.
    """
    name, is_named, seat = word.partition("=")
    if is_house_bot(word) or word.startswith(COMMAND):
        name, seat = word, word  # options of a house bot and words of a command may have a "="
    elif _is_there(word) or not is_named or not (_NAMED.fullmatch(name) or _is_seat(seat)):
        name, seat = Path(os.path.abspath(word)).stem if word else "", word  # noqa: PTH100 a link keeps its name
    if not is_name(name):
        raise TournamentError(f"{word!r}: an entrant's name has {NAME_RULE}; give it one: NAME={seat}")
    return name, seat


def _is_seat(word: str) -> bool:
    return is_house_bot(word) or word.startswith(COMMAND) or _is_there(word)


def _is_there(word: str) -> bool:
    return os.path.exists(word)  # noqa: PTH110 a word that is too long for a path is not an error here


def _isolation(
    *,
    isolate: bool,
    memory: int | None,
    tasks: int | None,
    cpus: float | None,
    no_pondering: bool,
    runtime: Sequence[Path],
) -> str:
    limits = {"memory": memory, "tasks": tasks, "cpus": cpus}
    if not isolate and (no_pondering or runtime or any(value is not None for value in limits.values())):
        raise TournamentError("--memory, --tasks, --cpus, --no-pondering and --runtime are for --isolate")
    settings = {
        "memory": (512, "MiB of each bot"),
        "tasks": (64, "its processes and threads"),
        "cpus": (1, "processors"),
    }
    folders = [str(one.absolute()) for one in runtime]
    return (
        f"[isolation]\nisolate = {_toml(isolate)}  # true: run bots in the sandbox of a ladder, with these limits\n"
        + "".join(
            _entry(key, usual if limits[key] is None else limits[key], what, is_set=limits[key] is not None)
            for key, (usual, what) in settings.items()
        )
        + _entry("pondering", not no_pondering, "false: bots are stopped while they are not asked", is_set=isolate)
        + _entry("runtimes", folders or ["/opt/jdk-25"], "folders with runtimes that bots need", is_set=bool(folders))
    )
