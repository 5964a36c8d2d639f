"""A bot that searches, as the house bot `search` does. Change the time, the candidates, the value or the margin."""

from collections.abc import Sequence

from house_bots.process import play_with
from house_bots.search import SearchBot
from house_bots.search.recipe import Recipe, Variant

from referee.game import Action, Seat, State

SECONDS = 0.1
"""The processor time for each decision, in seconds."""


class MyRecipe(Variant):
    """The recipe of a game, with your changes."""

    def __init__(self, own: Recipe) -> None:
        """Take over the policy and the numbers of the game's own recipe."""
        super().__init__(own)
        self.margin = own.margin

    def stages(self, state: State) -> int:
        """Return the number of turns or rounds in a rollout, counting the current one."""
        return self.own.stages(state)

    def candidates(self, state: State, seat: Seat) -> list[Sequence[Action]]:
        """Return the rows to compare; the first is the row that the bot plays if no other is better."""
        return self.own.candidates(state, seat)

    def value(self, state: State) -> list[float]:
        """Return an estimate of each seat's final points, in a state where a rollout stopped."""
        return self.own.value(state)


play_with(
    lambda game, setup, match_id, seat: SearchBot(game, setup, match_id, seat, seconds=SECONDS, change=MyRecipe),
)
