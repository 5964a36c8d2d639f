"""The state: a table with the methods of `referee.game.State`, each of which calls the module in charge of it."""

from __future__ import annotations

from typing_extensions import override

from referee.game import Action, Chance, JsonObject, Observation, Seat
from referee.games.yunnan import observing, position, problems, rules, scoring
from referee.games.yunnan.names import Phase
from referee.games.yunnan.table import Table


class YunnanState(Table):
    """A match of Yunnan in progress."""

    __slots__ = ()

    @override
    def seats_to_act(self) -> tuple[Seat, ...]:
        return () if self.phase is Phase.OVER else (self.owner[self.acting_colour],)

    @override
    def legal_actions(self, seat: Seat) -> list[Action]:
        return rules.legal_actions(self) if seat == self.owner[self.acting_colour] else []

    @override
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        rules.apply(self, seat, action)

    @override
    def default_action(self, seat: Seat) -> Action:
        return rules.default_action(self)

    @override
    def observation(self, viewer: Seat | None) -> Observation:
        return observing.observe(self, viewer)

    @override
    def is_public(self, seat: Seat, action: Action) -> bool:
        """Return True, because all actions are open."""
        return True

    @override
    def stage(self) -> int:
        return self.turn

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
        return problems.problems(self)
