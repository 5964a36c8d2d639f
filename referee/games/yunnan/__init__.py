"""Yunnan (Aaron Haag, 2013), a game about selling tea along the Tea-Horse Road, for 2 to 5 seats. See RULES.md."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import cast

from typing_extensions import override

from referee.game import Action, Chance, Criterion, Game, Observation, Points, RolloutPolicy, Scene, Setup, State
from referee.games.yunnan import breakdown, drawing, rules, spots
from referee.games.yunnan.actions import Done, Pass
from referee.games.yunnan.board import MAX_MERCHANTS, MAX_STRUCTURES, MAX_VALUE, YunnanBoard, read_board
from referee.games.yunnan.names import Colour
from referee.games.yunnan.observation import YunnanObservation
from referee.games.yunnan.observing import restore
from referee.games.yunnan.position import read
from referee.games.yunnan.state import YunnanState
from referee.games.yunnan.table import number_of_colours
from referee.kit.document import Document
from referee.options import Distinct, Option, OptionValue, openings

_MAX_TURNS = 100
_COLOURS = tuple(colour.name.lower() for colour in Colour)


class Yunnan(Game):
    """The rules of Yunnan."""

    name = "yunnan"
    title = "Yunnan"
    seat_counts = range(2, 6)
    options = (
        Option(
            "expert",
            (False, True),
            False,
            "whether bids may exceed the money; what is missing is paid in victory points",
            "Y13",
        ),
        Option(
            "turn_limit",
            (range(1, _MAX_TURNS + 1),),
            30,
            "the turn after which the match ends in any case",
            "Y11.1",
        ),
        Option(
            "pass_moves_reserve_to_market",
            (False, True),
            False,
            "whether passing moves the Merchants in the reserve to Pu'er, where they can travel",
            "Y2.8",
        ),
        Option(
            "initial_order",
            ("random", Distinct(_COLOURS)),
            "random",
            "the auction order of turn 1, first to act first",
            "Y1.2",
        ),
        openings(4),
    )
    action_types = tuple(rules.HANDLERS)
    closing_actions = frozenset({Pass, Done})
    observation_type = YunnanObservation
    # The longest list is the list of conversions. (All others are below 150: RULES.md, section 5.)
    max_actions = MAX_MERCHANTS * MAX_VALUE + MAX_STRUCTURES * MAX_VALUE + 1
    # A turn has at most these decisions (section 9). In the auction: 25 bids in each of the 3 stretches around the 2
    # bank actions, the 2 bank actions, every Merchant sent to the market, and a pass for each colour and for each bid.
    # Then a structure for each colour. In a travel turn: a journey and a displacement for each Merchant, every
    # structure, and the end. Then a conversion for each colour.
    max_decisions = _MAX_TURNS * (
        3 * 25 + 2 + 5 * MAX_MERCHANTS + 5 + 3 * 25 + 5 + 5 * (2 * MAX_MERCHANTS + 3 * MAX_STRUCTURES + 1) + 5
    )

    @override
    def read_board(self, document: Document) -> YunnanBoard:
        return read_board(document)

    @override
    def check_options(self, seats: int, options: Mapping[str, OptionValue]) -> list[str]:
        order = options["initial_order"]
        if not isinstance(order, str) or order == "random":
            return []
        words = order.split("+")
        colours = _COLOURS[: number_of_colours(seats)]
        if sorted(words) != sorted(colours):
            return [f"option initial_order must name the colours of {seats} seats: {'+'.join(colours)} in any order"]
        if seats == 2 and any(colours.index(one) % 2 == colours.index(other) % 2 for one, other in pairwise(words)):
            return ["option initial_order must alternate between red or green and blue or yellow with 2 seats (Y12.2)"]
        return []

    @override
    def start(self, setup: Setup, chance: Chance) -> State:
        state = YunnanState.empty(setup)
        rules.set_up(state, chance)
        return state

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = YunnanState.empty(setup)
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
        """Return the only state that fits the observation, because nothing is hidden."""
        state = YunnanState.empty(setup)
        restore(state, cast("YunnanObservation", observation))
        return state

    @override
    def breakdown(self, setup: Setup, observation: Observation) -> tuple[tuple[Points, ...], ...]:
        return breakdown.breakdown(cast("YunnanBoard", setup.board), cast("YunnanObservation", observation))

    @override
    def criteria(self, setup: Setup, observation: Observation) -> tuple[Criterion, ...]:
        return breakdown.criteria(cast("YunnanObservation", observation))

    @override
    def draw(self, setup: Setup, observation: Observation, scene: Scene | None = None) -> str:
        return drawing.draw(cast("YunnanBoard", setup.board), cast("YunnanObservation", observation), scene)

    @override
    def tell(self, setup: Setup, observation: Observation, scene: Scene) -> list[str]:
        return drawing.tell(cast("YunnanBoard", setup.board), cast("YunnanObservation", observation), scene)

    @override
    def spots(self, action: Action) -> tuple[str, ...]:
        return spots.spots(action)


GAME = Yunnan()
