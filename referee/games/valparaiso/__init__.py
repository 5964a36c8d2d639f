"""Valparaíso (Louis and Stefan Malz, 2018), a game of plans, merchants and ships, for 2 to 5 seats. See RULES.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from typing_extensions import override

from referee.game import Action, Chance, Criterion, Game, Observation, Points, RolloutPolicy, Scene, Setup, State
from referee.games.valparaiso import actions as act
from referee.games.valparaiso import breakdown, drawing, drawing_words, rules, set_up, spots
from referee.games.valparaiso.board import ValparaisoBoard, read_board
from referee.games.valparaiso.names import Colour
from referee.games.valparaiso.observation import ValparaisoObservation
from referee.games.valparaiso.observing import restore
from referee.games.valparaiso.position import read
from referee.games.valparaiso.sample import draw_secrets
from referee.games.valparaiso.state import ValparaisoState
from referee.kit.document import Document
from referee.options import Distinct, Option, OptionValue, openings

_MAX_ROUNDS = 60


class Valparaiso(Game):
    """The rules of Valparaíso."""

    name = "valparaiso"
    title = "Valparaíso"
    seat_counts = range(2, 6)
    options = (
        Option("expert_timer", (False, True), False, "whether the first to finish planning starts a timer", "V2.8"),
        Option("timer_seconds", (range(1, 601),), 60, "the sand timer, with expert_timer, in seconds", "V2.8"),
        Option("countdown_seconds", (range(61),), 5, "the countdown after it, in seconds", "V2.8"),
        Option(
            "colours",
            ("random", Distinct(tuple(colour.name.lower() for colour in Colour))),
            "random",
            "the colours of the seats; each has its own alternative actions",
            "S2",
        ),
        Option("start_player", ("random", range(5)), "random", "the seat that begins the first round", "S5"),
        Option(
            "return_rule",
            ("shelter", "one_only"),
            "shelter",
            "whether all merchants may stay where the seat has a house, or only one in all villages",
            "V6.5",
        ),
        Option("river_toll", (False, True), False, "whether customs houses take toll from rivers, too", "V4.10"),
        Option(
            "refill_rule",
            ("literal", "strict"),
            "literal",
            "whether a good sold from a full hold and loaded again earns the point (literal), or not in the same turn (strict)",
            "V4.1",
        ),
        Option("max_rounds", (range(1, _MAX_ROUNDS + 1),), 30, "the last round in any case", "V7.1"),
        openings(0),
    )
    action_types = tuple(rules.HANDLERS)
    closing_actions = frozenset({act.Commit, act.Close, act.Done})
    # Only achievement cards have these actions, and random play hardly ever ships three equal goods to a sector that
    # asks for them.
    rare_actions = frozenset((act.River, act.BuildForGood, act.Hire, act.Give, act.GiveTwo, act.Pay, act.Buy))
    observation_type = ValparaisoObservation
    # The longest list is the list of transfers: the ways to fill a hold of 6 with three goods, except its current
    # contents.
    max_actions = 83
    # Each seat makes two choices in the set-up. In each round it makes at most: 7 choices for its plan; for each of 6
    # cards, one to use it and 60 more (moving 4 merchants over 11 locations); one to scrap a card and 5 to return
    # merchants; and one sale for each good that it gains, 19 per card and 10 in between.
    max_decisions = 2 * 5 + _MAX_ROUNDS * 5 * (7 + 6 * 61 + 6 + 6 * 19 + 10)

    @override
    def read_board(self, document: Document) -> ValparaisoBoard:
        return read_board(document)

    @override
    def order_matters(self, setup: Setup) -> bool:
        """Return whether the match is an expert game, in which the first seat to finish planning gets a good (V2.8)."""
        return bool(setup.options["expert_timer"])

    @override
    def check_options(self, seats: int, options: Mapping[str, OptionValue]) -> list[str]:
        found = []
        colours = str(options["colours"])
        if colours != "random" and len(colours.split("+")) != seats:
            found.append(f"option colours needs {seats} colours, one for each seat, not {colours!r}")
        start = options["start_player"]
        if isinstance(start, int) and start >= seats:
            found.append(f"option start_player can be a seat from 0 to {seats - 1}, not {start}")
        return found

    @override
    def start(self, setup: Setup, chance: Chance) -> State:
        state = ValparaisoState.empty(setup)
        set_up.set_up(state, chance)
        return state

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = ValparaisoState.empty(setup)
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
        """Return a state with a random pile; the others' plans are random, made by a policy, or left out (`undone`)."""
        state = ValparaisoState.empty(setup)
        seen = cast("ValparaisoObservation", observation)
        restore(state, seen)
        draw_secrets(state, seen, chance, policy, undone)
        return state

    @override
    def breakdown(self, setup: Setup, observation: Observation) -> tuple[tuple[Points, ...], ...]:
        return breakdown.breakdown(cast("ValparaisoBoard", setup.board), cast("ValparaisoObservation", observation))

    @override
    def criteria(self, setup: Setup, observation: Observation) -> tuple[Criterion, ...]:
        return breakdown.criteria(cast("ValparaisoObservation", observation))

    @override
    def draw(self, setup: Setup, observation: Observation, scene: Scene | None = None) -> str:
        side = cast("ValparaisoBoard", setup.board).side(setup.seats)
        return drawing.draw(
            cast("ValparaisoBoard", setup.board), side, cast("ValparaisoObservation", observation), scene
        )

    @override
    def tell(self, setup: Setup, observation: Observation, scene: Scene) -> list[str]:
        board = cast("ValparaisoBoard", setup.board)
        return drawing_words.tell(board, board.side(setup.seats), cast("ValparaisoObservation", observation), scene)

    @override
    def spots(self, action: Action) -> tuple[str, ...]:
        return spots.spots(action)


GAME = Valparaiso()
