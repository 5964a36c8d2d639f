"""Find the installed games (every folder in `referee/games/` is one) and house bots."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib import resources
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

import referee.games
import referee.playout
from referee.errors import DoganaError
from referee.files import read_file
from referee.game import Game, Seat, Setup
from referee.kit.document import parse_toml
from referee.match.house import HouseBot


class RegistryError(Exception):
    """A game folder is broken. The program must stop, because a missing game must never look like a misspelt name."""


class UnknownGame(DoganaError):
    """There is no game of that name; the text lists the games."""


@cache
def games() -> Mapping[str, Game]:
    """Find all games that ship with Dogana, by name.

    Raises:
        RegistryError: if a folder contains no game, or its game does not have the name of the folder.
        Exception: any exception from the import of a broken game.
    """
    found = {}
    for folder in sorted(pkgutil.iter_modules(referee.games.__path__), key=lambda module: module.name):
        package = f"{referee.games.__name__}.{folder.name}"
        game = getattr(importlib.import_module(package), "GAME", None)
        if not isinstance(game, Game):
            raise RegistryError(f"{package} has no GAME; see docs/adding_a_game.md")
        if game.name != folder.name:
            raise RegistryError(f"the game in {package} calls itself {game.name!r}")
        found[game.name] = game
    return MappingProxyType(found)


def find(name: str) -> Game:
    """Look up a game by name.

    Raises:
        UnknownGame: if there is no such game.
    """
    if name not in games():
        raise UnknownGame(
            f"there is no game {name!r}{did_you_mean(name, games())}; the games are: {', '.join(games())}"
        )
    return games()[name]


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return "(did you mean ...?)" with the name closest to a word, to append to a message; empty if none is close."""
    found = difflib.get_close_matches(word, list(names), n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def rules_are_compiled() -> bool:
    """Return whether the rules are compiled (docs/performance.md) rather than pure Python."""
    return not str(referee.playout.__file__).endswith(".py")


@cache
def house_bots() -> dict[str, type[HouseBot]]:
    """Find all house bots, by name.

    They are the entry points of the group `dogana.house_bots`, so the referee imports no agent by name.
    """
    found: dict[str, Any] = {entry.name: entry.load() for entry in entry_points(group="dogana.house_bots")}
    return dict(sorted(found.items()))


class UnknownHouseBot(DoganaError):
    """There is no house bot of that name, or it does not have these options; the text lists the possible ones."""


def is_house_bot(word: str) -> bool:
    """Return whether a word for a seat begins with the name of a house bot, as `greedy` and `search:seconds=1` do."""
    return word.partition(":")[0] in house_bots()


def house_bot(word: str) -> Callable[[Game, Setup, str, Seat], HouseBot]:
    """Return the factory of the house bot that a word such as `search:seed=1,rollouts=400` names.

    Raises:
        UnknownHouseBot: if there is no such house bot, or it does not take these options.
    """
    name, colon, text = word.partition(":")
    if name not in house_bots():
        known = ", ".join(house_bots())
        raise UnknownHouseBot(f"there is no house bot {name!r}{did_you_mean(name, house_bots())}; there are: {known}")
    options: dict[str, str] = {}
    try:
        for part in text.split(",") if colon else ():
            key, equals, value = part.partition("=")
            if not equals or key in options:
                raise ValueError(f"write options as NAME=VALUE, each once, separated by commas, not {part!r}")
            options[key] = value
        found = house_bots()[name].read_options(options)
    except ValueError as error:
        raise UnknownHouseBot(f"house bot {word!r}: {error}") from error
    return partial(house_bots()[name], **found)


MAX_BOARD_BYTES = 1024 * 1024
"""The maximum size of a board file."""


class BoardFileError(DoganaError):
    """A board file cannot be read; the text names the file and gives the reason."""


@cache
def shipped_board(game: Game) -> dict[str, Any]:
    """Read the `board.toml` that ships with a game."""
    text = resources.files(type(game).__module__).joinpath("board.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)  # our own file, which needs none of the checks of `parse_toml`


def read_board_file(path: Path) -> dict[str, Any]:
    """Read a board file, such as one corrected by a game's owner. `Game.setup` checks its contents.

    Raises:
        BoardFileError: if the file cannot be read, or is not TOML.
    """
    try:
        return parse_toml(read_file(path, MAX_BOARD_BYTES).decode("utf-8"))
    except OSError as error:
        raise BoardFileError(f"cannot read board {path}: {error.strerror}") from error
    except ValueError as error:
        raise BoardFileError(f"board {path} is not TOML: {error}") from error
