"""The plan of a series of `dogana play`, kept in its folder of records so that `--resume FOLDER` can continue it."""

from __future__ import annotations

import json
import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from referee.commands.bot_terms import BotTerms
from referee.commands.options import DEFAULT_CLOCK, read_clock, read_options
from referee.commands.output import err
from referee.commands.plan_file import (
    ONE_LINE,
    SERIES,
    ResumeError,
    alone_in,
    damaged,
    is_here,
    keeping,
    read_plan_file,
    resuming,
    sweep,
    write_plan,
)
from referee.commands.seats import REMOTE
from referee.errors import DoganaError
from referee.game import Game, Setup
from referee.kit.document import Document
from referee.live.matches.play import Player
from referee.live.matches.series import Series, Setting
from referee.match.seatings import rotations
from referee.records.position import read_position
from referee.registry import find, is_house_bot, read_board_file, shipped_board
from referee.terminal import counted, visible


class PlayError(DoganaError):
    """The requested matches cannot be played."""


@dataclass(frozen=True, slots=True)
class SeriesOptions:
    """The options of `dogana play` that describe matches, as they were typed; None for an option that was left out."""

    game: str | None
    seats: Sequence[str]
    options: Sequence[str]
    """Options of the game, each in the form NAME=VALUE."""
    board: Path | None
    start: Path | None
    """The file of the position."""
    clock: str | None
    """The clock, checked and in its shortest form."""
    seed: int | None
    games: int | None
    rotate: bool
    terms: BotTerms
    logs: Path | None


@dataclass(frozen=True, slots=True)
class SeriesPlan(BotTerms):
    """A series, and the options of its bots, as JSON values."""

    game: str
    seats: list[str]
    options: dict[str, Any]
    board: dict[str, Any]
    position: dict[str, Any] | None
    clock: str
    seed: int
    games: int
    rotate: bool
    logs: str | None
    directory: str
    """The folder in which the series began, and in which its commands run."""
    complete: bool
    """True if all matches have been played."""

    @property
    def count(self) -> int:
        """The number of matches."""
        return self.games * (len(self.seats) if self.rotate else 1)

    def series(self, players: Sequence[Player], records: Path | None, *, resumes: bool) -> Series:
        """Return the matches of the plan.

        Raises:
            DoganaError: if the rules do not allow these matches.
        """
        control = read_clock(self.clock)
        setup = find(self.game).setup(len(self.seats), self.options, self.board)
        places = tuple(range(len(self.seats)))
        seatings = rotations(places) if self.rotate else [places]
        return Series(
            settings=[Setting(self.game, dict(setup.options), setup.board_data, self._start(setup), seatings)],
            bots=self.seats,
            players=players,
            control=control,
            first_seed=self.seed,
            count=self.count,
            records=records,
            resumes=resumes,
        )

    def _start(self, setup: Setup) -> Mapping[str, Any] | None:
        """Check and return the position from which the series starts; None stands for the game's own first position."""
        if self.position is None:
            return None
        game = find(self.game)
        document = Document(self.position, "position")
        state = game.read_state(setup, document)
        document.finish()
        if problems := document.problems + state.problems():
            raise ResumeError(
                f"the plan of the series has no position that can be played: {visible(problems[0], ONE_LINE)}"
            )
        return state.to_json()


def begin(typed: SeriesOptions) -> SeriesPlan:
    """Return the plan of a new series.

    Raises:
        BadParameter: if no game or no seat is named.
        DoganaError: if there is no such game, or its rules do not allow the matches.
    """
    if typed.game is None or not typed.seats:
        raise typer.BadParameter(
            "name a game, and a player for each seat, such as: dogana play GAME mybot.py greedy;"
            " or --resume and a folder",
            param_hint="GAME SEAT...",
        )
    game = find(typed.game)
    setup, position = _agree(game, typed)
    return SeriesPlan(
        **asdict(typed.terms),
        game=game.name,
        seats=list(typed.seats),
        options=dict(setup.options),
        board=dict(setup.board_data),
        position=position,
        clock=typed.clock or DEFAULT_CLOCK,
        seed=secrets.randbits(62) if typed.seed is None else typed.seed,
        games=typed.games or 1,
        rotate=typed.rotate,
        logs=None if typed.logs is None else str(typed.logs),
        directory=str(Path.cwd()),
        complete=False,
    )


def _agree(game: Game, typed: SeriesOptions) -> tuple[Setup, dict[str, Any] | None]:
    """Return the setup of the matches (number of seats, options and board), and the position if there is one."""
    seats, start = len(typed.seats), typed.start
    if start is not None:
        if typed.options or typed.board is not None:
            raise PlayError("a position brings its own options and board; leave out --option, --openings and --board")
        position = read_position(start, find)
        if position.game is not game:
            raise PlayError(f"position {start} is of {position.game.name}, not of {game.name}")
        if position.setup.seats != seats:
            raise PlayError(f"position {start} is for {position.setup.seats} seats, but {seats} were given")
        # Tuples become lists, as in the file of the plan, with which this is compared later.
        return position.setup, json.loads(json.dumps(position.state.to_json()))
    data = shipped_board(game) if typed.board is None else read_board_file(typed.board)
    return game.setup(seats, read_options(typed.options), data), None


