"""Read the fitted values of positions from `<game>.toml`, which `make values` writes beside the recipes."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from referee.errors import DoganaError

FOLDER = files("house_bots.search")


class BadValues(DoganaError):
    """A file of values cannot be used; the text names the file, and gives the reason and the remedy."""


def read_values(
    game: str, seats: int, features: Sequence[str], rows: Sequence[str], folder: Traversable = FOLDER
) -> list[list[float]]:
    """Read the weights of features in a game.

    Args:
        game: the name of the game.
        seats: the number of seats.
        features: the names of the features, in the order of the weights. A feature whose meaning changes needs another name.
        rows: the names of the rows of weights.
        folder: the folder of the file.

    Returns:
        For each row, the weight of each feature.

    Raises:
        BadValues: if the file cannot be read, or contains values for another game or other features.
    """
    file = folder / f"{game}.toml"
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        return _weights(document, game, f"seats{seats}", list(features), rows)
    except (OSError, ValueError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadValues(
            f"search cannot use its values in {file}: {why}; install Dogana again, or fit them in a checkout: make values"
        ) from error


def _weights(
    document: Mapping[str, Any], game: str, table: str, features: list[str], rows: Sequence[str]
) -> list[list[float]]:
    """Return the weights in a document.

    Raises:
        ValueError: if the document has no weights for this game and these features.
    """
    if document.get("game") != game:
        raise ValueError(f"it is for the game {document.get('game')!r}, not {game!r}")
    if document.get("features") != features:
        raise ValueError(f"its features are not those of this version, {', '.join(features)}")
    found = document.get(table)
    weights = [found.get(row) if isinstance(found, dict) else None for row in rows]
    for row, numbers in zip(rows, weights, strict=True):
        if not isinstance(numbers, list) or len(numbers) != len(features) or not all(map(_is_number, numbers)):
            raise ValueError(f"{table}.{row} must be {len(features)} numbers")
    return [[float(number) for number in numbers] for numbers in weights if numbers]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
