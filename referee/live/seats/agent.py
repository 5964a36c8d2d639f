"""The seat of an agent outside the referee's process, and the agent's stream."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable
from typing import NoReturn, Protocol

import grpc

from dogana.v1 import referee_pb2 as pb
from referee.game import Seat
from referee.live.messages import wire
from referee.live.messages.codec import Codec
from referee.live.seats.pondering import NoPondering
from referee.live.seats.telemetry import KeyValues
from referee.match.effects import Decision, Reject, Withdraw
from referee.match.judging import Answer, Unreadable
from referee.match.plan import MatchPlan
from referee.match.result import Fault, Outcome, Result
from referee.terminal import visible

_log = logging.getLogger(__name__)

MESSAGES_AT_FIRST = 64
MESSAGES_PER_DECISION = 16
"""An agent may send `MESSAGES_AT_FIRST` messages, and `MESSAGES_PER_DECISION` more for each decision."""
MAX_UNREAD_MESSAGES = 256
"""The maximum number of messages that an agent may leave unread; if it leaves more, the referee ends its stream."""
MAX_STATUS_CHARACTERS = 1000
"""The maximum length of the text in a stream's final status; gRPC's default limit for headers is 8 kB."""


class Call(Protocol):
    """An open call to Play.

    It is made at a door (`referee.live.doors.call`), or through the gRPC library (`referee.live.doors.grpc_call`).

    Attributes:
        when_free: a function called when `is_free` becomes True.
        is_over: True when nothing more can be sent.
    """

    when_free: Callable[[], None]
    is_over: bool

    def peer(self) -> str:
        """Return the caller's address in gRPC's format."""
        ...

    async def read(self) -> bytes | None:
        """Return the next message, or None after the last."""
        ...

    def listen(self, receive: Callable[[bytes | None], object]) -> Callable[[], object]:
        """Pass each message to `receive` as it arrives, and None after the last.

        Returns:
            A function that stops listening.
        """
        ...

    @property
    def is_free(self) -> bool:
        """True if the transport has taken all messages."""
        ...

    def send(self, message: bytes) -> None:
        """Send a message at once, if the call is free."""
        ...

    async def drained(self) -> None:
        """Wait until the call is free."""
        ...

    async def abort(self, code: grpc.StatusCode, text: str) -> NoReturn:
        """End the call with an error, and raise an exception that ends its handler."""
        ...


class Driver(Protocol):
    """The source of a seat's questions and the judge of its answers.

    This is the driver of a match, or what takes its place when a recorded match's questions are asked again.

    Attributes:
        plan: the plan of the match.
        codec: the messages of the game.
        done: a future that is done after the last question.
    """

    plan: MatchPlan
    codec: Codec
    done: asyncio.Future[Result]

    def sent(self, seat: Seat, number: int) -> None:
        """Start timing a seat, because its question is about to be passed to the transport."""
        ...

    def answer(self, seat: Seat, number: int, choice: Answer) -> None:
        """Judge an answer that has just been read."""
        ...

    def fault(self, seat: Seat, fault: Fault) -> None:
        """Put a seat out because of a fault."""
        ...

    def lost(self, seat: Seat) -> None:
        """Note that a remote seat has lost its connection."""
        ...

    def back(self, seat: Seat) -> None:
        """Ask a remote seat again after it has reconnected."""
        ...

    def is_deciding(self, seat: Seat) -> bool:
        """Return True if a seat has an open decision."""
        ...

    def is_open(self, seat: Seat, number: int) -> bool:
        """Return True if the seat's open decision has this number; answers to other decisions are not even parsed."""
        ...

    def is_out(self, seat: Seat) -> bool:
        """Return True if a seat is out."""
        ...

    def void(self, reason: str) -> None:
        """End the match without a result, because the referee has failed."""
        ...


