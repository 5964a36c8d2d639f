"""One start of a bot as a ladder starts it, and a scripted referee on the other side of its only stream."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from google.protobuf.message import DecodeError
from google.protobuf.text_format import MessageToString

from dogana.v1 import referee_pb2 as pb
from ladder.conformance.table import NotAnAnswer, Table
from referee.game import Action
from referee.live.doors.call import Call
from referee.live.doors.door import STOP_SECONDS, Door
from referee.live.matches.play import EXIT_SECONDS
from referee.live.messages import wire
from referee.live.seats.command import AgentProcess
from referee.live.seats.last_words import known_reason
from referee.match.clock import TimeControl
from referee.sandbox.box import Sandbox
from referee.sandbox.socket_folder import sweep
from referee.sandbox.system import descendants
from referee.terminal import visible

CLOCK = TimeControl(60.0, 0.5, 1.0)
"""The clock of scripted referees: its cap is low, so that a bot that uses all its time does not take an hour."""
_MAX_LINE = 200
_MAX_UNREAD = 256
"""How many messages of a bot may wait to be looked at; one that sends more has to wait."""
_SHOWN_MESSAGES = 8
_SHOWN_LINES = 5
_WALL_PROCESSES = 2
"""bubblewrap outside and inside of the box; the bot is the process below them."""
_LAST_WORDS_SECONDS = 0.2
"""How long messages may still come in after the end of the process that sent them."""


class Failed(Exception):
    """A bot did not do what a step expects; the text says what happened, in one line."""


class TooShort(Exception):
    """A match was over before everything was tried in it."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a scripted referee waits, in seconds."""

    join: float = 30.0
    """As on a ladder."""
    join_well: float = 10.0
    """How long a bot may take to join; `dogana play` waits no longer."""
    answer: float = 5.0
    """Beyond the time on the clock: the machine may be busy."""
    quiet: float = 0.3
    """How long nothing may come, to be sure that nothing does."""
    exit: float = 2.0
    """How long a bot may take to exit after GameOver."""
    end: float = 10.0
    """The same after its connection has ended in another way: gRPC may have to notice."""
    idle: float = 35.0
    """How long a bot is left alone: longer than it takes until most clients ping."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot that was taken in.

    Attributes:
        folder: its files, which nobody changes.
        run: the command that starts it there.
        sandbox: what confines it; None to let it run with the rights of this process.
        environment: its environment variables then.
    """

    folder: Path
    run: Sequence[str]
    sandbox: Sandbox | None
    environment: Mapping[str, str] = field(default_factory=dict)


