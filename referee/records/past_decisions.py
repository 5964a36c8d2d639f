"""The decisions that a seat of a recorded match had to make, reconstructed by the match machine.

A record contains the actions of a match, but not its questions. So the match machine replays the match: it gets the
recorded answers, deadlines and faults, and asks the same questions. Every line that it would write is compared with the
record.

This module sets the machine's clock. Before each event, it sets the times of every open decision so that the machine
would charge the recorded time if the event closed that decision.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from referee.game import Action, Game, Seat, State
from referee.kit.chance import ChanceError, Draw, GivenStream, ReplayChance
from referee.match.clock import TRANSIT_SECONDS
from referee.match.effects import (
    AppendLine,
    Ask,
    Decider,
    Decision,
    Dismiss,
    Effect,
    Refusal,
    Reject,
    Withdraw,
)
from referee.match.judging import Unreadable
from referee.match.machine import MatchMachine
from referee.match.result import Fault, Outcome
from referee.records.record import RecordError, RecordLine
from referee.records.seats import TIMES
from referee.records.verify import Replay, ReplayStep

_EVENTS = ("action", "strike", "out", "withdrawn")
_COMPARED = ("type", "n", "seat", "action", "by", "reason")
_PAST = -1e6
"""A time before all others, in seconds: a decision with this deadline has certainly expired."""


class DecisionEnd(Enum):
    """The outcome of a decision; the values are the words that `dogana replay --bot --json` prints.

    A decision that was withdrawn has the value of its `Withdrawal`.
    """

    ANSWERED = "answered"
    TIMEOUT = "timeout"
    WINDOW = "window"
    """The window that the decision shared with other seats closed."""
    OVERTAKEN = "overtaken"
    """Actions of other seats made the decision void."""
    OUT = "out"


@dataclass(slots=True)
class PastDecision:
    """A decision that a seat had to make, and its consequences."""

    question: Decision
    """The decision as the machine asked it, with the seat's clock at that time."""
    state: State
    """The state of the match when the decision was put."""
    at: int
    """The number of actions played before the decision."""
    strikes: int
    """The number of strikes that the seat had when the decision was put."""
    limit: float
    """The time allowed for the decision, in seconds: its budget, or less if a window closed earlier."""
    ending: DecisionEnd | None = None
    refused: list[str] = field(default_factory=list)
    """The reasons for refusing answers to the decision."""
    played: list[ReplayStep] = field(default_factory=list)
    """The seat's resulting actions: an answer with the forced actions in and after it, or the rules' default."""
    seconds: float | None = None
    """The time charged for the decision, in seconds; None if the record does not contain it."""
    fault: Fault | None = None
    """The fault that put the seat out at this decision; None if there is none."""
    after: State | None = None
    """The state after the answer and the forced actions that followed."""

    @property
    def step(self) -> int:
        """The number of the first resulting action or, if there is none, of the next action after the question."""
        return self.played[0].n if self.played else self.at + 1


def past_decisions(path: Path, find_game: Callable[[str], Game], seat: Seat) -> tuple[Replay, list[PastDecision]]:
    """Verify a record, and return it with all decisions of a seat, in order.

    Args:
        path: the record.
        find_game: a function that looks up a game by name, or raises `UnknownGame`.
        seat: the seat.

    Raises:
        RecordError: if the record is not valid, or the match machine could not have written it.
    """
    record = Replay(path, find_game)
    start = record.state.clone()
    steps = list(record)
    return record, _Again(record, start, steps, seat).play()


class _RecordedChance:
    """A source of chance that repeats the draws of a record."""

    def __init__(self, steps: Sequence[ReplayStep]) -> None:
        self.draws: list[tuple[str, Draw]] = []  # no record is written from them
        self._given = ReplayChance(None)  # they have been checked against the seed
        self._given.draws = deque(draw for step in steps for draw in step.draws)

    def stream(self, name: str) -> GivenStream:
        return self._given.stream(name)


