"""Put the questions of a recorded match to an agent again.

The agent is sent what it would have been sent in the match, and answers; but what is played is what the record says. So each
question is the same as in the match, whatever the agent has answered before.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from referee.game import Action, Seat
from referee.live.matches.driver import MatchVoid
from referee.live.matches.play import Command, StartFailed, Table, start_agent, watch_process
from referee.live.messages.codec import Codec, codec
from referee.live.seats.agent import AgentSeat
from referee.live.seats.command import GRACE_SECONDS, AgentLog, AgentProcess
from referee.match.clock import TRANSIT_SECONDS
from referee.match.effects import Decider, Decision, Refusal, Reject, Withdraw, Withdrawal
from referee.match.judging import Refused, judge, why_dropped
from referee.match.machine import STRIKES_ALLOWED
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome, Result
from referee.records.asked import Asked, Ending

LONG_SECONDS = 1_000_000.0
"""The time for a decision where there is no clock: eleven days."""
LATE_SECONDS = 10.0
"""How long an answer is waited for that is late already."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent did when it was asked again."""

    actions: Sequence[Action]
    """Its answer; empty if it gave none."""
    refused: Sequence[str]
    """Why answers before that were refused."""
    seconds: float | None
    """How long it took, from handing over the question; None if it gave no answer."""
    is_late: bool
    """Whether it would have lost on time."""
    fault: Fault | None
    """Why it cannot be asked any more, if it cannot."""
    log: str
    """What it has written since the question before."""
    is_same: bool
    """Whether it is as in the match, as far as it goes."""
    is_shorter: bool
    """Whether it ends before that of the match: the rest of that was not asked for."""


async def ask_again(
    plan: MatchPlan,
    result: Result,
    decisions: Sequence[Asked],
    player: Command,
    *,
    with_clock: bool,
    ready: Callable[[AgentProcess], Awaitable[None]],
    tell: Callable[[Asked, Answer], None],
) -> str:
    """Start an agent, put decisions to it, and end it.

    Args:
        plan: of the match.
        result: of the match; the agent is told it at the end if its seat was not out.
        decisions: those to put, all of one seat; at least one.
        player: how the agent is started.
        with_clock: whether it has the time that it had in the match; otherwise it has all time.
        ready: waited for when the agent has joined, before it is told anything.
        tell: called with each decision and its answer. After a fault there is no other.

    Returns:
        What the agent has written after its last answer.

    Raises:
        StartFailed: if it does not start or join.
        MatchVoid: if its box cannot be built, or a message of it makes the referee fail.
    """
    seat = decisions[0].question.seat
    place = AgentSeat(seat, may_come_back=False)
    table = Table(seats={seat: place})
    try:
        await start_agent(table, place, player)
        if table.faults:
            raise StartFailed({**table.faults, **table.last_words})
        process = table.processes[seat]
        questions = _Questions(plan, place, process, with_clock=with_clock)
        watch_process(questions, table, place, process)
        await ready(process)
        place.begin(questions)
        if place.early_fault is not None:
            questions.fault(seat, place.early_fault)
        for asked in decisions:
            answer = await questions.put(asked)
            tell(asked, answer)
            if answer.fault is not None:
                break
        else:
            if not questions.done.done():
                questions.done.set_result(result)
            if decisions[-1].fault is None:
                place.finish(result)
        await process.stop(GRACE_SECONDS)
        return process.log.text()
    finally:
        await table.clear()


