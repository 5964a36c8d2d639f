"""The plan of a series in its folder of records, so that `dogana play --resume FOLDER` can continue it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from referee.commands.options import read_options
from referee.commands.output import err
from referee.commands.plan_file import (
    ONE_LINE,
    SERIES,
    ResumeError,
    alone_in,
    damaged,
    read_plan_file,
    resuming,
    sweep,
)
from referee.errors import DoganaError
from referee.files import write_private
from referee.game import Setup
from referee.kit.document import Document
from referee.records.position import read_position
from referee.registry import find, read_board_file
from referee.terminal import visible

NAME = SERIES
"""The file of the plan."""


@dataclass(frozen=True, slots=True)
class SeriesPlan:
    """A series, and the limits and options of its bots, as JSON values."""

    game: str
    seats: list[str]
    options: dict[str, Any]
    board: dict[str, Any]
    position: dict[str, Any] | None
    clock: str
    seed: int
    games: int
    rotate: bool
    wait: float | None
    isolate: bool
    memory: int | None
    tasks: int | None
    cpus: float | None
    no_pondering: bool
    runtime: list[str] | None
    logs: str | None
    directory: str
    """The folder in which the series began, and its commands run."""
    complete: bool
    """True if all matches have been played."""

    def settle(self) -> tuple[Setup, Mapping[str, Any] | None]:
        """Return the setup of its matches, and their first position; None for the game's own.

        Raises:
            DoganaError: if the rules allow no such matches.
        """
        game = find(self.game)
        setup = game.setup(len(self.seats), self.options, self.board)
        if self.position is None:
            return setup, None
        document = Document(self.position, "position")
        state = game.read_state(setup, document)
        document.finish()
        if problems := document.problems + state.problems():
            raise ResumeError(
                f"the plan of the series has no position that can be played: {visible(problems[0], ONE_LINE)}"
            )
        return setup, state.to_json()


def read_plan(folder: Path) -> SeriesPlan | None:
    """Return the plan of the series in a folder; None if it has none.

    Raises:
        ResumeError: if the file cannot be read, or is not a plan.
    """
    path = folder / NAME
    plan = read_plan_file(path, SeriesPlan)
    if plan is None:
        return None
    if not (0 <= plan.seed <= 2**62 and 1 <= plan.games <= 1_000_000 and plan.seats):
        raise ResumeError(damaged(path, "has a seed, a number of games or seats that no series has"))
    return plan


@contextmanager
def unfinished(folder: Path, plan: SeriesPlan, *, resumes: bool, options: Sequence[object]) -> Iterator[None]:
    """Lock a folder for a series, and keep its plan there; if the series breaks off, print how to continue it.

    Args:
        folder: the folder of its records.
        plan: the series.
        resumes: True to continue the series in the folder.
        options: options of this command that the plan does not have.

    Raises:
        ResumeError: if another process plays a series into the folder, or another series there would be lost.
    """
    with alone_in(folder):
        had_plan = (folder / NAME).exists()
        if not resumes:
            _check_unused(folder)
        else:
            rounds = f"{plan.games} games" + (", each in every rotation of the seats" if plan.rotate else "")
            _remark(f"{folder}: {plan.game}, {shlex.join(plan.seats)}, {rounds}, seed {plan.seed}, clock {plan.clock}")
            sweep(folder, [plan.game])
        write_private(folder / NAME, json.dumps(asdict(plan)).encode())
        try:
            yield
        except KeyboardInterrupt:
            _remark(f"to go on: {resuming('play', folder, *options)}")
            raise
        except DoganaError:
            began = any(folder.glob("*.jsonl"))
            if not began or (resumes and not had_plan):  # the records, if any, are of another series
                (folder / NAME).unlink(missing_ok=True)
            raise
        write_private(folder / NAME, json.dumps(asdict(replace(plan, complete=True))).encode())


def _remark(text: str) -> None:
    err.print(text, soft_wrap=True)


def _check_unused(folder: Path) -> None:
    """Refuse a folder with another series: a new one would replace its plan, and its seed would be lost.

    Raises:
        ResumeError: if it has one.
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
    raise ResumeError(f"{folder} has {found}: {command}, use another folder, or remove {folder / NAME}")


def differences(
    plan: SeriesPlan,
    game: str | None,
    seats: Sequence[str],
    seed: int | None,
    options: Sequence[str] | None,
    clock: str | None,
    games: int | None,
    *,
    rotate: bool,
    board: Path | None,
    start: Path | None,
) -> list[str]:
    """Describe the contradictions between the options of a command line and a plan; an omitted option contradicts nothing.

    More games than in the plan are no contradiction: they extend the series.

    Raises:
        DoganaError: if an option, a board or a position cannot be read.
    """
    found = []

    def compare(what: str, has: object, typed: object) -> None:
        if typed and has != typed:
            found.append(f"{what} {has}, not {typed}")

    compare("game", plan.game, game)
    compare("seats", shlex.join(plan.seats), shlex.join(seats))
    compare("clock", plan.clock, clock)
    if seed is not None and seed != plan.seed:
        found.append(f"seed {plan.seed}, not {seed}")
    if games is not None and games < plan.games:
        found.append(f"--games {plan.games}, not {games}")
    if rotate and not plan.rotate:
        found.append("no --rotate")
    if game in (None, plan.game) and options:
        typed = find(plan.game).setup(len(plan.seats), read_options(options), plan.board).options
        for name, value in typed.items():
            if name in read_options(options):
                compare(f"option {name}", str(plan.options.get(name)), str(value))
    if board is not None and read_board_file(board) != plan.board:
        found.append(f"another board than {board}")
    if start is not None and json.loads(json.dumps(read_position(start, find).state.to_json())) != plan.position:
        found.append(f"another position than {start}")
    return found