class Conversation:
    """A scripted referee, from the start of a bot to its end.

    Attributes:
        process: the bot.
        token: what it must show.
        streams: how many it has opened.
        received: how many messages it has sent.
        labels: whether it has asked for labels.
        joined_after: how many seconds it took from its start to its first message.
    """

    def __init__(self, patience: Patience) -> None:
        self.process: AgentProcess
        self.token = secrets.token_urlsafe(24)
        self.streams = 0
        self.received = 0
        self.labels = False
        self.joined_after = 0.0
        self._patience = patience
        self._said: list[str] = []
        self._inbox: asyncio.Queue[bytes | None] = asyncio.Queue(_MAX_UNREAD)
        self._call: Call | None = None
        self._status: asyncio.Future[tuple[grpc.StatusCode, str]] = asyncio.get_running_loop().create_future()
        self._door = Door()
        self._is_open = True
        self._ended: asyncio.Task[str]
        self._began = 0.0

    # its two ends

    async def _open(self, bot: Bot) -> None:
        self._door.serve(self._serve)
        self._door.socket.chmod(0o666)  # its folder keeps others out; the bot may be another user
        self._began = time.monotonic()
        self._run = bot.run
        if bot.sandbox is None:
            seat = {"DOGANA_ADDRESS": f"unix:{self._door.socket}", "DOGANA_TOKEN": self.token}
            self.process = await AgentProcess.start(bot.run, {**bot.environment, **seat}, bot.folder)
        else:
            box = bot.sandbox.box(bot.run, bot.folder, self._door.socket, self.token)
            self.process = await AgentProcess.start_in(box)
        self._ended = asyncio.ensure_future(self.process.ended())

    async def _close(self) -> None:
        with contextlib.suppress(AttributeError):  # it was not started
            await self.process.stop()
            self._ended.cancel()
        if not self._status.done():
            self._status.cancel()
        await self.vanish(STOP_SECONDS)

    async def vanish(self, seconds: float = 0.0) -> None:
        """Take the referee away: break every connection, at once or when calls have had some seconds to end."""
        if self._is_open:
            self._is_open = False
            await self._door.close(seconds)

    async def _serve(self, call: Call) -> None:
        self.streams += 1
        if self._call is not None:
            await call.abort(grpc.StatusCode.UNAUTHENTICATED, "the token was used up")
        self._call = call
        reading = asyncio.create_task(self._read(call))
        try:
            code, text = await self._status
        finally:
            reading.cancel()
        if code is not grpc.StatusCode.OK:
            await call.abort(code, text)

    async def _read(self, call: Call) -> None:
        while (data := await call.read()) is not None:
            await self._inbox.put(data)
        await self._inbox.put(None)

    # what is said

    async def say(self, *messages: pb.RefereeMessage | bytes) -> None:
        """Send messages, or bytes that no message of today has; the bot may be gone."""
        for message in messages:
            data = message if isinstance(message, bytes) else message.SerializeToString()
            self._said.append(f"referee: {_described(data, pb.RefereeMessage())}")
            if self._call is not None:
                await self._call.write(data)

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, text: str = "") -> None:
        """End the stream."""
        self._said.append(f"referee: ends the stream with {code.name}")
        if not self._status.done():
            self._status.set_result((code, text))

    async def hear(self, seconds: float, wanted: str) -> pb.AgentMessage:
        """Wait for a message.

        Raises:
            Failed: if none comes in this time, or what comes is none; `wanted` says what was waited for.
        """
        data = await self._next(seconds)
        if data is None:
            left = await self._left()
            raise Failed(f"{left or f'nothing came within {seconds:.3g} s'} instead of {wanted}")
        return self._parsed(data)

    async def _next(self, seconds: float) -> bytes | None:
        """Return what comes next, or None if nothing does: the end of the stream stays in the inbox."""
        getting = asyncio.ensure_future(self._inbox.get())
        try:
            await asyncio.wait([getting, self._ended], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not getting.done():
                await asyncio.wait([getting], timeout=_LAST_WORDS_SECONDS if self._ended.done() else 0)
        finally:
            if not getting.done():
                getting.cancel()
        if not getting.done() or getting.cancelled():
            return None
        data = getting.result()
        if data is None:
            self._inbox.put_nowait(None)
        return data

    async def _left(self) -> str:
        """Return how the bot has left, in words; empty if it has not."""
        if not self._inbox.empty():  # it has closed its stream, perhaps because it ends
            await asyncio.wait([self._ended], timeout=EXIT_SECONDS)
        if self._ended.done():
            await self.process.stop()  # its last words may still be on their way
            ended = self._ended.result()
            reason = known_reason(ended, self.process.log.text(), self._run, joined=self.received > 0)
            return f"it {ended}" + (f" ({reason})" if reason else "")
        return "" if self._inbox.empty() else "it closed its stream"

    def _parsed(self, data: bytes) -> pb.AgentMessage:
        if self.received == 0:
            self.joined_after = time.monotonic() - self._began
        self.received += 1
        self._said.append(f"bot: {_described(data, pb.AgentMessage())}")
        try:
            return wire.read_agent_message(data)
        except wire.MalformedMessage as error:
            raise Failed(f"it sent {error}") from error

    # what is said as a rule

    async def join(self) -> pb.Join:
        """Wait until the bot has joined, by whatever Join."""
        message = await self.hear(self._patience.join, "joining")
        if message.WhichOneof("message") != "join":
            raise Failed("its first message is not Join")
        self.labels = message.join.labels
        return message.join

    async def begin(self, table: Table) -> None:
        """Let the bot join a match."""
        await self.join()
        await self.say(table.welcome())

    async def ask(self, table: Table, *, dropped: str = "", asks_forced: bool = False) -> None:
        """Put the next question at the table, as `Table.question` and `Table.go_on` say.

        Raises:
            TooShort: if the match is over.
        """
        if not table.go_on(asks_forced=asks_forced):
            raise TooShort
        await self.say(table.question(labels=self.labels, dropped=dropped))

    async def answer(self, table: Table, *, past: Sequence[int] = ()) -> pb.Choose:
        """Wait for the answer to the decision that was put last.

        Args:
            table: where it was put.
            past: the numbers of earlier decisions that the bot may answer once before: the answers were on their way.

        Raises:
            Failed: if the bot does not answer, or answers something else.
        """
        allowed = list(past)
        while True:
            choose = await self.choose(table.plan.control, f"answering decision {table.number}")
            if choose.decision == table.number:
                return choose
            if choose.decision not in allowed:
                raise Failed(f"it answered decision {choose.decision} while decision {table.number} was open")
            allowed.remove(choose.decision)
            await self.say(refusal(choose.decision, pb.Rejected.REASON_STALE, "this decision is not open any more"))

    async def played(self, table: Table, *, past: Sequence[int] = ()) -> None:
        """Wait for the answer to the decision that was put last, as `answer` does, and play it.

        Raises:
            Failed: if no legal answer comes.
        """
        table.play(legal(table, await self.answer(table, past=past)))

    async def next(self, table: Table, *, past: Sequence[int] = ()) -> None:
        """Put the next decision, and play its answer.

        Raises:
            Failed: if no legal answer comes.
            TooShort: if the match is over.
        """
        await self.ask(table)
        await self.played(table, past=past)

    async def choose(self, control: TimeControl, wanted: str) -> pb.Choose:
        """Wait for a Choose, whatever its number, for as long as the clock allows and some more."""
        budget = min(control.bank + control.increment, control.cap)
        message = await self.hear(budget + self._patience.answer, wanted)
        if message.WhichOneof("message") != "choose":
            raise Failed("it sent a second Join")
        return message.choose

    async def glance(self) -> pb.AgentMessage | None:
        """Return what comes within a moment; None if nothing does."""
        data = await self._next(self._patience.quiet)
        return None if data is None else self._parsed(data)

    async def quiet(self, seconds: float | None = None) -> None:
        """Expect nothing for a while, and the bot to stay.

        Raises:
            Failed: if something comes, or the bot ends.
        """
        data = await self._next(self._patience.quiet if seconds is None else seconds)
        if data is not None:
            which = self._parsed(data).WhichOneof("message")
            raise Failed(f"it sent a {(which or '').capitalize()} that nobody asked for")
        if left := await self._left():
            raise Failed(left)

    async def over(self, table: Table, *, reveals_seed: bool = True) -> str:
        """Tell the bot that the match is over; return how it ended, in words, empty if it did not in time."""
        await self.say(table.game_over(reveals_seed=reveals_seed))
        self.end()
        return await self.exit(self._patience.exit)

    async def exit(self, seconds: float) -> str:
        """Wait for the end of the process; return it in words, empty if it does not come in time."""
        await asyncio.wait([self._ended], timeout=seconds)
        return self._ended.result() if self._ended.done() else ""

    # what can be seen from outside

    @property
    def processes(self) -> list[int]:
        """The processes of the bot, the program first; empty if it has ended."""
        found = descendants(self.process.supervisor)
        return found if self.process.box is None else found[_WALL_PROCESSES:]

    def transcript(self) -> tuple[str, ...]:
        """Return the last messages, shortened."""
        return tuple(self._said[-_SHOWN_MESSAGES:])

    def wrote(self) -> tuple[str, ...]:
        """Return the last lines that the bot wrote."""
        lines = [line for line in self.process.log.text().splitlines() if line.strip()]
        return tuple(visible(line, _MAX_LINE) for line in lines[-_SHOWN_LINES:])


@contextlib.asynccontextmanager
async def conversation(bot: Bot, patience: Patience) -> AsyncIterator[Conversation]:
    """Start a bot for a conversation; nothing of it is left afterwards.

    Raises:
        CannotIsolate, CannotStart: if its box cannot be made.
    """
    sweep()
    talk = Conversation(patience)
    try:
        await talk._open(bot)
        yield talk
    finally:
        await talk._close()


def legal(table: Table, choose: pb.Choose) -> list[Action]:
    """Return the actions of an answer to the decision that was put last.

    Raises:
        Failed: if they are not legal.
    """
    try:
        return table.read(choose)
    except NotAnAnswer as error:
        raise Failed(f"decision {table.number}: {error}") from error


def refusal(number: int, reason: pb.Rejected.Reason, message: str, strikes: int = 0) -> pb.RefereeMessage:
    """Refuse an answer; it is a strike, and the decision stays open, unless it is stale."""
    left = 0.0 if reason == pb.Rejected.REASON_STALE else CLOCK.cap * 1000
    return pb.RefereeMessage(
        rejected=pb.Rejected(decision=number, reason=reason, message=message, strikes=strikes, left_ms=left)
    )


def withdrawal(number: int, reason: pb.Withdrawn.Reason) -> pb.RefereeMessage:
    """Withdraw a decision."""
    return pb.RefereeMessage(withdrawn=pb.Withdrawn(decision=number, reason=reason))


def _described(data: bytes, message: pb.RefereeMessage | pb.AgentMessage) -> str:
    """Return a message in one line, without what is long in it; bytes that are none as such."""
    try:
        message.ParseFromString(data)
    except DecodeError:
        return f"{len(data)} bytes that are no message, {data[:16].hex(' ')} ..."
    which = message.WhichOneof("message")
    if which is None:
        return f"{len(data)} bytes with no known message, {data[:16].hex(' ')} ..."
    inner = getattr(message, which)
    for name in ("observation", "actions", "played", "board", "labels", "options", "token"):
        if name in inner.DESCRIPTOR.fields_by_name and not (which == "join" and name == "labels"):
            inner.ClearField(name)
    text = MessageToString(inner, as_one_line=True)
    if isinstance(message, pb.AgentMessage) and which == "choose" and not inner.HasField("index"):
        text += f" (and {len(data)} bytes of actions)"
    return visible(f"{which.title().replace('_', '')} {text}", _MAX_LINE)
