"""A real table for a scripted referee: a state of a game in which the other seats play at random."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from dogana.v1 import referee_pb2 as pb
from referee.game import Action, Game, Seat, State
from referee.kit.chance import LiveChance
from referee.live.messages import wire
from referee.live.messages.codec import Codec, codec
from referee.match.clock import SeatClock, TimeControl
from referee.match.effects import Decision, Played
from referee.match.judging import Refused, judge, why_dropped
from referee.match.plan import MatchPlan
from referee.options import OptionValue
from referee.registry import shipped_board

SEARCHED_SEEDS = range(1, 5)
"""The seeds of the random matches to search, for each number of seats."""


@dataclass(frozen=True, slots=True)
class Place:
    """A starting point for a match: a state in which a seat has a decision."""

    plan: MatchPlan
    state: State
    seat: Seat
    count: int
    """The size, in actions or bytes, for which this place was chosen."""


@dataclass(frozen=True, slots=True)
class Places:
    """The hardest places for a bot in random matches of a game; a place is None if no match has one."""

    single_action: Place | None
    largest_list: Place | None
    largest_observation: Place | None
    longest: tuple[int, int]
    """The seed and the number of seats of the match in which one seat has the most decisions."""


def plan_for(
    game: Game,
    seats: int,
    control: TimeControl,
    seed: int = 1,
    options: Mapping[str, OptionValue] | None = None,
) -> MatchPlan:
    """Return the plan of a match with the shipped board."""
    setup = game.setup(seats, options or {}, shipped_board(game))
    bots = [f"bot{seat}" for seat in range(seats)]
    return MatchPlan(game, setup, f"check-{game.name}-{seats}-{seed}", seed, bots, control)


@cache
def places(game: Game, control: TimeControl, seeds: Sequence[int] = SEARCHED_SEEDS) -> Places:
    """Find the hardest places for a bot in random matches with every number of seats and each of the seeds."""
    messages = codec(game)
    single: Place | None = None
    largest: Place | None = None
    widest: Place | None = None
    longest = (0, 0, 0)
    for seats in game.seat_counts:
        for seed in seeds:
            plan = plan_for(game, seats, control, seed)
            chance, dice = LiveChance(seed), random.Random(seed)  # noqa: S311 hides nothing
            state = game.start(plan.setup, chance)
            decisions = [0] * seats
            step = 0
            while not state.is_over():
                seat = state.seats_to_act()[0]
                actions = state.legal_actions(seat)
                step += 1
                if single is None and len(actions) == 1:
                    single = Place(plan, state.clone(), seat, 1)
                if largest is None or len(actions) > largest.count:
                    largest = Place(plan, state.clone(), seat, len(actions))
                # The size of observations changes slowly, and they take a long time to write.
                if len(actions) > 1 and step % 4 == 0:
                    size = len(messages.observation_bytes(state.observation(seat)))
                    if widest is None or size > widest.count:
                        widest = Place(plan, state.clone(), seat, size)
                decisions[seat] += len(actions) > 1  # a match asks for no forced action
                state.apply(seat, dice.choice(actions), chance)
            longest = max(longest, (max(decisions), seed, seats))
    return Places(single, largest, widest, longest[1:])


class RehearsalMatch:
    """A match for a rehearsal: a state with one seat for a bot.

    Attributes:
        seat: the seat of the bot.
        number: the number of the latest decision; 0 before the first.
        actions: the legal actions of that decision.
    """

    def __init__(self, plan: MatchPlan, place: Place | None = None) -> None:
        """Begin a match from the start, with the bot in seat 0, or from the given place."""
        self._chance = LiveChance(plan.seed)
        self._dice = random.Random(plan.seed)  # noqa: S311 hides nothing
        self.seat = 0 if place is None else place.seat
        self._state = plan.game.start(plan.setup, self._chance) if place is None else place.state.clone()
        self.plan = plan
        self._codec: Codec = codec(plan.game)
        self.number = 0
        self.actions: list[Action] = []
        self._played: list[Played] = []
        self._dropped = ""

    @property
    def budget(self) -> float:
        """The time that a fresh clock allows for a decision, in seconds."""
        control = self.plan.control
        return min(control.bank + control.increment, control.cap)

    def welcome(self) -> pb.RefereeMessage:
        """Return the Welcome for the bot."""
        return pb.RefereeMessage.FromString(wire.welcome(self.plan, self.seat, no_pondering=False))

    def go_on(self, *, asks_forced: bool = False) -> bool:
        """Play the other seats until the bot has a decision; return False if the match ends first.

        Args:
            asks_forced: True to ask the bot even if only one action is legal, which matches do not do.
        """
        state = self._state
        while not state.is_over():
            seats = state.seats_to_act()
            # The other seats play first, so that no other decision is open when the bot is asked.
            seat = next((other for other in seats if other != self.seat), self.seat)
            actions = state.legal_actions(seat)
            if seat == self.seat and (len(actions) > 1 or asks_forced):
                self.actions = actions
                return True
            self._apply(seat, self._dice.choice(actions))
        return False

    def question(self, *, labels: bool = False, dropped: str = "") -> pb.RefereeMessage:
        """Return the question for a new decision on the legal actions, with a fresh clock.

        Args:
            labels: True to send each action with a text.
            dropped: a pretended reason why the rest of the last answer was not played; empty for none.
        """
        self.number += 1
        clock = SeatClock(self.plan.control)
        decision = Decision(
            self.number,
            self.seat,
            self._state,
            self.actions,
            clock,
            0.0,
            played=self._played,
            dropped=dropped or self._dropped,
        )
        message = pb.RefereeMessage.FromString(wire.decide(self._codec, decision, labels, 0.0))
        self._played = []
        self._dropped = ""
        return message

    def judge(self, choose: pb.Choose) -> list[Action] | Refused:
        """Return the actions of an answer to the open decision, or the refusal that it would get in a match."""
        return judge(self._state, self.seat, self.actions, wire.read_choice(self._codec, choose))

    def play(self, actions: list[Action]) -> None:
        """Play the actions of an answer as a match does, for as long as they are legal and it is the seat's turn."""
        for at, action in enumerate(actions):
            self._dropped = why_dropped(self._state, self.seat, actions, actions[at:])
            if self._dropped:
                return
            self._apply(self.seat, action)

    def play_default(self) -> None:
        """Play the default action of the rules for a seat that is out of time."""
        self._apply(self.seat, self._state.default_action(self.seat))

    def _apply(self, seat: Seat, action: Action) -> None:
        # It is judged by the state before the action, as in a match.
        is_known = seat == self.seat or self._state.is_public(seat, action)
        self._state.apply(seat, action, self._chance)
        if is_known:
            self._played.append(Played(seat, action))

    def game_over(self, *, reveals_seed: bool) -> pb.RefereeMessage:
        """Return a GameOver message with the current places and scores."""
        ranks, scores = self._state.ranks(), self._state.scores()
        seats = [
            pb.SeatResult(seat=seat, rank=rank, score=score, outcome=pb.SeatResult.OUTCOME_PLAYED)
            for seat, (rank, score) in enumerate(zip(ranks, scores, strict=True))
        ]
        seed = str(self.plan.seed) if reveals_seed else ""
        return pb.RefereeMessage(game_over=pb.GameOver(seats=seats, seed=seed, digest=64 * "0"))
