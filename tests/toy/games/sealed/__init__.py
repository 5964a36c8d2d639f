"""Sealed: a toy game with secret simultaneous plans, private hands, a hidden pot and a sand timer (RULES.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self, cast

from typing_extensions import override

from referee.game import (
    Action,
    Board,
    Chance,
    CountedBy,
    Criterion,
    Game,
    IllegalAction,
    JsonObject,
    Observation,
    Points,
    RolloutPolicy,
    Scene,
    Seat,
    Setup,
    State,
    Window,
)
from referee.kit.document import Document
from referee.options import Option

ROUNDS = 3
MAX_LAID = 2


@dataclass(frozen=True, slots=True)
class Lay(Action):
    card: int


@dataclass(frozen=True, slots=True)
class Commit(Action):
    pass


@dataclass(frozen=True, slots=True)
class SealedBoard(Board):
    highest: int
    hand: int


class SeatView(NamedTuple):
    cards: int
    committed: bool
    score: int
    rank: int


class PlanView(NamedTuple):
    cards: tuple[int, ...]


class RoundView(NamedTuple):
    pot: int
    plans: tuple[PlanView, ...]


class SealedObservation(NamedTuple):
    viewer: int | None
    round: int
    seats: Annotated[tuple[SeatView, ...], CountedBy(None)]
    hand: tuple[int, ...]
    plan: tuple[int, ...]
    rounds: tuple[RoundView, ...]


class SealedState(State):
    round: int
    pot: int
    hands: list[list[int]]
    plans: list[list[int]]
    committed: list[bool]
    score: list[int]
    past: list[RoundView]

    __slots__ = tuple(__annotations__)

    @classmethod
    def empty(cls, setup: Setup) -> Self:
        new = cls(setup)
        new.round = 1
        new.pot = 1
        new.hands = [[] for _ in range(setup.seats)]
        new.plans = [[] for _ in range(setup.seats)]
        new.committed = [False] * setup.seats
        new.score = [0] * setup.seats
        new.past = []
        return new

    @override
    def seats_to_act(self) -> tuple[Seat, ...]:
        if self.is_over():
            return ()
        return tuple(seat for seat, done in enumerate(self.committed) if not done)

    @override
    def legal_actions(self, seat: Seat) -> list[Action]:
        if seat not in self.seats_to_act():
            return []
        lays: list[Action] = [Lay(card) for card in self.hands[seat]] if len(self.plans[seat]) < MAX_LAID else []
        return [*lays, Commit()]

    @override
    def apply(self, seat: Seat, action: Action, chance: Chance) -> None:
        if seat not in self.seats_to_act():
            raise IllegalAction("this seat is not planning", "T3")
        if isinstance(action, Lay):
            if action.card not in self.hands[seat]:
                raise IllegalAction(f"there is no card {action.card} in the hand", "T3")
            if len(self.plans[seat]) >= MAX_LAID:
                raise IllegalAction(f"at most {MAX_LAID} cards are laid", "T3")
            self.hands[seat].remove(action.card)
            self.plans[seat].append(action.card)
        elif isinstance(action, Commit):
            self.committed[seat] = True
            if all(self.committed):
                self._reveal(chance)
        else:
            raise IllegalAction("not an action of sealed")

    def _reveal(self, chance: Chance) -> None:  # T5
        self.past.append(RoundView(self.pot, tuple(PlanView(tuple(plan)) for plan in self.plans)))
        self.score = [score + gain for score, gain in zip(self.score, gains(self.past[-1]), strict=True)]
        self.plans = [[] for _ in self.plans]
        self.committed = [False] * len(self.committed)
        self.round += 1
        if not self.is_over():
            self.pot = 1 + chance.stream("pot").below(6)

    @override
    def default_action(self, seat: Seat) -> Action:
        return Commit()

    @override
    def window(self) -> Window | None:
        seconds = self.setup.options["timer"]
        if isinstance(seconds, bool) or not isinstance(seconds, int) or self.is_over() or not any(self.committed):
            return None
        return Window(f"planning {self.round}", seconds)

    @override
    def observation(self, viewer: Seat | None) -> SealedObservation:
        return SealedObservation(
            viewer=viewer,
            round=self.round,
            seats=tuple(
                SeatView(len(self.hands[seat]) + len(self.plans[seat]), self.committed[seat], self.score[seat], rank)
                for seat, rank in enumerate(self.ranks())
            ),
            hand=() if viewer is None else tuple(self.hands[viewer]),
            plan=() if viewer is None else tuple(self.plans[viewer]),
            rounds=tuple(self.past),
        )

    @override
    def is_public(self, seat: Seat, action: Action) -> bool:
        return isinstance(action, Commit)

    @override
    def stage(self) -> int:
        return self.round

    @override
    def is_over(self) -> bool:
        return self.round > ROUNDS

    @override
    def scores(self) -> list[int]:
        return list(self.score)

    @override
    def ranks(self) -> list[int]:
        return [1 + sum(other > own for other in self.score) for own in self.score]

    @override
    def clone(self) -> Self:
        new = type(self)(self.setup)
        new.round = self.round
        new.pot = self.pot
        new.hands = [hand[:] for hand in self.hands]
        new.plans = [plan[:] for plan in self.plans]
        new.committed = self.committed[:]
        new.score = self.score[:]
        new.past = self.past[:]
        return new

    @override
    def to_json(self) -> JsonObject:
        return {
            "round": self.round,
            "pot": self.pot,
            "seats": [
                {"hand": hand, "plan": plan, "committed": committed, "score": score}
                for hand, plan, committed, score in zip(self.hands, self.plans, self.committed, self.score, strict=True)
            ],
            "past": [
                {"pot": past.pot, "plans": [{"cards": list(plan.cards)} for plan in past.plans]} for past in self.past
            ],
        }

    @override
    def problems(self) -> list[str]:
        found = []
        if len(self.past) != self.round - 1:
            found.append(f"T2: {len(self.past)} rounds are past in round {self.round}")
        if all(self.committed) or (self.is_over() and (any(self.committed) or any(self.plans))):
            found.append("T5: plans are revealed when all have committed")
        known = [card for row in (*self.hands, *self.plans) for card in row]
        for seat, (hand, plan) in enumerate(zip(self.hands, self.plans, strict=True)):
            laid = [past.plans[seat].cards for past in self.past]
            known += [card for cards in laid for card in cards]
            if len(hand) + len(plan) + sum(map(len, laid)) != cast("SealedBoard", self.setup.board).hand:
                found.append(f"T1: seat {seat} has more or fewer cards than it was dealt")
            if any(len(cards) > MAX_LAID for cards in (plan, *laid)):
                found.append(f"T3: seat {seat} lays more than {MAX_LAID} cards")
            if self.score[seat] != sum(gains(past)[seat] for past in self.past):
                found.append(f"T5: the score of seat {seat} is not what the past rounds gave")
        if len(set(known)) != len(known):
            found.append("T1: a card is there twice")
        return found


def gains(revealed: RoundView) -> list[int]:
    """Return what each seat gains by a revealed round (T5)."""
    totals = [sum(plan.cards) for plan in revealed.plans]
    winners = [total > 0 and total == max(totals) for total in totals]
    return [revealed.pot // sum(winners) if wins else 0 for wins in winners]


class Sealed(Game):
    name = "sealed"
    title = "Sealed"
    seat_counts = range(2, 5)
    options = (Option("timer", ("off", range(1, 601)), "off", "seconds after the first commit", "T4"),)
    action_types = (Lay, Commit)
    observation_type = SealedObservation
    max_actions = 5  # 4 cards and commit
    max_decisions = 4 * ROUNDS * 3  # a seat lays 2 cards and commits in each round

    state_type: type[SealedState] = SealedState

    @override
    def read_board(self, document: Document) -> Board:
        cards = document.table("cards")
        cards.text("provenance")
        return SealedBoard(cards.integer("highest", 16, 20), cards.integer("hand", 1, 4))

    @override
    def start(self, setup: Setup, chance: Chance) -> State:
        state = self.state_type.empty(setup)
        board = cast("SealedBoard", setup.board)
        deck = [card + 1 for card in chance.stream("deck").permutation(board.highest)]
        for seat in range(setup.seats):
            state.hands[seat] = sorted(deck[seat * board.hand : (seat + 1) * board.hand])
        state.pot = 1 + chance.stream("pot").below(6)
        return state

    @override
    def order_matters(self, setup: Setup) -> bool:
        return setup.options["timer"] != "off"

    @override
    def read_state(self, setup: Setup, document: Document) -> State:
        state = self.state_type.empty(setup)
        highest = cast("SealedBoard", setup.board).highest
        state.round = document.integer("round", 1, ROUNDS + 1)
        state.pot = document.integer("pot", 1, 6)
        for seat, has in enumerate(self._one_for_each_seat(setup, document, "seats")):
            state.hands[seat] = has.integers("hand", 1, highest)
            state.plans[seat] = has.integers("plan", 1, highest)
            state.committed[seat] = has.boolean("committed")
            state.score[seat] = has.integer("score", 0, 6 * ROUNDS)
        for past in document.tables("past"):
            plans = self._one_for_each_seat(setup, past, "plans")
            laid = tuple(PlanView(tuple(plan.integers("cards", 1, highest))) for plan in plans)
            state.past.append(RoundView(past.integer("pot", 1, 6), laid))
        return state

    def _one_for_each_seat(self, setup: Setup, document: Document, key: str) -> list[Document]:
        tables = document.tables(key)
        if len(tables) != setup.seats:
            document.note(key, f"must have {setup.seats} entries, one for each seat, not {len(tables)}")
        return (tables + [Document({}, key) for _ in range(setup.seats)])[: setup.seats]

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
        seen = cast("SealedObservation", observation)
        board = cast("SealedBoard", setup.board)
        state = self.state_type.empty(setup)
        state.round = seen.round
        state.past = list(seen.rounds)
        state.committed = [view.committed for view in seen.seats]
        state.score = [view.score for view in seen.seats]
        known = {*seen.hand, *seen.plan} | {card for past in seen.rounds for plan in past.plans for card in plan.cards}
        unknown = [card for card in range(1, board.highest + 1) if card not in known]
        order = [unknown[place] for place in chance.stream("sample").permutation(len(unknown))]
        for seat, view in enumerate(seen.seats):
            if seat == seen.viewer:
                state.hands[seat], state.plans[seat] = list(seen.hand), list(seen.plan)
            else:
                own = [order.pop() for _ in range(view.cards)]
                most = 0 if state.is_over() else min(MAX_LAID, len(own))
                laid = chance.stream("sample").below(most + 1)
                state.plans[seat], state.hands[seat] = own[:laid], sorted(own[laid:])
        state.pot = 1 + chance.stream("sample").below(6)
        if seen.round > ROUNDS:
            state.pot = seen.rounds[-1].pot
        return state

    @override
    def breakdown(self, setup: Setup, observation: Observation) -> tuple[tuple[Points, ...], ...]:
        past = [gains(revealed) for revealed in cast("SealedObservation", observation).rounds]
        return tuple(
            tuple(Points(f"round {number}", gained[seat]) for number, gained in enumerate(past, start=1))
            for seat in range(setup.seats)
        )

    @override
    def criteria(self, setup: Setup, observation: Observation) -> tuple[Criterion, ...]:
        return (Criterion("points", tuple(view.score for view in cast("SealedObservation", observation).seats)),)

    @override
    def draw(self, setup: Setup, observation: Observation, scene: Scene | None = None) -> str:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>'


GAME = Sealed()