class _Again:
    """A recorded match, replayed by the match machine."""

    def __init__(self, record: Replay, start: State, steps: Sequence[ReplayStep], seat: Seat) -> None:
        self._path = record.path
        self._lines = [line for line in record.lines if line.data.get("type") in _EVENTS]
        self._steps = steps
        self._seat = seat
        self._at = 0
        self._played = 0
        self._match = MatchMachine(record.plan, start, _RecordedChance(steps), transit=TRANSIT_SECONDS)
        self._open: dict[Seat, Decision] = {}
        self._put_at: dict[Seat, float] = {}  # the original times, because `put_at` of a decision changes
        self._now = 0.0
        self._closings: list[deque[dict[str, Any]]] = [deque() for _ in range(record.plan.setup.seats)]
        for line in self._lines:
            if "ms" in line.data:
                self._closings[line.data["seat"]].append(line.data)
        self._current: PastDecision | None = None
        self._decisions: list[PastDecision] = []

    def play(self) -> list[PastDecision]:
        """Replay the whole match; return the seat's decisions."""
        # `start` takes the absent seats, which went out before the first question and so have no events of their own.
        absent: dict[Seat, Fault] = {}
        for line in self._lines:
            if line.data["type"] != "out" or line.data["reason"] != Outcome.START.value:
                break
            absent[line.data["seat"]] = Fault(Outcome.START, str(line.data.get("detail", "")))
        self._take(self._match.start(self._now, absent))
        while self._match.result is None:
            if self._at == len(self._lines):
                raise RecordError(self._path, 0, "ends before the match does, so its seats cannot be asked again")
            line = self._lines[self._at]
            try:
                self._take(self._event(line))
            except ChanceError as error:
                raise self._fail(line) from error
            # The event has not led to the line that reports it, and the next iteration would repeat the event.
            if self._at < len(self._lines) and self._lines[self._at] is line:
                raise self._fail(line)
        return self._decisions

    # events, from the record to the machine

    def _event(self, line: RecordLine) -> list[Effect]:
        """Pass the event that a line reports to the machine; return the effects of the event."""
        data = line.data
        kind, seat = data["type"], data["seat"]
        decision = self._open.get(seat)
        # The line ended no decision, because a crash or the last strike for an illegal action put the seat out.
        if kind == "out" and "ms" not in data:
            self._set_times()
            fault = Fault(Outcome(data["reason"]), str(data.get("detail", "")))
            return self._match.fault(seat, fault, self._now)
        if decision is None or (kind != "strike" and "ms" not in data):
            raise self._fail(line)
        # The line with the times of the open decision is this line or a later one, because strikes come before it.
        closing = self._closings[seat][0] if self._closings[seat] else None
        if closing is not None:
            # Time never goes backwards here, although the times in lines are rounded, and those of two seats overlap.
            self._now = max(self._now, self._put_at[seat] + closing["wall_ms"] / 1000)
        self._set_times()
        if kind == "action" and data["by"] == Decider.AGENT.value:
            return self._match.choose(seat, decision.number, self._answer(seat), self._now)
        # The record contains no refused answers. An unreadable answer gets the same strike, with the recorded reason.
        if kind == "strike" and data["reason"] == "illegal":
            return self._match.choose(seat, decision.number, Unreadable(str(data.get("detail", ""))), self._now)
        if closing is None:
            raise self._fail(line)
        if kind == "action" and data["by"] == Decider.CLOCK.value:
            return self._close_window(decision)
        if kind == "out":
            self._match.lost(seat)  # it was not connected when its time ran out
        return self._expire(decision)

    def _answer(self, seat: Seat) -> list[Action]:
        """Return the answer that begins at the current line: the seat's actions until another decision was closed.

        Forced actions are included; an answer may name them.
        """
        answer: list[ReplayStep] = []
        for line in self._lines[self._at :]:
            # A line with times ends a decision, so a second such line belongs to another answer.
            if line.data["type"] != "action" or ("ms" in line.data and answer):
                break
            step = self._steps[line.data["n"] - 1]
            if step.seat == seat:
                answer.append(step)
        return [step.action for step in answer]

    def _expire(self, decision: Decision) -> list[Effect]:
        """Let the time for one decision run out by answering too late."""
        self._set_end(decision, _PAST)
        return self._match.choose(decision.seat, decision.number, 0, self._now)

    def _close_window(self, decision: Decision) -> list[Effect]:
        """Close a window: for all its seats together, or for one seat whose answer came too late."""
        together = set()
        for line in self._lines[self._at :]:
            if line.data["type"] != "action" or line.data["by"] != Decider.CLOCK.value:
                break
            together.add(line.data["seat"])
        sharing = [other for other in self._open.values() if other.window == decision.window]
        closed = sharing if all(other.seat in together for other in sharing) else [decision]
        for other in closed:
            self._set_end(other, _PAST)
            other.window_deadline = _PAST
        if len(closed) == len(sharing):
            # No other decision ends as early as `_PAST`, so the tick closes only these.
            return self._match.tick(self._now, _PAST + 1)
        # A tick would close the window for all; an answer closes only the decision for which it is too late.
        return self._match.choose(decision.seat, decision.number, 0, self._now)

    def _set_times(self) -> None:
        """Set the times of all open decisions as if each were closed now."""
        current = self._current
        if current is not None:
            decision = self._open[self._seat]
            # The times are counted from the original `put_at`, because `_set_end` has changed the decision's own times.
            left = decision.window_deadline - self._put_at[self._seat]
            current.limit = decision.budget if decision.window is None else min(decision.budget, max(0.0, left))
        for decision in self._open.values():
            self._set_end(decision, self._now)
            # The record says that it was still open.
            decision.window_deadline = max(decision.window_deadline, self._now)

    def _set_end(self, decision: Decision, end: float) -> None:
        """Set the times of a decision as if it were closed at `end`, a time in seconds."""
        closings = self._closings[decision.seat]
        charged, wall, lag = (closings[0][key] / 1000 if closings else 0.0 for key in TIMES)
        # Rounding must not make a last-moment answer late.
        decision.sent_at, decision.put_at, decision.lag = end - charged + 1e-9, end - wall, lag

    # effects, from the machine

    def _take(self, effects: Sequence[Effect]) -> None:
        """Compare the machine's lines with the record, and note the effects on the seat."""
        for effect in effects:
            match effect:
                case AppendLine(line):
                    self._compare(line)
                case Ask(decision):
                    self._open[decision.seat] = decision
                    self._put_at[decision.seat] = decision.put_at
                    if decision.seat == self._seat:
                        self._end_current()
                        self._begin(decision)
                case Withdraw(seat=seat, reason=reason):
                    self._open.pop(seat, None)
                    if seat == self._seat and self._current is not None:
                        self._current.ending = DecisionEnd(reason.value)
                case Reject(seat=seat, refusal=refusal, message=message):
                    if seat == self._seat and self._current is not None and refusal is not Refusal.STALE:
                        self._current.refused.append(message)
                case Dismiss(seat, fault):
                    self._open.pop(seat, None)
                    if seat == self._seat and self._current is not None:
                        self._current.ending, self._current.fault = DecisionEnd.OUT, fault
        # An answer that closes a decision has no effect of its own.
        for seat in [seat for seat in self._open if not self._match.is_deciding(seat)]:
            del self._open[seat]
        if self._seat not in self._open:
            self._end_current()

    def _compare(self, line: dict[str, Any]) -> None:
        if line["type"] not in _EVENTS:
            return
        if self._at == len(self._lines):
            raise RecordError(self._path, 0, "ends before the match does, so its seats cannot be asked again")
        recorded = self._lines[self._at]
        data = recorded.data
        if any(line.get(key) != data.get(key) for key in _COMPARED):
            raise self._fail(recorded)
        self._at += 1
        seat, current = line["seat"], self._current
        if "ms" in line:
            self._closings[seat].popleft()
        if line["type"] == "action":
            self._played += 1
        if seat != self._seat or current is None:
            return
        if "ms" in line:
            current.seconds = line["ms"] / 1000
        if line["type"] == "action":
            current.played.append(self._steps[self._played - 1])
            current.ending = current.ending or DecisionEnd.ANSWERED

    def _begin(self, decision: Decision) -> None:
        _ = decision.observation  # before the state changes
        self._current = PastDecision(
            copy.copy(decision),  # the times of the decision itself change
            self._match.state.clone(),
            self._played,
            self._match.strikes(self._seat),
            decision.budget,
        )

    def _end_current(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            current.after = self._match.state.clone()
            self._decisions.append(current)

    def _fail(self, line: RecordLine) -> RecordError:
        return RecordError(
            self._path, line.number, "does not follow from what the seats were asked, so they cannot be asked again"
        )