class AgentSeat:
    """The seat of an agent outside the referee's process: its token, and its stream while it has one.

    Attributes:
        token: the agent's secret for joining.
        joined: a future that is done when the agent has joined for the first time.
        may_come_back: True for a remote agent, which can use the token again after it has lost its connection.
        when_lost: a function called when the stream of an agent that may not come back has ended before the match has.
        when_out: a function called when the seat is out.
        no_pondering: the object that stops the agent between its decisions; None if it may think then.
        network: the time that its answers took, minus the thinking time that it reported, in milliseconds; None if it
            reported none.
        early_fault: its breach of the protocol before its match began; None if there was none.
    """

    def __init__(self, seat: Seat, *, may_come_back: bool) -> None:
        self.seat = seat
        self.token = secrets.token_urlsafe(24)
        self.joined: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.may_come_back = may_come_back
        self.when_lost: Callable[[], None] = lambda: None
        self.when_out: Callable[[], None] = lambda: None
        self.no_pondering: NoPondering | None = None
        self.network: KeyValues | None = None
        self.early_fault: Fault | None = None
        self._sent_at = 0.0
        self._driver: Driver | None = None
        self._stream: _Stream | None = None
        self._allowance = MESSAGES_AT_FIRST

    def begin(self, driver: Driver) -> None:
        """Begin the seat's match."""
        self._driver = driver
        if self._stream is None:
            driver.lost(self.seat)  # it joined, but left before the others had joined
        else:
            self._stream.send(self._welcome(driver))
            self._stream.flush()
        self._rest_unless_deciding()

    # calls of the driver (`referee.live.matches.driver.AgentConnection`)

    def ask(self, decision: Decision) -> None:
        """Send a decision."""
        driver = self._driver
        self._allowance += MESSAGES_PER_DECISION
        if self._stream is None or driver is None:
            return  # it gets the decision when it comes back
        if self.no_pondering is not None:
            self.no_pondering.wake()
        # A seat that comes back sees the remaining time; for a new question, the time has not begun to run.
        now = asyncio.get_running_loop().time() if decision.is_sent else decision.sent_at
        data = wire.decide(driver.codec, decision, self._stream.labels, now)
        self._stream.send(data, lambda: self._sent(driver, decision))

    def _sent(self, driver: Driver, decision: Decision) -> None:
        driver.sent(self.seat, decision.number)
        self._sent_at = asyncio.get_running_loop().time()

    def reject(self, reject: Reject) -> None:
        """Send a refusal."""
        self._say(wire.rejected(reject))

    def withdraw(self, withdraw: Withdraw) -> None:
        """Send a withdrawal."""
        self._say(wire.withdrawn(withdraw))
        if self.no_pondering is not None:
            self.no_pondering.idle()  # unless the next decision follows at once

    def new_deadline(self, decision: Decision) -> None:
        """Send the new deadline of an open decision."""
        self._say(wire.new_deadline(decision, asyncio.get_running_loop().time()))

    def dismiss(self, fault: Fault) -> None:
        """End the connection of a seat that is out."""
        self._end(grpc.StatusCode.ABORTED, f"the seat is out ({fault.outcome.value}): {fault.detail}")
        self.when_out()

    def finish(self, result: Result) -> None:
        """Send the result and end the connection."""
        self._say(pb.RefereeMessage(game_over=wire.game_over(result)).SerializeToString())
        self._end(grpc.StatusCode.OK, "")

    def void(self, reason: str) -> None:
        """End the connection without a result."""
        self._end(grpc.StatusCode.ABORTED, f"the match was voided: {reason}")

    def flush(self) -> None:
        """Send the messages in the outbox."""
        if self._stream is not None:
            self._stream.flush()

    def _say(self, data: bytes) -> None:
        if self._stream is not None:
            self._stream.send(data)

    def _welcome(self, driver: Driver) -> bytes:
        return wire.welcome(driver.plan, self.seat, no_pondering=self.no_pondering is not None)

    def _rest_unless_deciding(self) -> None:
        if self.no_pondering is not None and self._driver is not None and not self._driver.is_deciding(self.seat):
            self.no_pondering.idle()

    def _end(self, code: grpc.StatusCode, text: str) -> None:
        if self.no_pondering is not None:
            self.no_pondering.over()
        if self._stream is not None:
            self._stream.end(code, text)

    # messages of the agent

    async def serve(self, call: Call, join: pb.Join) -> None:
        """Serve the stream of an agent that has the right token, until the stream ends."""
        # The newest stream counts, as an agent may be back before the referee knows that the old one is dead.
        self._end(grpc.StatusCode.ABORTED, "replaced by a newer stream with the same token")
        stream = self._stream = _Stream(call, self._receive, labels=join.labels)
        driver = self._driver
        if driver is not None:
            stream.send(self._welcome(driver))
            stream.flush()
        if not self.joined.done():
            self.joined.set_result(None)
        elif driver is not None:
            driver.back(self.seat)
        try:
            await stream.serve()
        finally:
            if self._stream is stream:  # otherwise a newer stream has replaced it
                self._stream = None
                self._stream_ended()

    def _stream_ended(self) -> None:
        driver = self._driver
        if self.may_come_back and driver is not None:
            driver.lost(self.seat)
        elif driver is None or not (driver.done.done() or driver.is_out(self.seat)):
            self.when_lost()

    def _receive(self, data: bytes) -> None:
        try:
            self._judge(data)
        except Exception as error:  # a fault of ours, whatever it is, must not look like the agent's
            _log.exception("cannot handle a message of seat %d", self.seat)
            if self._driver is not None:
                self._driver.void(f"{type(error).__name__}: {error}")

    def _judge(self, data: bytes) -> None:
        driver = self._driver
        # The message is counted before it is parsed, so that the limit bounds the work, too.
        self._allowance -= 1
        if self._allowance < 0:
            self.break_off("it sends more messages than it is asked for")
            return
        try:
            message = wire.read_agent_message(data)
        except wire.MalformedMessage as error:
            self.break_off(f"it sent {error}")
            return
        if message.WhichOneof("message") == "join":
            self.break_off("it sent a second Join")
        elif driver is not None:
            number = message.choose.decision
            choice: Answer = Unreadable("it answers no open decision")
            if driver.is_open(self.seat, number):
                if message.choose.HasField("thought_ms"):
                    self._note_network(message.choose.thought_ms)
                choice = wire.read_choice(driver.codec, message.choose)
            driver.answer(self.seat, number, choice)
            self._rest_unless_deciding()

    def _note_network(self, thought_ms: float) -> None:
        took_ms = (asyncio.get_running_loop().time() - self._sent_at) * 1000
        if 0 <= thought_ms <= took_ms:  # an agent may report anything
            known = self.network or KeyValues(0, 0.0)
            self.network = KeyValues(known.count + 1, known.total + took_ms - thought_ms)

    def break_off(self, detail: str) -> None:
        """End the connection of an agent that has broken the protocol."""
        fault = Fault(Outcome.PROTOCOL, detail)
        if self._driver is not None:
            self._driver.fault(self.seat, fault)
        else:
            self.early_fault = fault
        self.dismiss(fault)