class _Questions:
    """What an `AgentSeat` knows in place of the driver of a match: one question at a time."""

    def __init__(self, plan: MatchPlan, place: AgentSeat, process: AgentProcess, *, with_clock: bool) -> None:
        self.plan = plan
        self.codec: Codec = codec(plan.game)
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Result] = self._loop.create_future()
        self._place = place
        self._process = process
        self._with_clock = with_clock
        self._open: Decision | None = None
        self._said: asyncio.Future[int | Sequence[Action] | str | Fault] = self._loop.create_future()
        self._sent_at = 0.0
        self._heard_at = 0.0
        self._fault: Fault | None = None
        self._failure: MatchVoid | None = None
        self._dropped = ""
        self._strikes = 0

    async def put(self, asked: Asked) -> Answer:
        """Put a decision, and return what the agent did."""
        question = self._question(asked)
        limit = asked.limit if self._with_clock else LONG_SECONDS
        self._strikes = asked.strikes
        self._said = self._loop.create_future()
        self._open = question
        self._sent_at = self._heard_at = self._loop.time()
        refused: list[str] = []
        actions: list[Action] = []
        is_late = False
        if self._fault is None:
            self._place.ask(question)
            self._place.flush()
        while self._fault is None and self._strikes < STRIKES_ALLOWED:
            said = await self._hear(self._sent_at + limit + LATE_SECONDS)
            if said is None:
                self._place.withdraw(Withdraw(question.seat, question.number, Withdrawal.TIMEOUT))
                self._place.flush()
                is_late = True
                break
            if isinstance(said, Fault):
                break
            judged = judge(asked.state, question.seat, question.actions, said)
            if not isinstance(judged, Refused):
                actions = judged
                break
            refused.append(judged.message)
            self._strikes += 1
            self._said = self._loop.create_future()
            self._place.reject(self._reject(question.number, judged, limit))
            self._place.flush()
        self._open = None
        if self._failure is not None:
            raise self._failure
        seconds = None
        if actions:
            seconds = self._heard_at - self._sent_at
            is_late = seconds > limit + (TRANSIT_SECONDS if asked.question.budget > 0 else 0.0)
        self._process.read_on()
        log, self._process.log = self._process.log.text(), AgentLog()
        left = self._compare(asked, actions, refused)
        is_same = left is not None and not is_late and self._fault is None
        return Answer(actions, refused, seconds, is_late, self._fault, log, is_same, is_same and bool(left))

    def _question(self, asked: Asked) -> Decision:
        """Return the decision as it is put now."""
        question = copy.copy(asked.question)
        question.dropped, self._dropped = self._dropped, ""
        if not self._with_clock:
            question.bank = question.budget = LONG_SECONDS
            question.window = None
        return question

    async def _hear(self, until: float) -> int | Sequence[Action] | str | Fault | None:
        """Return what the agent says, or its fault; None if it has said nothing until then."""
        seconds = max(0.0, until - self._loop.time()) if self._with_clock else None
        await asyncio.wait([self._said], timeout=seconds)
        return self._said.result() if self._said.done() else None

    def _reject(self, number: int, refused: Refused, limit: float) -> Reject:
        left = max(0.0, self._sent_at + limit - self._loop.time())
        return Reject(self._place.seat, number, refused.refusal, refused.rule, refused.message, self._strikes, left)

    def _compare(self, asked: Asked, actions: Sequence[Action], refused: Sequence[str]) -> int | None:
        """Compare an answer with that of the match, action by action; note what of it would have been dropped.

        Returns:
            How many actions of the match's answer are left at the end of this one; None if they differ.
        """
        if list(refused) != asked.refused:
            return None
        if asked.ending is not Ending.ANSWERED:
            is_out_again = asked.fault is not None and asked.fault.outcome is Outcome.ILLEGAL and not actions
            return 0 if is_out_again else None
        if not actions:
            return None
        then = list(asked.played)
        for at, action in enumerate(actions):
            while then and then[0].action != action and then[0].by is Decider.FORCED:
                then.pop(0)  # a forced action may be left out
            if not then:
                assert asked.after is not None  # noqa: S101 it was answered
                self._dropped = why_dropped(asked.after, asked.question.seat, actions, actions[at:])
                return 0 if self._dropped else None
            if then.pop(0).action != action:
                return None
        return sum(step.by is Decider.AGENT for step in then)

    # what the seat says (`referee.live.seats.agent.Driver`)

    def sent(self, seat: Seat, number: int) -> None:
        """Start the time of a question."""
        self._sent_at = self._loop.time()

    def answer(self, seat: Seat, number: int, choice: int | Sequence[Action] | str) -> None:
        """Hear an answer."""
        question = self._open
        if question is None or not self.is_open(seat, number):
            message = f"decision {number} is not open (any more)"
            self._place.reject(Reject(seat, number, Refusal.STALE, "", message, self._strikes, 0.0))
            self._place.flush()
            return
        self._heard_at = self._loop.time()
        self._said.set_result(choice)

    def fault(self, seat: Seat, fault: Fault) -> None:
        """Hear that the agent cannot go on."""
        if self._fault is None:
            self._fault = fault
            if not self._said.done():
                self._said.set_result(fault)

    def lost(self, seat: Seat) -> None:
        """Hear that it has left before the first question; its process tells why."""
        self._place.when_lost()

    def back(self, seat: Seat) -> None:
        """Nobody comes back: the agent was started here."""

    def is_asked(self, seat: Seat) -> bool:
        """Tell whether a question is open."""
        return self._open is not None and not self._said.done()

    def is_open(self, seat: Seat, number: int) -> bool:
        """Tell whether this question is open."""
        return self.is_asked(seat) and self._open is not None and self._open.number == number

    def is_out(self, seat: Seat) -> bool:
        """Tell whether the agent cannot go on."""
        return self._fault is not None

    def void(self, reason: str) -> None:
        """Note that a message of the agent has made the referee fail."""
        self._failure = MatchVoid(reason)
        self.fault(self._place.seat, Fault(Outcome.PROTOCOL, reason))
