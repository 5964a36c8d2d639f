"""Conditions: each is a game with its options and clock, and has its own standings. A result counts for only one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from referee.game import Game, Setup, SetupError
from referee.options import OptionValue
from referee.registry import shipped_board


@dataclass(frozen=True, slots=True)
class Condition:
    """A game, its options and a clock."""

    id: int
    """The id of the condition in the database; 0 if the ladder has never played under it."""
    game: str
    options: Mapping[str, OptionValue] = field(hash=False)
    """The options that are not the game's defaults, in the order of their names."""
    clock: str
    """The clock, as `TimeControl` writes it."""

    @property
    def terms(self) -> str:
        """The clock and the options, as tables show them."""
        return ", ".join([self.clock, *(f"{name}={_text(value)}" for name, value in self.options.items())])

    @property
    def slug(self) -> str:
        """The clock and the options, as one part of an address."""
        options = (f"{name}={_text(value)}" for name, value in self.options.items())
        return quote("_".join([self.clock.replace("/", "-"), *options]), safe="+=")

    @property
    def fields(self) -> dict[str, Any]:
        """The game, options and clock, as in events."""
        return {"game": self.game, "options": dict(self.options), "clock": self.clock}

    @property
    def arguments(self) -> str:
        """The arguments with which a command names this condition."""
        options = "".join(f" --option {name}={_text(value)}" for name, value in self.options.items())
        return f"--game {self.game} --clock {self.clock}{options}"


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Agreed:
    """The game, the options and the possible numbers of seats of a ladder's matches, without the clock."""

    game: Game
    options: Mapping[str, OptionValue]
    """The options that are not the game's defaults, in the order of their names."""
    seat_counts: Sequence[int]
    """The possible numbers of seats."""


def agree(game: Game, options: Mapping[str, object], seats: int | None) -> Agreed:
    """Return the given options without the defaults, and the possible numbers of seats.

    Args:
        game: the game.
        options: the values of options by name, either typed or as text.
        seats: the only number of seats to allow; None for all numbers that the game and the options allow.

    Raises:
        SetupError: if the game has no such options, or allows no number of seats.
    """
    setups: dict[int, Setup] = {}
    problems = []
    for count in game.seat_counts if seats is None else [seats]:
        try:
            setups[count] = game.setup(count, options, shipped_board(game))
        except SetupError as error:
            problems += error.problems
    if not setups:
        raise SetupError(list(dict.fromkeys(problems)))
    return Agreed(game, not_defaults(game, next(iter(setups.values())).options), list(setups))


def not_defaults(game: Game, options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Return the options that are not the game's defaults, in the order of their names."""
    defaults = {option.name: option.default for option in game.options}
    return {name: options[name] for name in sorted(options) if options[name] != defaults[name]}
