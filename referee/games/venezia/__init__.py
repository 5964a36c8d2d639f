"""Venezia (Ronald Hofstaetter, 2001), a game about secret plans of pigeon clans, for 2 to 4 seats. See RULES.md."""

from __future__ import annotations

from typing import cast

from typing_extensions import override

from referee.game import Action, Chance, Criterion, Game, Observation, Points, RolloutPolicy, Scene, Setup, State
from referee.games.venezia import breakdown, drawing, drawing_words, rules, spots
from referee.games.venezia.actions import Done
from referee.games.venezia.board import MAX_ON_PIAZZA, VeneziaBoard, read_board
from referee.games.venezia.observation import VeneziaObservation
from referee.games.venezia.observing import restore
from referee.games.venezia.position import read
from referee.games.venezia.sample import draw_plans
from referee.games.venezia.state import VeneziaState
from referee.kit.document import Document
from referee.options import Option, openings

_MAX_ROUNDS = 50


class Venezia(Game):
    """The rules of Venezia."""

    name = "venezia"
    title = "Venezia"
    seat_counts = range(2, 5)
    options = (
        Option("tourists", (range(2, 4),), 2, "the number of tourists that come to the Piazza", "Z4.1"),
        Option("hunters", (range(1, 3),), 1, "the number of pigeon hunters that come to the Piazza", "Z4.3"),
        Option(
            "vatican_feud_sgm", (False, True), False, "whether Fehde and Weisung reach San Giorgio Maggiore", "Z8.2"
        ),
        Option(
            "end_rule",
            ("cap4", "fixed4", "open"),
            "cap4",
            "when the match ends: in round 4 or earlier, in round 4, or when a seat wins",
            "Z12.1",
        ),
        Option("max_rounds", (range(4, _MAX_ROUNDS + 1),), 20, "the last round with end_rule=open", "Z12.1"),
        Option("home_sgm", ("allowed", "forbidden"), "allowed", "whether San Giorgio Maggiore can be a home", "Z1.4"),
        Option("campanile", (True, False), True, "whether the bell tower blocks a square", "Z3.3"),
        Option(
            "births_rule",
            ("per_pigeon", "per_tourist"),
            "per_pigeon",
            "whether a pigeon bears once, or for each tourist around it",
            "Z6.3",
        ),
        Option("capture_diagonal", (True, False), True, "whether captures are diagonal, too", "Z6.1"),
        Option(
            "jump_over_danger",
            (False, True),
            False,
            "whether a tourist in the danger zone can be jumped over",
            "Z5.3",
        ),
        Option("first_player", ("seat0", "random"), "seat0", "the seat that begins the first round", "Z1.3"),
        openings(0),
    )
    action_types = tuple(rules.HANDLERS)
    closing_actions = frozenset({Done})
    observation_type = VeneziaObservation
    # The longest list is the list of moves: 8 walks and 8 jumps for each pigeon on the Piazza, and the end.
    max_actions = 16 * MAX_ON_PIAZZA + 1
    # Each seat chooses a home. In each round, each seat then makes at most: a plan of 8 places, each with a count; the
    # placing; for each pigeon, a chain of jumps over all squares; the choices for its cards; two more in the scoring
    # (section 9).
    max_decisions = 4 + 4 * _MAX_ROUNDS * (3 + 2 * 8 + MAX_ON_PIAZZA + 1 + 80 * MAX_ON_PIAZZA + 1 + 101 + 2)

    @override
    def read_board(self, document: Document) -> VeneziaBoard:
        return read_board(document)

    @override
    def start(self, setup: Setup, chance: Chance) -> State:
        state = VeneziaState.empty(setup)
        rules.set_up(state, chance)
        return state

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = VeneziaState.empty(setup)
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
        """Return a state in which the others' plans are consistent with the observation.

        If there is a policy, it decides the places of the rivals' piles: the largest pile gets the place where the
        policy would lay the most pigeons, and so on. Everything else is random.
        """
        state = VeneziaState.empty(setup)
        seen = cast("VeneziaObservation", observation)
        restore(state, seen)
        draw_plans(state, seen, chance, policy, undone=undone)
        return state

    @override
    def breakdown(self, setup: Setup, observation: Observation) -> tuple[tuple[Points, ...], ...]:
        return breakdown.breakdown(cast("VeneziaBoard", setup.board), cast("VeneziaObservation", observation))

    @override
    def criteria(self, setup: Setup, observation: Observation) -> tuple[Criterion, ...]:
        return breakdown.criteria(cast("VeneziaBoard", setup.board), cast("VeneziaObservation", observation))

    @override
    def draw(self, setup: Setup, observation: Observation, scene: Scene | None = None) -> str:
        board, has_tower = cast("VeneziaBoard", setup.board), bool(setup.options["campanile"])
        return drawing.draw(board, cast("VeneziaObservation", observation), scene, has_tower=has_tower)

    @override
    def tell(self, setup: Setup, observation: Observation, scene: Scene) -> list[str]:
        return drawing_words.tell(cast("VeneziaBoard", setup.board), cast("VeneziaObservation", observation), scene)

    @override
    def spots(self, action: Action) -> tuple[str, ...]:
        return spots.spots(action)


GAME = Venezia()
