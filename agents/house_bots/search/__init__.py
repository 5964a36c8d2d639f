"""The house bot `search`, which looks ahead by trying rows of actions in rollouts.

Each game's recipe is a module named after the game.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from house_bots.options import MAX_SEED, number
from house_bots.search.halving import Search
from house_bots.search.recipe import Recipe, never
from referee.errors import DoganaError
from referee.game import Action, Game, Seat, Setup
from referee.match.house import HouseBot, HouseDecision

SECONDS = 0.1
"""The default processor time for a decision, in seconds."""
MIN_SECONDS, MAX_SECONDS, MAX_ROLLOUTS = 0.001, 3600, 10**9
BUDGET_SHARE = 0.5
"""The largest share of a decision's time that a search takes. The rest allows for delays on a loaded machine."""
BANK_SHARE = 1 / 12
"""The largest share of the time bank that a search takes."""


class BadBudget(DoganaError):
    """A budget is out of range; the text names the budget and its range."""


class SearchBot(HouseBot):
    """A bot for every game that has a recipe in this package.

    Attributes:
        last: the last search, with its rows and their comparisons; None before the first search.
    """

    thinks = True

    def __init__(
        self,
        game: Game,
        setup: Setup,
        match_id: str,
        seat: Seat,
        *,
        seconds: float = SECONDS,
        rollouts: int | None = None,
        seed: int | None = None,
        change: Callable[[Recipe], Recipe] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take a seat.

        Args:
            game: the rules.
            setup: the terms of the match.
            match_id: the ID of the match. With the seat, it determines all chance in the searches, unless a seed is given.
            seat: the seat.
            seconds: the processor time for a decision, in seconds.
            rollouts: the number of rollouts for a decision, instead of a time; the bot then plays the same on any machine.
            seed: a number used for chance instead of the ID of the match.
            change: a function that makes another recipe from the game's own.
            clock: a function that returns the time in seconds.

        Raises:
            BadBudget: if `seconds` or `rollouts` is out of range.
        """
        try:
            self._seconds = number("seconds", str(seconds), float, MIN_SECONDS, MAX_SECONDS)
            number("rollouts", str(1 if rollouts is None else rollouts), int, 1, MAX_ROLLOUTS)
        except ValueError as error:
            raise BadBudget(f"search: {error}") from error
        self._game = game
        self._seat = seat
        self._rollouts = rollouts
        self._source = f"{match_id}:{seat}" if seed is None else f"seed {seed}:{seat}"
        self._decisions = 0
        self._clock = clock
        self.last: Search | None = None
        self._own: Recipe = importlib.import_module(f"{__name__}.{game.name}").RECIPE(setup)
        self._recipe = self._own if change is None else change(self._own)

    @staticmethod
    def plays(game: Game) -> bool:
        """Return whether this package has a recipe for a game."""
        return importlib.util.find_spec(f"{__name__}.{game.name}") is not None

    @staticmethod
    def read_options(options: Mapping[str, str]) -> dict[str, Any]:
        """Read `seconds`, `rollouts` and `seed`.

        Raises:
            ValueError: if there is another option, a value is out of range, or both `seconds` and `rollouts` are given.
        """
        found: dict[str, Any] = {}
        for name, text in options.items():
            if name == "seconds":
                found[name] = number(name, text, float, MIN_SECONDS, MAX_SECONDS)
            elif name == "rollouts":
                found[name] = number(name, text, int, 1, MAX_ROLLOUTS)
            elif name == "seed":
                found[name] = number(name, text, int, 0, MAX_SEED)
            else:
                raise ValueError(f"there is no option {name!r}; there are: seconds, rollouts, seed")
        if "seconds" in found and "rollouts" in found:
            raise ValueError("seconds and rollouts exclude each other")
        return found

    def choose(self, decision: HouseDecision) -> int | Sequence[Action]:
        """Return the best row of actions."""
        self._decisions += 1
        if len(decision.actions) == 1:
            return 0
        # The budget is in processor time; the wall clock shows whether the answer would be late.
        cpu, wall = time.process_time(), self._clock()
        limit = min(decision.budget * BUDGET_SHARE, decision.bank * BANK_SHARE)

        def share_spent(rollouts: int) -> float:
            if self._rollouts is not None:  # so the result is the same on any machine
                return rollouts / self._rollouts
            late = (self._clock() - wall) / limit if limit > 0 else 1.0
            return max((time.process_time() - cpu) / self._seconds, late)

        def is_late() -> bool:
            return self._clock() - wall >= limit

        # The game's own recipe gets `is_late`, because a changed recipe asks that recipe for the candidates.
        self._own.is_late = is_late if self._rollouts is None else never
        self.last = Search(self._game, self._recipe, decision.observation, self._seat, self._seed())
        return self.last.run(share_spent, is_late if self._rollouts is None else None)

    def _seed(self) -> int:
        text = f"search {self._source}:{self._decisions}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
