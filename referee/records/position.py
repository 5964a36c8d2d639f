"""Position files: the state of a match in a readable form, with everything needed to continue it.

A position is a JSON object with `game`, `seats`, `options` (those not at their defaults), `board` (only if it is not the
shipped one) and `state`, whose entries each game's RULES.md describes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import DoganaError
from referee.files import read_file
from referee.game import Game, Setup, SetupError, State
from referee.kit.document import Document, parse_json
from referee.registry import UnknownGame, shipped_board

MAX_BYTES = 1024 * 1024
"""The maximum size of a position file, in bytes."""


class PositionError(DoganaError):
    """A file is not a playable position; `problems` contains a line for each fault."""

    def __init__(self, path: Path, problems: list[str]) -> None:
        more = f" (and {len(problems) - 1} more; `dogana position {path}` lists them)" if len(problems) > 1 else ""
        super().__init__(f"position {path}: {problems[0]}{more}")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Position:
    """A playable position."""

    game: Game
    setup: Setup
    state: State


def read_position(path: Path, find_game: Callable[[str], Game]) -> Position:
    """Read a position file.

    Args:
        path: the file.
        find_game: a function that looks up a game by name, or raises `UnknownGame`.

    Raises:
        PositionError: if the file is not a playable position; it lists all faults.
    """
    document = Document(_load(path), "position")
    name = document.text("game")
    seats = document.integer("seats", 1, 100)
    options = dict(_table(document, "options"))
    board = dict(_table(document, "board"))
    state_table = document.table("state")
    if document.problems:
        raise PositionError(path, document.problems)
    try:
        game = find_game(name)
        setup = game.setup(seats, options, board or shipped_board(game))
    except SetupError as error:
        raise PositionError(path, error.problems) from error
    except UnknownGame as error:
        raise PositionError(path, [str(error)]) from error
    # This raises nothing, so that all problems are reported together.
    state = game.read_state(setup, state_table)
    document.finish()
    problems = document.problems + state.problems()
    if problems:
        raise PositionError(path, problems)
    return Position(game, setup, state)


def _table(document: Document, key: str) -> dict[str, Any]:
    """Return a table without checking it, or an empty table if it is missing."""
    value = document.raw(key, {})
    if isinstance(value, dict):
        return value
    document.note(key, "must be a table")
    return {}


def _load(path: Path) -> object:
    try:
        return parse_json(read_file(path, MAX_BYTES))
    except OSError as error:
        raise PositionError(path, [f"cannot be read: {error.strerror}"]) from error
    except ValueError as error:
        raise PositionError(path, [f"is not JSON: {error}"]) from error


def write_position(game: Game, setup: Setup, state: State) -> dict[str, Any]:
    """Return a position in the form that `read_position` reads."""
    defaults = {option.name: option.default for option in game.options}
    options = {name: value for name, value in setup.options.items() if value != defaults[name]}
    position: dict[str, Any] = {"game": game.name, "seats": setup.seats, "options": options}
    if dict(setup.board_data) != shipped_board(game):
        position["board"] = dict(setup.board_data)
    position["state"] = state.to_json()
    return position
