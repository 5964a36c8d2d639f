"""Cargo Noir (Serge Laget, 2011), a game about smuggling goods between ports, for 2 to 5 seats. See RULES.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from typing_extensions import override

from referee.game import Action, Chance, Criterion, Game, Observation, Points, RolloutPolicy, Scene, Setup, State
from referee.games.cargo_noir import breakdown, drawing, drawing_words, rules, spots
from referee.games.cargo_noir.actions import EndSmuggling, Wait
from referee.games.cargo_noir.board import CargoNoirBoard, read_board
from referee.games.cargo_noir.observation import CargoNoirObservation
from referee.games.cargo_noir.observing import restore
from referee.games.cargo_noir.position import read
from referee.games.cargo_noir.state import CargoNoirState
from referee.kit.document import Document
from referee.options import Option, OptionValue, openings


class CargoNoir(Game):
    """The rules of Cargo Noir."""

    name = "cargo_noir"
    title = "Cargo Noir"
    seat_counts = range(2, 6)
    options = (
        Option(
            "first_player",
            ("random", range(5)),
            "random",
            "the seat that begins every turn",
            "S6",
        ),
        Option(
            "bank_limited",
            (True, False),
            True,
            "whether the bank pays out no more than the coins of the game (false: missing coins are made)",
            "C7.2",
        ),
        Option(
            "final_phase3",
            ("play", "skip"),
            "play",
            "whether ships are sent in the final turn (skip: nobody sends any)",
            "C1.5",
        ),
        Option(
            "last_turn",
            ("track", range(2, 21)),
            "track",
            "the number of turns (track: as printed on the turn track)",
            "C1.4",
        ),
        openings(0),
    )
    action_types = tuple(rules.HANDLERS)
    closing_actions = frozenset({EndSmuggling})
    rare_actions = frozenset({Wait})  # I12: never in regular play, only in positions made by hand
    observation_type = CargoNoirObservation
    # The longest list is the list of stakes with an unlimited bank: a safe grows by at most 5 ships * 2 coins + 2
    # Syndicates * 2 coins in each of 20 turns, from 7 coins. (All other lists are below 150: RULES.md, section 5.)
    max_actions = 7 + 20 * (5 * 2 + 2 * 2)
    # In a turn, a seat has at most these decisions: 5 to resolve ships, each with a stake; one for each of at most 25
    # tokens that are handed in or discarded, and 9 more to build sets; 5 to send ships, each with a stake; and one to
    # end smuggling. In a match, 54 cards can be bought.
    max_decisions = 5 * 20 * (5 * 2 + 2 * 25 + 5 * 2 + 1) + 54

    @override
    def read_board(self, document: Document) -> CargoNoirBoard:
        return read_board(document)

    @override
    def check_options(self, seats: int, options: Mapping[str, OptionValue]) -> list[str]:
        first = options["first_player"]
        if isinstance(first, int) and first >= seats:
            return [f"option first_player names seat {first}, but the seats are 0 to {seats - 1}"]
        return []

    @override
    def start(self, setup: Setup, chance: Chance) -> State:
        state = CargoNoirState.empty(setup)
        rules.set_up(state, chance)
        return state

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = CargoNoirState.empty(setup)
        read(state, document)
        return state

    @override
    def sample(
        self,
        setup: Setup,
        observation: Observation,
        chance: Chance,
        policy: RolloutPolicy | None = None,
        *,
        undone: bool = False,
    ) -> State:
        # Only the order of the bag is hidden, and no state contains it, so there is only one consistent state.
        state = CargoNoirState.empty(setup)
        restore(state, cast("CargoNoirObservation", observation))
        return state

    @override
    def breakdown(self, setup: Setup, observation: Observation) -> tuple[tuple[Points, ...], ...]:
        return breakdown.breakdown(cast("CargoNoirBoard", setup.board), cast("CargoNoirObservation", observation))

    @override
    def criteria(self, setup: Setup, observation: Observation) -> tuple[Criterion, ...]:
        return breakdown.criteria(cast("CargoNoirBoard", setup.board), cast("CargoNoirObservation", observation))

    @override
    def draw(self, setup: Setup, observation: Observation, scene: Scene | None = None) -> str:
        return drawing.draw(cast("CargoNoirBoard", setup.board), cast("CargoNoirObservation", observation), scene)

    @override
    def tell(self, setup: Setup, observation: Observation, scene: Scene) -> list[str]:
        return drawing_words.tell(cast("CargoNoirBoard", setup.board), cast("CargoNoirObservation", observation), scene)

    @override
    def spots(self, action: Action) -> tuple[str, ...]:
        return spots.spots(action)


GAME = CargoNoir()
