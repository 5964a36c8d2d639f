"""The state: a table, and the contract's questions about it, each answered where its name says."""

from __future__ import annotations

from referee.game import Action, Chance, JsonObject, Observation, Seat
from referee.games.venezia import observation, position, rules, scoring
from referee.games.venezia.names import Phase
from referee.games.venezia.table import Table


class VeneziaState(Table):
    """A match of Venezia; see `referee.game.State` for what each method does."""

    __slots__ = ()

    def seats_to_act(self) -> tuple[Seat, ...]:
        """See `referee.game.State`."""
        return rules.seats_to_act(self)

    def legal_actions(self, seat: Seat) -> list[Action]:
        """See `referee.game.State`."""
        return rules.legal_actions(self, seat) if seat in rules.seats_to_act(self) else []

    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        """See `referee.game.State`."""
        rules.apply(self, seat, action, chance)

    def default_action(self, seat: Seat) -> Action:
        """See `referee.game.State`."""
        return rules.default_action(self, seat)

    def part_of(self, seat: Seat) -> str:
        """Name the plan that a seat is making: an expired plan is completed by defaults, nothing else is (section 5)."""
        return f"plan {self.round}" if self.phase is Phase.PLAN else ""

    def observation(self, viewer: Seat | None) -> Observation:
        """See `referee.game.State`."""
        return observation.observe(self, viewer)

    def is_public(self, seat: Seat, action: Action) -> bool:
        """Plans are secret; everything else is played openly."""
        return self.phase is not Phase.PLAN

    def is_over(self) -> bool:
        """See `referee.game.State`."""
        return self.phase is Phase.OVER

    def scores(self) -> list[int]:
        """See `referee.game.State`."""
        return self.score[:]

    def ranks(self) -> list[int]:
        """See `referee.game.State`."""
        return scoring.ranks(self)

    def to_json(self) -> JsonObject:
        """See `referee.game.State`."""
        return position.to_json(self)

    def problems(self) -> list[str]:
        """See `referee.game.State`."""
        return position.problems(self)
