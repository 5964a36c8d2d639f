"""Small tables for tests: plans, questions to house bots, and a match machine whose clock is a number."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from referee.game import Action, Game, Observation, Seat, Setup, State
from referee.kit.chance import LiveChance
from referee.kit.document import Document
from referee.match.clock import TimeControl
from referee.match.effects import AppendLine, Ask, Decision, Effect, Finish, Reject, Withdraw
from referee.match.judging import Answer
from referee.match.machine import MatchMachine
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Result
from referee.options import Distinct, OptionValue
from referee.records.record import RecordWriter, header
from referee.registry import find, shipped_board
from tests.toy.games.sealed import GAME as SEALED

E = TypeVar("E")


def plan_of(
    game: Game | str = "cargo_noir",
    seats: int = 2,
    *,
    seed: int = 1,
    clock: str = "60+0.5/10",
    options: Mapping[str, object] | None = None,
    position: Mapping[str, Any] | None = None,
    match_id: str = "test",
) -> MatchPlan:
    """A plan with what tests seldom care about filled in."""
    chosen = find(game) if isinstance(game, str) else game
    return MatchPlan(
        game=chosen,
        setup=chosen.setup(seats, options or {}, shipped_board(chosen)),
        match_id=match_id,
        seed=seed,
        bots=[f"bot{seat}" for seat in range(seats)],
        control=TimeControl.parse(clock),
        position=position,
    )


def random_setup(game: Game, dice: random.Random) -> Setup:
    """A number of seats, and options of which about half are not at their defaults, drawn from what the game allows."""
    board = shipped_board(game)
    while True:
        seats = dice.choice(game.seat_counts)
        options = {option.name: option.default for option in game.options}
        for option in game.options:
            if dice.random() < 0.5:
                options[option.name] = _random_value(dice.choice(option.values), dice)
        if not game.check_options(seats, options):
            return game.setup(seats, options, board)


def _random_value(choice: str | bool | range | Distinct, dice: random.Random) -> OptionValue:
    if isinstance(choice, range):
        return dice.choice(choice)
    if isinstance(choice, Distinct):
        return "+".join(dice.sample(choice.words, dice.randint(1, len(choice.words))))
    return choice


def example_position(game: str) -> dict[str, Any]:
    """Read the position that a game's RULES.md gives as an example."""
    rules = Path(__file__).resolve().parent.parent / "referee" / "games" / game / "RULES.md"
    found = re.search(r"```json\n(.*?)```", rules.read_text(), re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


class Question(NamedTuple):
    """A question to a house bot outside of a match."""

    observation: Observation
    actions: Sequence[Action]
    budget: float = 60.0
    bank: float = 600.0


class Table:
    """A match machine, and what it has said."""

    def __init__(
        self,
        plan: MatchPlan,
        absent: Mapping[Seat, Fault] | None = None,
        *,
        send_seconds: float = 0.0,
        transit: float = 0.0,
    ) -> None:
        self._send_seconds = send_seconds
        chance = LiveChance(plan.seed)
        if plan.position is None:
            state: State = plan.game.start(plan.setup, chance)
        else:
            state = plan.game.read_state(plan.setup, Document(plan.position, "position"))
        self.match = MatchMachine(plan, state, chance, transit=transit)
        self.now = 100.0
        self.open: dict[Seat, Decision] = {}
        self.lines: list[dict[str, Any]] = []
        self.effects: list[Effect] = []
        self.take(self.match.start(self.now, absent or {}))

    def take(self, effects: list[Effect]) -> list[Effect]:
        """Note what the machine wants done."""
        for effect in effects:
            match effect:
                case AppendLine(line):
                    self.lines.append(line)
                case Ask(decision):
                    self.open[decision.seat] = decision
                    self.match.sent(decision.seat, decision.number, self.now + self._send_seconds)
                case Withdraw(seat=seat):
                    self.open.pop(seat, None)
        self.effects = effects
        return effects

    def wait(self, seconds: float) -> list[Effect]:
        """Time passes."""
        self.now += seconds
        return self.take(self.match.tick(self.now, self.now))

    def answer(self, seat: Seat, choice: Answer, number: int | None = None, waited: float = 0.0) -> list[Effect]:
        """A seat answers its open decision, or the one of that number."""
        answered = self.open[seat].number if number is None else number
        effects = self.match.choose(seat, answered, choice, self.now, waited)
        if not any(isinstance(effect, Reject) for effect in effects):
            self.open = {
                other: decision for other, decision in self.open.items() if (other, decision.number) != (seat, answered)
            }
        return self.take(effects)

    def fault(self, seat: Seat, fault: Fault) -> list[Effect]:
        """A seat cannot go on."""
        self.open.pop(seat, None)
        return self.take(self.match.fault(seat, fault, self.now))

    def record(self, path: Path) -> Path:
        """Write the record of the match as far as it has come."""
        writer = RecordWriter(path)
        writer.append(header(self.match.plan), *self.lines)
        writer.finish()
        return path

    def back(self, seat: Seat) -> list[Effect]:
        """A remote seat comes back."""
        return self.take(self.match.back(seat))

    def play_out(self) -> Result:
        """Everybody still in plays their first legal action to the end."""
        while self.match.result is None:
            seat = min(self.open)
            self.answer(seat, 0)
        return self.match.result

    def said(self, kind: type[E]) -> list[E]:
        """The effects of one kind, of the last event."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def actions(self) -> list[dict[str, Any]]:
        """The recorded actions."""
        return [line for line in self.lines if line["type"] == "action"]

    @property
    def finished(self) -> bool:
        """Whether the last event ended the match."""
        return bool(self.said(Finish))


def sealed(seats: int = 2, *, timer: int | None = None, clock: str = "60+0.5/10", seed: int = 1) -> Table:
    """A table with the toy game."""
    options = {} if timer is None else {"timer": timer}
    return Table(plan_of(SEALED, seats, clock=clock, options=options, seed=seed))


def cargo_noir(clock: str = "60+0.5/10", **arguments: object) -> Table:
    """A table for two with cargo_noir; seat 0 begins and is to send three ships."""
    return Table(plan_of(clock=clock, options={"first_player": 0}, **arguments))  # type: ignore[arg-type]
