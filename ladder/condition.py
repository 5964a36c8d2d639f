"""Conditions: what is played and how. A standing is of one of them, and no result counts for another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from referee.game import Game, OptionValue

DEFAULT_CLOCK = "60+0.5/10"


@dataclass(frozen=True, slots=True)
class Condition:
    """A game, its options and a clock."""

    id: int
    """0 for a condition under which the ladder has never played."""
    game: str
    options: Mapping[str, OptionValue] = field(hash=False)
    """Those that are not the game's defaults, in the order of their names."""
    clock: str
    """As `TimeControl` writes it."""

    @property
    def terms(self) -> str:
        """The clock and the options, as tables show them."""
        return ", ".join([self.clock, *(f"{name}={_text(value)}" for name, value in self.options.items())])

    @property
    def arguments(self) -> str:
        """What a command needs to name this condition."""
        options = "".join(f" --option {name}={_text(value)}" for name, value in self.options.items())
        return f"--game {self.game} --clock {self.clock}{options}"


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def not_defaults(game: Game, options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Return the options that are not the game's defaults, in the order of their names."""
    defaults = {option.name: option.default for option in game.options}
    return {name: options[name] for name in sorted(options) if options[name] != defaults[name]}
