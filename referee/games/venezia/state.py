"""The state: a table with the methods of `referee.game.State`, each of which calls the module in charge of it."""

from __future__ import annotations

from typing_extensions import override

from referee.game import Action, Chance, JsonObject, Observation, Seat
from referee.games.venezia import observing, position, problems, rules, scoring
from referee.games.venezia.names import Phase
from referee.games.venezia.table import Table


class VeneziaState(Table):
    """A match of Venezia in progress."""

    __slots__ = ()

    @override
    def seats_to_act(self) -> tuple[Seat, ...]:
        return rules.seats_to_act(self)

    @override
    def legal_actions(self, seat: Seat) -> list[Action]:
        return rules.legal_actions(self, seat) if rules.is_to_act(self, seat) else []

    @override
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        rules.apply(self, seat, action, chance)

    @override
    def default_action(self, seat: Seat) -> Action:
        return rules.default_action(self, seat)

    def part_of(self, seat: Seat) -> str:
        """Return the name of a seat's unfinished plan.

        When its time runs out, defaults complete this plan, but nothing else (section 5).
        """
        return f"plan {self.round}" if self.phase is Phase.PLAN else ""

    @override
    def observation(self, viewer: Seat | None) -> Observation:
        return observing.observe(self, viewer)

    @override
    def is_public(self, seat: Seat, action: Action) -> bool:
        """Return whether everybody learns of an action, which is true of all except the steps of a plan."""
        return self.phase is not Phase.PLAN

    @override
    def stage(self) -> int:
        return self.round

    @override
    def is_over(self) -> bool:
        return self.phase is Phase.OVER

    @override
    def scores(self) -> list[int]:
        return self.score[:]

    @override
    def ranks(self) -> list[int]:
        return scoring.ranks(self)

    @override
    def to_json(self) -> JsonObject:
        return position.to_json(self)

    @override
    def problems(self) -> list[str]:
        return problems.problems(self)
