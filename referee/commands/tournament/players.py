"""The entrants of a tournament as players: their words for a seat are read, compared and hashed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path

from referee.commands.isolation import build_sandbox
from referee.commands.options import read_limits
from referee.commands.seats import COMMAND, REMOTE, Hold, read_seat
from referee.files import in_words
from referee.game import Game
from referee.live.matches.play import Player
from referee.registry import find, is_house_bot, shipped_board
from referee.sandbox.box import Sandbox
from referee.tournament.course import table_sizes
from referee.tournament.plan import Entrant, TournamentError, TournamentPlan

_NOT_HASHED = {"__pycache__", ".git", ".venv", "node_modules"}
"""Folders that programs fill by themselves, and tools of authors."""


@contextmanager
def players(plan: TournamentPlan, directory: Path) -> Iterator[dict[int, Player]]:
    """Yield the player of each entrant; copies of bots are removed at the end.

    Paths and commands are in `directory`, which is the current folder while the context lasts.

    Raises:
        TournamentError: if an entrant cannot play.
        DoganaError: if a bot cannot be read, or this machine cannot build a sandbox.
    """
    limits = plan.isolation
    with ExitStack() as stack, chdir(directory):
        sandbox = None
        runtimes = [Path(one) for one in limits.runtimes]
        if limits.isolate:
            allowed = read_limits(limits.memory, limits.tasks, limits.cpus, no_pondering=not limits.pondering)
            sandbox = build_sandbox(allowed, runtimes, "write isolate = false if you trust the bots")
        yield {
            number: _player(entrant, plan, sandbox, runtimes, stack.enter_context)
            for number, entrant in enumerate(plan.entrants)
        }


def _player(
    entrant: Entrant, plan: TournamentPlan, sandbox: Sandbox | None, runtimes: list[Path], hold: Hold
) -> Player:
    if entrant.seat == REMOTE:
        raise TournamentError(f"{entrant.name} is remote: a remote agent joins one match, so it cannot be an entrant")
    # Each game is asked whether the bot plays it; a player is the same for all of them.
    return [read_seat(entrant.seat, game, plan.wait, sandbox, runtimes, hold) for game in _games(plan)][-1]


def _games(plan: TournamentPlan) -> list[Game]:
    return [find(name) for name in dict.fromkeys(terms.name for terms in plan.games)]


def check_field(plan: TournamentPlan, directory: Path) -> None:
    """Check that the games have such tables, and that no two entrants are the same bot.

    Raises:
        TournamentError: if two entrants are the same.
        SetupError: if a game does not have these seats or options.
        UnknownGame: if there is no such game.
    """
    for terms in plan.games:
        game = find(terms.name)
        for seats in table_sizes(plan):
            game.setup(seats, terms.options, shipped_board(game))
    known: dict[object, Entrant] = {}
    for entrant in plan.entrants:
        other = known.setdefault(_identity(entrant, directory), entrant)
        if other is not entrant:
            raise TournamentError(f"{other.name} and {entrant.name} are the same bot, {entrant.seat}; leave out one")


def _identity(entrant: Entrant, directory: Path) -> object:
    """Return the same for two entrants that are the same word or file."""
    if (path := bot_path(entrant, directory)) is not None:
        status = path.stat()
        return status.st_dev, status.st_ino
    return entrant.seat


def bot_path(entrant: Entrant, directory: Path) -> Path | None:
    """Return the path of an entrant's file or folder; None for a house bot, a command, or a path where nothing is."""
    if is_house_bot(entrant.seat) or entrant.seat.startswith(COMMAND):
        return None
    path = directory / entrant.seat
    return path if path.exists() else None


def bot_hashes(plan: TournamentPlan, directory: Path) -> dict[str, str]:
    """Return the SHA-256 of each entrant that is a file or a folder, by its name.

    Raises:
        TournamentError: if a file cannot be read.
    """
    found = {}
    for entrant in plan.entrants:
        if (path := bot_path(entrant, directory)) is not None:
            try:
                found[entrant.name] = _hash(path)
            except OSError as error:
                raise TournamentError(f"the files of {entrant.name} cannot be read: {in_words(error)}") from error
    return found


def _hash(path: Path) -> str:
    """Hash the names and contents of a bot's files; for a single file its content alone."""
    whole = hashlib.sha256()
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    for file in files:
        name = file.relative_to(path)
        if _NOT_HASHED.isdisjoint(name.parts):
            with file.open("rb") as content:
                whole.update(f"{name}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
