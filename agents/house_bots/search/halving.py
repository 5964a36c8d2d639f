"""Choose a row of actions by rollouts: sequential halving over paired differences.

Each candidate is played in copies of the same samples of the hidden state, with the same chance (common random numbers:
Glasserman and Yao 1992). Then the recipe's policy plays for everybody until the horizon. The budget is spread by
sequential halving (Karnin, Koren and Somekh 2013): after each round, the worse half of the candidates is dropped. The first
candidate always stays, and another replaces it only if it is better by a margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from typing_extensions import override

from house_bots.search.recipe import TO_THE_END, Recipe, TimeUp
from referee.game import Action, Chance, Game, Observation, RolloutPolicy, Seat, State
from referee.kit.chance import FastChance
from referee.match.result import share_beaten
from referee.playout import play_row, rollout

FIRST_SAMPLES = 2
"""The number of samples of each candidate after which the cost of a sample is known well enough to spread the budget."""


class Timed(RolloutPolicy):
    """A policy that stops when the time is over, even in the middle of a long rollout."""

    def __init__(self, own: RolloutPolicy, is_late: Callable[[], bool]) -> None:
        self._own = own
        self._is_late = is_late

    @override
    def row(self, state: State, seat: Seat, chance: Chance) -> Sequence[Action]:
        if self._is_late():
            raise TimeUp
        return self._own.row(state, seat, chance)


class Search:
    """One search, for one decision.

    Attributes:
        rollouts: the number of rollouts so far.
        rows: the candidates; the first is the one to beat.
        differences: for each candidate, how far its points exceed those of the first candidate in each sample.
    """

    def __init__(self, game: Game, recipe: Recipe, observation: Observation, seat: Seat, seed: int) -> None:
        """Prepare a search.

        Args:
            game: the rules.
            recipe: the recipe of the game.
            observation: the observation of the seat to act.
            seat: the seat to act.
            seed: the number that determines all chance in the search.
        """
        self._game = game
        self._recipe = recipe
        self._policy = recipe.policy
        self._observation = observation
        self._seat = seat
        self._seed = seed
        self._world = self._sampled(0)
        self._first: list[float] = []
        self._repeats = False
        self._deeper = 0
        self._is_long = False
        self.rollouts = 0
        self.rows = recipe.candidates(self._world, seat)
        self.differences: list[list[float]] = [[] for _ in self.rows]

    def run(self, share_spent: Callable[[int], float], is_late: Callable[[], bool] | None = None) -> Sequence[Action]:
        """Search until the budget is spent; return the best row.

        Args:
            share_spent: a function that takes the number of rollouts so far and returns the share of the budget spent.
            is_late: a function that returns whether the time is over; it can end a rollout. None to finish every rollout.
        """
        if is_late is not None:
            self._policy = Timed(self._recipe.policy, is_late)
        alive = list(range(len(self.rows)))
        rounds = max(1, math.ceil(math.log2(max(2, len(alive)))))
        for number in range(rounds):
            # Every round has the same share of the budget, so candidates that survive longer get more samples.
            goal = (number + 1) / rounds
            done = 0
            while len(alive) > 1 and (done < FIRST_SAMPLES or share_spent(self.rollouts) < goal):
                if not self._compare(alive, share_spent) or share_spent(self.rollouts) >= 1:
                    return self._best(alive)
                done += 1
                if number == 0 and done == FIRST_SAMPLES and self._goes_long(share_spent(self.rollouts)):
                    return self.run(share_spent, is_late)
            alive = self._better_half(alive)
        return self._best(alive)

    def _compare(self, alive: Sequence[int], share_spent: Callable[[int], float]) -> bool:
        """Play each remaining candidate in one more sample; return whether further samples can add information."""
        # The first candidate always stays, so it has all samples.
        number = len(self.differences[0])
        world = self._sampled(number) if number and self._recipe.has_secrets else self._world
        results: list[float] = []
        ended = True
        for index in alive:
            try:
                over, points = self._played(world.clone(), self.rows[index], FastChance(seed=self._seed + number))
            except TimeUp:
                return False
            results.append(points)
            ended = ended and over
            self.rollouts += 1
            if share_spent(self.rollouts) >= 1 and index != alive[-1]:
                return False  # the sample is incomplete, so it is dropped
        for index, points in zip(alive, results, strict=True):
            self.differences[index].append(points - results[0])
        return self._go_deeper(results, ended)

    def _goes_long(self, share: float) -> bool:
        """Prepare a long search if the budget allows one, and return whether the search must begin again.

        Args:
            share: the share of the budget that the first samples took.
        """
        recipe = self._recipe
        if self._is_long or share * recipe.long_samples > FIRST_SAMPLES:
            return False
        more = recipe.more_candidates(self._world, self._seat, self.rows)
        if not more and recipe.stages(self._world) == recipe.long_stages:
            return False
        self._is_long = True
        self.rows += more
        self.differences = [[] for _ in self.rows]  # results of rollouts of other lengths cannot be compared
        return True

    def _go_deeper(self, results: list[float], ended: bool) -> bool:
        """Lengthen rollouts that repeat, as they do without chance; return False if they already reach the end."""
        number = len(self.differences[0])
        if number == 1:
            self._first = results
        elif number == FIRST_SAMPLES:
            self._repeats = not self._recipe.has_secrets and results == self._first
        self._deeper += self._repeats
        return not (self._repeats and ended)

    def _played(self, state: State, row: Sequence[Action], chance: FastChance) -> tuple[bool, float]:
        """Play a row and a rollout; return whether the match is over, and the seat's lead over its rivals in points."""
        stages = self._recipe.long_stages if self._is_long else self._recipe.stages(state)
        # Read the stage first: playing the row may end it.
        until = TO_THE_END if stages >= TO_THE_END else state.stage() + stages + self._deeper
        play_row(state, self._seat, row, chance)
        rollout(state, self._policy, chance, until)
        points = beyond_rivals(self._recipe.value(state), self._seat)
        over = state.is_over()
        if over and self._recipe.win:
            points += self._recipe.win * share_beaten(state.ranks(), self._seat)
        return over, points

    def _sampled(self, number: int) -> State:
        chance = FastChance(seed=self._seed + number)
        game, recipe = self._game, self._recipe
        return game.sample(recipe.setup, self._observation, chance, undone=recipe.has_secrets)

    def _better_half(self, alive: Sequence[int]) -> list[int]:
        """Return the first candidate and the better half of the others."""
        others = sorted((index for index in alive if index), key=self._mean, reverse=True)
        return [0, *others[: max(1, len(alive) // 2)]]

    def _mean(self, index: int) -> float:
        found = self.differences[index]
        return math.fsum(found) / len(found) if found else -math.inf

    def _best(self, alive: Sequence[int]) -> Sequence[Action]:
        """Return the best row; a candidate replaces the first if it is better by the margin."""
        best = max(alive, key=lambda index: (self._mean(index), -index))
        mean, found = self._mean(best), self.differences[best]
        # At least two samples are needed, whatever the recipe says, because one sample has no variance.
        if best == 0 or mean <= 0 or len(found) < max(2, self._recipe.min_samples):
            return self.rows[0]
        variance = math.fsum((one - mean) ** 2 for one in found) / (len(found) - 1)
        return self.rows[best] if mean > self._recipe.margin * math.sqrt(variance / len(found)) else self.rows[0]


def beyond_rivals(values: Sequence[float], seat: Seat) -> float:
    """Return a seat's value minus the average of two numbers: its best rival's value, and the mean value of all rivals."""
    rivals = [*values[:seat], *values[seat + 1 :]]
    return values[seat] - (max(rivals) + math.fsum(rivals) / len(rivals)) / 2
