"""Collect the bytes sent to other viewers while a seat makes a secret plan, to test that a game keeps its secrets."""

from __future__ import annotations

import random
from collections.abc import Sequence

from referee.game import Action, Game, Seat, Setup, State
from referee.kit.chance import LiveChance
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.clock import TimeControl
from referee.match.effects import Ask, Decision, Effect, Happened, NewDeadline, Reject, Show, Withdraw
from referee.match.machine import MatchMachine
from referee.match.plan import MatchPlan


def overhear(
    game: Game, setup: Setup, state: State, planner: Seat, plan: Sequence[Action], seed: int
) -> dict[Seat | None, list[bytes]]:
    """Let a seat play a plan while the others play at random, and stop before they have finished their decisions.

    Args:
        game: the game.
        setup: the terms of the match.
        state: a state in which several seats are to act; it is not changed.
        planner: the seat that plans.
        plan: the actions of the planner in order, without forced ones.
        seed: the seed of chance and of the others' play.

    Returns:
        All messages that the referee sends during that time to each of the other seats and to a spectator (`None`).
        Empty if nobody else has anything to decide, because the plan is then revealed as soon as it is made.
    """
    return _Tap(game, setup, state, planner, seed).run(plan)


class _Tap:
    def __init__(self, game: Game, setup: Setup, state: State, planner: Seat, seed: int) -> None:
        # Time stands still in this match, so no two messages differ only in the time on a clock.
        control = TimeControl(60, 0, 10)
        position = state.to_json()  # the match begins from this position, so it has no opening of random decisions
        self._plan = MatchPlan(game, setup, "overheard", seed, ["bot"] * setup.seats, control, position)
        self._codec = codec(game)
        self._match = MatchMachine(self._plan, state.clone(), LiveChance(seed))
        self._planner = planner
        self._random = random.Random(seed)  # noqa: S311 reproducible play, no secrets
        self._open: dict[Seat, Decision] = {}
        self._observation = state.observation(None)
        self._sent: dict[Seat | None, list[bytes]] = {
            viewer: [] for viewer in (*range(setup.seats), None) if viewer != planner
        }

    def run(self, plan: Sequence[Action]) -> dict[Seat | None, list[bytes]]:
        self._take(self._match.start(0.0, {}))
        self._let_others_play()
        if all(seat == self._planner for seat in self._open):
            return {}  # the others have only forced actions left, so the plan is revealed at once
        for action in plan:
            self._answer(self._planner, action)
        self._let_others_play()
        return self._sent

    def _let_others_play(self) -> None:
        for seat in [seat for seat in self._open if seat != self._planner]:
            action = self._random.choice(self._open[seat].actions)
            if self._goes_on_after(seat, action):
                self._answer(seat, action)

    def _goes_on_after(self, seat: Seat, action: Action) -> bool:
        """Return whether a seat still has a secret decision to make after an action and the forced ones that follow."""
        copy = self._match.state.clone()
        to_act = copy.seats_to_act()
        while not copy.is_public(seat, action):
            copy.apply(seat, action, LiveChance(0))
            if copy.seats_to_act() != to_act:
                return False
            legal = copy.legal_actions(seat)
            if len(legal) > 1:
                return not copy.is_public(seat, legal[0])
            action = legal[0]
        return False

    def _answer(self, seat: Seat, action: Action) -> None:
        decision = self._open.pop(seat)
        self._take(self._match.choose(seat, decision.number, [action], 0.0))

    def _take(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Ask(decision):
                    self._open[decision.seat] = decision
                    self._send(decision.seat, wire.decide(self._codec, decision, labels=True, now=0.0))
                case Reject(seat=seat):
                    self._send(seat, wire.rejected(effect))
                case Withdraw(seat=seat):
                    self._open.pop(seat, None)
                    self._send(seat, wire.withdrawn(effect))
                case NewDeadline(decision):
                    self._send(decision.seat, wire.new_deadline(decision, 0.0))
                case Show(played):
                    seen = self._match.state.observation(None)
                    if played or seen != self._observation:
                        self._observation = seen
                        now = Happened(played, seen, self._match.seats_now(), None, 0)
                        self._send(None, wire.happened(self._plan, self._codec, now, True).SerializeToString())

    def _send(self, viewer: Seat | None, message: bytes) -> None:
        if viewer in self._sent:
            self._sent[viewer].append(message)
