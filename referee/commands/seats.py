"""The words for a seat in `dogana play` and `dogana replay --bot`: a house bot, a path, `cmd:'COMMAND'` or `remote`."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from referee.bots.files import is_archive, taken_in, where_it_is
from referee.bots.manifest import own_environment
from referee.errors import DoganaError
from referee.game import Game
from referee.live.matches.play import Command, Player, Remote, house_player
from referee.registry import did_you_mean, house_bots, is_house_bot
from referee.sandbox.box import Sandbox

COMMAND = "cmd:"
"""The prefix of a word that is a command."""
REMOTE = "remote"
JOIN_SECONDS = 10.0
"""The time allowed for a local bot to join, in seconds."""
REMOTE_JOIN_SECONDS = 600.0
"""The time allowed for a remote bot to join, in seconds."""
SEAT_HELP = "a house bot's name, the path of a bot, cmd:'COMMAND' or remote"
"""A description of the words for a seat, for help pages."""

Hold = Callable[[AbstractContextManager[Any]], Any]
"""A function that enters a context and keeps it open until the command ends, such as `typer.Context.with_resource`."""


class SeatError(DoganaError):
    """A word does not name a seat, or its bot cannot play."""


def read_player(
    word: str,
    game: Game,
    wait: float | None,
    sandbox: Sandbox | None,
    runtimes: Sequence[Path],
    ray: str | None,
    hold: Hold,
) -> Player:
    """Read a word for a seat. `greedy` is the house bot, and a file of that name is `./greedy`.

    Args:
        word: the word.
        game: the game of the match.
        wait: the time allowed for the agent to join, in seconds; None for the default.
        sandbox: the sandbox for local agents; None to let them run with the rights of this process.
        runtimes: folders with runtimes, for confined agents.
        ray: the address of the cluster on whose machines the bot plays; None to play here.
        hold: a function that enters contexts, such as temporary folders, that last until the command ends.

    Raises:
        SeatError: if the word does not name a seat.
        BadBot: if the word is a path, and there is no bot at this path that can be started.
    """
    if word == REMOTE:
        return Remote(wait or REMOTE_JOIN_SECONDS)
    # House bots come before files, because a house bot's name means the house bot wherever the command is run.
    if is_house_bot(word):
        player = house_player(word, wait or JOIN_SECONDS)
        if not house_bots()[word.partition(":")[0]].plays(game):
            raise SeatError(f"house bot {word} does not play {game.name}")
        return player
    if ray is not None:
        return read_travelling(word, game, wait)
    _check_is_there(word)
    return read_bot(word, game, wait, sandbox, runtimes, hold)


def read_bot(
    word: str, game: Game, wait: float | None, sandbox: Sandbox | None, runtimes: Sequence[Path], hold: Hold
) -> Command:
    """Read a word for a local bot: a path such as `dogana ladder submit` takes, or `cmd:'COMMAND'`.

    In a sandbox, a bot runs in a copy of the files that would be submitted; otherwise it runs in its own folder. A
    command runs in the current folder, which is /bot in a sandbox. The arguments are the same as in `read_player`.

    Raises:
        SeatError: if a command cannot be read, or the bot does not play the game.
        BadBot: if there is no bot that can be started.
    """
    seconds = wait or JOIN_SECONDS
    if word.startswith(COMMAND):
        return Command(_argv(word), dict(os.environ), None, seconds, sandbox)
    path = _path(word)
    # In a box a bot has only the files that it would have on a ladder.
    if sandbox is not None or (path.is_file() and is_archive(path)):
        folder, found = hold(taken_in(path, runtimes))
    else:
        found, folder = where_it_is(path)
    if game.name not in found.games:
        raise SeatError(f"{word} does not play {game.name}; its bot.toml names: {', '.join(found.games)}")
    return Command(found.run, own_environment(), folder, seconds, sandbox)


def read_travelling(word: str, game: Game, wait: float | None) -> Command:
    """Read a word for a bot that plays on other machines with the files of the current folder.

    The folder of the result is relative to the current folder.

    Raises:
        SeatError: if the bot is not in the current folder, or for the same reasons as in `read_bot`.
        BadBot: for the same reasons as in `read_bot`.
    """
    seconds = wait or JOIN_SECONDS
    if word.startswith(COMMAND):
        return Command(_argv(word), {}, None, seconds)
    _check_is_there(word)
    found, folder = where_it_is(_path(word))
    here = Path.cwd()
    if not folder.resolve().is_relative_to(here.resolve()):
        raise SeatError(
            f"{word} is not in this folder, whose files go to other machines; start the command where it is"
        )
    if game.name not in found.games:
        raise SeatError(f"{word} does not play {game.name}; its bot.toml names: {', '.join(found.games)}")
    # The environment and the absolute paths of this machine mean nothing on another one.
    return Command(found.run, {}, folder.resolve().relative_to(here.resolve()), seconds)


def _argv(word: str) -> list[str]:
    """Return the words of `cmd:'COMMAND'`.

    Raises:
        SeatError: if the command cannot be read.
    """
    try:
        argv = shlex.split(word.removeprefix(COMMAND))
    except ValueError as error:
        raise SeatError(f"seat {word!r} cannot be read as a command: {error}") from error
    if not argv:
        raise SeatError(f"seat {COMMAND!r} needs a command, such as {COMMAND}'python mybot.py'")
    # A name without a slash is looked up in PATH, not in the current folder.
    if "/" not in argv[0] and Path(argv[0]).is_file() and shutil.which(argv[0]) is None:
        raise SeatError(f"seat {word!r}: {argv[0]} is a file, not a program; give it without {COMMAND}, as {argv[0]}")
    return argv


def _path(word: str) -> Path:
    """Return a word as a path. The word is also the name of the bot in records, so it must be printable.

    Raises:
        SeatError: if the word cannot be printed.
    """
    if not word.isprintable():
        raise SeatError(f"the name {word!r} has characters that cannot be printed; rename the file")
    return Path(word)


def _check_is_there(word: str) -> None:
    """Check that a word for a seat, which is neither a house bot nor `remote`, is a command or an existing path.

    Raises:
        SeatError: if the word is neither; the text suggests similar words.
    """
    if word.startswith(COMMAND) or not word.isprintable() or os.path.lexists(word):
        return
    bots = house_bots()
    if "/" in word or "." in word:
        raise SeatError(f"there is no file or folder {word!r}{did_you_mean(word, [*bots, *_beside(word)])}")
    raise SeatError(
        f"there is no house bot {word!r}{did_you_mean(word, [*bots, *_beside(word)])}; a seat is one of {', '.join(bots)},"
        f" or the path of a bot, {COMMAND}'COMMAND' or {REMOTE}"
    )


def _beside(word: str) -> list[str]:
    """Return the printable paths of all files in the folder of a path."""
    folder = os.path.dirname(word.rstrip("/"))  # noqa: PTH120 as it was typed, with its ./
    with suppress(OSError):
        return [os.path.join(folder, name) for name in os.listdir(folder or ".") if name.isprintable()]  # noqa: PTH118, PTH208
    return []
