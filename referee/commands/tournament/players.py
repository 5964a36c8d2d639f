"""The entrants of a tournament as players: the words for their seats are read, and their bots compared and hashed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path

from referee.bots.errors import BadBot
from referee.bots.files import BotLimits
from referee.commands.bot_terms import BotTerms
from referee.commands.seats import COMMAND, REMOTE, Hold, read_player
from referee.commands.tournament.folder import TournamentFolder
from referee.errors import DoganaError
from referee.files import in_words
from referee.live.matches.play import Player
from referee.registry import did_you_mean, find, is_house_bot, shipped_board
from referee.sandbox.box import Sandbox
from referee.sandbox.measures import build_sandbox
from referee.tournament.course import table_sizes
from referee.tournament.plan import Entrant, TournamentError, TournamentPlan

_NOT_HASHED = {"__pycache__", ".git", ".venv", "node_modules"}
"""Folders that are not hashed, because programs fill them automatically or they hold an author's tools."""


@contextmanager
def players(
    place: TournamentFolder, plan: TournamentPlan, directory: Path, ray: str | None = None
) -> Iterator[list[Player]]:
    """Yield the player of each entrant, for this machine or for a cluster; copies of bots are removed at the end.

    Args:
        place: the folder of the tournament.
        plan: the plan.
        directory: the folder to which paths and commands are relative; it is the current folder in this context.
        ray: the address of the cluster; None to play here.

    Raises:
        TournamentError: if a game does not allow these tables or options, or an entrant cannot play.
        DoganaError: if this machine cannot build a sandbox.
    """
    with ExitStack() as stack:
        _check_games(place, plan)
        # Commands, and the paths in them, are relative to this folder.
        stack.enter_context(chdir(directory))
        sandbox = None
        if plan.isolation.isolate and ray is None:
            terms = terms_of(plan)
            sandbox = build_sandbox(terms.limits, terms.runtimes, "write isolate = false if you trust the bots")
        yield [_player(place, plan, entrant, sandbox, ray, stack.enter_context) for entrant in plan.entrants]


def terms_of(plan: TournamentPlan) -> BotTerms:
    """Return the terms on which the bots are started."""
    own = plan.isolation
    return BotTerms(plan.wait, own.isolate, own.memory, own.tasks, own.cpus, not own.pondering, list(own.runtimes))


def _check_games(place: TournamentFolder, plan: TournamentPlan) -> None:
    try:
        for terms in plan.games:
            game = find(terms.name)
            known = [option.name for option in game.options]
            # This is checked here, because `setup` does not suggest similar names.
            if unknown := [key for key in terms.options if key not in known]:
                nearest = did_you_mean(unknown[0], known)
                raise TournamentError(
                    f"{game.name} has no option {unknown[0]!r}{nearest}; its options are: {', '.join(known)}"
                )
            for seats in table_sizes(plan):
                game.setup(seats, terms.options, shipped_board(game))
    except DoganaError as error:
        raise TournamentError(f"{place.file}: {error}") from error


def _player(
    place: TournamentFolder,
    plan: TournamentPlan,
    entrant: Entrant,
    sandbox: Sandbox | None,
    ray: str | None,
    hold: Hold,
) -> Player:
    """Read the word for an entrant's seat; a path is relative to the current folder."""
    word, runtimes = entrant.seat, terms_of(plan).runtimes
    if word == REMOTE:
        raise TournamentError(f"{entrant.name} is remote: a remote agent joins one match, so it cannot be an entrant")
    games = [find(name) for name in dict.fromkeys(terms.name for terms in plan.games)]
    try:
        # Each game is asked whether the bot plays it; a player is the same for all of them.
        return [read_player(word, game, plan.wait, sandbox, runtimes, ray, hold) for game in games][-1]
    except DoganaError as error:
        is_path = not (is_house_bot(word) or word.startswith(COMMAND))
        seen_from = f"; paths are seen from {Path.cwd()}" if is_path and not os.path.lexists(word) else ""
        raise TournamentError(f"{place.file}: entrant {entrant.name}: {error}{seen_from}") from error


def check_versions(plan: TournamentPlan, hashes: Mapping[str, str]) -> None:
    """Check that no two entrants are the same version of a bot, with the same word or with files of equal content.

    Args:
        plan: the plan.
        hashes: the result of `bot_hashes`.

    Raises:
        TournamentError: if two entrants are the same version; the text names both.
    """
    known: dict[tuple[str, str], Entrant] = {}
    for entrant in plan.entrants:
        content = hashes.get(entrant.name, "")
        other = known.setdefault((content, "" if content else entrant.seat), entrant)
        if other is not entrant:
            how = (
                entrant.seat if other.seat == entrant.seat else f"{other.seat} and {entrant.seat} have the same content"
            )
            raise TournamentError(f"{other.name} and {entrant.name} are the same bot: {how}; leave out one")


def bot_path(entrant: Entrant, directory: Path) -> Path | None:
    """Return the path of an entrant's file or folder; None for a house bot, a command, or a missing file."""
    if is_house_bot(entrant.seat) or entrant.seat.startswith(COMMAND):
        return None
    path = directory / entrant.seat
    return path if os.path.exists(path) else None  # noqa: PTH110 a path that is too long is not an error here


def bot_hashes(
    plan: TournamentPlan, directory: Path, without: Sequence[Path], limits: BotLimits | None = None
) -> dict[str, str]:
    """Return the SHA-256 of each entrant that is a file or a folder, by the entrant's name.

    Args:
        plan: the plan.
        directory: the folder to which paths are relative.
        without: files and folders to leave out, namely those that the tournament writes; they may be in a bot's folder.
        limits: the limits beyond which a bot is left out; None to hash all bots. A stranger's plan can name any folder.

    Raises:
        TournamentError: if a file cannot be read.
    """
    found = {}
    for entrant in plan.entrants:
        if (path := bot_path(entrant, directory)) is not None:
            try:
                found[entrant.name] = _hash(path, _files(path, limits), without)
            except BadBot:
                continue
            except OSError as error:
                raise TournamentError(f"the files of {entrant.name} cannot be read: {in_words(error)}") from error
    return found


def _files(path: Path, limits: BotLimits | None) -> list[Path]:
    """Return the files of a bot, sorted.

    Raises:
        BadBot: if the files exceed the limits.
    """
    files, entries = [path], 0
    if not path.is_file():
        files = []
        for folder, folders, names in os.walk(path):
            # The list is changed in place, because `os.walk` enters the folders that are left in it.
            folders[:] = [name for name in folders if name not in _NOT_HASHED]
            files += [Path(folder, name) for name in names if name not in _NOT_HASHED]
            entries += len(folders) + len(names)
            if limits is not None:
                limits.check_entries(entries)
        files = sorted(each for each in files if each.is_file())
    if limits is not None:
        limits.check_size(sum(each.stat().st_size for each in files))
    return files


def _hash(path: Path, files: Sequence[Path], without: Sequence[Path]) -> str:
    """Hash the names and contents of a bot's files; for a single file, only its content."""
    whole = hashlib.sha256()
    # A folder that contains the bot itself, such as the tournament's, is not left out.
    left_out = [one for one in map(Path.resolve, without) if not path.resolve().is_relative_to(one)]
    for file in files:
        if not any(map(file.resolve().is_relative_to, left_out)):
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            whole.update(f"{file.relative_to(path)}\0{digest}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()
