"""The state: a table with the methods of `referee.game.State`, each of which calls the module in charge of it."""

from __future__ import annotations

from typing_extensions import override

from referee.game import Action, Chance, JsonObject, Observation, Seat
from referee.games.cargo_noir import observing, position, rules, scoring
from referee.games.cargo_noir.names import Phase
from referee.games.cargo_noir.table import Table


class CargoNoirState(Table):
    """A match of Cargo Noir."""

    __slots__ = ()

    @override
    def seats_to_act(self) -> tuple[Seat, ...]:
        return () if self.phase is Phase.OVER else (self.seat,)

    @override
    def legal_actions(self, seat: Seat) -> list[Action]:
        return rules.legal_actions(self) if seat == self.seat else []

    @override
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        rules.apply(self, seat, action, chance)

    @override
    def default_action(self, seat: Seat) -> Action:
        return rules.default_action(self)

    @override
    def observation(self, viewer: Seat | None) -> Observation:
        return observing.observe(self, viewer)

    @override
    def is_public(self, seat: Seat, action: Action) -> bool:
        return True  # all actions are open

    @override
    def stage(self) -> int:
        return self.turn

    @override
    def is_over(self) -> bool:
        return self.phase is Phase.OVER

    @override
    def scores(self) -> list[int]:
        return [scoring.score(self, seat) for seat in range(self.setup.seats)]

    @override
    def ranks(self) -> list[int]:
        return scoring.ranks(self)

    @override
    def to_json(self) -> JsonObject:
        return position.to_json(self)

    @override
    def problems(self) -> list[str]:
        return position.problems(self)
