"""The house bot `greedy`: takes what looks best now; every game has its own policy, a module named after the game."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence

from referee.game import Action, Game, Seat, Setup
from referee.match.house import HouseDecision


class GreedyBot:
    """Plays the games that have a module here, whose `choose(setup, observation, actions)` answers a decision."""

    def __init__(self, game: Game, setup: Setup, match_id: str, seat: Seat) -> None:
        """Sit down. A policy uses no chance, so neither the match nor the seat matters."""
        self._setup = setup
        self._choose = importlib.import_module(f"{__name__}.{game.name}").choose

    @staticmethod
    def plays(game: Game) -> bool:
        """Tell whether a game has a module here."""
        return importlib.util.find_spec(f"{__name__}.{game.name}") is not None

    def choose(self, decision: HouseDecision) -> Sequence[Action]:
        """Return the actions that the policy wants to play in a row."""
        actions: Sequence[Action] = self._choose(self._setup, decision.observation, decision.actions)
        return actions