def go_on(plan: SeriesPlan, folder: Path, typed: SeriesOptions) -> SeriesPlan:
    """Return the plan of a resumed series, with the options of bots as typed now.

    A larger number of games extends the series.

    Raises:
        ResumeError: if what was typed contradicts the plan, or commands do not run in the same folder as before.
        DoganaError: if an option, a board or a position cannot be read.
    """
    if found := _differences(plan, typed):
        raise ResumeError(
            f"cannot resume: {folder} has {'; '.join(found)}; leave out what differs, or use another folder"
        )
    if not typed.seats:
        _check_directory(plan, folder)
    # An option of this command replaces the plan's option; an omitted option does not.
    changed = {name: value for name, value in asdict(typed.terms).items() if value}
    if typed.games is not None:
        changed["games"] = typed.games
    if typed.logs is not None:
        changed["logs"] = str(typed.logs)
    return replace(plan, **changed, directory=str(Path.cwd()), complete=False)


def _check_directory(plan: SeriesPlan, folder: Path) -> None:
    """Check that commands run in the same folder as before.

    Raises:
        ResumeError: if they do not.
    """
    bots = [seat for seat in plan.seats if seat != REMOTE and not is_house_bot(seat)]
    commands = [bot for bot in bots if not Path(bot).is_absolute()]
    if commands and not is_here(plan.directory):
        raise ResumeError(
            f"cannot resume: the series in {folder} was begun in {plan.directory}, where {commands[0]} runs;"
            " go there, or give game and seats, too"
        )


def read_plan(folder: Path) -> SeriesPlan | None:
    """Return the plan of the series in a folder; None if there is none.

    Raises:
        ResumeError: if the file cannot be read, or is not a plan.
    """
    path = folder / SERIES
    plan = read_plan_file(path, SeriesPlan)
    if plan is None:
        return None
    if not (0 <= plan.seed <= 2**62 and 1 <= plan.games <= 1_000_000 and plan.seats):
        raise ResumeError(damaged(path, "has a seed, a number of games or seats that no series has"))
    return plan


@contextmanager
def unfinished(folder: Path, plan: SeriesPlan, *, resumes: bool, options: Sequence[object]) -> Iterator[None]:
    """Lock a folder for a series, and keep its plan there; after an interruption, print the command that resumes it.

    Args:
        folder: the folder of the series' records.
        plan: the series.
        resumes: True to continue the series in the folder.
        options: options of this command that the plan does not contain.

    Raises:
        ResumeError: if another process is playing a series into the folder, or the plan of another series there would
            be lost.
    """
    path = folder / SERIES
    with alone_in(folder):
        # The folder has records but no plan, so the command line may describe another series.
        is_guess = resumes and not path.exists()
        if not resumes:
            _check_unused(folder)
        else:
            rounds = counted(plan.games, "game") + (", each in every rotation of the seats" if plan.rotate else "")
            err.print(
                f"{folder}: {plan.game}, {shlex.join(plan.seats)}, {rounds}, seed {plan.seed}, clock {plan.clock}",
                soft_wrap=True,
            )
            sweep(folder, [plan.game])
        with keeping(path, plan, resuming("play", folder, *options), is_guess=is_guess):
            yield
        # This runs only if nothing was raised, and still under the lock.
        write_plan(path, replace(plan, complete=True))


def _check_unused(folder: Path) -> None:
    """Refuse a folder with another series, because a new one would replace its plan and lose its seed.

    Raises:
        ResumeError: if the folder contains another series.
    """
    plan = read_plan(folder)
    if plan is None or not any(folder.glob("*.jsonl")):
        return
    if plan.complete:
        found = f"a finished series of {plan.game} (--games {plan.games}, seed {plan.seed})"
        command = f"make it longer with `{resuming('play', folder, '--games', 'NUMBER')}`"
    else:
        found = f"a series of {plan.game} that is not complete (seed {plan.seed})"
        command = f"go on with `{resuming('play', folder)}`"
    raise ResumeError(f"{folder} has {found}: {command}, use another folder, or remove {folder / SERIES}")


def _differences(plan: SeriesPlan, typed: SeriesOptions) -> list[str]:
    """Describe the contradictions between the options of a command line and a plan.

    An omitted option contradicts nothing. More games than in the plan are not a contradiction: they extend the series.

    Raises:
        DoganaError: if an option, a board or a position cannot be read.
    """
    found = []

    def compare(what: str, has: object, wanted: object) -> None:
        if wanted and has != wanted:
            found.append(f"{what} {has}, not {wanted}")

    compare("game", plan.game, typed.game)
    compare("seats", shlex.join(plan.seats), shlex.join(typed.seats))
    compare("clock", plan.clock, typed.clock)
    # `compare` would ignore 0, which is a seed.
    if typed.seed is not None and typed.seed != plan.seed:
        found.append(f"seed {plan.seed}, not {typed.seed}")
    if typed.games is not None and typed.games < plan.games:
        found.append(f"--games {plan.games}, not {typed.games}")
    if typed.rotate and not plan.rotate:
        found.append("no --rotate")
    # Options are compared through `setup`, because another spelling of a value is not a difference.
    if typed.game in (None, plan.game) and typed.options:
        chosen = read_options(typed.options)
        for name, value in find(plan.game).setup(len(plan.seats), chosen, plan.board).options.items():
            if name in chosen:
                compare(f"option {name}", str(plan.options.get(name)), str(value))
    if typed.board is not None and read_board_file(typed.board) != plan.board:
        found.append(f"another board than {typed.board}")
    if typed.start is not None:
        position = json.loads(json.dumps(read_position(typed.start, find).state.to_json()))
        if position != plan.position:
            found.append(f"another position than {typed.start}")
    return found
