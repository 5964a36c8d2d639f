"""The house bot `greedy`, which plays the action that looks best now. Each game's policy is a module named after it."""

from __future__ import annotations

import importlib
import importlib.util
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from house_bots.options import MAX_SEED, number
from referee.game import Action, Game, Seat, Setup
from referee.match.house import HouseBot, HouseDecision

MAX_TEMPERATURE = 1000


class GreedyBot(HouseBot):
    """A bot for every game that has a module in this package.

    The module's `choose(setup, observation, actions)` returns the best row of actions. `rated_rows` in
    `<game>_rated.py` takes the same arguments. It returns that row and the rows compared with it, each paired with its
    estimate in points.
    """

    def __init__(
        self,
        game: Game,
        setup: Setup,
        match_id: str,
        seat: Seat,
        *,
        temperature: float = 0.0,
        seed: int | None = None,
    ) -> None:
        """Take a seat.

        Args:
            game: the rules.
            setup: the terms of the match.
            match_id: the ID of the match. Together with the seat, it determines all chance, unless a seed is given.
            seat: the seat.
            temperature: a number of points. A row whose estimate is lower than another's by this number is drawn e times
                less often. If it is 0, the best row is always played.
            seed: a number used for chance instead of the ID of the match.
        """
        self._setup = setup
        self._choose = importlib.import_module(f"{__name__}.{game.name}").choose
        self._rated_rows = importlib.import_module(f"{__name__}.{game.name}_rated").rated_rows if temperature else None
        self._temperature = temperature
        source = f"{match_id}:{seat}" if seed is None else f"seed {seed}:{seat}"
        self._random = random.Random(f"greedy {source}")  # noqa: S311 has to be repeatable

    @staticmethod
    def plays(game: Game) -> bool:
        """Return whether this package has a module for a game."""
        return importlib.util.find_spec(f"{__name__}.{game.name}") is not None

    @staticmethod
    def read_options(options: Mapping[str, str]) -> dict[str, Any]:
        """Read `temperature` and `seed`.

        Raises:
            ValueError: if there is another option, a value is out of range, or a seed is given without a temperature.
        """
        found: dict[str, Any] = {}
        for name, text in options.items():
            if name == "temperature":
                found[name] = number(name, text, float, 0, MAX_TEMPERATURE)
            elif name == "seed":
                found[name] = number(name, text, int, 0, MAX_SEED)
            else:
                raise ValueError(f"there is no option {name!r}; there are: temperature, seed")
        if "seed" in found and "temperature" not in found:
            raise ValueError("a seed needs a temperature: without one, nothing is drawn")
        return found

    def choose(self, decision: HouseDecision) -> Sequence[Action]:
        """Return actions to be played in order: the best row or, with a temperature, one drawn at random."""
        arguments = self._setup, decision.observation, decision.actions
        if self._rated_rows is None:
            best: Sequence[Action] = self._choose(*arguments)
            return best
        rated: Sequence[tuple[float, Sequence[Action]]] = self._rated_rows(*arguments)
        most = max(points for points, _ in rated)
        # The estimates are relative to the best row, so that no exponential overflows, whatever the points are.
        weights = [math.exp((points - most) / self._temperature) for points, _ in rated]
        [(_, row)] = self._random.choices(rated, weights)
        return row
