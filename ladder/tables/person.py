"""The agent of a person: takes a seat by the protocol like any other, and waits for what the person chooses."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from dogana.v1 import referee_pb2 as pb
from dogana.v1.referee_pb2_grpc import RefereeStub
from ladder.operation.lost_calls import LOST, pass_on_cancellation
from referee.game import Action
from referee.live.messages.codec import Codec
from referee.live.messages.wire import PROTOCOL

PAUSE_SECONDS = 0.5
"""How long after a lost connection it comes back."""
TOO_LATE = "Your time was up: what the rules do without you was played."
WINDOW_CLOSED = "The shared time was up: what the rules do without you was played."
OVERTAKEN = "What others did has changed what you can do."
NOT_COUNTED = "Your answer came too late to count."
_WITHDRAWN = {
    pb.Withdrawn.REASON_TIMEOUT: TOO_LATE,
    pb.Withdrawn.REASON_WINDOW: WINDOW_CLOSED,
    pb.Withdrawn.REASON_OVERTAKEN: OVERTAKEN,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A decision that the person owes."""

    number: int
    actions: Sequence[Action]
    deadline: float
    """When it must have been answered, by `time.monotonic`, which is the same in all processes of the machine."""
    bank_seconds: float
    """What was in the bank when it was put."""
    is_shared: bool
    """Whether the time is a sand timer that several seats share."""


class Person:
    """What the referee asks of the person, and what it is answered.

    Attributes:
        question: the open decision; None while others are to act.
        remark: what has become of the last one, if it was not answered in time.
        is_out: whether the seat is out; nothing more is asked of it then.
    """

    def __init__(self, codec: Codec, changed: Callable[[], None]) -> None:
        """Prepare; `changed` is called whenever something is new."""
        self._codec = codec
        self._changed = changed
        self._answer: pb.AgentMessage | None = None
        self._call: Any = None
        self.question: Question | None = None
        self.remark = ""
        self.is_out = False

    async def play(self, address: str, token: str) -> None:
        """Play to the end of the match; come back whenever the connection is lost."""
        while True:
            try:
                await self._play(address, token)
                return
            except grpc.aio.AioRpcError as error:
                pass_on_cancellation()
                if error.code() not in LOST:
                    self.question, self.is_out = None, True
                    self._changed()
                    return
            await asyncio.sleep(PAUSE_SECONDS)

    async def _play(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address, [("grpc.max_receive_message_length", -1)]) as channel:
            call = self._call = RefereeStub(channel).Play()
            try:
                await call.write(pb.AgentMessage(join=pb.Join(token=token, protocol=PROTOCOL)))
                async for message in call:
                    await self._take(message)
            finally:
                self._call = None

    async def _take(self, message: pb.RefereeMessage) -> None:
        match message.WhichOneof("message"):
            case "decide":
                await self._asked(message.decide)
            case "new_deadline" if self.question is not None:
                self._put(message.new_deadline.decision, self.question.actions, message.new_deadline.clock)
            case "withdrawn":
                self.question, self.remark = None, _WITHDRAWN.get(message.withdrawn.reason, "")
                self._changed()
            case "rejected":  # only an answer that was on its way when the time was up
                self.remark = self.remark or NOT_COUNTED
                self._changed()
            case "game_over":
                self.question = None

    async def _asked(self, decide: pb.Decide) -> None:
        answer = self._answer
        if answer is not None and answer.choose.decision == decide.decision:  # it was lost on its way
            await self._send(answer)
        else:
            self._put(decide.decision, self._codec.read_actions(decide.actions.value), decide.clock)

    def _put(self, number: int, actions: Sequence[Action], clock: pb.Clock) -> None:
        deadline = time.monotonic() + clock.budget_ms / 1000
        self.question = Question(number, actions, deadline, clock.bank_ms / 1000, clock.HasField("window_ms"))
        self._changed()

    async def choose(self, number: int, index: int) -> None:
        """Answer a decision; do nothing if it is not open any more, or has no such action."""
        question = self.question
        if question is None or question.number != number or not 0 <= index < len(question.actions):
            return
        self._answer = pb.AgentMessage(choose=pb.Choose(decision=number, index=index))
        self.question, self.remark = None, ""
        await self._send(self._answer)

    async def _send(self, answer: pb.AgentMessage) -> None:
        if self._call is not None:
            with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # lost: it is asked again
                await self._call.write(answer)
