"""The state: a table, and the contract's questions about it, each answered where its name says."""

from __future__ import annotations

from referee.game import Action, Chance, JsonObject, Observation, Seat
from referee.games.yunnan import observation, position, problems, rules, scoring
from referee.games.yunnan.names import Phase
from referee.games.yunnan.table import Table


class YunnanState(Table):
    """A match of Yunnan; see `referee.game.State` for what each method does."""

    __slots__ = ()

    def seats_to_act(self) -> tuple[Seat, ...]:
        """See `referee.game.State`."""
        return () if self.phase is Phase.OVER else (self.owner[self.acting_colour],)

    def legal_actions(self, seat: Seat) -> list[Action]:
        """See `referee.game.State`."""
        return rules.legal_actions(self) if seat == self.owner[self.acting_colour] else []

    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        """See `referee.game.State`."""
        rules.apply(self, seat, action)

    def default_action(self, seat: Seat) -> Action:
        """See `referee.game.State`."""
        return rules.default_action(self)

    def observation(self, viewer: Seat | None) -> Observation:
        """See `referee.game.State`."""
        return observation.observe(self, viewer)

    def is_public(self, seat: Seat, action: Action) -> bool:
        """Everything is played openly."""
        return True

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
        return problems.problems(self)
