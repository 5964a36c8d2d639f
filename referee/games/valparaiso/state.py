"""The state: a table with the methods of `referee.game.State`, each of which calls the module in charge of it."""

from __future__ import annotations

from typing_extensions import override

from referee.game import Action, Chance, JsonObject, Observation, Seat, Window
from referee.games.valparaiso import invariants, legal, observing, planning, position, rules, scoring
from referee.games.valparaiso.actions import Commit
from referee.games.valparaiso.names import Phase
from referee.games.valparaiso.table import NONE, Table


class ValparaisoState(Table):
    """A match of Valparaíso in progress."""

    __slots__ = ()

    @override
    def seats_to_act(self) -> tuple[Seat, ...]:
        return legal.seats_to_act(self)

    @override
    def legal_actions(self, seat: Seat) -> list[Action]:
        return legal.legal_actions(self, seat) if legal.is_to_act(self, seat) else []

    @override
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        rules.apply(self, seat, action, chance)

    @override
    def default_action(self, seat: Seat) -> Action:
        return legal.default_action(self, seat)

    @override
    def observation(self, viewer: Seat | None) -> Observation:
        return observing.observe(self, viewer)

    @override
    def is_public(self, seat: Seat, action: Action) -> bool:
        """Return whether everybody learns of the action.

        In planning, they learn only of the first finisher's claim (V2.7, V2.8).
        """
        declares = isinstance(action, Commit) and planning.is_timed(self) and self.first_finisher == NONE
        return self.phase is not Phase.PLAN or declares

    @override
    def window(self) -> Window | None:
        """Return the sand timer of the expert game, which the first finisher starts (V2.8)."""
        if self.phase is not Phase.PLAN or self.first_finisher == NONE:
            return None
        return Window(f"planning {self.round}", planning.timer(self))

    @override
    def stage(self) -> int:
        return self.round

    @override
    def is_over(self) -> bool:
        return self.phase is Phase.OVER

    @override
    def scores(self) -> list[int]:
        return scoring.scores(self)

    @override
    def ranks(self) -> list[int]:
        return scoring.ranks(self)

    @override
    def to_json(self) -> JsonObject:
        return position.to_json(self)

    @override
    def problems(self) -> list[str]:
        return invariants.problems(self)
