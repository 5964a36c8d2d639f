"""The state: a table, and the contract's questions about it, each answered where its name says."""

from __future__ import annotations

from referee.game import Action, Chance, JsonObject, Observation, Seat, Window
from referee.games.valparaiso import invariants, legal, observation, planning, position, rules, scoring
from referee.games.valparaiso.actions import Commit
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.table import NONE, Table


class ValparaisoState(Table):
    """A match of Valparaíso; see `referee.game.State` for what each method does."""

    __slots__ = ()

    def seats_to_act(self) -> tuple[Seat, ...]:
        """See `referee.game.State`."""
        return legal.seats_to_act(self)

    def legal_actions(self, seat: Seat) -> list[Action]:
        """See `referee.game.State`."""
        return legal.legal_actions(self, seat) if seat in legal.seats_to_act(self) else []

    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        """See `referee.game.State`."""
        rules.apply(self, seat, action, chance)

    def default_action(self, seat: Seat) -> Action:
        """See `referee.game.State`."""
        return legal.default_action(self, seat)

    def observation(self, viewer: Seat | None) -> Observation:
        """See `referee.game.State`."""
        return observation.observe(self, viewer)

    def is_public(self, seat: Seat, action: Action) -> bool:
        """Plans are secret; everybody learns only who declares to be the first to have finished (V2.7, V2.8)."""
        declares = isinstance(action, Commit) and planning.is_timed(self) and self.first_finisher == NONE
        return self.phase is not Phase.PLAN or declares

    def window(self) -> Window | None:
        """The sand timer of the expert game, which the first finisher starts (V2.8)."""
        if self.phase is not Phase.PLAN or self.first_finisher == NONE:
            return None
        return Window(f"planning {self.round}", planning.timer(self))

    def is_over(self) -> bool:
        """See `referee.game.State`."""
        return self.phase is Phase.OVER

    def scores(self) -> list[int]:
        """See `referee.game.State`."""
        return scoring.scores(self)

    def ranks(self) -> list[int]:
        """See `referee.game.State`."""
        return scoring.ranks(self)

    def to_json(self) -> JsonObject:
        """See `referee.game.State`."""
        return position.to_json(self)

    def problems(self) -> list[str]:
        """See `referee.game.State`."""
        return invariants.problems(self)
