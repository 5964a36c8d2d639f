"""Ask an agent the questions of a recorded match again.

The agent gets the messages of the match and answers them, but the actions played are those of the record. So each
question is the same as in the match, whatever the agent has answered before.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from referee.game import Action, Seat
from referee.live.matches.driver import MatchVoid
from referee.live.matches.play import AgentSeats, Command, StartFailed, start_agent, watch_process
from referee.live.messages.codec import Codec, codec
from referee.live.seats.agent import AgentSeat
from referee.live.seats.command import GRACE_SECONDS, AgentLog, AgentProcess
from referee.match.clock import TRANSIT_SECONDS
from referee.match.effects import Decider, Decision, Refusal, Reject, Withdraw, Withdrawal
from referee.match.judging import Answer, Refused, judge, why_dropped
from referee.match.machine import STRIKES_ALLOWED
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome, Result
from referee.records.past_decisions import DecisionEnd, PastDecision

LONG_SECONDS = 1_000_000.0
"""The time allowed for a decision without a clock: eleven days."""
LATE_SECONDS = 10.0
"""The time to wait for an answer that is already late."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """An agent's reaction to a repeated question."""

    actions: Sequence[Action]
    """The agent's answer; empty if there is none."""
    refused: Sequence[str]
    """The reasons why the agent's earlier answers to the question were refused."""
    seconds: float | None
    """The time from the sending of the question to the answer; None if there is no answer."""
    is_late: bool
    """True if the agent did not answer in time."""
    fault: Fault | None
    """The fault of the agent, after which no more questions are asked; None if there is none."""
    log: str
    """The agent's output since the previous question."""
    is_same: bool
    """True if the answer is the same as in the match, or is the beginning of that answer."""
    is_shorter: bool
    """True if the answer is only the beginning of the match's answer, because the bot was not asked for the rest."""


async def ask_again(
    plan: MatchPlan,
    result: Result,
    decisions: Sequence[PastDecision],
    player: Command,
    *,
    with_clock: bool,
    ready: Callable[[AgentProcess], Awaitable[None]],
    tell: Callable[[PastDecision, Reaction], None],
) -> str:
    """Start an agent, ask it for decisions, and end its process.

    Args:
        plan: the plan of the match.
        result: the result of the match; the agent gets it at the end if its seat was not out.
        decisions: the decisions to ask for, all of one seat; at least one.
        player: the command that starts the agent.
        with_clock: True to give the agent the time that it had in the match; otherwise its time is unlimited.
        ready: a function awaited when the agent has joined, before the first message to it.
        tell: a function called with each decision and the reaction to it. No call follows a fault.

    Returns:
        The agent's output after its last answer.

    Raises:
        StartFailed: if the agent does not start or join.
        MatchVoid: if the agent's box cannot be built, or a message from the agent makes the referee fail.
    """
    seat = decisions[0].question.seat
    place = AgentSeat(seat, may_come_back=False)
    table = AgentSeats(seats={seat: place})
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
        for decision in decisions:
            answer = await questions.put(decision)
            tell(decision, answer)
            if answer.fault is not None:
                break
        else:
            # The questions end before the result is sent: the result ends the stream, which must not count as a loss.
            if not questions.done.done():
                questions.done.set_result(result)
            if decisions[-1].fault is None:
                place.finish(result)
        await process.stop(GRACE_SECONDS)
        return process.log.text()
    finally:
        await table.clear()


