"""The house bot `greedy` takes the action that looks best now. Each game has a policy, a module named after it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

from referee.game import Action, Game, Seat, Setup
from referee.match.house import HouseBot, HouseDecision


class GreedyBot(HouseBot):
    """Plays every game with a module here, whose `choose(setup, observation, actions)` answers a decision."""

    def __init__(self, game: Game, setup: Setup, match_id: str, seat: Seat, **options: Any) -> None:
        """Take a seat. A policy uses no chance, so neither the match nor the seat matters."""
        self._setup = setup
        self._choose = importlib.import_module(f"{__name__}.{game.name}").choose

    @staticmethod
    def plays(game: Game) -> bool:
        """Return whether a game has a module here."""
        return importlib.util.find_spec(f"{__name__}.{game.name}") is not None

    def choose(self, decision: HouseDecision) -> Sequence[Action]:
        """Return the actions that the policy plays in order."""
        actions: Sequence[Action] = self._choose(self._setup, decision.observation, decision.actions)
        return actions