class _Stream:
    """One stream of an agent, with its outbox and its final status. Questions are sent at once, not by a task."""

    def __init__(self, call: Call, receive: Callable[[bytes], None], *, labels: bool) -> None:
        self.labels = labels
        self._call = call
        self._receive = receive
        self._outbox: deque[tuple[bytes, Callable[[], None] | None]] = deque()
        self._status: tuple[grpc.StatusCode, str] = (grpc.StatusCode.OK, "")
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, data: bytes, at_handover: Callable[[], None] | None = None) -> None:
        """Put a message into the outbox; `flush` calls `at_handover` just before the transport gets it."""
        if self._ended.done():
            return
        if len(self._outbox) >= MAX_UNREAD_MESSAGES:
            self.end(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{MAX_UNREAD_MESSAGES} messages are waiting to be read")
            return
        self._outbox.append((data, at_handover))

    def flush(self) -> None:
        """Pass the messages in the outbox to the transport for as long as it is free."""
        if self._call.is_over:
            self._outbox.clear()  # the agent is gone; the listener finds out
        while self._outbox and self._call.is_free:
            data, at_handover = self._outbox.popleft()
            # The handover is reported before the send, because no answer may come before its time has begun to run.
            if at_handover is not None:
                at_handover()
            self._call.send(data)

    def end(self, code: grpc.StatusCode, text: str) -> None:
        """End the stream once all messages in the outbox have been sent."""
        if not self._ended.done():
            self._status = (code, visible(text, MAX_STATUS_CHARACTERS))
            self._ended.set_result(None)

    async def serve(self) -> None:
        """Serve the stream to its end."""
        self._call.when_free = self.flush
        stop_listening = self._call.listen(self._hear)
        try:
            await self._ended
        finally:
            stop_listening()
        self.flush()
        await self._call.drained()  # perhaps never, if the agent does not read; its own messages are then of no use
        code, text = self._status
        if code is not grpc.StatusCode.OK:
            await self._call.abort(code, text)

    def _hear(self, data: bytes | None) -> None:
        if data is None:
            self.end(grpc.StatusCode.OK, "")
        elif not self._ended.done():
            self._receive(data)