class _Questions:
    """Takes the place of a match's driver for an `AgentSeat`, and asks one question at a time."""

    def __init__(self, plan: MatchPlan, place: AgentSeat, process: AgentProcess, *, with_clock: bool) -> None:
        self.plan = plan
        self.codec: Codec = codec(plan.game)
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Result] = self._loop.create_future()
        self._place = place
        self._process = process
        self._with_clock = with_clock
        self._open: Decision | None = None
        self._said: asyncio.Future[Answer | Fault] = self._loop.create_future()
        self._sent_at = 0.0
        self._heard_at = 0.0
        self._fault: Fault | None = None
        self._failure: MatchVoid | None = None
        self._dropped = ""
        self._strikes = 0

    async def put(self, decision: PastDecision) -> Reaction:
        """Ask for a decision, and return the agent's reaction."""
        question = self._question(decision)
        limit = decision.limit if self._with_clock else LONG_SECONDS
        self._strikes = decision.strikes
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
            judged = judge(decision.state, question.seat, question.actions, said)
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
            is_late = seconds > limit + (TRANSIT_SECONDS if decision.question.budget > 0 else 0.0)
        # The agent's output up to now belongs to this question.
        self._process.read_on()
        log, self._process.log = self._process.log.text(), AgentLog()
        left = self._compare(decision, actions, refused)
        is_same = left is not None and not is_late and self._fault is None
        return Reaction(actions, refused, seconds, is_late, self._fault, log, is_same, is_same and bool(left))

    def _question(self, decision: PastDecision) -> Decision:
        question = copy.copy(decision.question)  # a copy: its times and its `dropped` are changed
        question.dropped, self._dropped = self._dropped, ""
        if not self._with_clock:
            question.bank = question.budget = LONG_SECONDS
            question.window = None
        return question

    async def _hear(self, until: float) -> Answer | Fault | None:
        """Return the agent's answer or fault; None if there is neither by the time `until`."""
        seconds = max(0.0, until - self._loop.time()) if self._with_clock else None
        await asyncio.wait([self._said], timeout=seconds)
        return self._said.result() if self._said.done() else None

    def _reject(self, number: int, refused: Refused, limit: float) -> Reject:
        left = max(0.0, self._sent_at + limit - self._loop.time())
        return Reject(self._place.seat, number, refused.refusal, refused.rule, refused.message, self._strikes, left)

    def _compare(self, decision: PastDecision, actions: Sequence[Action], refused: Sequence[str]) -> int | None:
        """Compare an answer with the one in the match, action by action; note which actions would have been dropped.

        Returns:
            The number of actions in the match's answer after the last action of this one; None if the answers differ.
        """
        if list(refused) != decision.refused:
            return None
        if decision.ending is not DecisionEnd.ANSWERED:
            is_out_again = decision.fault is not None and decision.fault.outcome is Outcome.ILLEGAL and not actions
            return 0 if is_out_again else None
        if not actions:
            return None
        then = list(decision.played)
        for at, action in enumerate(actions):
            while then and then[0].action != action and then[0].by is Decider.FORCED:
                then.pop(0)  # an answer may omit a forced action
            if not then:
                assert decision.after is not None  # noqa: S101 it was answered
                self._dropped = why_dropped(decision.after, decision.question.seat, actions, actions[at:])
                return 0 if self._dropped else None
            if then.pop(0).action != action:
                return None
        return sum(step.by is Decider.AGENT for step in then)

    # calls of the seat (`referee.live.seats.agent.Driver`)

    def sent(self, seat: Seat, number: int) -> None:
        """Start timing a question."""
        self._sent_at = self._loop.time()

    def answer(self, seat: Seat, number: int, choice: Answer) -> None:
        """Take an answer."""
        question = self._open
        if question is None or not self.is_open(seat, number):
            message = f"decision {number} is not open (any more)"
            self._place.reject(Reject(seat, number, Refusal.STALE, "", message, self._strikes, 0.0))
            self._place.flush()
            return
        self._heard_at = self._loop.time()
        self._said.set_result(choice)

    def fault(self, seat: Seat, fault: Fault) -> None:
        """Note the agent's fault."""
        if self._fault is None:
            self._fault = fault
            if not self._said.done():
                self._said.set_result(fault)

    def lost(self, seat: Seat) -> None:
        """Handle a disconnection before the first question; the end of the agent's process gives the reason."""
        self._place.when_lost()

    def back(self, seat: Seat) -> None:
        """Do nothing, because a local agent does not reconnect."""

    def is_deciding(self, seat: Seat) -> bool:
        """Return True if a question is open."""
        return self._open is not None and not self._said.done()

    def is_open(self, seat: Seat, number: int) -> bool:
        """Return True if this question is open."""
        return self.is_deciding(seat) and self._open is not None and self._open.number == number

    def is_out(self, seat: Seat) -> bool:
        """Return True after a fault of the agent."""
        return self._fault is not None

    def void(self, reason: str) -> None:
        """Note that a message from the agent has made the referee fail."""
        self._failure = MatchVoid(reason)
        self.fault(self._place.seat, Fault(Outcome.PROTOCOL, reason))
